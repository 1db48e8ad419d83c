from __future__ import annotations

import pytest

import skillfocus as sf
from skillfocus.errors import UserError
from skillfocus.runs.discovery_run import Discovery
from skillfocus.sweeps.paper_grids import PAPER_GRIDS, paper_axis
from skillfocus.sweeps.scores import point_runs


@pytest.mark.parametrize("name", PAPER_GRIDS)
def test_ready_sweeps_hold_the_paper_s_choice(name):
    """What the appendix settled on is among what it searched, and its runs can be built."""
    chosen = {"gamma": 0.99, "alpha": 0.1, "decay": 0.0005, "skills": 16}
    by_objective = {
        "ewma": {"vic": 0.7, "diayn": 0.05}, "sgd": {"lsd": 0.1}, "dusdi-weight": {"dusdi-vic": 0.1, "dusdi-diayn": 0.1},
        "lambda": {"focused-vic": 4, "focused-diayn": 4, "focused-lsd": 2},
    }  # fmt: skip
    learner = sf.QLearning() if PAPER_GRIDS[name].learner else sf.Planning()
    for objective, value in by_objective.get(name, {"vic": chosen.get(name)}).items():
        axis = paper_axis(name, objective, learner.name)
        assert value in axis.values
        base = Discovery("four-rooms", objective, 1000, learner)
        assert len(
            {
                run.id
                for v in axis.values
                for run in point_runs(base, {axis.setting: v}, [1000], "steps")
            }
        ) == len(axis.values)


def test_a_ready_sweep_out_of_place_says_so():
    with pytest.raises(UserError, match="did you mean 'gamma'"):
        paper_axis("gama", "vic", "planning")
    with pytest.raises(UserError, match="belongs to --learner q-learning"):
        paper_axis("alpha", "vic", "planning")
    with pytest.raises(UserError, match="has no meaning for vic; it is for focused-vic"):
        paper_axis("lambda", "vic", "planning")
