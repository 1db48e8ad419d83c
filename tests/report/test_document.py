from __future__ import annotations

import html.parser

from skillfocus.report.document import (
    Heading,
    Listing,
    Paragraph,
    Picture,
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
