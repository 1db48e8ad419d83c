"""Make a world from a Python object: declare its variables and actions, define get, set and step.

A desk: a hand over three drawers, each open or shut; the third one jams once it has been shut.
Skills are discovered in the explored world and played in the object itself.
"""

import skillfocus as sf


class Desk:
    """Three drawers and a hand."""

    variables = {"hand": (0, 1, 2), "drawer_1": (0, 1), "drawer_2": (0, 1), "jam": (0, 1, "stuck")}
    actions = ("left", "right", "push")

    def __init__(self):
        self.set({"hand": 0, "drawer_1": 0, "drawer_2": 0, "jam": 0})

    def get(self):
        return dict(self.state)

    def set(self, state):
        self.state = dict(state)

    def step(self, action):
        state, hand = self.state, self.state["hand"]
        if action == "push" and hand < 2:
            state[f"drawer_{hand + 1}"] = 1 - state[f"drawer_{hand + 1}"]
        elif action == "push":
            state["jam"] = {0: 1, 1: "stuck", "stuck": "stuck"}[state["jam"]]
        else:
            state["hand"] = max(0, min(2, hand + (1 if action == "right" else -1)))


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
