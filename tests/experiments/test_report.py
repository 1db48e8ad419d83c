from __future__ import annotations

import html.parser
import json

import numpy as np
import polars as pl
import pytest

from commands import command
from frames import AUC, costs, results, whole
from paths import ROOT
from skillfocus.errors import UserError
from skillfocus.experiments import ablation
from skillfocus.experiments.claims import DIRECTION, MISSED, NOT, UNDECIDED, Table
from skillfocus.experiments.explanations import UNKNOWN, explanation
from skillfocus.experiments.report import build
from skillfocus.experiments.reproduction import EXPERIMENTS, analyze
from skillfocus.figures import paper as figures
from skillfocus.figures.frontier import frontier_figure
from skillfocus.figures.style import COLOURS, style_of
from skillfocus.metrics.statistics import mean_interval
from skillfocus.report.document import Heading, Listing, Paragraph, Picture, to_html, to_markdown
from skillfocus.report.writing import keep, kept, write_report, write_twin

NAMES = list(EXPERIMENTS)


def line_of(panel, label):
    """The data of a labelled line."""
    (line,) = [x for x in panel.get_lines() if x.get_label().startswith(label)]
    return np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)


# -------------------------------------------------------------------- figures, by their data


def test_the_paper_s_colours_and_lines():
    assert style_of("focused-vic") == {"color": COLOURS["vic"], "linestyle": "-"}
    assert style_of("dusdi-vic")["linestyle"] != style_of("vic")["linestyle"] != "-"
    assert style_of("lsd")["color"] == style_of("focused-lsd")["color"] == COLOURS["lsd"]
    assert style_of("primitives")["color"] not in COLOURS.values()


def test_the_coverage_figure_shows_means_intervals_and_every_seed():
    panel = figures.coverage_figure(whole()).axes[0]
    lengths, means = line_of(panel, "focused VIC (area 2.10)")
    assert lengths.tolist() == [1, 2, 3, 4, 5]
    assert means == pytest.approx([2.1 * n / 10 for n in range(1, 6)])
    seeds = [x for x in panel.get_lines() if x.get_alpha() == 0.15]
    assert len(seeds) == 2 * len(AUC)
    band = panel.collections[0].get_paths()[0].vertices
    low, high = mean_interval([2.0 * 5 / 10, 2.2 * 5 / 10])[1:]
    ends = band[band[:, 0] == 5, 1]
    assert (ends.min(), ends.max()) == pytest.approx((max(low, 0), min(high, 1)))


def test_the_downstream_figure_begins_at_the_cap_and_shows_the_optimum():
    figure = figures.downstream_figure(whole())
    panel = figure.axes[2]
    episodes, steps = line_of(panel, "focused VIC")
    assert episodes.tolist() == [0, 400, 800]
    assert steps.tolist() == [60, 60, 20.5]
    assert line_of(panel, "optimum")[1].tolist() == [19.5, 19.5]


def test_the_underspecified_figure_shows_proxy_and_true_return():
    panels = figures.underspecified_figure(whole()).axes
    assert [p.get_title() for p in panels] == [
        "ForageWorld: proxy return", "ForageWorld: true return",
        "MudWorld: proxy return", "MudWorld: true return",
    ]  # fmt: skip
    assert line_of(panels[1], "focused VIC")[1].tolist() == pytest.approx([0, 0.925])
    assert line_of(panels[0], "VIC")[1].tolist() == pytest.approx([0, 0.95])


def test_the_ablation_figure_uses_the_seeds_that_every_strength_has():
    rows = [
        ("mud-world", "focused-lsd", ablation.variant("focused-lsd", s), "task/true/steps", 9, v)
        for s, v in ((0.0, [60, 50]), (2.0, [30]), (40.0, [40, 10]))
    ]
    panel = figures.ablation_figure(results(rows)).axes[0]
    places, steps = line_of(panel, "focused LSD")
    assert places.tolist() == [0, 3, 6]  # of 0, 0.5, 1, 2, 4, 10, 40
    assert steps.tolist() == [60, 30, 40]


def test_the_frontier_shows_every_case():
    rows = [
        ("four-rooms", agent, variant, metric, None, value)
        for agent, variant, area, effects in (
            ("focused-vic", "", [1.2, 1.3], [0.01, 0.02]), ("focused-vic", "strength=0", [2], [1]),
            ("scattered-focused-vic", "", [1.9], [0.0]), ("ideal", "region,8", [1.87], None),
        )
        for metric, value in (("auc", area), ("mean_side_effects", effects))
        if value
    ]  # fmt: skip
    panel = frontier_figure(results(rows)).axes[0]
    points = {
        tuple(np.ravel(x.get_xydata()).tolist())
        for x in panel.get_lines()
        if len(x.get_xdata()) == 1
    }
    assert points == {(0.01, 1.2), (0.02, 1.3), (1.0, 2.0), (0.001, 1.9)}
    heights = [x.get_ydata()[0] for x in panel.get_lines() if len(x.get_xdata()) == 2]
    assert {1.85, 0.35, 1.87} <= set(heights)


def test_trajectories_are_the_paths_that_change_a_goal():
    """State numbers as the table has them; a path that fetches nothing is not shown."""
    from skillfocus.runs.discovery_run import cached_mdp

    table = cached_mdp("four-rooms", "{}")
    fetch = [table.number((cell, tool, 0, 0, 0)) for cell, tool in ((0, 0), (1, 1), (0, 1))]
    stay = [table.number((0, 0, 0, 0, 0))] * 2
    rows = [
        ("four-rooms", "focused-vic", "", f"path/{z}", t, [state])
        for z, path in enumerate((stay, fetch))
        for t, state in enumerate(path)
    ]
    (path,) = figures._telling_paths(results(rows), "four-rooms", "focused-vic")
    assert path[:, :2].tolist() == [[0, 0], [1, 1], [0, 1]]
    assert len(figures.trajectories_figure(results(rows)).axes) == 9


# -------------------------------------------------------------------- documents


class Balanced(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_documents_have_the_same_contents_in_both_forms():
    from matplotlib.figure import Figure

    blocks = [
        Heading("Title & more", 1), Paragraph("Some **bold** `code` < 3."), Listing(["*one*", "two"]),
        Table("A table", ["a", "b"], [["x|y", "reproduced"]], "A note."),
        Picture("dot", "A picture", Figure(figsize=(1, 1))),
    ]  # fmt: skip
    text = to_markdown(blocks, "pictures")
    assert text == (
        "# Title & more\n\nSome **bold** `code` < 3.\n\n- *one*\n- two\n\n**A table**\n\n| a | b |\n| --- | --- |\n"
        "| x\\|y | reproduced |\n\nA note.\n\n![A picture](pictures/dot.png)\n\n*A picture*\n"
    )
    page = to_html(blocks, "Title & more")
    checker = Balanced()
    checker.feed(page)
    assert not checker.open
    assert {"table", "img", "h1", "strong", "code", "ul", "em"} <= set(checker.seen)
    assert "<title>Title &amp; more</title>" in page
    assert '<td class="yes">reproduced</td>' in page
    assert "data:image/png;base64," in page
    assert "http" not in page  # nothing is fetched


@pytest.mark.slow
def test_the_report_comes_from_results_alone(tmp_path):
    frame = whole()
    blocks, sections = build(frame, costs(frame), NAMES)
    text = to_markdown(blocks, "figures")
    assert "| the paper's settings, planning | 24 | 2 | 24.0 h |" in text
    assert "4.69 (3.13 to 7.02)" in text
    assert "skillfocus reproduce coverage --preset paper --learner planning --seeds 2" in text
    assert "- [In short](#in-short)" in text
    assert "Planned VIC remembers the whole first state" in text  # why a claim falls short
    assert {section.experiment for section in sections} == set(NAMES)
    blocks = build(frame, costs(frame), ["coverage"])[0]
    page = write_report(blocks, tmp_path / "out")
    made = sorted(p.name for p in (tmp_path / "out" / "figures").iterdir())
    name = "paper-planning-figure-2-coverage"
    assert {f"{name}.pdf", f"{name}.png", f"{name}.svg"} <= set(made)
    assert "frontier.png" not in made  # without ideal skills there is nothing to compare with
    assert page.read_text().count("<img") == sum(isinstance(b, Picture) for b in blocks)
    again = to_markdown(build(frame, costs(frame), ["coverage"])[0], "figures")
    assert (tmp_path / "out" / "report.md").read_text() == again


def test_explanations_fit_the_finding_and_the_learner():
    assert explanation("downstream-forage-world-focused-vic", "planning").startswith("Two skills")
    assert "Random moves" in explanation("fails-four-rooms-primitives", "planning")
    assert "remember" in explanation("fails-four-rooms-vic", "planning")
    assert "remember" not in explanation("fails-four-rooms-vic", "q-learning")
    assert "intra-option" in explanation("fails-four-rooms-vic", "planning", "best")
    assert explanation("effects-four-rooms-focused-vic-vic", "planning") == UNKNOWN


def test_a_report_of_ragged_results_is_written():
    """Whatever is missing, the rest is reported."""
    frame = whole()
    cases = frame.select("world", "agent", "seed").unique().sort("world", "agent", "seed")
    rng = np.random.default_rng(0)
    for _ in range(6):
        some = cases.filter(rng.random(len(cases)) < 0.5)
        part = frame.join(some, on=["world", "agent", "seed"], how="semi")
        for section in analyze(part, NAMES):
            for finding in section.analysis.findings:
                assert finding.verdict == UNDECIDED or finding.seeds > 1 or finding.source == "aim"


def test_kept_results_are_read_again(tmp_path):
    frame = whole()
    keep(tmp_path, frame, costs(frame))
    found, taken = kept(tmp_path)
    assert found.schema == frame.schema
    assert found["value"].to_list() == pytest.approx(frame["value"].to_list())
    assert taken["cpu_seconds"].sum() == 24 * 3600
    with pytest.raises(UserError, match=r"no results.parquet in .*--from takes"):
        kept(tmp_path / "elsewhere")
    (tmp_path / "results.parquet").write_bytes(b"nothing")
    with pytest.raises(UserError, match="cannot read"):
        kept(tmp_path)
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "results.parquet")
    with pytest.raises(UserError, match="other columns"):
        kept(tmp_path)


# -------------------------------------------------------------------- the command


@pytest.mark.slow
def test_the_command_reports_from_kept_results(tmp_path):
    keep(tmp_path / "results", whole(), costs(whole()))
    (tmp_path / "twin").mkdir()
    (tmp_path / "twin" / "old.png").write_bytes(b"")
    coverage = ["reproduce", "coverage", "--from", "results"]
    done = command(*coverage, "--json", "--markdown", "twin.md", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    (claim,) = [c for c in document["claims"] if c["id"] == "coverage-vic"]
    assert claim["ours"] == pytest.approx(22**0.5, rel=1e-5)
    assert claim["interval"] == pytest.approx([3.13293, 7.02219], rel=1e-4)
    assert (claim["paper"], claim["verdict"]) == (5.3, "direction only")
    assert (tmp_path / document["report"]).is_file()
    assert "![" in (tmp_path / "twin.md").read_text()
    (picture,) = (tmp_path / "twin").iterdir()  # the old one is gone
    assert picture.name == "paper-planning-figure-2-coverage.png"
    table = command(*coverage, cwd=tmp_path)
    assert "coverage-vic" in table.stdout
    assert "report: out/report.html" in table.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["figure-9"], "unknown experiment 'figure-9'"), (["--from", "nowhere"], "no results.parquet"),
     (["--seeds", "0"], "0 reporting seeds"), (["--seeds", "2000"], "tuning seed"),
     (["--out", "taken"], "taken is a file, not a folder"),
     (["controls", "--preset", "best"], "has no cases with --preset best"),
     (["ablation", "--from", "results"], "no results of ablation"),
     (["--from", "results", "--learner", "q-learning"], "no results with --preset both --learner q-"),
     (["--finished"], "no results with --preset both --learner both")],
)  # fmt: skip
def test_mistakes_have_one_sentence(arguments, message, tmp_path):
    (tmp_path / "taken").write_text("")
    keep(tmp_path / "results", whole(), costs(whole()))
    done = command("reproduce", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.slow
def test_the_committed_report_is_what_its_results_say(tmp_path):
    frame, taken = kept(ROOT / "results")
    write_twin(build(frame, taken, NAMES)[0], tmp_path / "report.md")
    assert (tmp_path / "report.md").read_text() == (ROOT / "docs" / "report.md").read_text()
    drawn = {path.name for path in (tmp_path / "report").iterdir()}
    assert drawn == {path.name for path in (ROOT / "docs" / "report").iterdir()}


@pytest.mark.slow
def test_whatever_falls_short_in_the_committed_results_has_a_cause():
    for section in analyze(kept(ROOT / "results")[0], NAMES):
        for finding in section.analysis.findings:
            if finding.source != "control" and finding.verdict in (NOT, DIRECTION, MISSED):
                why = explanation(finding.id, section.setup.learner, section.setup.preset)
                assert why != UNKNOWN, finding.id
