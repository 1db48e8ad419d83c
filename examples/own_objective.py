"""Your own objective in a dozen lines; `focused()` comes for free.

Component k of a variable is rewarded for ending at the variable's value number k. So the two skills
of a tool become "leave it" and "fetch it", and the penalty makes the second one come home.
"""

import skillfocus as sf


def at_its_value(component, start, value):
    return 1.0 if value == component else 0.0


reach = sf.Objective("reach", sf.Reward("reach", at_its_value, uses_start=False))

world = sf.make("FourRooms-v0")
targets = {"tool_1": 2, "tool_4": 2}
for strength in (4.0, 0.0):
    objective = sf.focused(reach, strength=strength)
    skills = sf.discover(world, objective, seed=0, targets=targets, learner=sf.Planning(rounds=1))
    print(f"penalty strength {strength:g}")
    for effects in sf.metrics.side_effects(skills):
        print(
            f"  {effects.targets[0]}: fetched {effects.changes_target:.2f},"
            f" position changed {effects.by_variable['position']:.2f}"
        )
