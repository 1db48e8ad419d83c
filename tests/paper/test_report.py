"""The report: Markdown written once, the same page as HTML, and the same numbers as JSON."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest

from frames import make_costs, make_results, sample_results
from paper import report as paper_report
from paper.__main__ import EXPERIMENTS
from paper.agents import Setup
from paper.report import TITLE, build_report, to_html, write_docs, write_report
from paper.settings import DEVIATIONS
from paths import ROOT

MOST_WORDS = 1500
"""On the main page before its appendix."""


def report_of(frame, *names):
    experiments = [EXPERIMENTS[name] for name in names or EXPERIMENTS]
    return build_report(frame, make_costs(frame), experiments)


@pytest.fixture(scope="module")
def report():
    """The report of all experiments, from a little of everything."""
    return report_of(sample_results())


def table(text: str, title: str) -> list[list[str]]:
    """The cells of the last table with this title, its head first."""
    rows = text.rpartition(f"**{title}**\n\n")[2].partition("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return [cells[0], *cells[2:]]


# -------------------------------------------------------------------- the main page


def test_the_first_screen_is_the_paper_s_claims(report):
    """By hand: of the coverage claims one is direction only, one is reproduced."""
    text = report.pages[""]
    assert text.startswith(f"# {TITLE}\n")
    head, *rows = table(text, "The paper's claims")
    assert head == ["claim", "planning"]
    cells = {re.match(r"\*\*([\w-]+)", row[0])[1]: row[1:] for row in rows}
    assert len(cells) == 7  # no ablation
    assert cells["coverage"] == ["direction only (1 of 1)"]
    assert cells["coverage-dusdi"] == ["reproduced (1 of 1)"]
    assert cells["focus"] == ["reproduced (3 of 3)"]
    assert "[Figure 2](report/figure-2.md)" in rows[1][0]


def test_columns_are_the_setups_with_results(monkeypatch):
    learners = [Setup("paper", name) for name in ("literal", "q-learning", "planning")]
    setups = [*learners, Setup("best", "planning")]
    monkeypatch.setattr(paper_report, "SETUPS", setups)
    frames = [
        sample_results().with_columns(preset=pl.lit(s.preset), learner=pl.lit(s.learner))
        for s in setups
    ]
    made = report_of(pl.concat(frames), "underspecified")
    names = ["literal", "Q-learning", "planning", "best"]
    assert table(made.pages[""], "The paper's claims")[0][1:] == names
    assert "](figures/paper-planning-figure-4-underspecified.png)" in made.pages[""]
    fewer = report_of(pl.concat(frames[::2]), "underspecified")
    assert table(fewer.pages[""], "The paper's claims")[0][1:] == ["literal", "planning"]


def test_a_figure_s_section_has_a_sentence_a_picture_verdicts_and_a_link(report):
    text = report.pages[""]
    section = text.partition("## Figure 2: state coverage\n\n")[2].partition("\n\n## ")[0]
    sentence, picture, caption, verdicts, link = section.split("\n\n")
    assert sentence.startswith("**Planning:** Focused skills cover 4.69 times the area of plain")
    assert picture.endswith("(figures/paper-planning-figure-2-coverage.png)")
    assert caption == "*Figure 2 with the paper's settings, planning.*"
    assert verdicts.startswith("- **coverage**: planning direction only (1 of 1). The size")
    assert verdicts.endswith("- **coverage-dusdi**: planning reproduced (1 of 1).")
    assert link == "[Figure 2 in full](report/figure-2.md)"
    drawn = re.findall(r"\(figures/paper-planning-figure-(\d)[a-z-]*\.png\)", text)
    assert drawn == ["1", "2", "3", "4"]


def test_networks_for_a_cpu_and_for_a_gpu_are_both_summed_up():
    metric = ("gunner", "focused-diayn", "", "gunner-limited/return", 100)
    frame = pl.concat(
        make_results([(*metric, returns)], preset="scale", learner=learner)
        for learner, returns in (("neural", [9.0, 10.0]), ("neural-large", [39.0, 38.0]))
    )
    summary = (
        "Networks for a CPU: 0 of 1 aims of our own are reached. "
        "Networks for a GPU: 1 of 1 aims of our own are reached."
    )
    text = report_of(frame, "continuous").pages[""]
    assert f"- [Continuous worlds](report/continuous.md): {summary}" in text


# -------------------------------------------------------------------- details


def test_claims_are_listed_with_the_paper_s_number_and_ours(report):
    head, *rows = table(report.pages["figure-2"], "Claims")
    assert head == ["name", "claim", "paper", "ours", "evidence", "verdict", "seeds"]
    row = {cells[0]: cells for cells in rows}["`coverage-vic`"]
    assert row[2:4] == ["5.3", "4.69 (3.13 to 7.02)"]
    assert row[5:] == ["direction only", "2"]
    steps = {cells[0]: cells for cells in table(report.pages["figure-3"], "Claims")}
    assert steps["`downstream-mud-world-focused-vic`"][3] == "20.5 (17.3 to 23.7)"  # one digit


def test_costs_are_summed_by_setup(report):
    text = report.pages[""]
    assert table(text, "Runs")[1:] == [["the paper's settings, planning", "24", "2", "24.0 h"]]
    assert ["coverage", "planning", "0", "1", "0", "0"] in table(
        text, "Verdicts on detailed claims"
    )


def test_deviations_are_the_page_s():
    page = (ROOT / "docs" / "deviations.md").read_text()
    numbers = [int(line.split(".")[0]) for line in page.splitlines() if line[:1].isdigit()]
    assert numbers == list(range(1, len(DEVIATIONS) + 1))


def test_every_page_shows_its_experiments_setup_by_setup(report):
    assert [name for name in report.pages if name] == [f"figure-{n}" for n in range(1, 5)]
    text = report.pages["figure-2"]
    assert text.startswith("# Figure 2: state coverage\n\n[The report](../report.md)")
    assert "`python -m paper coverage --preset paper --learner planning --seeds 2`" in text
    assert "<summary>Every claim (2)</summary>" in text
    first = report.pages["figure-1"]
    assert first.index("## Trajectories (Figure 1)") < first.index("## Side effects (Equation 1)")
    assert [*report_of(sample_results(), "ablation").pages] == [""]  # nothing to show


# -------------------------------------------------------------------- files


def test_the_report_comes_from_results_alone(tmp_path):
    made = report_of(sample_results(), "coverage")
    page = write_report(made, tmp_path / "out")
    name = "paper-planning-figure-2-coverage"
    figures = {path.name for path in (tmp_path / "out" / "figures").glob("[!.]*")}
    assert figures == {f"{name}.pdf", f"{name}.png", f"{name}.svg"}
    for path in (page, tmp_path / "out" / "report" / "figure-2.html"):
        assert path.read_text().count('src="data:image/png;base64,') == 1
    data = json.loads((tmp_path / "out" / "report.json").read_text())
    assert set(data) == {"figures", "claims", "tables"}
    write_report(report_of(sample_results(), "coverage"), tmp_path / "again")
    for name in ("report.md", "report.html", "report.json", "report/figure-2.md"):
        assert (tmp_path / "out" / name).read_text() == (tmp_path / "again" / name).read_text()
    write_docs(made, tmp_path / "docs.md")
    assert "](docs/figure-2.md)" in (tmp_path / "docs.md").read_text()
    assert "](../docs.md)" in (tmp_path / "docs" / "figure-2.md").read_text()


def test_html_escapes_embeds_and_colors():
    text = "# A & B\n\n| x |\n|---|\n| reproduced (1 of 2) |\n\n![c](figures/f.png)\n\n[p](report/q.md#z)"
    page = to_html(text, {"f": "QUJD"})
    assert "<title>A &amp; B</title>" in page
    assert '<h1 id="a--b">' in page
    assert '<td class="yes">reproduced (1 of 2)</td>' in page
    assert 'src="data:image/png;base64,QUJD"' in page
    assert 'href="report/q.html#z"' in page


@pytest.mark.slow
def test_pages_open_in_a_browser_and_lead_to_each_other(report, page, tmp_path):
    path = write_report(report, tmp_path)
    page.goto(path.as_uri())
    assert page.locator("img").evaluate_all("all => all.every(x => x.naturalWidth > 0)")
    page.get_by_role("link", name="Figure 2 in full").click()
    assert page.locator("h1").inner_text() == "Figure 2: state coverage"
    claims = page.locator("details table")
    assert not claims.is_visible()
    page.locator("summary").click()
    assert claims.is_visible()
    page.get_by_role("link", name="The report").click()
    assert page.locator("h1").inner_text() == TITLE


def test_the_committed_report_is_short_before_its_appendix():
    front, _, rest = (ROOT / "docs" / "report.md").read_text().partition("\n## Appendix\n")
    assert rest
    assert len(front.split()) <= MOST_WORDS
    assert all(f"\n## Figure {n}: " in front for n in range(1, 6))
