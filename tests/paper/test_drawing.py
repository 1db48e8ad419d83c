from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from frames import line_data, make_results, sample_results
from paper.formatting import (
    COLOURS,
    agent_style,
    draw_optimum,
    draw_task_curve,
)


def test_the_paper_s_colours_and_lines():
    assert agent_style("focused-vic") == {"color": COLOURS["vic"], "linestyle": "-"}
    assert agent_style("dusdi-vic")["linestyle"] != agent_style("vic")["linestyle"] != "-"
    assert agent_style("lsd")["color"] == agent_style("focused-lsd")["color"] == COLOURS["lsd"]
    assert agent_style("primitives")["color"] not in COLOURS.values()


@pytest.fixture
def panel():
    return Figure().subplots()


@pytest.mark.parametrize(
    ("metric", "first", "upper"), [("task/true/steps", 60, 60), ("task/proxy/true_return", 0, 1)]
)
def test_learning_curves_begin_with_failure(panel, metric, first, upper):
    frame = make_results([("mud-world", "vic", "", metric, n, [0.1 * upper] * 2) for n in (5, 9)])
    draw_task_curve(panel, frame, metric, "mud-world", "vic")
    episodes, values = line_data(panel, "VIC")
    assert episodes.tolist() == [0, 5, 9]
    assert values == pytest.approx([first, 0.1 * upper, 0.1 * upper])
    draw_task_curve(panel, frame, metric, "mud-world", "lsd")  # not run: nothing is drawn
    assert [x.get_label() for x in panel.get_lines() if x.get_label()[0] != "_"] == ["VIC"]


def test_the_optimum_is_drawn_where_it_is_known(panel):
    draw_optimum(panel, sample_results(), "true/steps", "mud-world")
    assert line_data(panel, "optimum")[1].tolist() == [19.5, 19.5]
    draw_optimum(panel, sample_results(), "proxy/return", "mud-world")
    assert len(panel.get_lines()) == 1


def test_variants_of_an_agent_share_its_style():
    assert agent_style("scattered-focused-vic") == agent_style("focused-vic")
    assert agent_style("permuted-focused-vic") == agent_style("focused-vic-on-two")
