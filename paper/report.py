"""The report: one Markdown text per page, rendered as HTML too.

    report.md, report.html, report.json     the paper's claims, figure by figure, and the appendix
    report/NAME.md, NAME.html               a page per figure of the paper and further experiment
    figures/NAME.png, NAME.svg, NAME.pdf    pictures

It is built from reduced results and costs alone.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from string import Template
from typing import Any

import polars as pl

from paper import formatting as fmt
from paper.agents import FURTHER_SETUPS, SEED_SHARES, SETUPS, Setup
from paper.claims import (
    COMPARABLE_RATIO,
    COUNTED,
    DIRECTION_ONLY,
    MISSED,
    NOT_REPRODUCED,
    PARTLY,
    REACHED,
    REPRODUCED,
    TOLERANCE,
    Analysis,
    Claim,
    Experiment,
    PaperVerdict,
    Picture,
    default_outcome,
    judge_paper_claims,
)
from paper.readings import flips, measured_readings, panels
from paper.results import (
    PROXY_RETURN,
    PROXY_TRUE_RETURN,
    TASK_STEPS,
    VERSIONS,
    values_by_seed,
)
from paper.settings import BASELINES, DEVIATIONS, OBJECTIVES, WORLD_NAMES
from skillfocus.figures import figure_bytes
from skillfocus.files import file_name, make_folder, write_atomically
from skillfocus.progress import Progress, no_progress

TITLE = "Focused skill discovery, reproduced"
MAIN_SETUP = Setup("paper", "planning")
"""The setup whose figures the main page shows, if it has results."""
FIGURE_TITLES = {
    1: "What skills change",
    2: "State coverage",
    3: "Downstream tasks",
    4: "Under-specified goals",
    5: "The penalty's strength",
}
PAGE_TITLES = {
    **{f"figure-{n}": f"Figure {n}: {title.lower()}" for n, title in FIGURE_TITLES.items()},
    "appendix": "The paper's appendix",
    "controls": "Controls",
    "readings": "What decides the paper's numbers",
}
"""Titles of pages; another page has the title of its first experiment."""
SETUP_DESCRIPTIONS = {
    ("paper", "literal"): "Q-learning to the letter of the paper",
    ("paper", "q-learning"): "with the settings closest to the paper's that learn",
    ("paper", "planning"): "the paper's settings, skills planned exactly",
    ("best", "planning"): "the settings that work best, skills planned exactly",
}
"""What the columns are, by preset and learner."""
PLAYERS = "<!-- players -->"
"""Where players of skills stand in the HTML page of an illustration."""


@dataclass
class Section:
    """The analysis of one experiment with one setup, from reduced results."""

    experiment: Experiment
    setup: Setup
    analysis: Analysis
    frame: pl.DataFrame
    picture: Picture | None = None

    @property
    def page(self) -> str:
        """Name of the page that shows it."""
        return self.experiment.page or self.experiment.name

    @property
    def has_results(self) -> bool:
        """Whether there is anything to show."""
        tables = any(table.rows for table in self.analysis.tables)
        return bool(tables or self.analysis.claims or self.experiment.illustration)

    @property
    def sentence(self) -> str:
        """What comes out, in one sentence."""
        outcome = self.experiment.outcome or default_outcome
        return outcome(self.analysis.claims) or default_outcome(self.analysis.claims)

    def draw(self) -> None:
        """Draw the figure, if the experiment has one."""
        experiment, setup = self.experiment, self.setup
        if experiment.figure is not None:
            name = f"{setup.preset}-{setup.learner}-{experiment.figure_name or experiment.name}"
            caption = f"{experiment.title}; {fmt.setup_name(setup)}. {experiment.caption}"
            self.picture = Picture(file_name(name), caption, experiment.figure(self.frame))


def analyze_results(frame: pl.DataFrame, experiments: Sequence[Experiment]) -> list[Section]:
    """Analyze reduced results, setup by setup.

    A setup without skills is left out: the baselines' results belong to every setup.
    """
    sections = []
    for setup in (*SETUPS, *FURTHER_SETUPS):
        mine = rows_of(frame, [setup])
        if not mine.filter(~pl.col("agent").is_in(BASELINES)).is_empty():
            sections += [
                Section(experiment, setup, experiment.analyze(mine), mine)
                for experiment in experiments
                if setup.preset in experiment.presets
            ]
    return sections


def rows_of(table: pl.DataFrame, setups: Sequence[Setup]) -> pl.DataFrame:
    """Return the rows of saved results that belong to these setups."""
    return table.filter(
        pl.col("preset").is_in([setup.preset for setup in setups])
        & pl.col("learner").is_in([setup.learner for setup in setups])
    )


@dataclass
class Report:
    """Pages as Markdown, the main one under the empty name, and what they show."""

    sections: list[Section]
    verdicts: list[PaperVerdict]
    pages: dict[str, str] = field(default_factory=dict)
    pictures: dict[str, Picture] = field(default_factory=dict)

    def data(self) -> dict[str, list[dict[str, Any]]]:
        """Return what report.json holds."""
        return {
            "figures": [
                {"figure": n, "claims": [v.record() for v in self.verdicts if v.claim.figure == n]}
                for n in FIGURE_TITLES
            ],
            "claims": [claim_record(s.setup, c) for s in self.sections for c in s.analysis.claims],
            "tables": [
                {"experiment": s.experiment.name, **vars(s.setup), **vars(table)}
                for s in self.sections
                for table in s.analysis.tables
                if table.rows
            ],
        }


def build_report(
    frame: pl.DataFrame,
    costs: pl.DataFrame,
    experiments: Sequence[Experiment],
    progress: Progress = no_progress,
) -> Report:
    """Build the report from reduced results and costs."""
    sections = analyze_results(frame, experiments)
    main = [section.frame for section in sections if section.setup == MAIN_SETUP]
    flipping = flips(measured_readings(main[0])) if main else {}
    by_setup: dict[Setup, list[Claim]] = {}
    for section in sections:
        by_setup.setdefault(section.setup, []).extend(section.analysis.claims)
    report = Report(sections, judge_paper_claims(by_setup, flipping))
    by_page: dict[str, list[Section]] = {}
    for number, experiment in enumerate(experiments):
        progress(number / len(experiments), f"drawing {experiment.name}")
        for section in sections:
            if section.experiment is experiment and section.has_results:
                by_page.setdefault(section.page, []).append(section)
                section.draw()
                if section.picture is not None:
                    report.pictures[section.picture.name] = section.picture
    for name, members in by_page.items():
        report.pages[name] = _page(report, name, members, frame)
    report.pages[""] = _main_page(report, by_page, costs)
    return report


# -------------------------------------------------------------------- pages


def _image(picture: Picture, caption: str = "") -> str:
    caption = caption or picture.caption
    return f"![{caption}](figures/{picture.name}.png)\n\n*{caption}*"


def _title(page: str, sections: Sequence[Section]) -> str:
    return PAGE_TITLES.get(page, sections[0].experiment.title)


def _preferred(sections: Sequence[Section]) -> Section:
    return next((s for s in sections if s.setup == MAIN_SETUP), sections[0])


def _page(report: Report, name: str, sections: Sequence[Section], frame: pl.DataFrame) -> str:
    """Return a page: the paper's claims that it bears on, then experiment by experiment."""
    parts = [f"# {_title(name, sections)}", "[The report](../report.md)"]
    verdicts = [v for v in report.verdicts if f"figure-{v.claim.figure}" == name]
    setups = list(dict.fromkeys(s for verdict in verdicts for s in verdict.tallies))
    if verdicts:
        parts.append(_claims_table(verdicts, setups, "Claims of the paper", main=False))
    for _, members in groupby(sections, key=lambda section: section.experiment.name):
        mine = list(members)
        experiment = mine[0].experiment
        parts.append(f"## {experiment.title}")
        for section in mine:
            parts += _section(section)
        for block in experiment.closing(frame) if experiment.closing else []:
            if isinstance(block, Picture):
                report.pictures[block.name] = block
            parts.append(_image(block) if isinstance(block, Picture) else block)
        parts += [PLAYERS] if experiment.illustration else []
    return "\n\n".join(parts).replace("](figures/", "](../figures/") + "\n"


def _section(section: Section) -> list[str]:
    """Return the command, the figure, the tables and the claims of an experiment with a setup."""
    experiment, setup = section.experiment, section.setup
    main = main_rows(section.frame).filter(pl.col("variant") == "")
    found = main["seed"].n_unique() or 10 * section.frame["seed"].n_unique()
    flags = f"--learner {setup.learner} --seeds {round(found / SEED_SHARES.get(setup.learner, 1))}"
    if setup in SETUPS:
        flags = f"--preset {setup.preset} {flags}"
    parts = [
        f"### {fmt.capitalize(fmt.setup_name(setup))}",
        f"`python -m paper {experiment.name} {flags}`",
    ]  # fmt: skip
    if section.picture is not None:
        parts.append(_image(section.picture))
    parts += [table.markdown() for table in section.analysis.tables if table.rows]
    if claims := section.analysis.claims:
        parts += _details(f"Every claim ({len(claims)})", _claim_table(claims))
    return parts


def main_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the paper's agents; without any, all."""
    main = frame.filter(pl.col("agent").is_in(OBJECTIVES))
    return frame if main.is_empty() else main


def _main_page(
    report: Report, by_page: Mapping[str, Sequence[Section]], costs: pl.DataFrame
) -> str:
    present = {section.setup for section in report.sections}
    setups = [setup for setup in SETUPS if setup in present]
    columns = ", ".join(
        f"**{fmt.setup_title(s)}** ({SETUP_DESCRIPTIONS.get((s.preset, s.learner), '')})"
        for s in setups
    )
    parts = [
        f"# {TITLE}",
        "Each claim of the paper is judged by detailed claims, one per world and agent; a cell "
        "counts in brackets how many of them show at least the claimed direction. "
        f"Columns: {columns}. [How verdicts are reached](#how-verdicts-are-reached) and "
        "every detailed claim are in the [appendix](#appendix).",
    ]
    if report.verdicts:
        parts.append(_claims_table(report.verdicts, setups, "The paper's claims", main=True))
    for figure in FIGURE_TITLES:
        if sections := by_page.get(f"figure-{figure}"):
            parts += _figure_section(report, figure, sections)
    others = [
        f"- [{_title(name, sections)}](report/{name}.md){_summary(sections)}"
        for name, sections in by_page.items()
        if not name.startswith("figure-")
    ]
    parts += ["## More experiments", "\n".join(others)] if others else []
    return "\n\n".join([*parts, *_appendix(report, costs)]) + "\n"


def _figure_section(report: Report, figure: int, sections: Sequence[Section]) -> list[str]:
    """Return what comes out, the figure, verdicts, causes, and a link to the page."""
    name = f"figure-{figure}"
    parts = [f"## {PAGE_TITLES[name]}"]
    if told := [s for s in sections if s.analysis.claims and s.experiment.outcome]:
        chosen = _preferred(told)
        parts.append(f"**{fmt.capitalize(fmt.setup_title(chosen.setup))}:** {chosen.sentence}")
    chosen = _preferred([s for s in sections if s.experiment is sections[0].experiment])
    if chosen.picture is not None:
        caption = f"Figure {figure} with {fmt.setup_name(chosen.setup)}."
        parts.append(_image(chosen.picture, caption))
    items = []
    for verdict in report.verdicts:
        if verdict.claim.figure == figure:
            cells = [f"{fmt.setup_title(s)} {tally}" for s, tally in verdict.tallies.items()]
            cause = f". {verdict.explanation}" if verdict.differs else "."
            items.append(f"- **{verdict.claim.name}**: {', '.join(cells)}{cause}")
    parts += ["\n".join(items)] if items else []
    return [*parts, f"[Figure {figure} in full](report/{name}.md)"]


def _summary(sections: Sequence[Section]) -> str:
    """Return what comes out, in one sentence, or one per setup for networks."""
    told = [s for s in sections if s.analysis.claims]
    networks = [s for s in told if s.setup in FURTHER_SETUPS]
    if networks:
        named = [f"{fmt.capitalize(fmt.setup_name(s.setup))}: {s.sentence}" for s in networks]
        return f": {' '.join(named)}"
    return f": {_preferred(told).sentence}" if told else ""


# -------------------------------------------------------------------- claims


def _claims_table(
    verdicts: Sequence[PaperVerdict], setups: Sequence[Setup], title: str, main: bool
) -> str:
    """Return claims of the paper with a column per setup, and elsewhere than on the main page one
    with causes."""
    rows = []
    for verdict in verdicts:
        claim, figure = verdict.claim, f"Figure {verdict.claim.figure}"
        figure = f"[{figure}](report/figure-{claim.figure}.md)" if main else figure
        row = {"claim": f"**{claim.name}** ({figure}): {claim.statement}"}
        row |= {fmt.setup_title(s): str(verdict.tallies.get(s, fmt.MISSING)) for s in setups}
        causes = {} if main else {"cause, where it differs": verdict.explanation or fmt.MISSING}
        rows.append(row | causes)
    return fmt.Table.of(title, rows).markdown()


def _claim_table(claims: Sequence[Claim]) -> str:
    """Return claims with the paper's number (or the aim), ours, and the verdict."""
    sources = {c.source for c in claims}
    reference = "aim" if sources == {"aim"} else "paper, or aim" if "aim" in sources else "paper"
    rows = [
        {
            "name": f"`{c.id}`",
            "claim": c.statement,
            reference: fmt.MISSING if c.reference is None else f"{c.reference:g}",
            "ours": fmt.interval(c.ours, 1 if abs(c.ours.estimate) >= 10 else 2),
            "evidence": c.evidence or fmt.MISSING,
            "verdict": c.verdict,
            "seeds": str(c.seeds),
        }
        for c in claims
    ]
    return fmt.Table.of("Claims", rows).markdown()


def claim_record(setup: Setup, claim: Claim) -> dict[str, object]:
    """Return a claim with its preset and learner, as JSON can hold it."""

    def finite(value: float) -> float | None:
        return value if abs(value) < float("inf") else None

    return {
        "id": claim.id, "preset": setup.preset, "learner": setup.learner,
        "statement": claim.statement, "source": claim.source,
        "paper": claim.reference if claim.source == "paper" else None,
        "aim": claim.reference if claim.source == "aim" else None,
        "ours": finite(claim.ours.estimate),
        "interval": [finite(claim.ours.low), finite(claim.ours.high)],
        "evidence": claim.evidence, "verdict": claim.verdict, "seeds": claim.seeds,
    }  # fmt: skip


def _details(summary: str, text: str) -> list[str]:
    return [f"<details>\n<summary>{summary}</summary>", text, "</details>"]


# -------------------------------------------------------------------- appendix


def _appendix(report: Report, costs: pl.DataFrame) -> list[str]:
    """Return how verdicts are reached, every claim, deviations, and the runs."""
    rows = [
        {"claim": verdict.claim.name, "setup": fmt.setup_title(setup)}
        | {name: str(tally[name]) for name in COUNTED}
        for verdict in report.verdicts
        for setup, tally in verdict.tallies.items()
    ]
    method = Path(__file__).with_name("verdicts.md").read_text().strip()
    parts = [
        "## Appendix",
        method.format(tolerance=TOLERANCE, ratio=COMPARABLE_RATIO),
        fmt.Table.of("Verdicts on detailed claims", rows).markdown(),
    ]
    for title, source in (
        ("Every claim", "paper"), ("Our own aims", "aim"), ("Controls", "control"),
    ):  # fmt: skip
        blocks = []
        for setup, members in groupby(report.sections, key=lambda section: section.setup):
            claims = [c for s in members for c in s.analysis.claims if c.source == source]
            if claims:
                summary = f"{fmt.capitalize(fmt.setup_name(setup))} ({len(claims)})"
                blocks += _details(summary, _claim_table(claims))
        parts += [f"### {title}", *blocks] if blocks else []
    listed = "\n".join(f"{number}. {text}" for number, text in enumerate(DEVIATIONS, 1))
    parts += ["### Deviations from the paper", listed, "`docs/deviations.md` explains each."]
    return [*parts, *_costs(report.sections, costs)]


def _costs(sections: Sequence[Section], costs: pl.DataFrame) -> list[str]:
    """Return runs by setup, versions, and costs by agent."""
    runs = []
    for setup, frame in {section.setup: section.frame for section in sections}.items():
        main = main_rows(frame).filter(variant="")
        counts = main.group_by("world", "agent").agg(pl.col("seed").n_unique())
        cost = rows_of(costs, [setup])
        run = {
            "settings": fmt.setup_name(setup),
            "runs": str(len(cost)),
            "seeds per agent and world": fmt.extent(counts["seed"]),
            "CPU": f"{fmt.number(float(cost['cpu_seconds'].sum()) / 3600, 1)} h",
        }
        runs.append(run)
    versions = [
        {"of": name, "found": ", ".join(known)}
        for name in VERSIONS
        if (known := costs[name].drop_nulls().unique().sort().to_list())
    ]
    keys = ("preset", "learner", "world", "agent")
    cost = costs.group_by(*keys).agg(
        pl.len(), pl.col("cpu_seconds").mean(), pl.col("peak_memory_mb").max()
    )
    by_agent = [
        [*names, str(n), fmt.number(cpu, 1), fmt.MISSING if mb is None else fmt.number(mb, 0)]
        for *names, n, cpu, mb in cost.sort(*keys).iter_rows()
    ]
    table = fmt.Table("Cost", [*keys, "runs", "CPU s per run", "peak MB"], by_agent)
    note = "Runs that two settings share are counted for both."
    return [
        "### Versions and cost",
        fmt.Table.of("Runs", runs, note).markdown(),
        fmt.Table.of("Versions", versions).markdown(),
        *_details("Cost by agent", table.markdown()),
    ]


# -------------------------------------------------------------------- our numbers

NUMBER_TITLES = {
    "auc": "State coverage: area under the curve",
    TASK_STEPS: "Steps after 20,000 episodes of the task",
    PROXY_RETURN: "Proxy return after 20,000 episodes of the proxy",
    PROXY_TRUE_RETURN: "True return after 20,000 episodes of the proxy",
}


def numbers_page(frame: pl.DataFrame, version: int) -> str:
    """Return our numbers beside the paper's: a table per figure, metric and world."""
    parts = [
        "# Results",
        f"Means over seeds of results' version {version}; their number is in brackets. The "
        "[report](report.md) has intervals, verdicts and causes, and "
        "[reproduction](reproduction.md) says how to make all of it again. This page is generated.",
    ]
    frames = {fmt.setup_title(setup): rows_of(frame, [setup]) for setup in SETUPS}
    for (figure, world, metric), numbers in panels().items():
        digits, rows = 1 if metric == TASK_STEPS else 2, []
        for number in numbers:
            ours = {t: values_by_seed(f, metric, world, number.agent) for t, f in frames.items()}
            if any(ours.values()):
                row = {"agent": fmt.agent_name(number.agent)}
                row["paper"] = fmt.number(number.value, digits)
                for title, values in ours.items():
                    cell = f"{fmt.estimate(values, digits)} ({len(values)})"
                    row[title] = cell if values else fmt.MISSING
                rows.append(row)
        if rows:
            title = f"Figure {figure}, {WORLD_NAMES[world]}. {NUMBER_TITLES[metric]}"
            parts.append(fmt.Table.of(title, rows).markdown())
    return "\n\n".join(parts) + "\n"


# -------------------------------------------------------------------- files


def write_report(
    report: Report,
    folder: Path,
    players: Sequence[tuple[str, str]] = (),
    progress: Progress = no_progress,
) -> Path:
    """Write a report as Markdown, HTML and JSON, and its pictures as PNG, SVG and PDF.

    Args:
        report: The report.
        folder: Folder to write to; files of an earlier report are overwritten.
        players: Captions and frames of players, for HTML pages.
        progress: Progress callback.

    Returns:
        The path of report.html.
    """
    for name in ("figures", "report"):
        make_folder(folder / name)
    images = {}
    for number, picture in enumerate(report.pictures.values()):
        progress(number / (len(report.pictures) + 1), f"saving {picture.name}")
        for suffix in (".png", ".svg", ".pdf"):
            content = figure_bytes(picture.figure, suffix)
            write_atomically(folder / "figures" / f"{picture.name}{suffix}", content)
            if suffix == ".png":
                images[picture.name] = base64.b64encode(content).decode()
    for name, text in report.pages.items():
        path = folder / (f"report/{name}" if name else "report")
        write_atomically(path.with_suffix(".md"), text.encode())
        page = to_html(text, images, players if PLAYERS in text else ())
        write_atomically(path.with_suffix(".html"), page.encode())
    data = json.dumps(report.data(), indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(folder / "report.json", f"{data}\n".encode())
    return folder / "report.html"


def write_docs(report: Report, path: Path) -> None:
    """Write the main page as Markdown, with its other pages and pictures in a folder beside it."""
    make_folder(path.parent / path.stem)
    for name, text in report.pages.items():
        if name:
            text = text.replace("](../figures/", "](").replace("../report.md", f"../{path.name}")
            write_atomically(path.parent / path.stem / f"{name}.md", text.encode())
        else:
            text = text.replace("](figures/", f"]({path.stem}/")
            write_atomically(path, text.replace("](report/", f"]({path.stem}/").encode())
    for picture in report.pictures.values():
        content = figure_bytes(picture.figure, ".png")
        write_atomically(path.parent / path.stem / f"{picture.name}.png", content)


VERDICT_CLASSES = {
    REPRODUCED: "yes", REACHED: "yes", DIRECTION_ONLY: "partly", PARTLY: "partly",
    NOT_REPRODUCED: "no", MISSED: "no",
}  # fmt: skip


def to_html(text: str, images: Mapping[str, str], players: Sequence[tuple[str, str]] = ()) -> str:
    """Return a page of Markdown as one HTML page that loads nothing else.

    Args:
        text: The page.
        images: Pictures as base64, by name.
        players: Captions and frames of players.
    """
    from markdown_it import MarkdownIt

    def anchored(match: re.Match[str]) -> str:
        plain = re.sub(r"<[^>]*>", "", match[2])
        anchor = re.sub(r"[^a-z0-9 -]", "", html.unescape(plain).lower()).replace(" ", "-")
        return f'<h{match[1]} id="{anchor}">{match[2]}</h{match[1]}>'

    def embedded(match: re.Match[str]) -> str:
        return f'src="data:image/png;base64,{images[match[1]]}"'

    def colored(match: re.Match[str]) -> str:
        kind = VERDICT_CLASSES.get(match[1].partition(" (")[0])
        return f'<td class="{kind}">{match[1]}</td>' if kind else match[0]

    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    body = re.sub(r"<h(\d)>(.*?)</h\d>", anchored, body)
    body = re.sub(r'src="(?:\.\./)?figures/([^"]+)\.png"', embedded, body)
    body = re.sub(r"<td>([^<]*)</td>", colored, body)
    body = re.sub(r'href="([^":#]*)\.md(#[^"]*)?"', r'href="\1.html\2"', body)
    body = body.replace("<table>", "<div class=table><table>").replace("</table>", "</table></div>")
    frames = "".join(
        f"<figure class=player>{frame}<figcaption>{html.escape(caption)}</figcaption></figure>"
        for caption, frame in players
    )
    # The frames of players inherit the page's policy, so their scripts need its permission.
    scripts = "; script-src 'unsafe-inline'" if players else ""
    page = Template(Path(__file__).with_name("page.html").read_text())
    title = html.escape(text.partition("\n")[0].removeprefix("# "))
    return page.safe_substitute(title=title, scripts=scripts, body=body.replace(PLAYERS, frames))
