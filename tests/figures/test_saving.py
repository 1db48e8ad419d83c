"""Figures to files."""

from __future__ import annotations

import os

import pytest
from matplotlib.figure import Figure

from skillfocus.errors import UserError
from skillfocus.figures.saving import check_path, save_figure


def one_line():
    figure = Figure(figsize=(2, 1))
    figure.subplots().plot([0, 1], [0, 1])
    return figure


@pytest.mark.parametrize("name", ["a.svg", "b.PNG", "c.pdf"])
def test_the_suffix_says_the_format(tmp_path, name):
    save_figure(one_line(), tmp_path / name)
    start = (tmp_path / name).read_bytes()[:5]
    assert start == {"a.svg": b"<?xml", "b.PNG": b"\x89PNG\r", "c.pdf": b"%PDF-"}[name]
    assert [path.name for path in tmp_path.iterdir()] == [name], "nothing else is left behind"


def test_an_svg_has_no_date_so_that_equal_figures_are_alike(tmp_path):
    save_figure(one_line(), tmp_path / "a.svg")
    assert "<dc:date>" not in (tmp_path / "a.svg").read_text()


def test_paths_that_cannot_be_written_are_errors_before_the_work(tmp_path):
    for path, said in (
        (tmp_path / "a.jpeg", r"a\.jpeg"),
        (tmp_path / "a", r"\.png, \.svg or \.pdf"),
        (tmp_path / "no" / "a.png", "no"),
    ):
        with pytest.raises(UserError, match=said):
            check_path(path)
        with pytest.raises(UserError, match=said):
            save_figure(one_line(), path)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_an_error(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(UserError, match="cannot write"):
        check_path(tmp_path / "a.png")
