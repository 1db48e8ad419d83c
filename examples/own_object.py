"""A Python object as a world: say its variables and actions, how to get and set its state, and
what a step does. Skills are discovered in it, and played in it.

A desk: a hand over three drawers, each open or shut; the third one jams once it has been shut.
"""

import skillfocus as sf


class Desk:
    variables = {"hand": (0, 1, 2), "drawer_1": (0, 1), "drawer_2": (0, 1), "jam": (0, 1, "stuck")}
    actions = ("left", "right", "push")

    def __init__(self):
        self.set({"hand": 0, "drawer_1": 0, "drawer_2": 0, "jam": 0})

    def get(self):
        return dict(self.now)

    def set(self, state):
        self.now = dict(state)

    def step(self, action):
        now, hand = self.now, self.now["hand"]
        if action == "push" and hand < 2:
            now[f"drawer_{hand + 1}"] = 1 - now[f"drawer_{hand + 1}"]
        elif action == "push":
            now["jam"] = {0: 1, 1: "stuck", "stuck": "stuck"}[now["jam"]]
        else:
            now["hand"] = max(0, min(2, hand + (1 if action == "right" else -1)))


if __name__ == "__main__":
    world = sf.adapters.from_object(Desk(), step_limit=10)
    sf.testing.check_world(world)
    targets = {"drawer_1": 2, "drawer_2": 2}
    skills = sf.discover(world, sf.focused(sf.vic()), seed=0, targets=targets)
    for z, effects in enumerate(sf.metrics.side_effects(skills)):
        print(z, effects.targets[0], f"changes {effects.changes_target:.2f}", end=", ")
        print(f"side effects {effects.side_effects:.2f}")
    start = world.space.state(hand=2)
    for state in world.play(skills.policy(0), start):
        print(world.space.labels(state))
