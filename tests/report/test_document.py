from __future__ import annotations

import html.parser

from skillfocus.report.document import (
    Heading,
    Listing,
    Paragraph,
    Picture,
    Player,
    Table,
    to_html,
    to_markdown,
)


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
    assert "http" not in page  # nothing is fetched


def test_anchors_are_those_of_markdown_readers():
    assert Heading("The number of skills (appendix)").anchor == "the-number-of-skills-appendix"
    assert Heading("Versions & cost").anchor == "versions--cost"


def test_headings_that_repeat_have_anchors_of_their_own():
    page = to_html([Heading("A"), Heading("Same", 3), Heading("B"), Heading("Same", 3)], "T")
    assert '<h2 id="a">' in page
    assert '<h3 id="same-1">' in page
    assert '<h3 id="same-3">' in page


def test_lists_may_be_numbered():
    block = Listing(["one", "two"], numbered=True)
    assert to_markdown([block], "") == "1. one\n2. two\n"
    assert "<ol><li>one</li>\n<li>two</li></ol>" in to_html([block], "T")


def test_links_lead_within_the_page_alone():
    page = to_html([Paragraph("[here](#a) and [there](other.md)")], "T")
    assert '<p><a href="#a">here</a> and there</p>' in page


def test_players_are_left_out_of_markdown():
    player = Player("Watch *this*", "<iframe></iframe>")
    assert to_markdown([Paragraph("x"), player], "") == "x\n"
    assert "<iframe></iframe><figcaption>Watch <em>this</em></figcaption>" in to_html([player], "T")


def test_text_is_escaped():
    page = to_html([Table("a < b", ["<i>"], [["1 & 2"]])], "T")
    assert "<caption>a &lt; b</caption>" in page
    assert "<th>&lt;i&gt;</th>" in page
    assert "<td>1 &amp; 2</td>" in page
