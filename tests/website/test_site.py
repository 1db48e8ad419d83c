"""The built site: what its files refer to, and how it looks and works in a browser, from disk."""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import cache
from html import unescape
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from markdown_it import MarkdownIt

from paths import ROOT
from site_pages import CONTRAST, Links, local_target

pytestmark = pytest.mark.slow
LOOKED_AT = (
    "index",
    "first-skills",
    "focused",
    "api/learners",
    "commands",
    "report/figure-2",
    "tutorials/own-map",
)
"""Pages of every kind, to look at in a browser."""


def pages(site: Path) -> list[Path]:
    return [
        p for p in sorted(site.rglob("*.html")) if p.parent.name != "live" and p.name != "404.html"
    ]


read = cache(Links)


def test_the_font_has_the_characters_of_all_formulas(site):
    text = "".join(path.read_text("utf-8") for path in pages(site))
    formulas = re.findall(r"<math\b.*?</math>", text, flags=re.S)
    assert len(formulas) > 50
    needed = {ord(c) for c in unescape(re.sub(r"<[^>]*>", "", "".join(formulas)))} - {ord("\n")}
    letters = {ord(c) for c in "𝑎𝑧𝐴𝑍ℎ𝛼𝜔𝜙√"}  # browsers draw letters in italics
    assert needed | letters <= set(TTFont(site / "assets" / "math.woff").getBestCmap() or {})


def test_every_link_and_part_of_every_page_is_there(site):
    assert len(pages(site)) > 60
    for page in pages(site):
        for link in [*read(page).links, *read(page).parts]:
            if target := local_target(page, link):
                path, anchor = target
                assert path.exists(), f"{page.name} refers to {link}"
                if anchor and path.suffix == ".html" and path.parent.name != "live":
                    assert anchor in read(path).anchors, f"{page.name} refers to {link}"


def test_no_part_of_a_page_comes_from_elsewhere(site):
    for page in pages(site):
        outside = [part for part in read(page).parts if re.match(r"(\w+:)?//", part)]
        assert not outside, page.name
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", styles)


def test_every_picture_has_a_text(site):
    assert {
        page.name: read(page).without_alt for page in pages(site) if read(page).without_alt
    } == {}


def test_pages_have_the_lists_tables_and_code_of_their_markdown(site):
    """The site's Markdown and that of public forges differ in what begins a list."""
    markdown = MarkdownIt().enable("table")
    for source in sorted((ROOT / "docs").glob("*.md")):
        if "--8<--" in source.read_text():
            continue
        text = re.sub(r"\A---\n.*?\n---\n", "", source.read_text(), flags=re.S)
        expected = markdown.render(re.sub(r"\$\$.*?\$\$", "", text, flags=re.S))
        html = (site / f"{source.stem}.html").read_text("utf-8")
        article = html.split("<article")[1].split("</article>")[0]
        for tag in ("<li>", "<tr>", "<pre>", "<h2"):
            assert article.count(tag) == expected.count(tag), f"{source.name}: {tag}"


@contextmanager
def opened(browser, site, *, scheme="light", width=1280):
    """Open an empty page; fail at the end if it logged an error or asked for anything outside."""
    said: list[str] = []
    size = {"width": width, "height": 900}
    with browser.new_context(viewport=size, color_scheme=scheme, offline=True) as context:
        context.on("console", lambda m: said.append(m.text) if m.type == "error" else None)
        context.on("weberror", lambda error: said.append(str(error.error)))
        context.on("request", lambda r: said.append(r.url) if not own(r.url, site) else None)
        context.on(
            "requestfailed", lambda r: said.append(f"{r.url}: {r.failure}") if lost(r) else None
        )
        page = context.new_page()
        page.set_default_timeout(30_000)
        yield page
    assert said == []


def lost(request) -> bool:
    """Return whether a part was not there; leaving a page aborts what it still loads."""
    return request.failure != "net::ERR_ABORTED"


def own(url: str, site: Path) -> bool:
    return url.startswith((site.as_uri(), "data:", "blob:", "about:"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_can_be_read(browser, site, scheme, width):
    with opened(browser, site, scheme=scheme, width=width) as page:
        for name in LOOKED_AT:
            page.goto((site / f"{name}.html").as_uri())
            assert page.evaluate(CONTRAST) == [], name
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_contrast_is_measured(browser, site):
    with opened(browser, site) as page:
        page.set_content("<p style='color: #777; background: #fff'>grey</p><p>black</p>")
        assert [line[:10] for line in page.evaluate(CONTRAST)] == ["4.48 < 4.5"]


def test_search_works_from_disk(browser, site):
    with opened(browser, site) as page:
        page.goto((site / "index.html").as_uri())
        page.locator(".md-search__input").press_sequentially("weighted norm")
        page.locator(".md-search-result__link").first.wait_for()
        found = page.locator(".md-search-result__item").all_inner_texts()
        assert any("Focused skills" in text for text in found)
        page.locator(".md-search-result__link").first.click()
        page.wait_for_url(re.compile(r"\.html\?h="))


def test_colours_can_be_switched(browser, site):
    with opened(browser, site) as page:
        page.goto((site / "index.html").as_uri())
        page.locator("label[title='Dark colours']").click()
        assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"


@pytest.mark.parametrize(("name", "count"), [("gallery", 3), ("what-is-a-focused-skill", 1)])
def test_players_play_on_the_page(browser, site, name, count):
    with opened(browser, site) as page:
        page.goto((site / f"{name}.html").as_uri())
        frames = page.locator("iframe.live")
        assert frames.count() == count
        for number in range(count):
            frames.nth(number).scroll_into_view_if_needed()
            inside = frames.nth(number).content_frame
            inside.locator("body[data-ready]").wait_for()
            assert inside.locator(".verdict").first.inner_text()
