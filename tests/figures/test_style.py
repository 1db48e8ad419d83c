"""What all figures share."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from skillfocus.figures.style import COLOURS, GREY, LINES, draw_curve, style_of, tidy, turned
from skillfocus.metrics.statistics import mean_interval


@pytest.mark.parametrize(
    ("agent", "colour", "line"),
    [
        ("vic", COLOURS["vic"], LINES[""]),
        ("focused-diayn", COLOURS["diayn"], LINES["focused"]),
        ("dusdi-vic", COLOURS["vic"], LINES["dusdi"]),
        ("scattered-focused-vic", COLOURS["vic"], LINES["focused"]),
        ("permuted-focused-lsd", COLOURS["lsd"], LINES["focused"]),
        ("focused-vic-on-two", COLOURS["vic"], LINES["focused"]),
        ("primitives", GREY, "-"),
    ],
)
def test_colours_tell_methods_and_lines_tell_variants(agent, colour, line):
    assert style_of(agent) == {"color": colour, "linestyle": line}


def test_a_curve_is_the_mean_with_its_interval_and_every_seed():
    panel = Figure().subplots()
    at, curves = np.array([0.0, 1.0, 2.0]), np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 4.0]])
    draw_curve(panel, at, curves, {"color": "#123456"}, "both", 4.0)
    *seeds, mean = panel.lines
    assert [line.get_ydata().tolist() for line in seeds] == curves.tolist()
    assert mean.get_ydata().tolist() == [0.5, 1.0, 3.0]
    assert mean.get_label() == "both"
    (band,) = panel.collections
    y = band.get_paths()[0].vertices[:, 1]
    assert (y.min(), y.max()) == (0.0, 4.0), "the band is cut where no value can be"
    _, low, high = mean_interval(curves[:, 1])
    assert low == high == 1.0


def test_one_seed_has_no_band():
    panel = Figure().subplots()
    draw_curve(panel, np.arange(2), np.ones((1, 2)), {"color": "red"}, "one", 1.0, markers=True)
    assert not panel.collections
    assert panel.lines[-1].get_marker() == "o"


def test_the_way_back_runs_beside_the_way_out():
    across, down = turned(np.array([(0.0, 0), (0, 1), (0, 2), (0, 1)]), 0.1)
    assert across == pytest.approx([0.4, 1.4, 2.4, 2.6, 1.6])
    assert down == pytest.approx([0.4, 0.4, 0.4, 0.6, 0.6])
    across, _ = turned(np.array([(0.0, 0), (0, 1)]), 0.1)
    assert across == pytest.approx([0.4, 1.4])


def test_panels_are_titled_and_labelled():
    panel = Figure().subplots()
    tidy(panel, "MudWorld", "episodes", "steps")
    assert (panel.get_title(), panel.get_xlabel(), panel.get_ylabel()) == (
        "MudWorld", "episodes", "steps",
    )  # fmt: skip
