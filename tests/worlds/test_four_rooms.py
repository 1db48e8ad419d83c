from __future__ import annotations

import skillfocus as sf


def test_sizes_of_the_paper():
    world = sf.make("FourRooms-v0")
    assert len(world.map.cells) == 104
    assert world.tools == [(5, 5), (6, 7), (7, 5), (8, 7)]
    assert world.space.n_combinations == 1664
    assert world.step_limit == 40
    assert world.goals == ("tool_1", "tool_2", "tool_3", "tool_4")


def test_states_draw_themselves():
    world = sf.make("four-rooms")
    text = world.draw((world.map.index[(6, 9)], 1, 0, 0, 0))
    rows = text.splitlines()
    assert rows[6] == "##.####T.@..#"
    assert rows[5] == "#.....#.....#"  # tool_1 is gone
    assert rows[7] == "#....T###.###"
    assert "tool_1=1" in text
