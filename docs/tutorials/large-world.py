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
from itertools import pairwise

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
    space = sf.Space(tuple(sf.Variable(f"lamp_{i}", (0, 1)) for i in range(LAMPS)))
    step_limit = 6

    def reset(self, key):
        """Draw a state to start learning in."""
        return jax.random.randint(key, (LAMPS,), 0, 2)

    def step(self, key, state, action):
        """Toggle two neighbors."""
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
#
# A target is worth at least 3.9 nats, and the default strength, 4, is what one more changed lamp
# costs: too close to call. A strength of 6 is clear.

# %%
learner = sf.Neural(steps=64_000, environments=64, batch=64, hidden=64)
targets = {"lamp_23": 2, "lamp_22": 2, "lamp_10": 2}
objective = sf.focused(sf.vic(), strength=6.0)
skills = sf.discover(world, objective, seed=0, targets=targets, learner=learner)
print(skills)

# %% [markdown]
# ## Measure
#
# Without a table nothing is exact: side effects are sampled, and come with a 90 % interval.

# %%
for number, effects in enumerate(
    sf.metrics.side_effects(skills, sample=400, rng=np.random.default_rng(0))
):
    low, high = np.clip(effects.interval, 0, None)
    print(
        f"skill {number}, {effects.targets[0]}: changed {effects.changes_target:.2f}, "
        f"side effects {effects.side_effects:.2f} ({low:.2f} to {high:.2f}), "
        f"{effects.steps.mean():.1f} presses"
    )

# %% [markdown]
# One skill of each pair leaves its lamp alone, as it should. Of the others:
#
# - **Lamp 23** is changed from nearly all starts, with almost no side effects. One press would do;
#   1.00 is possible.
# - **Lamp 22** too: the skill has learned to press 22 and then 23.
# - **Lamp 10** is left alone. To change it alone takes 14 presses, and a skill has 6. Doing nothing
#   is right.
#
# A rollout from all lamps off:

# %%
run = skills.rollout(3, (0,) * LAMPS, np.random.default_rng(0))
for before, after in pairwise(run):
    print("toggled", *(i for i in range(LAMPS) if before[i] != after[i]))
print(run.verdict)

# %% [markdown]
# ## With serious settings
#
# A thousand updates show how it works, and not how well. The defaults of `sf.Neural()` take
# minutes on two cores, and `sf.large_neural()` is for a GPU. How good networks are is judged where
# the truth is known, beside exact planning: `python -m paper scale --seeds 2` in a clone
# ([networks](../neural.md)).
#
# - Keep a checkpoint: `sf.Neural(checkpoint="training.safetensors")`; rerun to resume.
# - Check a world of your own: `sf.testing.check_world(world)`.
# - Worlds with up to 200,000 states need none of this: [your own map](own-map.py) is exact.
