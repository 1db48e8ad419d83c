"""How much memory an array may take."""

from __future__ import annotations

import numpy as np
import pytest

from skillfocus import machine
from skillfocus.errors import UserError


@pytest.mark.parametrize(
    ("limit", "expected"), [("1073741824\n", 2**29), ("max\n", 8 * 2**30), (str(2**63), 8 * 2**30)]
)
def test_a_container_may_have_less_memory_than_its_machine(limit, expected, tmp_path, monkeypatch):
    file = tmp_path / "memory.max"
    file.write_text(limit)
    monkeypatch.setattr(machine, "_CONTAINER_LIMITS", (tmp_path / "missing", file))
    monkeypatch.setattr(machine.os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 2**22}.get)
    assert machine.available_bytes() == expected


def test_what_does_not_fit_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr(machine, "available_bytes", lambda: 2**30)
    machine.require_memory(2**30, "values", "ask for fewer")
    with pytest.raises(UserError, match=r"^values take 1\.5 GiB .* can give 1\.0: ask for fewer$"):
        machine.require_memory(3 * 2**29, "values", "ask for fewer")


def test_the_peak_so_far():
    """In bytes, and more than what is held now once something has been given back."""
    psutil = pytest.importorskip("psutil")
    held = np.ones(2**24)  # 128 MB
    then = psutil.Process().memory_info().rss
    del held
    peak = machine.peak_bytes()
    assert peak is not None
    assert then <= peak + 2**20  # the kernel counts pages of each thread in batches
    assert peak < psutil.virtual_memory().total
    assert psutil.Process().memory_info().rss < then - 2**26
