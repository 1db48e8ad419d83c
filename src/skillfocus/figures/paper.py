"""The paper's figures, redrawn from condensed results of one setup (see `experiments.reduce`)."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from skillfocus.experiments import ablation, coverage, skill_count
from skillfocus.experiments.claims import BySeed, agent_name, curves, mean_of, values
from skillfocus.experiments.downstream import NAMES, STEP_LIMITS, STEPS
from skillfocus.experiments.presets import (
    AGENTS,
    DUSDI,
    FOCUSED,
    OBJECTIVES,
    ON_TWO,
    OURS,
    PLAIN,
    PRIMITIVES,
    SCATTERED,
    WORLDS,
)
from skillfocus.experiments.underspecified import PROXY, TRUE
from skillfocus.figures.style import COLOURS, GREY, LINES, draw_curve, style_of, tidy, turned
from skillfocus.figures.trajectories import START, draw_map
from skillfocus.runs.discovery_run import cached_mdp, cached_world
from skillfocus.worlds.grid import GridWorld

BASES = tuple(COLOURS)


def coverage_figure(frame: pl.DataFrame) -> Figure:
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    for panel, base in zip(figure.subplots(1, 3, sharey=True), BASES, strict=True):
        extra = [agent for agent in OURS if base == "vic"]
        for agent in (f"focused-{base}", f"dusdi-{base}", base, *extra):
            _, lengths, covered = curves(frame, "coverage", coverage.WORLD, agent)
            if len(covered):
                area = mean_of(values(frame, "auc", coverage.WORLD, agent)).estimate
                style = style_of(agent) | ({"color": OURS_COLOURS[agent]} if agent in extra else {})
                label = f"{agent_name(agent)} (area {area:.2f})"
                draw_curve(panel, lengths, covered, style, label, 1.0, markers=True)
        tidy(panel, agent_name(base), "length of the chain", "share of states covered")
        panel.set(ylim=(0, 1), xlim=(1, 5), xticks=range(1, 6))
        if len(panel.get_lines()):
            panel.legend(fontsize=7.5, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    return figure


OURS_COLOURS = {
    SCATTERED: "#d6604d",
    SCATTERED + ON_TWO: "#b2182b",
    "focused-vic-on-two": "#f4a582",
}


def downstream_figure(frame: pl.DataFrame) -> Figure:
    figure = Figure(figsize=(11, 3.4), layout="constrained")
    panels = figure.subplots(1, 3)
    for panel, world in zip(panels, WORLDS, strict=True):
        for agent in AGENTS:
            _task_curve(panel, frame, STEPS, world, agent)
        _optimum(panel, frame, "true/steps", world)
        tidy(panel, NAMES[world], "episodes", "steps")
        panel.set_ylim(0, STEP_LIMITS[world] * 1.03)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right", fontsize=7.5)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return figure


def _optimum(panel: Axes, frame: pl.DataFrame, metric: str, world: str) -> None:
    """What the best policy over primitive moves reaches, as a line."""
    optimum = values(frame, f"optimum/{metric}", world, PRIMITIVES)
    if optimum:
        best = next(iter(optimum.values()))
        panel.axhline(best, color="black", lw=0.8, ls=(0, (4, 2)), label="optimum")


def underspecified_figure(frame: pl.DataFrame) -> Figure:
    figure = Figure(figsize=(11, 3.2), layout="constrained")
    panels = figure.subplots(1, 4, sharey=True)
    places = [(w, m) for w in ("forage-world", "mud-world") for m in (PROXY, TRUE)]
    for panel, (world, metric) in zip(panels, places, strict=True):
        for agent in AGENTS:
            _task_curve(panel, frame, metric, world, agent)
        _optimum(panel, frame, f"{'proxy' if metric == PROXY else 'true'}/return", world)
        kind = "proxy return" if metric == PROXY else "true return"
        tidy(panel, f"{NAMES[world]}: {kind}", "episodes of the proxy", "return")
        panel.set_ylim(0, 1.02)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right", fontsize=7.5)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return figure


def _task_curve(panel: Axes, frame: pl.DataFrame, metric: str, world: str, agent: str) -> None:
    """A learning curve; before the first episode an agent does as well as one that fails."""
    untaught, most = (STEP_LIMITS[world], STEP_LIMITS[world]) if metric == STEPS else (0, 1)
    _, episodes, learned = curves(frame, metric, world, agent)
    if len(learned):
        learned = np.concatenate([np.full((len(learned), 1), untaught), learned], axis=1)
        at = np.concatenate([[0], episodes])
        draw_curve(panel, at, learned, style_of(agent), agent_name(agent), most)


def _by_setting(panel: Axes, agent: str, found: dict[int, BySeed], most: float) -> None:
    """A curve over a setting, of the seeds that every value of it has."""
    found = {place: by_seed for place, by_seed in found.items() if by_seed}
    seeds = sorted(set.intersection(*map(set, found.values()))) if found else []
    if seeds:
        curve = np.array([[by_seed[seed] for by_seed in found.values()] for seed in seeds])
        places, style = np.array(list(found)), style_of(agent)
        draw_curve(panel, places, curve, style, agent_name(agent), most, markers=True)


def ablation_figure(frame: pl.DataFrame) -> Figure:
    figure = Figure(figsize=(5.2, 3.2), layout="constrained")
    panel = figure.subplots()
    place, max_episode_steps = ablation.STRENGTHS.index, STEP_LIMITS[ablation.WORLD]
    for agent in FOCUSED:
        found = ablation.curve(frame, agent, STEPS)
        _by_setting(
            panel,
            agent,
            {place(strength): found[strength] for strength in found},
            max_episode_steps,
        )
    panel.set_xticks(range(len(ablation.STRENGTHS)), [f"{s:g}" for s in ablation.STRENGTHS])
    panel.set_ylim(0, max_episode_steps * 1.03)
    _optimum(panel, frame, "true/steps", ablation.WORLD)
    tidy(panel, "MudWorld", "strength λ of the penalty", "steps after 20,000 episodes")
    if panel.get_legend_handles_labels()[0]:
        panel.legend(fontsize=7.5, framealpha=0.8)
    return figure


def skill_count_figure(frame: pl.DataFrame) -> Figure:
    figure = Figure(figsize=(5.2, 3.2), layout="constrained")
    panel = figure.subplots()
    world, counts = skill_count.WORLD, skill_count.COUNTS
    for agent in OBJECTIVES:
        found = {n: values(frame, STEPS, world, agent, skill_count.variant(n)) for n in counts}
        _by_setting(panel, agent, found, STEP_LIMITS[world])
    panel.set_xticks(counts)
    panel.set_ylim(0, STEP_LIMITS[world] * 1.03)
    _optimum(panel, frame, "true/steps", world)
    tidy(panel, "FourRooms", "number of skills", "steps after 20,000 episodes")
    if len(panel.get_lines()):
        figure.legend(loc="outside right", fontsize=7.5)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return figure


def side_effects_figure(frame: pl.DataFrame) -> Figure:
    """A bar per agent and world, every seed as a point."""
    figure = Figure(figsize=(11.5, 3.4), layout="constrained")
    for panel, world in zip(figure.subplots(1, 3), WORLDS, strict=True):
        for place, agent in enumerate(OBJECTIVES):
            found = values(frame, "mean_side_effects", world, agent)
            if not found:
                continue
            style, hatch = style_of(agent), "//" if agent in DUSDI else None
            alpha = 0.35 if agent in PLAIN else 0.9
            mean = mean_of(found).estimate
            panel.bar(place, mean, color=str(style["color"]), alpha=alpha, hatch=hatch)
            panel.plot([place] * len(found), list(found.values()), ".", color="black", ms=3)
        names = [agent_name(agent) for agent in OBJECTIVES]
        panel.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=7.5)
        panel.set(yscale="log", ylim=(3e-3, 6))
        tidy(panel, NAMES[world], "", "other variables changed, per skill")
    return figure


def trajectories_figure(frame: pl.DataFrame) -> Figure:
    """Per world and method, without slips: of the skills that change a goal the one that goes
    farthest, focused and DUSDi, if there is any; and two plain ones."""
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
            for agent, wanted in ((base, 2), (f"dusdi-{base}", 1), (f"focused-{base}", 1)):
                for path in _telling_paths(frame, name, agent)[:wanted]:
                    style = style_of(agent) if agent != base else {"color": GREY}
                    _draw_path(panel, world, path, style, shift)
                    shift += 0.12
            panel.set_title(f"{NAMES[name]}, {agent_name(base)}", fontsize=9)
    kinds = (("focused", "-", "black"), ("DUSDi", LINES["dusdi"], "black"), ("plain", "-", GREY))
    handles = [Line2D([], [], color=c, ls=line, lw=2, label=f"{n} skill") for n, line, c in kinds]
    handles += [
        Line2D([], [], color=START, ls="", marker="s", ms=9, label="first cell"),
        Line2D([], [], color="black", ls="", marker="o", label="last cell"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, fontsize=8)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return figure


def _telling_paths(frame: pl.DataFrame, world: str, agent: str) -> list[np.ndarray]:
    """The paths [time, variable] of the skills that change a goal, the longest ways first; of a
    plain agent, which has no goals, of those that end farthest away."""
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
    places = mdp.space.variables[0].coordinates
    return sorted(paths, key=lambda p: -np.linalg.norm(places[p[-1, 0]] - places[p[0, 0]]))


def _draw_path(panel: Axes, world: GridWorld, path: np.ndarray, style: dict, shift: float) -> None:
    cells = np.array([world.map.cells[state[0]] for state in path], dtype=float)
    across, down = (values + shift / 2 for values in turned(cells, 0.09))
    panel.plot(across, down, lw=2.2, solid_joinstyle="miter", **style)
    panel.plot(across[-1], down[-1], "o", color=style["color"], ms=6)


FIGURES = {
    "trajectories": ("figure-1-trajectories", trajectories_figure),
    "coverage": ("figure-2-coverage", coverage_figure),
    "downstream": ("figure-3-downstream", downstream_figure),
    "underspecified": ("figure-4-underspecified", underspecified_figure),
    "ablation": ("figure-5-ablation", ablation_figure),
    "skill-count": ("skill-count", skill_count_figure),
    "side-effects": ("side-effects", side_effects_figure),
}
"""Of an experiment: the figure's name, and what draws it."""
