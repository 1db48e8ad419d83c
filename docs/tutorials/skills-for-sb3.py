# needs: stable_baselines3
# %% [markdown]
# # Skills as actions for a Stable-Baselines3 agent
#
# Give PPO skills to act with, and it learns a task that it has no chance of finding with primitive
# moves. The task is the paper's in FourRooms: collect four tools, then go to the bottom-right
# corner, within 320 steps. The only reward is 1 at the end. Needs `pip install '.[sb3]'`.
#
# ## Discover skills
#
# Sixteen focused skills: two per tool, eight that go somewhere. Ten rounds of planning are enough
# here.

# %%
import numpy as np

import skillfocus as sf
from skillfocus.envs import SkillEnv, SkillVectorEnv

world = sf.make("FourRooms-v0")
skills = sf.discover(world, sf.focused(sf.vic()), seed=0, learner=sf.Planning(rounds=10))
for number, effects in enumerate(sf.metrics.side_effects(skills)[:8]):
    print(number, *effects.targets, f"changed {effects.changes_target:.2f}")

# %% [markdown]
# One skill of each pair fetches its tool and comes home; the other leaves it alone.
#
# ## Why skills help: exploration
#
# Without a success there is nothing to learn from. How often does an episode of random *moves*
# succeed? The world is a table, so the answer is exact:

# %%
mdp = sf.tabulate(world)
task = sf.task_of(world, mdp)
success = task.true.astype(float)
for _ in range(task.max_episode_steps):
    after = (mdp.probabilities * success[mdp.successors]).sum(axis=2).mean(axis=1)
    success = np.where(task.true, 1.0, after)
print(f"random moves succeed with probability {success[task.start]:.4f}")

# %% [markdown]
# And an episode of random choices among skills and moves? A thousand episodes at once:

# %%
episodes = SkillVectorEnv(skills, "true", num_envs=1000, primitives=True)
episodes.reset(seed=0)
rng = np.random.default_rng(0)
over = np.zeros(1000, bool)
succeeded = np.zeros(1000, bool)
while not over.all():
    actions = rng.integers(episodes.single_action_space.n, size=1000)
    _, _, terminated, truncated, _ = episodes.step(actions)
    succeeded |= terminated & ~over
    over |= terminated | truncated
print(f"random skills and moves succeed in {succeeded.mean():.0%} of episodes")

# %% [markdown]
# That is the difference between 0.0004 and 0.20: with skills, the first success comes within a few
# episodes.
#
# ## Train PPO
#
# `SkillEnv` is a Gymnasium environment, and Stable-Baselines3's `make_vec_env` steps several side
# by side. An action is a skill (or, with `primitives=True`, one of the four moves); it runs until
# the skill ends. This is a small agent and a small budget, a few seconds of one core.

# %%
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

torch.set_num_threads(1)  # faster for a network this small


def make_envs(n, seed):
    """Return `n` environments whose actions are skills and moves."""
    return make_vec_env(lambda: SkillEnv(skills, "true", primitives=True), n, seed=seed)


agent = PPO(
    "MlpPolicy", make_envs(16, seed=0), seed=0, learning_rate=1e-3, n_steps=32, batch_size=256,
    n_epochs=8, ent_coef=0.01, policy_kwargs={"net_arch": [64]}, device="cpu",
)  # fmt: skip
_ = agent.learn(16_000)


# %%
def evaluate(agent, copies, seed):
    """Return the share of episodes that succeed and the mean of primitive steps."""
    env = make_envs(copies, seed)
    observations = env.reset()
    over, success, steps = np.zeros(copies, bool), np.zeros(copies, bool), np.zeros(copies)
    while not over.all():
        actions, _ = agent.predict(observations)
        observations, _, dones, infos = env.step(actions)
        steps += np.where(over, 0, [info["steps"] for info in infos])
        success |= ~over & dones & np.array([info["success"] for info in infos])
        over |= dones
    return success.mean(), steps.mean()


share, steps = evaluate(agent, copies=100, seed=10_000)
print(f"after learning: success {share:.0%}, {steps:.0f} primitive steps")

# %% [markdown]
# After 16,000 decisions nine episodes in ten succeed. It is not a good agent yet: with 200,000
# primitive steps, PPO succeeds in all of 50 episodes and takes 102 to 133 steps, while PPO with
# moves alone never succeeds once; [skill-env](../skill-env.md#stable-baselines3) has that
# comparison, with four seeds. PPO discounts once per decision, however long the skill, so it has
# little reason to be fast.
#
# ## Next
#
# - `examples/sb3_ppo.py`: the comparison with moves alone
# - Any other library: [Gymnasium environments](../skill-env.md)
# - The paper's own learner: [downstream tasks](../downstream.md)
