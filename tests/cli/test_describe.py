from __future__ import annotations

import json
import sys

import pytest

from commands import LAMPS, command
from skillfocus.cli import main


def test_describe(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["skillfocus", "describe", "gymnasium:Taxi-v4", "--check"])
    main()
    shown = capsys.readouterr().out
    assert "404 states, 6 actions" in shown
    assert "no action changes destination" in shown
    assert "Every check passed." in shown
    monkeypatch.setattr(sys, "argv", [
        "skillfocus", "describe", "four-rooms", "--world-settings", '{"step_limit": 7}', "--json",
    ])  # fmt: skip
    main()
    document = json.loads(capsys.readouterr().out)
    assert (document["states"], document["step_limit"]) == (1664, 7)
    tool = document["variables"][1]
    assert 0.05 < tool.pop("alone") < 0.2  # with seven steps from few cells; 0.106 of them all
    assert tool == {
        "name": "tool_1", "values": 2, "listed": "0, 1", "changes": "for good", "skills": 2,
    }  # fmt: skip


def test_a_world_without_a_table(capsys, monkeypatch):
    pytest.importorskip("jax")
    monkeypatch.setattr(sys, "argv", ["skillfocus", "describe", "tool-rooms", "--check"])
    main()
    shown = capsys.readouterr().out
    assert "ToolRooms-v0: 6,815,744 combinations of values, 4 actions" in shown
    assert "Goals: tool_1 … tool_16 (16)" in shown
    assert "there is no table of its states" in shown
    assert "Every check passed." in shown
    monkeypatch.setattr(sys, "argv", ["skillfocus", "describe", "visible-mud", "--json"])
    main()
    document = json.loads(capsys.readouterr().out)
    assert document["combinations"] == 400 * 2**86
    assert document["goals"] == ["treasure"]
    assert len(document["variables"]) == 89
    assert document["variables"][3] == {
        "name": "mud_1_1", "values": 2, "listed": "0, 1", "changes": "for good", "skills": 0,
    }  # fmt: skip


def test_a_world_with_real_valued_variables(capsys, monkeypatch):
    pytest.importorskip("jax")
    monkeypatch.setattr(sys, "argv", ["skillfocus", "describe", "two-rooms", "--check"])
    main()
    shown = capsys.readouterr().out
    assert "TwoRooms-v0: 6 numbers in 4 variables, 4 action dimensions, 6 observations" in shown
    assert "agent, box  2 each   0 to 2 × 0 to 1" in shown
    assert "its variables are real-valued" in shown
    assert "Every check passed." in shown
    monkeypatch.setattr(sys, "argv", ["skillfocus", "describe", "gunner", "--json"])
    main()
    document = json.loads(capsys.readouterr().out)
    assert document["observations"] == 18
    assert document["actions"][5] == {"name": "turn", "low": -0.8, "high": 0.8}
    assert document["variables"][0] == {
        "name": "base", "numbers": 4, "low": [0.0] * 4, "high": [1.0] * 4, "scale": 2**0.5,
        "changes": "and back",
    }  # fmt: skip


@pytest.mark.slow
def test_exploring_long_shows_how_it_goes_on(tmp_path):
    slow = LAMPS.replace(
        "        hand, lamp =",
        "        import time\n        time.sleep(0.08)\n        hand, lamp =",
    )
    (tmp_path / "slow_lamps.py").write_text(slow.replace("(0, 1, 2)", "tuple(range(3))"))
    done = command("describe", "slow_lamps.py:Lamps", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "exploring object:Lamps: 6 states found" in done.stderr
