"""How much memory an array may take."""

from __future__ import annotations

import numpy as np
import pytest

from skillfocus._internal import memory
from skillfocus.errors import UserError


@pytest.mark.parametrize(
    ("limit", "expected"), [("1073741824\n", 2**29), ("max\n", 8 * 2**30), (str(2**63), 8 * 2**30)]
)
def test_a_container_may_have_less_memory_than_its_machine(limit, expected, tmp_path, monkeypatch):
    file = tmp_path / "memory.max"
    file.write_text(limit)
    monkeypatch.setattr(memory, "_CONTAINER_LIMITS", (tmp_path / "missing", file))
    monkeypatch.setattr(memory.os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 2**22}.get)
    assert memory.available_bytes() == expected


def test_what_does_not_fit_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**30)
    memory.require_memory(2**30, "values", "ask for fewer")
    with pytest.raises(UserError, match=r"^values take 1\.5 GiB .* can give 1\.0: ask for fewer$"):
        memory.require_memory(3 * 2**29, "values", "ask for fewer")


def test_the_peak_so_far():
    before = memory.peak_bytes()
    assert before is not None
    held = np.ones(before // 8 + 2**21)  # as much again, and 16 MB
    after = memory.peak_bytes()
    assert after is not None
    assert after >= held.nbytes + 2**23
