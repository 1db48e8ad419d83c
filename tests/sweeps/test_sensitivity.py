from __future__ import annotations

import pytest

from skillfocus.sweeps.grid import Axis
from skillfocus.sweeps.scores import Score, best_score
from skillfocus.sweeps.sensitivity import draw_sensitivity, sensitivity_figure, slice_through


def scores_of(points):
    return [
        Score({"a": a, "b": b}, m, m - 0.1, m + 0.1, (m - 0.05, m + 0.05)) for a, b, m in points
    ]


def test_a_panel_shows_one_setting_with_the_others_at_their_best():
    scores = scores_of([(2, "x", 0.1), (1, "x", 0.4), (1, "y", 0.9), (2, "y", 0.7)])
    best = best_score(scores, minimise=False)
    axes = [Axis("a", (1, 2)), Axis("b", ("x", "y"))]
    assert [s.mean for s in slice_through(axes[0], scores, best)] == [0.9, 0.7]
    assert [s.mean for s in slice_through(axes[1], scores, best)] == [0.4, 0.9]
    figure = sensitivity_figure("t", "focus", axes, scores, best)
    first = figure.axes[0]
    bars = first.containers[0]
    assert bars.lines[0].get_ydata().tolist() == [0.9, 0.7]
    segments = bars.lines[2][0].get_segments()
    assert [tuple(s[:, 1]) for s in segments] == [
        pytest.approx((0.8, 1.0)),
        pytest.approx((0.6, 0.8)),
    ]
    assert [label.get_text() for label in figure.axes[1].get_xticklabels()] == ["x", "y"]


def test_a_search_s_panels_show_every_trial():
    scores = scores_of([(0.1, "x", 0.1), (1.0, "y", 0.4), (2.0, "x", 0.3)])
    axes = [Axis("a", low=0.1, high=3.0), Axis("b", ("x", "y"))]
    figure = sensitivity_figure("t", "focus", axes, scores, scores[1])
    first, second = (panel.containers[0].lines[0].get_xydata().tolist() for panel in figure.axes)
    assert first == [[0.1, 0.1], [1.0, 0.4], [2.0, 0.3]]
    assert second == [[0, 0.1], [1, 0.4], [0, 0.3]]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_figure_is_written(tmp_path, suffix):
    scores = scores_of([(0.1, "x", 0.1), (1.0, "x", 0.4)])
    path = tmp_path / f"plot.{suffix}"
    draw_sensitivity(
        path, "t", "focus", [Axis("a", low=0.1, high=1.0, log=True)], scores, scores[0]
    )
    assert path.stat().st_size > 1000
