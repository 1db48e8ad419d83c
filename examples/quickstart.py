"""Discover focused skills in FourRooms and see what they do."""

import numpy as np

import skillfocus as sf

world = sf.make("FourRooms-v0")
skills = sf.discover(world, sf.focused(sf.vic(), strength=4.0), seed=0)

for z, effects in enumerate(sf.metrics.side_effects(skills)):  # exact, nothing is sampled
    print(
        f"skill {z:2} for {effects.targets[0]:8}: changes it {effects.changes_target:.2f},"
        f" side effects {effects.side_effects:.3f}, {effects.steps.mean():4.1f} steps"
    )
path = skills.rollout(1, world.state(position=(6, 9)), np.random.default_rng(0))
print(world.draw(path[-1]))
