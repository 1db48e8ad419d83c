"""Define your own world: its variables, its starts and its transitions.

A lamp with a dimmer and a fuse: turning the dimmer to full may blow the fuse, for good.
"""

import itertools

import skillfocus as sf


class Lamp(sf.World):
    """A lamp with four levels, a switch and a fuse."""

    id = "Lamp-v0"
    actions = ("brighter", "darker", "switch")
    step_limit = 8
    space = sf.Space(
        (
            sf.Variable("level", (0, 1, 2, 3)),
            sf.Variable("on", (0, 1)),
            sf.Variable("fuse", ("good", "blown")),
        )
    )

    def states(self):
        """Return where skills may start: every combination of value indices."""
        return itertools.product(range(4), range(2), range(2))

    def transition(self, state, action):
        """Return the possible outcomes of an action."""
        level, on, fuse = state
        if self.actions[action] == "switch":
            return [sf.Outcome(1.0, (level, 1 - on, fuse))]
        level = min(level + 1, 3) if self.actions[action] == "brighter" else max(level - 1, 0)
        if level == 3 and on and not fuse:
            return [sf.Outcome(0.5, (level, on, 0)), sf.Outcome(0.5, (level, on, 1))]
        return [sf.Outcome(1.0, (level, on, fuse))]


world = Lamp()
skills = sf.discover(world, sf.focused(sf.vic()), seed=0, targets={"level": 4, "on": 2})
for z, effects in enumerate(sf.metrics.side_effects(skills, "all")):
    changes = ", ".join(f"{name} {p:.2f}" for name, p in effects.by_variable.items())
    print(f"skill {z} for {effects.targets[0]}: {effects.changes_target:.2f}; others: {changes}")
