from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from skillfocus.report.document import Heading, Paragraph, Picture
from skillfocus.report.writing import write_markdown, write_report


@pytest.fixture
def blocks():
    return [Heading("A report", 1), Picture("dot", "A dot", Figure((1, 1))), Paragraph("Done.")]


def test_a_report_is_a_page_its_markdown_and_every_figure_in_three_formats(blocks, tmp_path):
    said = []
    page = write_report(
        blocks, tmp_path / "new" / "out", "Title", progress=lambda *what: said.append(what)
    )
    assert page == tmp_path / "new" / "out" / "report.html"
    assert "<title>Title</title>" in page.read_text()
    assert "(figures/dot.png)" in page.with_suffix(".md").read_text()
    files = sorted(path.name for path in (page.parent / "figures").iterdir())
    assert files == ["dot.pdf", "dot.png", "dot.svg"]
    assert said == [(0.0, "saving dot")]


def test_cells_have_the_classes_they_are_given(tmp_path):
    from skillfocus.report.document import Table

    table = Table("T", ["a"], [["good"], ["other"]])
    page = write_report([table], tmp_path, "T", cell_classes={"good": "yes"}).read_text()
    assert '<td class="yes">good</td>' in page
    assert "<td>other</td>" in page


def test_markdown_replaces_the_pictures_of_earlier_reports(blocks, tmp_path):
    path = tmp_path / "report.md"
    write_markdown([Picture("old", "Old", Figure((1, 1)))], path)
    (tmp_path / "report" / "notes.txt").write_text("mine")
    write_markdown(blocks, path)
    assert "![A dot](report/dot.png)" in path.read_text()
    assert {file.name for file in (tmp_path / "report").iterdir()} == {"dot.png", "notes.txt"}


def test_equal_figures_are_equal_files(blocks, tmp_path):
    for name in ("a", "b"):
        write_report(blocks, tmp_path / name, "T")
    for suffix in ("png", "svg"):
        first, second = (tmp_path / name / "figures" / f"dot.{suffix}" for name in ("a", "b"))
        assert first.stat().st_size == second.stat().st_size
    first, second = (tmp_path / name / "figures" / "dot.png" for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()
