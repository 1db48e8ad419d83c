from __future__ import annotations

import os

import pytest
from matplotlib.figure import Figure

from skillfocus.errors import UserError
from skillfocus.figures.saving import check_path, save_figure


@pytest.mark.parametrize(
    ("name", "start"), [("a.png", b"\x89PNG"), ("a.SVG", b"<?xml"), ("a.pdf", b"%PDF")]
)
def test_the_suffix_selects_the_format(name, start, tmp_path):
    save_figure(Figure((1, 1)), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)


def test_svg_files_have_no_date(tmp_path):
    save_figure(Figure((1, 1)), tmp_path / "a.svg")
    assert b"<dc:date>" not in (tmp_path / "a.svg").read_bytes()


def test_what_cannot_be_written_is_an_error_before_drawing(tmp_path):
    with pytest.raises(UserError, match=r"a.gif: the name must end in .png, .svg or .pdf"):
        check_path(tmp_path / "a.gif")
    with pytest.raises(UserError, match=r"there is no folder .* to write a.png to"):
        check_path(tmp_path / "nowhere" / "a.png")
    with pytest.raises(UserError, match="must end"):
        save_figure(Figure((1, 1)), tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_read_only_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(UserError, match=r"cannot write to .*, so a.png cannot be written there"):
        check_path(tmp_path / "a.png")
