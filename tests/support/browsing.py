"""Pages opened from disk in Chromium, and what they must not do: fail, or request anything."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import pytest

try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None

if TYPE_CHECKING:
    from playwright.sync_api import (
        Browser,
        BrowserContext,
        ConsoleMessage,
        Page,
        Request,
        WebSocket,
    )

NEEDED = "SKILLFOCUS_NEED_BROWSER"
"""If set, a missing browser is an error instead of a skipped test."""

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
    "--host-resolver-rules=MAP * ~NOTFOUND",
]
OUTSIDE = re.compile(r"^(?!file:|data:|blob:|about:)")


def chromium() -> str:
    """Return the path of the browser; skip the test without one, or without Playwright."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if sync_playwright is None:
        missing("Playwright is not installed: pip install -e '.[dev]'")
    if path is None:
        missing(f"no {', '.join(NAMES)} on the path: apt-get install chromium")
    return path


def missing(what: str) -> NoReturn:
    """Skip the test, or fail it if a browser is required."""
    if os.environ.get(NEEDED):
        pytest.fail(f"{what} ({NEEDED} is set)", pytrace=False)
    pytest.skip(what)


@contextmanager
def launched() -> Iterator[Browser]:
    """Launch the browser with an empty profile that is discarded at the end."""
    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def quiet_page(browser: Browser) -> Iterator[Page]:
    """Open an empty page in its own profile; fail at the end if it was not quiet."""
    with browser.new_context(viewport={"width": 1280, "height": 800}, offline=True) as context:
        record = Record(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        yield page
    record.check()


class Record:
    """Errors and requests of the pages of one browser context.

    A page is one file. Opening it, or following a link to another page, does not count as a
    request; loading a script, picture or frame from a file beside it does, since the page could
    not be sent alone.
    """

    def __init__(self, context: BrowserContext) -> None:
        self.errors: list[str] = []
        self.requests: list[str] = []
        context.route(OUTSIDE, lambda route: route.abort())
        context.on("console", self._console)
        context.on("weberror", lambda error: self.errors.append(f"uncaught: {error.error}"))
        context.on("request", self._request)
        context.on("page", lambda page: page.on("websocket", self._socket))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"console: {message.text}")

    def _request(self, request: Request) -> None:
        if not (request.url.startswith("file:") and opens_a_page(request)):
            self.requests.append(request.url)

    def _socket(self, socket: WebSocket) -> None:
        self.requests.append(socket.url)

    @property
    def said(self) -> str:
        """One line for each error and request; empty if the pages were quiet."""
        return "\n".join([*self.errors, *(f"asked for {url}" for url in self.requests)])

    def check(self) -> None:
        """Fail the test if there was an error or a request."""
        if self.said:
            pytest.fail(f"the page was not quiet:\n{self.said}", pytrace=False)


def opens_a_page(request: Request) -> bool:
    """Return whether a request is for a whole page, not for a part of one."""
    from playwright.sync_api import Error

    try:
        return request.is_navigation_request() and request.frame.parent_frame is None
    except Error:  # a window that is about to open has no frame yet
        return True
