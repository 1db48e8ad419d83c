from __future__ import annotations

import json

import pytest
from matplotlib.figure import Figure

from skillfocus.report.document import Heading, Page, Paragraph, Picture, Report, Table
from skillfocus.report.owned_files import KeptFileWarning
from skillfocus.report.writing import write_markdown, write_report


def make_report(*names: str, pages=("more",)) -> Report:
    """A report with a picture of each name on its main page, and one picture on every page."""
    blocks = [Heading("A report", 1), *(Picture(name, "A dot", Figure((1, 1))) for name in names)]
    blocks += [Paragraph(f"See [{name}](page:{name}).") for name in pages]
    further = [
        Page(name, f"Page {name}", [Paragraph("[Back](page:)"), Picture(f"on-{name}", "P", Figure((1, 1)))])
        for name in pages
    ]  # fmt: skip
    return Report("Title", blocks, further, {"claims": [1, "é"]})


def names_in(folder) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".skillfocus-report.json"}


def test_a_report_is_pages_in_two_formats_data_and_every_figure_in_three(tmp_path):
    said = []
    out = tmp_path / "new" / "out"
    page = write_report(make_report("dot"), out, progress=lambda *what: said.append(what))
    assert page == out / "report.html"
    assert "<title>Title</title>" in page.read_text()
    assert 'See <a href="report/more.html">more</a>' in page.read_text()
    text = (out / "report.md").read_text()
    assert "(figures/dot.png)" in text
    assert "[more](report/more.md)" in text
    assert json.loads((out / "report.json").read_text()) == {"claims": [1, "é"]}
    assert names_in(out / "report") == {"more.html", "more.md"}
    further = (out / "report" / "more.html").read_text()
    assert "<title>Page more</title>" in further
    assert '<a href="../report.html">Back</a>' in further
    assert (
        "[Back](../report.md)\n\n![P](../figures/on-more.png)"
        in (out / "report" / "more.md").read_text()
    )
    stems, suffixes = ("dot", "on-more"), ("pdf", "png", "svg")
    assert names_in(out / "figures") == {
        f"{stem}.{suffix}" for stem in stems for suffix in suffixes
    }
    assert said == [(0.0, "saving dot"), (1 / 3, "saving on-more")]


def test_cells_have_the_classes_they_are_given(tmp_path):
    report = Report("T", [Table("T", ["a"], [["good"], ["other"]])])
    page = write_report(report, tmp_path, cell_classes={"good": "yes"}).read_text()
    assert '<td class="yes">good</td>' in page
    assert "<td>other</td>" in page


def test_data_must_be_valid_json(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write_report(Report("T", [], data={"x": float("inf")}), tmp_path)


def test_markdown_has_its_pages_and_pictures_in_a_folder_beside_it(tmp_path):
    path = tmp_path / "twin.md"
    write_markdown(make_report("dot"), path)
    assert "![A dot](twin/dot.png)" in path.read_text()
    assert "[more](twin/more.md)" in path.read_text()
    assert names_in(tmp_path / "twin") == {"dot.png", "on-more.png", "more.md"}
    text = (tmp_path / "twin" / "more.md").read_text()
    assert text == "[Back](../twin.md)\n\n![P](on-more.png)\n\n*P*\n"


def test_links_to_a_folder_with_a_space_work(tmp_path):
    write_markdown(make_report("dot"), tmp_path / "my report.md")
    text = (tmp_path / "my report.md").read_text()
    assert "(my%20report/dot.png)" in text
    assert "(my%20report/more.md)" in text
    assert "(../my%20report.md)" in (tmp_path / "my report" / "more.md").read_text()


def test_markdown_deletes_what_it_wrote_and_nothing_else(tmp_path):
    path, folder = tmp_path / "report.md", tmp_path / "report"
    folder.mkdir()
    (folder / "holiday.png").write_bytes(b"a photo")
    (folder / "notes.md").write_text("mine")
    write_markdown(make_report("old", "edited", pages=("gone",)), path)
    (folder / "edited.png").write_bytes(b"painted over")
    write_markdown(make_report("dot"), path)
    assert names_in(folder) == {
        "dot.png", "on-more.png", "more.md",  # the report's
        "holiday.png", "notes.md", "edited.png",  # the user's
    }  # fmt: skip
    assert (folder / "holiday.png").read_bytes() == b"a photo"


def test_pages_of_an_earlier_report_are_deleted(tmp_path):
    write_report(make_report(pages=("a", "b")), tmp_path)
    write_report(make_report(pages=("b", "c")), tmp_path)
    assert names_in(tmp_path / "report") == {"b.html", "b.md", "c.html", "c.md"}


def test_both_kinds_of_report_may_share_a_folder(tmp_path):
    for _ in range(2):
        write_report(make_report("dot"), tmp_path)
        write_markdown(make_report("dot"), tmp_path / "report.md")
    assert names_in(tmp_path / "report") == {"more.html", "more.md", "dot.png", "on-more.png"}


def test_a_report_overwrites_nothing_but_an_earlier_one(tmp_path):
    mine = [tmp_path / name for name in ("report.html", "report.md", "report.json")]
    mine += [tmp_path / "report" / "more.html", tmp_path / "figures" / "dot.svg"]
    for path in mine:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    with pytest.warns(KeptFileWarning):
        write_report(make_report("dot"), tmp_path)
    write_report(make_report("dot", "second"), tmp_path)
    for path in mine:
        assert path.with_name(f"{path.name}.1").read_text() == "mine"
        assert path.read_text() != "mine"
        assert not path.with_name(f"{path.name}.2").exists()


def test_the_file_that_markdown_names_is_overwritten(tmp_path):
    (tmp_path / "mine.md").write_text("old")
    write_markdown(make_report("dot"), tmp_path / "mine.md")
    assert names_in(tmp_path) == {"mine", "mine.md"}


def test_equal_figures_are_equal_files(tmp_path):
    report = make_report("dot")
    for name in ("a", "b"):
        write_report(report, tmp_path / name)
    for suffix in ("png", "svg"):
        first, second = (tmp_path / name / "figures" / f"dot.{suffix}" for name in ("a", "b"))
        assert first.stat().st_size == second.stat().st_size
    first, second = (tmp_path / name / "figures" / "dot.png" for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()
