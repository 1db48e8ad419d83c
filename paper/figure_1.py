"""Figure 1: what skills do, drawn in every world from the paper's start cells.

Side effects (Equation 1) of every agent in every world.

The paper argues that focused skills have the fewest side effects; here they are computed, exactly
where the world allows. Claims: `effects…` in `claims.toml`. With DUSDi, only the skills for goals
are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from paper import formatting as fmt
from paper.agents import main_cases
from paper.claims import (
    Analysis,
    Claim,
    Experiment,
    claim,
    count_shown,
    difference_claim,
    judge,
    matching,
)
from paper.results import mean_over_seeds, values_by_seed, worst_side_effects
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
    """
    figure = fmt.draw_grid(
        list(product(WORLDS, PLAIN)), partial(_draw_paths, frame), (8.4, 8.6), rows=len(WORLDS)
    )
    kinds = (
        ("focused", "-", "black"), ("DUSDi", fmt.LINES["dusdi"], "black"), ("plain", "-", fmt.GREY),
    )  # fmt: skip
    handles = [Line2D([], [], color=c, ls=line, lw=2, label=f"{n} skill") for n, line, c in kinds]
    handles += [
        Line2D([], [], color=START, ls="", marker="s", ms=9, label="first cell"),
        Line2D([], [], color="black", ls="", marker="o", label="last cell"),
    ]
    fmt.add_legend(figure, handles, "outside lower center", 8, ncols=5)
    return figure


def _draw_paths(frame: pl.DataFrame, panel: Axes, content: tuple[str, str]) -> None:
    """Draw the paths of an objective's agents in a world, shifted a little to stay visible."""
    name, base = content
    world = cached_world(name, "{}")
    assert isinstance(world, GridWorld)
    draw_map(panel, world, world.showcase)
    r, c = world.map.cells[world.showcase[0]]
    panel.add_patch(Rectangle((c, r), 1, 1, color=START, lw=0))
    shift = 0.0
    for agent, count in ((base, 2), (f"dusdi-{base}", 1), (f"focused-{base}", 1)):
        style: dict[str, Any] = {"color": fmt.GREY} if agent == base else fmt.agent_style(agent)
        for path in telling_paths(frame, name, agent)[:count]:
            cells = np.array([world.map.cells[state[0]] for state in path], dtype=float)
            across, down = (values + shift / 2 for values in turned(cells, 0.09)[1:])
            panel.plot(across, down, lw=2.2, solid_joinstyle="miter", **style)
            panel.plot(across[-1], down[-1], "o", color=style["color"], ms=6)
            shift += 0.12
    panel.set_title(f"{WORLD_NAMES[name]}, {fmt.agent_name(base)}", fontsize=9)


def telling_paths(frame: pl.DataFrame, world: str, agent: str) -> list[np.ndarray]:
    """Return the paths [n_steps, n_variables] that show best what an agent's skills do.

    These are the paths that change a goal, longest first. A plain agent has no goals; its paths
    are sorted by the distance between first and last cell, farthest first.

    Args:
        frame: Reduced results of one setup, with the metric `path/SKILL`.
        world: Short name of the world.
        agent: The agent.
    """
    mdp = cached_mdp(world, "{}")
    mine = frame.filter(
        pl.col("metric").str.starts_with("path/"), world=world, agent=agent, variant=""
    ).sort("step")
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


def analyze(frame: pl.DataFrame) -> Analysis:
    """Compare focused skills with DUSDi's, goals' skills alone, and with plain ones.

    Returns:
        Claims, and per world a table of agents and one of variables.
    """
    claims, tables = [], []
    for world in WORLDS:
        for agent in FOCUSED:
            claims += _claims(frame, world, agent)
        tables += [_agent_table(frame, world), _variable_table(frame, world)]
    return Analysis(claims, [table for table in tables if table.rows])


def _claims(frame: pl.DataFrame, world: str, agent: str) -> list[Claim]:
    found = []
    if control := values_by_seed(frame, "goal/control", world, agent):
        ours, n = mean_over_seeds(control, 0, 1), len(control)
        verdict = judge(ours.low > 0.5, ours.estimate >= MOSTLY, n)
        names = {"world": world, "agent": agent, "mostly": MOSTLY}
        found.append(claim("effects-control", ours, verdict, n, **names))
    base = agent.removeprefix("focused-")
    for detail, other, metric in (
        ("effects-dusdi", f"dusdi-{base}", "goal/side_effects"), ("effects", base, PER_SKILL),
    ):  # fmt: skip
        first, second = (values_by_seed(frame, metric, world, a) for a in (agent, other))
        evidence = f"{fmt.mean(first, 3)} and {fmt.mean(second, 3)}"
        found += difference_claim(
            detail, first, second, -1, evidence=evidence, world=world, agent=agent, other=other
        )
    return found


def _agent_table(frame: pl.DataFrame, world: str) -> fmt.Table:
    """Control and side effects of each agent, by the role of skills."""

    def rows() -> Iterator[dict[str, str]]:
        for agent in OBJECTIVES:
            of = partial(values_by_seed, frame, world=world, agent=agent)
            if per_skill := of(PER_SKILL):
                yield {
                    "agent": fmt.agent_name(agent),
                    "a goal's best skill changes it": fmt.mean(of("goal/control"), 3, 0, 1),
                    "side effects per skill": fmt.mean(per_skill, 3),
                    "of goals' skills": fmt.mean(of("goal/side_effects"), 3),
                    "of position's skills": fmt.mean(of("roam/side_effects"), 3),
                    "of the worst skill": fmt.mean(worst_side_effects(frame, world, agent), 3),
                    "seeds": str(len(per_skill)),
                }

    note = "A plain skill has no target: every variable that it changes is counted."
    if world == "mud-world":
        note += (
            " MudWorld hides which cells are muddy, so its numbers are sampled, 4,000 runs a "
            "skill. Nobody can take the treasure without tracking mud: a focused skill that takes "
            "it changes muddy_cells always."
        )
    title = f"{WORLD_NAMES[world]}: expected number of other variables changed"
    return fmt.Table.of(title, rows(), note)


def _variable_table(frame: pl.DataFrame, world: str) -> fmt.Table:
    """Which variables the skills for goals change beside their targets."""
    mine = frame.filter(pl.col("metric").str.starts_with(BY_VARIABLE), world=world)
    metrics = mine["metric"].unique().sort().to_list()
    rows = []
    for agent in (*FOCUSED, *DUSDI):
        changes = [values_by_seed(frame, metric, world, agent) for metric in metrics]
        if any(changes):
            rows.append([fmt.agent_name(agent), *(fmt.mean(by_seed, 3) for by_seed in changes)])
    title = f"{WORLD_NAMES[world]}: how often a goal's skill changes each other variable"
    note = "The mean over a goal's skills, of which one mostly leaves it alone and changes nothing."
    return fmt.Table(title, ["agent", *(m.removeprefix(BY_VARIABLE) for m in metrics)], rows, note)


def draw_side_effects(frame: pl.DataFrame) -> Figure:
    """Draw side effects per skill, a panel per world: a bar per agent, and every seed as a point.

    DUSDi's bars are hatched, plain ones pale.
    """

    def draw(panel: Axes, world: str) -> None:
        for place, agent in enumerate(OBJECTIVES):
            effects = values_by_seed(frame, PER_SKILL, world, agent)
            if effects:
                colour, hatch = fmt.agent_style(agent)["color"], "//" if agent in DUSDI else None
                alpha = 0.35 if agent in PLAIN else 0.9
                mean = mean_over_seeds(effects).estimate
                panel.bar(place, mean, color=colour, alpha=alpha, hatch=hatch)
                panel.plot([place] * len(effects), list(effects.values()), ".", color="black", ms=3)
        names = [fmt.agent_name(agent) for agent in OBJECTIVES]
        panel.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=7.5)
        panel.set(yscale="log", ylim=(3e-3, 6))
        label_panel(panel, WORLD_NAMES[world], "", "other variables changed, per skill")

    return fmt.draw_grid(WORLDS, draw, (11.5, 3.4))


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
    lambda setup, seeds: main_cases(setup, WORLDS, OBJECTIVES, seeds),
    analyze,
    draw_side_effects,
    caption="Bars are means over seeds, points single seeds.",
    presets=("paper",),
    page="figure-1",
    outcome=outcome,
)
