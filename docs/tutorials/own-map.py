# %% [markdown]
# # Focused skills in your own map
#
# Draw a world in text, discover skills in it, and watch them. You need nothing but `pip install .`
# in a clone, and about ten seconds.
#
# ## Draw a map
#
# `@` is where the agent stands in pictures, `#` is wall, `.` is floor, and the legend gives the
# other letters a meaning. In this workshop the short way to the key leads over a vase, which
# breaks. The only other way passes a light switch.

# %% The workshop: the agent at the bottom left, the key behind the vase
import skillfocus as sf
from skillfocus.worlds.maps import make_map

WORKSHOP = """
slip = 0.02
step limit = 40
K = pick-up key
V = fragile vase
L = switch lamp

map:
##########
#........#
#.##V###.#
#@.#...L.#
#..#.K.#.#
##########
"""
world = make_map("workshop", text=WORKSHOP)
world.showcase

# %% [markdown]
# Usually the text is in a file, and `sf.make("workshop.txt")` reads it. The world has four
# variables, which the legend named, and every combination of their values is a state.

# %%
print(repr(world))
print(sf.tabulate(world).n_states, "states")

# %% [markdown]
# ## Without a penalty
#
# First, skills that are rewarded for the key and charged for nothing (`strength=0`). Two skills
# share the key: one learns to take it, the other to leave it alone. `side_effects` is exact:
# nothing is sampled.

# %%
targets = {"key": 2, "position": 4}


def report(skills):
    for number, effects in enumerate(sf.metrics.side_effects(skills)):
        if effects.targets == ("key",):
            also = ", ".join(f"{name} {p:.2f}" for name, p in effects.by_variable.items())
            print(f"skill {number} takes the key: {effects.changes_target:.2f}; changes {also}")


careless = sf.discover(world, sf.focused(sf.vic(), strength=0), seed=0, targets=targets)
report(careless)

# %% [markdown]
# The skill takes the key from everywhere. It also breaks the vase from about a quarter of the
# starts (0.23) and hardly ever comes home. From the workshop's corner it goes straight over the
# vase:

# %% The careless skill walks over the vase and stays at the key
careless.likely_path(1, world.showcase)

# %% [markdown]
# ## With the penalty
#
# The default strength of VIC is 4. Nothing else changes.

# %%
skills = sf.discover(world, sf.focused(sf.vic()), seed=0, targets=targets)
report(skills)

# %% The focused skill walks around the vase, takes the key and comes home
skills.likely_path(1, world.showcase)

# %% [markdown]
# It still takes the key from everywhere, and now it walks around the vase, passes the switch twice
# so that the lamp ends as it was, and comes home.
#
# ## What is left
#
# Side effects of 0.023 remain. Where do they come from? Ask for them start by start:

# %%
effects = sf.metrics.side_effects(skills)[1]
print(f"{effects.side_effects:.3f} on average over {len(effects.starts)} starts")
worst = effects.per_start.argsort()[::-1][:4]
for n in worst:
    start = world.space.labels(skills.mdp.state(effects.starts[n]))
    print(f"{effects.per_start[n]:.2f} from", start)

# %% [markdown]
# The first two are starts *on* the unbroken vase: coming home would break it, so the skill stays
# away. It has to change one or the other. The next are cells at the far end, at 0.02: most of it is
# slips beside the vase.
#
# ## Choose the price
#
# The strength is the price of a side effect. At 4, taking the key is worth staying away from the
# start on the vase. At 64 it is not:

# %%
strict = sf.discover(world, sf.focused(sf.vic(), strength=64), seed=0, targets=targets)
report(strict)

# %% [markdown]
# The skill now takes the key from 0.98 of the starts. From the two on the vase it leaves the key
# alone, because every way of taking it would change something else. Which of the two you want is
# your decision. On the command line, `--strength auto` raises the price until
# nothing avoidable is left.
#
# ## Watch them
#
# A set of skills is a page. Choose a skill and click a cell to start it there.

# %% Player: six skills in the workshop
skills

# %% [markdown]
# ## Next
#
# - Keep the map in a file:
#   `skillfocus discover workshop.txt focused-vic --targets key=2,position=4`
# - Everything a legend can say: [map files](../maps.md)
# - [Choosing targets and strength](../choosing-targets-and-strength.md)
