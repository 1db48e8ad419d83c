from __future__ import annotations

from pathlib import Path

import pytest

from skillfocus.errors import UserError
from skillfocus.skills.skills import list_sources, load_source, source_file


def test_one_or_several(focused_vic):
    assert list_sources("a.skills") == [Path("a.skills")]
    assert list_sources(focused_vic) == [focused_vic]
    assert list_sources(("a", Path("b"), focused_vic)) == [Path("a"), Path("b"), focused_vic]
    with pytest.raises(UserError, match="name at least one file"):
        list_sources([])


def test_files_are_loaded_and_skills_are_passed_on(focused_vic, tmp_path):
    path = tmp_path / "focused.skills"
    focused_vic.save(path)
    assert load_source(path) == focused_vic
    assert load_source(focused_vic) is focused_vic
    assert (source_file(path), source_file(focused_vic)) == (str(path), None)
