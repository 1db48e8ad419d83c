from __future__ import annotations

import os

import numpy as np
import pytest
from matplotlib.figure import Figure

from skillfocus.errors import UserError
from skillfocus.figures import check_path, draw_mean_curve, label_panel, save_figure
from skillfocus.metrics.statistics import mean_interval


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


@pytest.fixture
def panel():
    return Figure().subplots()


def test_a_mean_curve_has_a_band_that_ends_at_possible_values(panel):
    curves = np.array([[0.0, 0.5], [1.0, 0.6]])
    draw_mean_curve(panel, np.array([1, 2]), curves, {"color": "red"}, "mean", 1.0)
    *faint, mean = panel.get_lines()
    assert [line.get_ydata().tolist() for line in faint] == curves.tolist()
    assert {line.get_alpha() for line in faint} == {0.15}
    assert mean.get_ydata().tolist() == pytest.approx([0.5, 0.55])
    assert (mean.get_label(), mean.get_color(), mean.get_marker()) == ("mean", "red", "None")
    band = panel.collections[0].get_paths()[0].vertices
    low, high = mean_interval([0.5, 0.6])[1:]
    for x, ends in ((1, (0.0, 1.0)), (2, (low, high))):
        y = band[band[:, 0] == x, 1]
        assert (y.min(), y.max()) == pytest.approx(ends)


def test_one_curve_has_no_band(panel):
    style = {"color": "red", "linestyle": "--"}
    draw_mean_curve(panel, np.array([1, 2]), np.ones((1, 2)), style, "one", 1.0, markers=True)
    assert not panel.collections
    assert panel.get_lines()[-1].get_marker() == "o"
    assert panel.get_lines()[-1].get_linestyle() == "--"


def test_panels_are_labelled(panel):
    label_panel(panel, "Title", "across", "up")
    assert (panel.get_title(), panel.get_xlabel(), panel.get_ylabel()) == ("Title", "across", "up")
    assert panel.get_axisbelow() is True
