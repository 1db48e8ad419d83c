# %% [markdown]
# # A Gymnasium environment: side effects found and removed
#
# Take an environment you already have, discover skills in it, find out what they disturb, and
# repair it. Here it is Taxi, where a taxi fetches a passenger from one of four places.
#
# ## The environment as a world
#
# Taxi offers its model, so the world has exact probabilities; nothing is sampled. The finished
# world is compared with the environment's own `step`.

# %%
import skillfocus as sf

world = sf.make("gymnasium:Taxi-v4")
print(repr(world))
for note in world.notes:
    print("-", note)

# %% [markdown]
# We want skills for the passenger: pick it up, or bring it somewhere, while the taxi ends where it
# began, so that skills can be chained in any order.
#
# ## Find the side effects
#
# DUSDi also makes skills for one variable, so it is a good place to begin.


# %%
def report(skills):
    for number, effects in enumerate(sf.metrics.side_effects(skills)):
        also = ", ".join(f"{name} {p:.2f}" for name, p in effects.by_variable.items())
        print(
            f"skill {number}: changes the passenger {effects.changes_target:.2f}, "
            f"side effects {effects.side_effects:.2f} ({also})"
        )


report(sf.discover(world, sf.dusdi(sf.vic()), seed=0, targets={"passenger": 2}))

# %% [markdown]
# Both change the passenger from most starts, with side effects of 1.44 and 1.57: the taxi does not
# come back. DUSDi penalizes skills that can be *told apart* by the taxi's place, not skills that
# move it.
#
# ## Remove them, first attempt
#
# Focused skills pay for every variable that ends changed. Say we want four of them, with the weight
# of the discriminator that the paper uses, 0.7:

# %%
focused = sf.focused(sf.vic(0.7))
report(sf.discover(world, focused, seed=0, targets={"passenger": 4}))

# %% [markdown]
# Better, but skill 0 still has side effects of 0.15 and skill 1 of 0.06. Why? Four skills divide
# the passenger's five places among them, and each is rewarded for ending in *its* places. From some
# starts its places cannot be reached without moving something else, and what the discriminator pays
# is then worth more than the penalty.
#
# ## Two ways out
#
# **Fewer skills.** Two leave each other enough room:

# %%
report(sf.discover(world, focused, seed=0, targets={"passenger": 2}))

# %% [markdown]
# **Say what you want.** There are only five places, so name them all. `reach` makes a skill per
# value, and from a start where that cannot be done alone, the skill does nothing:

# %%
skills = sf.discover(world, sf.focused(sf.reach()), seed=0, targets={"passenger": 5})
print([skill.goal for skill in skills])
report(skills)

# %% [markdown]
# No side effects, with five skills instead of two. (0.57 and 0.75 are less than 1 because a skill
# changes nothing when the passenger is already there, and because setting the passenger down at its
# destination ends the episode.)
#
# ## In Taxi itself
#
# The skills are policies for the environment, not only for its table. `world.play` steps Taxi:

# %%
start = world.space.state(taxi_row=2, taxi_column=2, passenger="red", destination="blue")
for state in world.play(skills.policy(2), start, seed=0):
    now = world.space.labels(state)
    print(now["taxi_row"], now["taxi_column"], now["passenger"])

# %% [markdown]
# It drives to the passenger, picks it up and returns to row 2, column 2.

# %% Player: five skills for the passenger of Taxi
skills

# %% [markdown]
# ## Next
#
# - Environments without a model, and your own: [Gymnasium environments](../gymnasium.md)
# - [How side effects are computed](../side-effects.md), and what cannot be avoided
# - Let an agent act with these skills: [skills for Stable-Baselines3](skills-for-sb3.py)
