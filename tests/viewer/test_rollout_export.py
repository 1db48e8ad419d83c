from __future__ import annotations

import numpy as np
import pytest

from skillfocus.errors import UserError
from skillfocus.viewer.page import (
    export_rollout,
    parse_start,
    representative_skill,
)


def test_the_exported_rollout_is_the_skills_own(focused_vic, tmp_path):
    exported = export_rollout(focused_vic, tmp_path / "a.svg", skill=2, slips=3)
    start = parse_start(focused_vic, "")
    rollout = focused_vic.rollout(2, start, np.random.default_rng(3))
    assert exported == (tmp_path / "a.svg", 2, len(rollout) - 1)
    assert (tmp_path / "a.svg").read_text().startswith("<svg")


def test_by_default_a_skill_does_what_it_is_for(focused_vic):
    start = parse_start(focused_vic, "")
    path = focused_vic.likely_path(representative_skill(focused_vic, start), start)
    assert set(path.changed) == {"tool_1"}
    assert path.side_effects == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"slips": -1}, "slips is -1"),
        ({"slips": 2**32}, "below"),
        ({"skill": 99}, "no skill 99: skills are numbered 0 to 15"),
        ({"start": "tool_1=7"}, "tool_1 can be 0, 1"),
    ],
)
def test_mistakes_are_named(focused_vic, tmp_path, options, message):
    with pytest.raises(UserError, match=message):
        export_rollout(focused_vic, tmp_path / "a.svg", **options)
    assert not (tmp_path / "a.svg").exists()
