# needs: jax
# %% [markdown]
# # Networks on a world too large for tables
#
# A table of this world would need 16,777,216 states, and its skills remember their start. So the
# world is written in JAX, where thousands of copies step at once, and a network learns the skills.
# Needs `pip install '.[neural]'`.
#
# The settings here are tiny, so that the page is built in seconds. At the end stands what serious
# ones do.
#
# ## A world in twenty lines
#
# A row of 24 lamps. Pressing a button toggles its lamp *and the next one*; only the last button
# toggles one lamp alone. So changing a single lamp takes some thought: to change lamp 22 alone,
# press 22, then 23.

# %%
import jax
import jax.numpy as jnp
import numpy as np

import skillfocus as sf
from skillfocus.worlds.jax.world import JaxWorld

LAMPS = 24


class Lamps(JaxWorld):
    """A row of lamps; each button also toggles the lamp after its own."""

    id = "Lamps-v0"
    actions = tuple(f"press_{i}" for i in range(LAMPS))
    space = sf.FactoredSpace(tuple(sf.Variable(f"lamp_{i}", (0, 1)) for i in range(LAMPS)))
    step_limit = 6

    def reset(self, key):
        """Draw a state to start learning in."""
        return jax.random.randint(key, (LAMPS,), 0, 2)

    def step(self, key, state, action):
        """Toggle two neighbours."""
        del key  # nothing is random here
        number = jnp.arange(LAMPS)
        return jnp.where((number == action) | (number == action + 1), 1 - state, state)


world = Lamps()
print(repr(world))
print(f"{2**LAMPS:,} states")

# %% [markdown]
# ## Learn
#
# Two skills for each of three lamps. The call is the same as for a table; only the learner differs.
# The defaults are 24,000 updates of networks with 256 units; these are 1,000 with 64.

# %%
learner = sf.Neural(updates=1000, environments=64, batch=64, hidden=64)
targets = {"lamp_23": 2, "lamp_22": 2, "lamp_10": 2}
skills = sf.discover(world, sf.focused(sf.vic()), seed=0, targets=targets, learner=learner)
print(skills)

# %% [markdown]
# ## Measure
#
# Without a table nothing is exact: side effects are sampled, and come with a 90 % interval.

# %%
for number, effects in enumerate(
    sf.metrics.side_effects(skills, sample=400, rng=np.random.default_rng(0))
):
    low, high = effects.interval
    print(
        f"skill {number}, {effects.targets[0]}: changed {effects.changes_target:.2f}, "
        f"side effects {effects.side_effects:.2f} ({low:.2f} to {high:.2f}), "
        f"{effects.steps.mean():.1f} presses"
    )
