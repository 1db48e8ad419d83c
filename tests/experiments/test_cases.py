from __future__ import annotations

from skillfocus.experiments.cases import Setup
from skillfocus.experiments.presets import PRESETS


def test_presets_share_the_runs_in_which_they_do_not_differ():
    paper, best = (Setup(preset).case("mud-world", "focused-vic", 0).run for preset in PRESETS)
    assert paper.id == best.id
    paper, best = (Setup(preset).case("forage-world", "focused-vic", 0).run for preset in PRESETS)
    assert paper.id != best.id
    letter, ours = (
        Setup(preset, "q-learning").case("mud-world", "vic", 0).run for preset in PRESETS
    )
    assert letter.id != ours.id
