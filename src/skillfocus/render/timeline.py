"""When what happens in an animated SVG, as SMIL elements.

An animation takes `STEP_S` per step, rests for `HOLD_S` in its last state, and repeats. Where
animations do not run, an SVG shows the last state: that is what the elements' own attributes say.
"""

from __future__ import annotations

STEP_S, HOLD_S = 0.24, 2.5
"""How long a step takes, and the rest at the end, in seconds."""


class Timeline:
    """The times of an SVG's steps, as SMIL attributes."""

    def __init__(self, steps: int) -> None:
        """Time `steps` steps and the rest at the end."""
        self._duration = steps * STEP_S + HOLD_S
        self._times = [f"{t * STEP_S / self._duration:.5g}" for t in range(steps + 1)]

    def animate(self, attribute: str, values: list[str], kind: str = "", more: str = "") -> str:
        """Return an animation of an attribute through `values`, one per step.

        Args:
            attribute: The attribute.
            values: Its values; the last is held. If all are equal there is no animation.
            kind: Suffix of the element's name, such as "Transform".
            more: Further attributes, beginning with a space.
        """
        if len(set(values)) == 1:
            return ""
        held, times = [*values, values[-1]], [*self._times, "1"]
        return (
            f'<animate{kind} attributeName="{attribute}"{more} dur="{self._duration:g}s" '
            f'repeatCount="indefinite" values="{";".join(held)}" keyTimes="{";".join(times)}"/>'
        )

    def fade(self, visible: list[bool]) -> str:
        """Return the opening tag of a group that is visible at some steps only.

        Args:
            visible: Whether it is, at each step. If always, the result is empty.
        """
        if all(visible):
            return ""
        turns = [t for t, now in enumerate(visible) if t == 0 or now != visible[t - 1]]
        values = ";".join(str(int(visible[t])) for t in turns)
        times = ";".join(self._times[t] for t in turns)
        return (
            f'<g opacity="{int(visible[-1])}"><animate attributeName="opacity" calcMode="discrete" '
            f'dur="{self._duration:g}s" repeatCount="indefinite" values="{values}" '
            f'keyTimes="{times}"/>'
        )
