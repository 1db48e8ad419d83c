"""Skills as the actions of a Gymnasium environment: an agent that picks them at random."""

import skillfocus as sf
from skillfocus.envs import SkillEnv

skills = sf.discover(sf.make("FourRooms-v0"), sf.focused(sf.vic()), seed=0)
env = SkillEnv(skills, "true", render_mode="ansi")
env.action_space.seed(0)
env.reset(seed=0)
while True:
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    print(
        f"skill {info['skill']} for {info['targets'][0]}: {info['steps']} steps, now {observation}"
    )
    if terminated or truncated:
        break
print(env.render())
print(f"success: {info['success']} after {info['elapsed']} steps")
