"""The appendix of the report's main page: how verdicts are reached, every claim, and the runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import polars as pl

from skillfocus.experiments.by_seed import values_by_seed
from skillfocus.experiments.cases import Setup
from skillfocus.experiments.claim_blocks import claim_table
from skillfocus.experiments.claims import COMPARABLE_RATIO, TOLERANCE, Claim
from skillfocus.experiments.deviations import DEVIATIONS
from skillfocus.experiments.figure_pages import main_rows
from skillfocus.experiments.formatting import (
    MISSING,
    agent_name,
    capitalize,
    format_mean,
    format_number,
    format_range,
    setup_name,
    setup_title,
)
from skillfocus.experiments.paper_verdicts import COUNTED, PaperVerdict
from skillfocus.experiments.reduce import METRICS
from skillfocus.experiments.results import VERSIONS
from skillfocus.experiments.sections import Section
from skillfocus.report.document import Block, Details, Heading, Listing, Paragraph, Table

TITLE = "Appendix"


def appendix_blocks(
    sections: Sequence[Section], verdicts: Sequence[PaperVerdict], costs: pl.DataFrame
) -> list[Block]:
    """Return the appendix.

    Args:
        sections: The analyses, sorted by setup.
        verdicts: The paper's claims that have results.
        costs: Costs (columns: `results.COSTS`).
    """
    return [
        Heading(TITLE), *_verdict_blocks(verdicts),
        *_claim_blocks(sections, "Every claim", "paper"),
        *_claim_blocks(sections, "Our own aims", "aim"),
        *_claim_blocks(sections, "Controls", "control"), *_metric_blocks(sections),
        Heading("Deviations from the paper", 3), Listing(list(DEVIATIONS), numbered=True),
        Paragraph("`docs/deviations.md` explains each."),
        *_cost_blocks(sections, costs),
    ]  # fmt: skip


# -------------------------------------------------------------------- claims


def _verdict_blocks(verdicts: Sequence[PaperVerdict]) -> list[Block]:
    """How verdicts are reached, and how many detailed claims have which."""
    rows = [
        [verdict.claim.name, setup_title(setup), *(str(tally.counts[name]) for name in COUNTED)]
        for verdict in verdicts
        for setup, tally in verdict.tallies.items()
    ]
    counts = Table("Verdicts on detailed claims", ["claim", "setup", *COUNTED], rows)
    return [
        Heading("How verdicts are reached", 3),
        Paragraph(
            "A detailed claim is **reproduced** if our interval shows its direction and our "
            f"estimate has its size, give or take {TOLERANCE:.0%} of the paper's number and the "
            "error of reading it off a figure; doing better than the paper counts. **Direction "
            "only**: the size falls short. **Undecided**: our interval holds both no difference "
            "and the paper's, or there is one seed. **Not reproduced**: anything else. "
            f"*Comparable* asks for a ratio within {COMPARABLE_RATIO:g} either way; that seeds "
            "*fail*, or *learn*, for an interval of their share on one side of a half. An **aim** "
            "is our own, and reached by the mean."
        ),
        Paragraph(
            "A claim of the paper is **reproduced** if all its detailed claims are, **direction "
            "only** if all show at least the direction, **undecided** if none is decided, **not "
            "reproduced** if none shows the direction, and otherwise **partly**."
        ),
        Paragraph(
            "Every number was computed from the runs' results by the command that wrote this "
            "page. Intervals are 90 %: Student's for means over seeds, for paired differences and "
            "for the logarithms of ratios; Clopper and Pearson's for counts; a bootstrap for "
            "interquartile means. The learners' own defaults were chosen in earlier versions while "
            "looking at seeds 0 to 4, for what focused skills do in discovery; what the preset "
            "`best` adds was chosen on tuning seeds, from 1000 up."
        ),
        *([counts] if rows else []),
    ]


def _claim_blocks(sections: Sequence[Section], title: str, source: str) -> list[Block]:
    """The claims of one source, collapsed setup by setup; nothing without claims."""
    blocks: list[Block] = []
    for setup, members in groupby(sections, key=lambda section: section.setup):
        claims: list[Claim] = [
            c for section in members for c in section.analysis.claims if c.source == source
        ]
        if claims:
            summary = f"{capitalize(setup_name(setup))} ({len(claims)})"
            blocks.append(Details(summary, [claim_table(claims, f"{title}: {setup_name(setup)}")]))
    return [Heading(title, 3), *blocks] if blocks else []


# -------------------------------------------------------------------- metrics


def _metric_blocks(sections: Sequence[Section]) -> list[Block]:
    """A table per metric that is declared with a title: the mean by setup, world and agent."""
    frames = {section.setup: section.frame for section in sections}
    columns = ["metric", "settings", "world", "agent", "mean over seeds", "seeds"]
    tables: list[Block] = []
    for metric in METRICS:
        rows = []
        for setup, frame in frames.items() if metric.title else ():
            names = [m for m in frame["metric"].unique() if metric.matches_reduced(m)]
            rows += _metric_rows(setup, frame.filter(pl.col("metric").is_in(names)))
        if rows:
            tables.append(Table(metric.title, columns, rows))
    return [Heading("Other metrics", 3), *tables] if tables else []


def _metric_rows(setup: Setup, frame: pl.DataFrame) -> list[list[str]]:
    rows = []
    keys = frame.select("metric", "world", "agent", "variant").unique().sort(pl.all())
    for name, world, agent, variant in keys.iter_rows():
        values = values_by_seed(frame, name, world, agent, variant)
        label = f"{agent_name(agent)}, {variant}" if variant else agent_name(agent)
        mean = format_mean(values, 3)
        rows.append([name, setup_name(setup), world, label, mean, str(len(values))])
    return rows


# -------------------------------------------------------------------- versions and cost


def _cost_blocks(sections: Sequence[Section], costs: pl.DataFrame) -> list[Block]:
    """Runs by setup, versions, and costs by agent."""
    cost = (
        costs.group_by("preset", "learner", "world", "agent")
        .agg(pl.len(), pl.col("cpu_seconds").mean(), pl.col("peak_memory_mb").max())
        .sort("preset", "learner", "world", "agent")
    )
    rows = [
        [*names, str(n), format_number(cpu, 1), MISSING if mb is None else format_number(mb, 0)]
        for *names, n, cpu, mb in cost.iter_rows()
    ]
    columns = ["preset", "learner", "world", "agent", "runs", "CPU s per run", "peak MB"]
    versions = [
        [name, ", ".join(known)]
        for name in VERSIONS
        if (known := costs[name].drop_nulls().unique().sort().to_list())
    ]
    return [
        Heading("Versions and cost", 3),
        _run_table(sections, costs),
        Table("Versions", ["of", "found"], versions),
        Details("Cost by agent", [Table("Cost", columns, rows)]),
    ]


def _run_table(sections: Sequence[Section], costs: pl.DataFrame) -> Table:
    rows = []
    for setup, frame in {section.setup: section.frame for section in sections}.items():
        main = main_rows(frame).filter(pl.col("variant") == "")
        counts = main.group_by("world", "agent").agg(pl.col("seed").n_unique())
        cost = costs.filter(
            (pl.col("preset") == setup.preset) & (pl.col("learner") == setup.learner)
        )
        hours = format_number(float(cost["cpu_seconds"].sum()) / 3600, 1)
        seeds = format_range(counts["seed"].to_list())
        rows.append([setup_name(setup), str(len(cost)), seeds, f"{hours} h"])
    note = "Runs that two settings share are counted in both."
    return Table("Runs", ["settings", "runs", "seeds per agent", "CPU time"], rows, note)
