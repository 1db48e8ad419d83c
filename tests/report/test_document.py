from __future__ import annotations

import html.parser

import pytest

from skillfocus.report.document import (
    Details,
    Heading,
    Listing,
    Page,
    Paragraph,
    Picture,
    Player,
    Report,
    Table,
    pictures_of,
)
from skillfocus.report.html_page import to_html
from skillfocus.report.markdown import to_markdown


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
    page = to_html(blocks, "Title & more", {"reproduced": "yes"})
    checker = Balanced()
    checker.feed(page)
    assert not checker.open
    assert {"table", "img", "h1", "strong", "code", "ul", "em"} <= set(checker.seen)
    assert "<title>Title &amp; more</title>" in page
    assert '<td class="yes">reproduced</td>' in page
    assert "data:image/png;base64," in page
    assert "http:" not in page  # nothing is fetched
    assert "https:" not in page


def test_anchors_are_those_of_markdown_readers():
    assert Heading("The number of skills (appendix)").anchor == "the-number-of-skills-appendix"
    assert Heading("Versions & cost").anchor == "versions--cost"


def test_headings_that_repeat_have_anchors_of_their_own():
    page = to_html([Heading("A"), Heading("Same", 3), Heading("B"), Heading("Same", 3)], "T")
    assert '<h2 id="a">' in page
    assert '<h3 id="same">' in page
    assert '<h3 id="same-1">' in page  # as on GitHub


def test_lists_may_be_numbered():
    block = Listing(["one", "two"], numbered=True)
    assert to_markdown([block], "") == "1. one\n2. two\n"
    assert "<ol><li>one</li>\n<li>two</li></ol>" in to_html([block], "T")


def test_links_lead_within_the_page_alone():
    page = to_html([Paragraph("[here](#a) and [there](other.md)")], "T")
    assert '<p><a href="#a">here</a> and there</p>' in page


def test_links_to_pages_lead_to_files_of_the_same_kind():
    blocks = [Paragraph("[one](page:one), [main](page:) and [lost](page:lost)")]
    text = to_markdown(blocks, "", {"one": "report/one.md", "": "../report.md"})
    assert text == "[one](report/one.md), [main](../report.md) and lost\n"
    page = to_html(blocks, "T", pages={"one": "report/one.html"})
    assert '<a href="report/one.html">one</a>, main and lost' in page


def test_players_are_left_out_of_markdown():
    player = Player("Watch *this*", "<iframe></iframe>")
    assert to_markdown([Paragraph("x"), player], "") == "x\n"
    assert "<iframe></iframe><figcaption>Watch <em>this</em></figcaption>" in to_html([player], "T")


def test_collapsed_blocks_are_rendered_inside():
    from matplotlib.figure import Figure

    picture = Picture("dot", "A dot", Figure(figsize=(1, 1)))
    blocks = [Details("More & `more`", [Heading("A", 3), picture]), Heading("A", 3)]
    assert pictures_of(blocks) == [picture]
    assert to_markdown(blocks, "f") == (
        "<details>\n<summary>More &amp; <code>more</code></summary>\n\n### A\n\n"
        "![A dot](f/dot.png)\n\n*A dot*\n\n</details>\n\n### A\n"
    )
    page = to_html(blocks, "T")
    assert '<details><summary>More &amp; <code>more</code></summary>\n<h3 id="a">A</h3>' in page
    assert '</details>\n<h3 id="a-1">A</h3>' in page
    checker = Balanced()
    checker.feed(page)
    assert not checker.open


def test_a_picture_with_another_caption_is_not_drawn_again(monkeypatch):
    from matplotlib.figure import Figure

    figure, drawn = Figure(figsize=(1, 1)), []
    draw = figure.savefig
    monkeypatch.setattr(figure, "savefig", lambda *a, **k: [drawn.append(1), draw(*a, **k)])
    picture = Picture("dot", "A dot", figure)
    short = picture.with_caption("Dot")
    assert short.png == picture.png
    assert (short.caption, picture.caption, len(drawn)) == ("Dot", "A dot", 1)
    report = Report("T", [short], [Page("p", "P", [picture])])
    assert [one.name for one in report.pictures()] == ["dot"]


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "a b"])
def test_a_page_s_name_is_a_plain_file_name(name):
    with pytest.raises(ValueError, match="plain file name"):
        Page(name, "T", [])


def test_only_pages_with_players_may_run_scripts():
    plain = to_html([Paragraph("x")], "T")
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}' in plain
    assert "script-src" not in plain
    player = Player("p", "<iframe></iframe>")
    assert "script-src 'unsafe-inline'" in to_html([player], "T")
    assert "script-src 'unsafe-inline'" in to_html([Details("d", [player])], "T")


def test_cells_are_coloured_by_their_verdict():
    table = Table("T", ["v"], [["partly (7 of 9)"], ["else (7 of 9)"]])
    page = to_html([table], "T", {"partly": "partly"})
    assert '<td class="partly">partly (7&nbsp;of&nbsp;9)</td>' in page
    assert "<td>else (7 of 9)</td>" in page


def test_html_in_texts_is_text_in_markdown_too():
    tag = '<img src=x onerror="alert(1)">'
    blocks = [
        Table(tag, [tag], [[f"2.0 {tag}"], ["`<b>` & &lt; a < b"], ["two\nlines"]], tag),
        Paragraph(tag), Listing([tag]), Heading(tag), Details(tag, []),
    ]  # fmt: skip
    text = to_markdown(blocks, "")
    assert "<img" not in text
    assert text.count("&lt;img src=x") == 8
    assert "| `<b>` & &amp;lt; a < b |" in text
    assert "| two lines |" in text
    assert "<img" not in to_html(blocks, "T")


def test_code_is_no_markup():
    page = to_html([Paragraph("`a*b` and `c*d` and **`e`**")], "T")
    code = "<code>a*b</code> and <code>c*d</code> and <strong><code>e</code></strong>"
    assert code in page


def test_text_is_escaped():
    page = to_html([Table("a < b", ["<i>"], [["1 & 2"]])], "T")
    assert "<caption>a &lt; b</caption>" in page
    assert "<th>&lt;i&gt;</th>" in page
    assert "<td>1 &amp; 2</td>" in page
