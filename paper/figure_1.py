"""Figure 1: what skills do, drawn in every world from the paper's start cells.

Side effects (Equation 1) of every agent in every world.

The paper argues that focused skills have the fewest side effects; here they are computed, exactly
where the world allows. Claims, with W a world, A a focused agent and B its DUSDi or plain
counterpart:

    effects-W-A-B         A's skills have fewer side effects than B's; with DUSDi, only the skills
                          for goals are compared
    effects-W-A-control   a goal's best skill changes it in more than half of its runs, and mostly
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from paper.agents import Case, Setup, main_cases
from paper.claims import Analysis, Claim, Experiment, count_shown, difference_claim, judge, matching
from paper.formatting import GREY, LINES, MISSING, Table, agent_name, agent_style, format_mean
from paper.results import (
    SeedValues,
    mean_over_seeds,
    values_by_agent,
    values_by_seed,
    worst_side_effects,
)
from paper.settings import DUSDI, FOCUSED, OBJECTIVES, PLAIN, WORLD_NAMES, WORLDS
from skillfocus.discovery import cached_mdp, cached_world
from skillfocus.figures import START, draw_map, label_panel
from skillfocus.render.scene import turned
from skillfocus.worlds.grid import GridWorld

# -------------------------------------------------------------------- trajectories

GALLERY_HINT = (
    "`python -m paper gallery` writes one page on which the skills of all eight algorithms can "
    "be watched in all three worlds, from any start and with any slips."
)


def draw_trajectories(frame: pl.DataFrame) -> Figure:
    """Draw telling paths without slips, a row per world and a column per objective.

    A panel shows the longest path of a focused and of a DUSDi skill that change a goal, where
    there is one, and the two paths of plain skills that end farthest away.

    Args:
        frame: Reduced results of one setup, with the metric `path/SKILL`.
    """
    figure = Figure(figsize=(8.4, 8.6), layout="constrained")
    panels = figure.subplots(len(WORLDS), len(PLAIN))
    for row, name in zip(panels, WORLDS, strict=True):
        world = cached_world(name, "{}")
        assert isinstance(world, GridWorld)
        for panel, base in zip(row, PLAIN, strict=True):
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
    cells = np.array([world.map.cells[state[0]] for state in path], dtype=float)
    across, down = (values + shift / 2 for values in turned(cells, 0.09)[1:])
    panel.plot(across, down, lw=2.2, solid_joinstyle="miter", **style)
    panel.plot(across[-1], down[-1], "o", color=style["color"], ms=6)


TRAJECTORIES = Experiment(
    "trajectories",
    "Trajectories (Figure 1)",
    # the first seed is enough to look at
    lambda setup, seeds: main_cases(setup, WORLDS, OBJECTIVES, seeds[:1]),
    lambda _: Analysis(),
    draw_trajectories,
    figure_name="figure-1-trajectories",
    caption="The first seed's skills, as they go if nothing slips.",
    closing=lambda _: ["### The skills, moving", GALLERY_HINT],
    illustration=True,
    page="figure-1",
)

# -------------------------------------------------------------------- side effects

PER_SKILL = "mean_side_effects"
"""Side effects per skill, the mean over all skills."""
BY_VARIABLE = "goal/side_effects_by_variable/"
MOSTLY = 0.9
"""How often a skill changes its target that does so mostly."""


def cases(setup: Setup, seeds: Sequence[int]) -> list[Case]:
    """Return the main cases."""
    return main_cases(setup, WORLDS, OBJECTIVES, seeds)


def analyze(frame: pl.DataFrame) -> Analysis:
    """Compare focused skills with DUSDi's, goals' skills alone, and with plain ones.

    Args:
        frame: Reduced results of one setup.

    Returns:
        Claims (see the module), and per world a table of agents and one of variables.
    """
    claims, tables = [], []
    for world in WORLDS:
        per_skill, of_goals = (
            values_by_agent(frame, metric, world, OBJECTIVES)
            for metric in (PER_SKILL, "goal/side_effects")
        )
        for agent in FOCUSED:
            claims += _control_claim(frame, world, agent)
            base = agent.removeprefix("focused-")
            claims += _fewer_claim(world, agent, f"dusdi-{base}", of_goals)
            claims += _fewer_claim(world, agent, base, per_skill)
        tables += [_agent_table(frame, world), _variable_table(frame, world)]
    return Analysis(claims, [table for table in tables if table.rows])


def _control_claim(frame: pl.DataFrame, world: str, agent: str) -> list[Claim]:
    control = values_by_seed(frame, "goal/control", world, agent)
    if not control:
        return []
    ours, n = mean_over_seeds(control, 0, 1), len(control)
    statement = (
        f"{WORLD_NAMES[world]}: {agent_name(agent)} skills change their targets: how often a "
        f"goal's best skill does ({MOSTLY:.0%} or more; direction: more than half)"
    )
    verdict = judge(ours.low > 0.5, ours.estimate >= MOSTLY, n)
    return [Claim(f"effects-{world}-{agent}-control", statement, None, ours, verdict, n)]


def _fewer_claim(world: str, agent: str, other: str, effects: dict[str, SeedValues]) -> list[Claim]:
    first, second = effects[agent], effects.get(other, {})
    which = "skills for goals" if other in DUSDI else "skills"
    counted = "" if other in DUSDI else " (which have no targets, so that all they change counts)"
    return difference_claim(
        f"effects-{world}-{agent}-{other}",
        f"{WORLD_NAMES[world]}: {agent_name(agent)} {which} have fewer side effects than those "
        f"of {agent_name(other)}{counted}: the difference per skill",
        first, second, -1, evidence=f"{format_mean(first, 3)} and {format_mean(second, 3)}",
    )  # fmt: skip


def _agent_table(frame: pl.DataFrame, world: str) -> Table:
    """Control and side effects of each agent, by the role of skills."""
    rows = []
    for agent in OBJECTIVES:
        of = partial(values_by_seed, frame, world=world, agent=agent)
        if per_skill := of(PER_SKILL):
            by_role = [
                MISSING if agent in PLAIN else format_mean(of(f"{role}/side_effects"), 3)
                for role in ("goal", "roam")
            ]
            rows.append(
                [
                    agent_name(agent), format_mean(of("goal/control"), 3, 0, 1),
                    format_mean(per_skill, 3), *by_role,
                    format_mean(worst_side_effects(frame, world, agent), 3), str(len(per_skill)),
                ]
            )  # fmt: skip
    columns = [
        "agent", "a goal's best skill changes it", "side effects per skill", "of goals' skills",
        "of position's skills", "of the worst skill", "seeds",
    ]  # fmt: skip
    note = "A plain skill has no target: every variable that it changes is counted."
    if world == "mud-world":
        note += (
            " MudWorld hides which cells are muddy, so its numbers are sampled, 4,000 runs a "
            "skill. Nobody can take the treasure without tracking mud: a focused skill that takes "
            "it changes muddy_cells always."
        )
    title = f"{WORLD_NAMES[world]}: expected number of other variables changed"
    return Table(title, columns, rows, note)


def _variable_table(frame: pl.DataFrame, world: str) -> Table:
    """Which variables the skills for goals change beside their targets."""
    mine = frame.filter((pl.col("world") == world) & pl.col("metric").str.starts_with(BY_VARIABLE))
    metrics = mine["metric"].unique().sort().to_list()
    rows = []
    for agent in (*FOCUSED, *DUSDI):
        changes = [values_by_seed(frame, metric, world, agent) for metric in metrics]
        if any(changes):
            rows.append([agent_name(agent), *(format_mean(by_seed, 3) for by_seed in changes)])
    title = f"{WORLD_NAMES[world]}: how often a goal's skill changes each other variable"
    note = "The mean over a goal's skills, of which one mostly leaves it alone and changes nothing."
    return Table(title, ["agent", *(m.removeprefix(BY_VARIABLE) for m in metrics)], rows, note)


def draw_side_effects(frame: pl.DataFrame) -> Figure:
    """Draw side effects per skill, a panel per world: a bar per agent, and every seed as a point.

    DUSDi's bars are hatched, plain ones pale.

    Args:
        frame: Reduced results of one setup.
    """
    figure = Figure(figsize=(11.5, 3.4), layout="constrained")
    for panel, world in zip(figure.subplots(1, 3), WORLDS, strict=True):
        for place, agent in enumerate(OBJECTIVES):
            effects = values_by_seed(frame, PER_SKILL, world, agent)
            if not effects:
                continue
            colour, hatch = str(agent_style(agent)["color"]), "//" if agent in DUSDI else None
            alpha = 0.35 if agent in PLAIN else 0.9
            mean = mean_over_seeds(effects).estimate
            panel.bar(place, mean, color=colour, alpha=alpha, hatch=hatch)
            panel.plot([place] * len(effects), list(effects.values()), ".", color="black", ms=3)
        names = [agent_name(agent) for agent in OBJECTIVES]
        panel.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=7.5)
        panel.set(yscale="log", ylim=(3e-3, 6))
        label_panel(panel, WORLD_NAMES[world], "", "other variables changed, per skill")
    return figure


def outcome(claims: Sequence[Claim]) -> str:
    """Return in how many cases focused skills change their targets, and have fewer side effects."""
    control = matching(claims, r"effects-.*-control")
    effects = matching(claims, r"effects-(?!.*-control).*")
    if not effects:
        return ""
    changing = f"change their targets in {count_shown(control)} of {len(control)} cases, and "
    return (
        f"Focused skills {changing if control else ''}have fewer side effects than their DUSDi and "
        f"plain counterparts in {count_shown(effects)} of {len(effects)} comparisons."
    )


SIDE_EFFECTS = Experiment(
    "side-effects",
    "Side effects (Equation 1)",
    cases,
    analyze,
    draw_side_effects,
    caption="Bars are means over seeds, points single seeds.",
    presets=("paper",),
    page="figure-1",
    outcome=outcome,
)
