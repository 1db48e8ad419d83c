from __future__ import annotations

import polars as pl
import pytest

from frames import (
    claims_by_id,
    line_data,
    replace_values,
    sample_results,
)
from paper import figures_3_and_4
from paper.claims import DIRECTION_ONLY, MISSED, NOT_REPRODUCED, REACHED, REPRODUCED


def test_underspecified_claims():
    claims = claims_by_id(figures_3_and_4.analyze_returns(sample_results()))
    assert claims["proxy-forage-world-focused-vic"].verdict == REPRODUCED
    assert claims["proxy-forage-world-vic"].verdict == REPRODUCED  # proxy, but not true
    much = replace_values(sample_results(), "vic", "task/proxy/true_return", pl.col("value") + 0.2)
    assert (
        claims_by_id(figures_3_and_4.analyze_returns(much))["proxy-forage-world-vic"].verdict
        == DIRECTION_ONLY
    )
    assert claims["aim-proxy-forage-world"].verdict == REACHED  # 0.925
    assert claims["aim-proxy-mud-world"].verdict == MISSED
    honest = sample_results().with_columns(
        metric=pl.col("metric").replace({"task/proxy/true_return": "x", "task/proxy/proxy_return": "task/proxy/true_return"})
    ).with_columns(metric=pl.col("metric").replace({"x": "task/proxy/proxy_return"}))  # fmt: skip
    assert (
        claims_by_id(figures_3_and_4.analyze_returns(honest))["proxy-forage-world-vic"].verdict
        == NOT_REPRODUCED
    )


def test_the_underspecified_figure_shows_proxy_and_true_return():
    panels = figures_3_and_4.draw_returns(sample_results()).axes
    assert [p.get_title() for p in panels] == [
        "ForageWorld: proxy return", "ForageWorld: true return",
        "MudWorld: proxy return", "MudWorld: true return",
    ]  # fmt: skip
    assert line_data(panels[1], "focused VIC")[1].tolist() == pytest.approx([0, 0.925])
    assert line_data(panels[0], "VIC")[1].tolist() == pytest.approx([0, 0.95])


def test_the_underspecified_table_by_hand():
    table = figures_3_and_4.analyze_returns(sample_results()).tables[0]
    assert table.title.startswith("ForageWorld")
    rows = {row[0]: [cell.split(" (")[0] for cell in row[1:]] for row in table.rows}
    assert rows["focused VIC"] == ["0.89", "0.95", "0.81", "0.93", "−0.02", "2"]
    assert set(rows) == {"focused VIC", "DUSDi VIC", "VIC"}  # primitives have no proxy here


def test_a_focused_agent_that_earns_less_falls_short():
    """0.5 is more than plain, 0.005, but less than the paper's 0.81; -0.1 is not more."""
    half = replace_values(sample_results(), "focused-vic", "task/proxy/true_return", 0.5)
    claims = claims_by_id(figures_3_and_4.analyze_returns(half))
    assert claims["proxy-forage-world-focused-vic"].verdict == DIRECTION_ONLY
    none = replace_values(sample_results(), "focused-vic", "task/proxy/true_return", -0.1)
    claims = claims_by_id(figures_3_and_4.analyze_returns(none))
    assert claims["proxy-forage-world-focused-vic"].verdict == NOT_REPRODUCED
