"""Coverage against side effects: every case in FourRooms, beside the paper's numbers."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from skillfocus.experiments import coverage
from skillfocus.experiments.claims import agent_name, values
from skillfocus.experiments.presets import FOCUSED, OBJECTIVES, OURS
from skillfocus.figures.paper import OURS_COLOURS
from skillfocus.figures.style import COLOURS, GREY, LINES, style_of, tidy


def frontier_figure(frame: pl.DataFrame) -> Figure:
    """Area of coverage against exact side effects in FourRooms, one point per case and seed."""
    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    panel = figure.subplots()
    case = ["preset", "learner", "agent", "variant", "seed"]
    here = frame.filter(pl.col("world") == coverage.WORLD)
    areas, sizes = (
        here.filter(pl.col("metric") == metric).select(*case, pl.col("value").alias(metric))
        for metric in ("auc", "mean_side_effects")
    )
    points = areas.join(sizes, on=case).drop("preset").unique().sort(case[1:])
    marks = {"": "o", "strength": "^", "rounds": "s", "gamma": "D"}
    for learner, agent, variant, _, area, effects in points.iter_rows():
        setting = variant.partition("=")[0]
        if setting not in marks or agent not in (*OBJECTIVES, *OURS):
            continue
        colour = OURS_COLOURS.get(agent, style_of(agent)["color"])
        filled = agent in FOCUSED or agent in OURS_COLOURS
        panel.plot(
            max(effects, 1e-3), area, marks[setting], ms=6 if learner == "planning" else 3.5,
            mec=colour, mfc=colour if filled else "none", alpha=0.75,
        )  # fmt: skip
    for agent, area in coverage.PAPER.items():
        panel.axhline(area, lw=0.9, alpha=0.7, **style_of(agent))
    ideals = []
    for n, line in ((8, ":"), (12, "-.")):
        ideal = values(frame, "auc", coverage.WORLD, "ideal", f"region,{n}")
        if ideal:
            panel.axhline(ideal[0], color="black", lw=0.9, ls=line)
            label = f"ideal, {n} position skills"
            ideals.append(Line2D([], [], color="black", ls=line, label=label))
    panel.set_xscale("log")
    tidy(panel, "FourRooms", "side effects per skill (exact; at least 0.001 drawn)", "area")
    handles = [Line2D([], [], color=c, label=agent_name(b)) for b, c in COLOURS.items()]
    handles += [Line2D([], [], color=c, label=agent_name(a)) for a, c in OURS_COLOURS.items()]
    handles += [
        Line2D([], [], color="black", ls="", marker=m, label=name)
        for name, m in (("as the preset has it", "o"), ("other λ", "^"), ("other rounds", "s"),
                        ("other γ", "D"))
    ]  # fmt: skip
    handles += [
        Line2D([], [], color=GREY, ls=line, label=f"the paper's, {name}")
        for name, line in zip(("focused", "DUSDi", "plain"), LINES.values(), strict=True)
    ]
    figure.legend(handles=handles + ideals, loc="outside right", fontsize=7)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return figure
