from __future__ import annotations

import json
import re

import polars as pl
import pytest

from frames import make_costs, make_results, sample_results
from paths import ROOT
from skillfocus.experiments.cases import Setup
from skillfocus.experiments.deviations import DEVIATIONS
from skillfocus.experiments.registry import get_experiment, select_experiments
from skillfocus.experiments.report import TITLE, build_report
from skillfocus.report.document import Details, Heading, Picture, Table, pictures_of
from skillfocus.report.markdown import to_markdown
from skillfocus.report.writing import write_report

EXPERIMENTS = select_experiments(["all"])
MOST_WORDS = 1500
"""On the main page before its appendix."""


def report_of(frame, *names, **options):
    experiments = [get_experiment(name) for name in names] or EXPERIMENTS
    return build_report(frame, make_costs(frame), experiments, **options)[0]


@pytest.fixture(scope="module")
def report():
    """The report of all experiments, from a little of everything."""
    return report_of(sample_results())


def tables_of(blocks):
    """All tables by their titles, collapsed ones too; the last of a title."""
    found = {}
    for block in blocks:
        if isinstance(block, Table):
            found[block.title] = block
        elif isinstance(block, Details):
            found |= tables_of(block.blocks)
    return found


def page_of(report, name):
    (page,) = [page for page in report.pages if page.name == name]
    return page


def before_appendix(text):
    front, _, rest = text.partition("\n## Appendix\n")
    assert rest
    return front


# -------------------------------------------------------------------- the main page


def test_the_first_screen_is_the_paper_s_claims(report):
    """By hand: of the coverage claims one is direction only, one is reproduced."""
    assert report.blocks[0] == Heading(TITLE, 1)
    table = report.blocks[2]
    assert table.title == "Seven of the paper's eight claims"  # no ablation
    assert table.columns == ["claim", "planning"]
    cells = {re.match(r"\*\*([\w-]+)", row[0])[1]: row[1:] for row in table.rows}
    assert cells["coverage"] == ["direction only (1 of 1)"]
    assert cells["coverage-dusdi"] == ["reproduced (1 of 1)"]
    assert cells["focus"] == ["reproduced (3 of 3)"]
    assert "[Figure 2](#figure-2-state-coverage)" in table.rows[1][0]


def test_columns_are_the_setups_with_results(monkeypatch):
    learners = [Setup("paper", name) for name in ("literal", "q-learning", "planning")]
    setups = [*learners, Setup("best", "planning")]
    monkeypatch.setattr("skillfocus.experiments.sections.SETUPS", setups)
    frames = [
        sample_results().with_columns(preset=pl.lit(s.preset), learner=pl.lit(s.learner))
        for s in setups
    ]
    names = ["literal", "Q-learning", "planning", "best"]
    report = report_of(pl.concat(frames), "underspecified")
    assert report.blocks[2].columns[1:] == names
    paragraph = report.blocks[1].text
    assert [paragraph.index(f"**{name}** (") for name in names] == sorted(
        paragraph.index(f"**{name}** (") for name in names
    )
    assert [p.name for p in pictures_of(report.blocks)] == [
        "paper-planning-figure-4-underspecified"
    ]
    fewer = report_of(pl.concat(frames[::2]), "underspecified")
    assert fewer.blocks[2].columns[1:] == ["literal", "planning"]


def test_a_figure_s_section_has_a_sentence_a_picture_verdicts_and_a_link(report):
    text = to_markdown(report.blocks, "figures", {"figure-2": "report/figure-2.md"})
    section = text.partition("## Figure 2: state coverage\n\n")[2].partition("\n\n## ")[0]
    sentence, picture, caption, verdicts, link = section.split("\n\n")
    assert sentence.startswith(
        "**Planning:** Focused skills cover 4.69 times the area of plain VIC"
    )
    assert picture.endswith("(figures/paper-planning-figure-2-coverage.png)")
    assert caption == "*Figure 2 with the paper's settings, planning.*"
    assert verdicts.startswith("- **coverage**: planning direction only (1 of 1). The size")
    assert verdicts.endswith("- **coverage-dusdi**: planning reproduced (1 of 1).")
    assert link == "[Figure 2 in full](report/figure-2.md)"


def test_the_main_page_has_one_picture_per_figure(report):
    names = [picture.name for picture in pictures_of(report.blocks)]
    assert names == [
        "paper-planning-figure-1-trajectories", "paper-planning-figure-2-coverage",
        "paper-planning-figure-3-downstream", "paper-planning-figure-4-underspecified",
    ]  # fmt: skip


def test_another_setup_s_figure_is_shown_if_the_main_one_has_no_results():
    frame = sample_results().with_columns(learner=pl.lit("q-learning"))
    report = report_of(frame, "coverage")
    assert [p.name for p in pictures_of(report.blocks)] == ["paper-q-learning-figure-2-coverage"]
    assert "**Q-learning:** Focused skills cover" in to_markdown(report.blocks, "")


def test_experiments_of_no_figure_are_linked(report):
    assert "More experiments" not in to_markdown(report.blocks, "")  # focused VIC is no control
    permuted = sample_results().filter(pl.col("agent") == "focused-vic")
    permuted = permuted.with_columns(agent=pl.lit("permuted-focused-vic"))
    frame = pl.concat([sample_results(), permuted])
    text = to_markdown(report_of(frame, "controls").blocks, "", {"controls": "report/controls.md"})
    assert "- [Controls](report/controls.md): 0 of 3 claims show at least" in text
    assert "More experiments" not in to_markdown(report_of(frame, "coverage").blocks, "")


def test_networks_for_a_cpu_and_for_a_gpu_are_both_summed_up():
    metric = ("gunner", "focused-diayn", "", "gunner-limited/return", 100)
    frame = pl.concat(
        make_results([(*metric, returns)], preset="scale", learner=learner)
        for learner, returns in (("neural", [9.0, 10.0]), ("neural-large", [39.0, 38.0]))
    )
    text = to_markdown(
        report_of(frame, "continuous").blocks, "", {"continuous": "report/continuous.md"}
    )
    summary = (
        "Networks for a CPU: 0 of 1 aims of our own are reached. "
        "Networks for a GPU: 1 of 1 aims of our own are reached."
    )
    assert f"- [Continuous worlds](report/continuous.md): {summary}" in text


# -------------------------------------------------------------------- the appendix


def test_counts_of_verdicts_are_in_the_appendix(report):
    table = tables_of(report.blocks)["Verdicts on detailed claims"]
    assert table.columns[2:] == ["reproduced", "direction only", "not reproduced", "undecided"]
    assert ["coverage", "planning", "0", "1", "0", "0"] in table.rows


def test_claims_are_collapsed_and_aims_apart():
    report = report_of(sample_results(), "underspecified")
    names = [block.text for block in report.blocks if isinstance(block, Heading)]
    assert names.index("Appendix") < names.index("Every claim") < names.index("Our own aims")
    tables = tables_of(report.blocks)
    every = tables["Every claim: the paper's settings, planning"]
    aims = tables["Our own aims: the paper's settings, planning"]
    assert {row[0].split("-")[0] for row in every.rows} == {"`proxy"}
    assert [row[0] for row in aims.rows] == ["`aim-proxy-forage-world`", "`aim-proxy-mud-world`"]
    assert (every.columns[2], aims.columns[2]) == ("paper", "aim")
    assert [row[5] for row in aims.rows] == ["reached", "missed"]
    shown = {block.title for block in report.blocks if isinstance(block, Table)}
    assert not any(title.startswith(("Every", "Our")) for title in shown)


def test_claims_are_listed_with_the_paper_s_number_and_ours(report):
    rows = tables_of(report.blocks)["Every claim: the paper's settings, planning"].rows
    by_name = {row[0]: row for row in rows}
    row = by_name["`coverage-vic`"]
    assert row[2:4] == ["5.3", "4.69 (3.13 to 7.02)"]
    assert row[5:] == ["direction only", "2"]
    steps = by_name["`downstream-mud-world-focused-vic`"]
    assert steps[3] == "20.5 (17.3 to 23.7)"  # one digit from ten on


def test_costs_are_summed_by_setup_and_averaged_by_agent(report):
    tables = tables_of(report.blocks)
    assert tables["Runs"].rows == [["the paper's settings, planning", "24", "2", "24.0 h"]]
    assert ["paper", "planning", "mud-world", "vic", "2", "3600.0", "100"] in tables["Cost"].rows
    assert ["numba", "0"] in tables["Versions"].rows


def test_deviations_are_the_page_s():
    page = (ROOT / "docs" / "deviations.md").read_text()
    assert page.count("\n1. ") == 1
    numbers = [int(line.split(".")[0]) for line in page.splitlines() if line[:1].isdigit()]
    assert numbers == list(range(1, len(DEVIATIONS) + 1))


# -------------------------------------------------------------------- pages


def test_every_page_shows_its_experiments_setup_by_setup(report):
    figures = [f"figure-{n}" for n in range(1, 5)]
    assert [page.name for page in report.pages] == figures
    page = page_of(report, "figure-2")
    assert page.title == "Figure 2: state coverage"
    kinds = [type(block).__name__ for block in page.blocks]
    assert kinds[:3] == ["Heading", "Paragraph", "Table"]
    assert kinds[3:] == ["Heading", "Heading", "Paragraph", "Picture", "Table", "Details"]
    text = to_markdown(page.blocks, "", {"": "../report.md"})
    assert "[The report](../report.md)" in text
    assert "`skillfocus reproduce coverage --preset paper --learner planning --seeds 2`" in text
    assert "<summary>Every claim (2)</summary>" in text


def test_side_effects_share_the_first_figure_s_page(report):
    texts = [b.text for b in page_of(report, "figure-1").blocks if isinstance(b, Heading)]
    assert texts.index("Trajectories (Figure 1)") < texts.index("Side effects (Equation 1)")
    assert "The skills, moving" in texts  # closes the first experiment


def test_experiments_without_results_have_no_page():
    assert report_of(sample_results(), "ablation", "coverage").pages[0].name == "figure-2"
    assert report_of(sample_results(), "ablation").pages == []


# -------------------------------------------------------------------- files


def test_the_same_content_is_data(report):
    data = json.loads(json.dumps(report.data, allow_nan=False))
    assert set(data) == {"claims_of_the_paper", "claims", "tables"}
    assert len(data["claims_of_the_paper"]) == 7
    (claim,) = [c for c in data["claims"] if c["id"] == "coverage-vic"]
    assert (claim["paper"], claim["verdict"], claim["preset"]) == (5.3, "direction only", "paper")
    (table,) = [t for t in data["tables"] if t["experiment"] == "coverage"]
    assert table["title"] == "State coverage in FourRooms, and exact side effects"
    assert len(table["rows"]) == 3


@pytest.mark.slow
def test_the_report_comes_from_results_alone(tmp_path):
    report = report_of(sample_results(), "coverage")
    page = write_report(report, tmp_path / "out")
    made = {path.name for path in (tmp_path / "out" / "figures").glob("[!.]*")}
    name = "paper-planning-figure-2-coverage"
    assert made == {f"{name}.pdf", f"{name}.png", f"{name}.svg"}  # no ideal skills, no frontier
    for path in (page, tmp_path / "out" / "report" / "figure-2.html"):
        assert path.read_text().count("<img") == 1
    again = tmp_path / "again"
    write_report(report_of(sample_results(), "coverage"), again)
    for name in ("report.md", "report.html", "report.json", "report/figure-2.md"):
        assert (tmp_path / "out" / name).read_text() == (again / name).read_text()


@pytest.mark.slow
def test_pages_open_in_a_browser_and_lead_to_each_other(report, page, tmp_path):
    path = write_report(report, tmp_path)
    page.goto(path.as_uri())
    assert page.locator("img").evaluate_all("all => all.every(x => x.naturalWidth > 0)")
    assert page.locator("td").first.evaluate("x => getComputedStyle(x).textAlign") == "left"
    page.get_by_role("link", name="Figure 2 in full").click()
    assert page.locator("h1").inner_text() == "Figure 2: state coverage"
    claims = page.locator("details table")
    assert not claims.is_visible()
    page.locator("summary").click()
    assert claims.is_visible()
    page.get_by_role("link", name="The report").click()
    assert page.locator("h1").inner_text() == TITLE


def test_the_committed_report_is_short_before_its_appendix():
    front = before_appendix((ROOT / "docs" / "report.md").read_text())
    assert len(front.split()) <= MOST_WORDS
    assert all(f"\n## Figure {n}: " in front for n in range(1, 6))
    assert "<details>" not in front


def test_pictures_of_pages_and_main_page_are_the_same_files(report):
    for picture in pictures_of(report.blocks):
        number = re.search(r"figure-(\d)", picture.name)[1]
        on_page = [b for b in page_of(report, f"figure-{number}").blocks if isinstance(b, Picture)]
        assert picture.png in [one.png for one in on_page]
