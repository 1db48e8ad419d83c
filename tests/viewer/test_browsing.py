"""What the `page` fixture guards against: each thing a page must not do fails a test."""

from __future__ import annotations

import pytest

import browsing

LOUD = {
    "console": ("<script>console.error('spoilt')</script>", "console: spoilt"),
    "thrown": ("<script>throw new Error('spoilt')</script>", "uncaught: spoilt"),
    "rejected": ("<script>Promise.reject(new Error('late'))</script>", "uncaught: late"),
    "fetch": ("<script>fetch('http://a.test/x').catch(() => 0)</script>", "http://a.test/x"),
    "picture": ("<img src='https://a.test/x.png'>", "asked for https://a.test/x.png"),
    "font": (
        "<style>@font-face{font-family:f;src:url(https://a.test/f)}p{font-family:f}</style><p>x",
        "asked for https://a.test/f",
    ),
    "beacon": ("<script>navigator.sendBeacon('https://a.test/b')</script>", "https://a.test/b"),
    "socket": ("<script>new WebSocket('ws://a.test/s')</script>", "asked for ws://a.test/s"),
    "events": ("<script>new EventSource('http://a.test/e')</script>", "http://a.test/e"),
    "frame": ("<iframe src='http://a.test/f'></iframe>", "asked for http://a.test/f"),
    "window": ("<script>window.open('http://a.test/w')</script>", "asked for http://a.test/w"),
    "script beside it": ("<script src='beside.js'></script>", "beside.js"),
    "frame beside it": ("<iframe src='beside.html'></iframe>", "beside.html"),
}
QUIET = """<title>quiet</title><canvas></canvas><iframe srcdoc="<p>inside"></iframe>
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">
<script>
console.log("said"); console.warn("warned");
const kept = URL.createObjectURL(new Blob(["a"])), fetched = [fetch(kept), fetch("data:,b")];
Promise.all(fetched).then(() => document.title = "loaded");
</script><a download=kept.txt onclick="this.href = kept">keep</a>"""


@pytest.fixture
def written(tmp_path):
    """Write a page, with a script and a page beside it; return its address."""

    def write(html):
        (tmp_path / "beside.js").write_text("1")
        (tmp_path / "beside.html").write_text("<p>beside")
        path = tmp_path / "a page ü.html"
        path.write_text(f"<!doctype html><meta charset=utf-8>{html}")
        return path.as_uri()

    return write


@pytest.mark.slow
@pytest.mark.parametrize(("html", "said"), LOUD.values(), ids=LOUD)
def test_errors_and_requests_are_recorded(browser, written, html, said):
    with browser.new_context(offline=True) as context:
        record = browsing.Record(context)
        page = context.new_page()
        page.goto(written(html))
        patience = 100
        while said not in record.said and (patience := patience - 1):
            page.wait_for_timeout(50)
    assert said in record.said


@pytest.mark.slow
def test_a_page_that_was_not_quiet_fails_when_it_is_closed(browser, written):
    page = browsing.quiet_page(browser)
    page.__enter__().goto(written("<script>console.error('spoilt')</script>"))
    with pytest.raises(pytest.fail.Exception, match="console: spoilt"):
        page.__exit__(None, None, None)


@pytest.mark.slow
def test_a_quiet_page_passes(page, written):
    page.goto(written(QUIET))
    page.wait_for_function("() => document.title === 'loaded'")
    with page.expect_download() as kept:
        page.click("a")
    assert kept.value.path().read_text() == "a"
    page.goto(written("<p id=greeting>hello ☺ <a href=beside.html target=_blank>beside</a>"))
    assert page.inner_text("#greeting") == "hello ☺ beside"
    with page.expect_popup() as opened:
        page.click("a")
    assert opened.value.inner_text("p") == "beside"


@pytest.mark.parametrize(
    ("lacks", "advice"), [("browser", "apt-get install chromium"), ("playwright", "pip install")]
)
def test_a_missing_browser_is_skipped_unless_it_is_needed(monkeypatch, lacks, advice):
    monkeypatch.setattr(browsing.shutil, "which", lambda name: None if lacks == "browser" else name)
    monkeypatch.setattr(browsing, "sync_playwright", None if lacks == "playwright" else object())
    for needed, outcome in (("", pytest.skip.Exception), ("1", pytest.fail.Exception)):
        monkeypatch.setenv(browsing.NEEDED, needed)
        with pytest.raises((pytest.skip.Exception, pytest.fail.Exception), match=advice) as raised:
            browsing.chromium()
        assert raised.type is outcome
    monkeypatch.setattr(browsing.shutil, "which", lambda name: name)
    monkeypatch.setattr(browsing, "sync_playwright", object())
    assert browsing.chromium() == "chromium"


def test_pages_come_last(request):
    """Tests before them may need an event loop of their own."""
    pages = ["browser" in item.fixturenames for item in request.session.items]
    assert pages == sorted(pages)
