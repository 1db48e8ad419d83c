"""A console whose text cannot control the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from skillfocus._internal.control_characters import drop_controls


class Terminal(Console):
    """A console that drops control characters from all text; its own colours and bars remain."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render anything, see `rich.console.Console.render`."""
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else drop_controls(segment.text)
            yield Segment(text, segment.style, segment.control)
