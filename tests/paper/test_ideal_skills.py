from __future__ import annotations

import numpy as np
import pytest

from paper.figure_2 import Ideal, ideal_moves
from skillfocus.metrics.coverage import chain_coverage


def test_ideal_skills_by_hand():
    """Two cells and a tool: one skill fetches, one does nothing, one goes to the other cell. Of the
    4 states, chains of 1 end in the tool's, the first and the other cell's; of 2, in all."""
    states = np.array([(c, t) for c in range(2) for t in range(2)])
    moves = ideal_moves(states, (2, 2), "same", 1, np.random.default_rng(0))
    assert [move.shape for move in moves] == [(4, 4)] * 3
    for move in moves:
        assert move.sum(axis=1) == pytest.approx(np.ones(4))
    fetch = moves[0]
    assert fetch[0, 1] == fetch[1, 1] == fetch[2, 3] == 1
    other = [np.eye(4)[[2, 3, 0, 1]]]
    covered = chain_coverage([*moves[:2], *other], np.array([0]), lengths=2)
    assert covered[:, 0] == pytest.approx([3 / 4, 1.0])


@pytest.mark.slow
def test_ideal_skills_of_four_rooms():
    """The counts of an independent simulation: 0.22, 1.20 and 1.88 with eight position skills."""
    areas = {
        ends: Ideal(ends).execute(lambda *_: None).rows[-1][2]
        for ends in ("same", "mapped", "region")
    }
    assert areas == pytest.approx({"same": 0.22, "mapped": 1.20, "region": 1.88}, abs=0.02)
