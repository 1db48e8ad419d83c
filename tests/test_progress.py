"""Progress in Python: a bar for people after two seconds, and nothing else."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

import skillfocus as sf
from probes import corridor
from skillfocus import progress


@pytest.fixture
def drawn(monkeypatch):
    """What is drawn in a terminal of its own, and the terminal's settings."""
    settings: dict[str, Any] = {"force_terminal": True}
    file = io.StringIO()
    monkeypatch.setattr(
        progress, "make_console", lambda **_: Console(file=file, width=160, **settings)
    )
    return file, settings


def discover(**options):
    return sf.discover(
        corridor(), sf.focused(sf.vic()), seed=0, learner=sf.Planning(rounds=3), **options
    )


def test_a_bar_is_drawn_after_two_seconds_and_removed(drawn, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_UNSEEN", 0.0)
    discover()
    shown = drawn[0].getvalue()
    assert "focused-vic in FourRooms-v0" in shown
    assert "%" in shown
    assert shown.endswith("\x1b[2K")  # the last line is erased


@pytest.mark.parametrize(
    "why", ["it is quick", "it is off", "nobody watches", "a callback is given"]
)
def test_nothing_is_drawn_if(why, drawn, monkeypatch):
    file, settings = drawn
    options = {}
    if why != "it is quick":
        monkeypatch.setattr(progress, "SECONDS_UNSEEN", 0.0)
    if why == "it is off":
        options = {"progress": sf.no_progress}
    if why == "nobody watches":
        settings["force_terminal"] = False
    if why == "a callback is given":
        options = {"progress": lambda fraction, activity: None}
    discover(**options)
    assert file.getvalue() == ""
