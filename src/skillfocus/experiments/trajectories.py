"""Figure 1: what skills do, drawn in every world from the paper's start cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from skillfocus.experiments.cases import Case, Setup, main_cases
from skillfocus.experiments.claims import Analysis
from skillfocus.experiments.experiment import Experiment
from skillfocus.experiments.formatting import agent_name
from skillfocus.experiments.presets import OBJECTIVES, PLAIN, WORLD_NAMES, WORLDS
from skillfocus.report.document import Block, Heading, Paragraph
from skillfocus.runs.world_cache import cached_mdp, cached_world
from skillfocus.worlds.grid import GridWorld

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BASES = PLAIN
"""The columns of the figure: each objective plain, with DUSDi and focused."""
GALLERY_HINT = (
    "`skillfocus view --gallery` writes one page on which the skills of all eight algorithms can "
    "be watched in all three worlds, from any start and with any slips."
)


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return the main cases of the first seed; one is enough to look at."""
    return main_cases(setup, WORLDS, OBJECTIVES, seeds[:1])


def analyze(frame: pl.DataFrame) -> Analysis:
    """Return nothing: the figure is the result."""
    del frame
    return Analysis()


def figure(frame: pl.DataFrame) -> Figure:
    """Draw telling paths without slips, a row per world and a column per objective.

    A panel shows the longest path of a focused and of a DUSDi skill that change a goal, where
    there is one, and the two paths of plain skills that end farthest away.

    Args:
        frame: Reduced results of one setup, with the metric `path/SKILL`.
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle

    from skillfocus.experiments.drawing import GREY, LINES, agent_style
    from skillfocus.figures.trajectories import START, draw_map

    figure = Figure(figsize=(8.4, 8.6), layout="constrained")
    panels = figure.subplots(len(WORLDS), len(BASES))
    for row, name in zip(panels, WORLDS, strict=True):
        world = cached_world(name, "{}")
        assert isinstance(world, GridWorld)
        for panel, base in zip(row, BASES, strict=True):
            draw_map(panel, world, world.showcase)
            r, c = world.map.cells[world.showcase[0]]
            panel.add_patch(Rectangle((c, r), 1, 1, color=START, lw=0))
            shift = 0.0
            for agent, count in ((base, 2), (f"dusdi-{base}", 1), (f"focused-{base}", 1)):
                for path in telling_paths(frame, name, agent)[:count]:
                    style = agent_style(agent) if agent != base else {"color": GREY}
                    _draw_path(panel, world, path, style, shift)
                    shift += 0.12
            panel.set_title(f"{WORLD_NAMES[name]}, {agent_name(base)}", fontsize=9)
    kinds = (("focused", "-", "black"), ("DUSDi", LINES["dusdi"], "black"), ("plain", "-", GREY))
    handles = [Line2D([], [], color=c, ls=line, lw=2, label=f"{n} skill") for n, line, c in kinds]
    handles += [
        Line2D([], [], color=START, ls="", marker="s", ms=9, label="first cell"),
        Line2D([], [], color="black", ls="", marker="o", label="last cell"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, fontsize=8)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return figure


def telling_paths(frame: pl.DataFrame, world: str, agent: str) -> list[np.ndarray]:
    """Return the paths [n_steps, n_variables] that show best what an agent's skills do.

    These are the paths that change a goal, longest first. A plain agent has no goals; its paths
    are sorted by the distance between first and last cell, farthest first.

    Args:
        frame: Reduced results of one setup.
        world: Short name of the world.
        agent: The agent.
    """
    mdp = cached_mdp(world, "{}")
    mine = frame.filter(
        (pl.col("world") == world) & (pl.col("agent") == agent) & (pl.col("variant") == "")
        & pl.col("metric").str.starts_with("path/")
    ).sort("step")  # fmt: skip
    paths = [
        mdp.values[path["value"].cast(pl.Int64).to_numpy()]
        for _, path in mine.group_by("metric", "seed", maintain_order=True)
    ]
    if agent not in PLAIN:
        goals = [mdp.space.index(name) for name in cached_world(world, "{}").goals]
        paths = [path for path in paths if (path[0, goals] != path[-1, goals]).any()]
        return sorted(paths, key=len, reverse=True)
    cells = mdp.space.variables[0].coordinates
    return sorted(paths, key=lambda p: -np.linalg.norm(cells[p[-1, 0]] - cells[p[0, 0]]))


def _draw_path(panel: Axes, world: GridWorld, path: np.ndarray, style: dict, shift: float) -> None:
    """Draw a path, shifted a little so that paths of several agents stay visible."""
    from skillfocus.figures.style import turned

    cells = np.array([world.map.cells[state[0]] for state in path], dtype=float)
    across, down = (values + shift / 2 for values in turned(cells, 0.09))
    panel.plot(across, down, lw=2.2, solid_joinstyle="miter", **style)
    panel.plot(across[-1], down[-1], "o", color=style["color"], ms=6)


def closing(frame: pl.DataFrame) -> list[Block]:
    """Return the heading of the players, and where to watch more."""
    del frame
    return [Heading("The skills, moving", 3), Paragraph(GALLERY_HINT)]


EXPERIMENT = Experiment(
    "trajectories",
    "Trajectories (Figure 1)",
    cases,
    analyze,
    figure,
    figure_name="figure-1-trajectories",
    caption="The first seed's skills, as they go if nothing slips.",
    closing=closing,
    illustration=True,
    page="figure-1",
)
