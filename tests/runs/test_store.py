"""Another store than a folder, defined outside the package."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from polars.testing import assert_frame_equal

from runs_for_tests import Raises, Tiny, runs
from skill_sets import TINY
from skillfocus.errors import UserError
from skillfocus.runs.folder_store import Store
from skillfocus.runs.job import Job
from skillfocus.runs.run_file import build_frame, build_records, decode
from skillfocus.runs.scheduler import run_all
from skillfocus.runs.store import RunStore
from skillfocus.skills.skills import Skills


class MemoryStore:
    """Everything in dictionaries; it logs what the scheduler asks of it."""

    def __init__(self, folder):
        self.tables, self.skill_files, self.errors, self.log = {}, {}, {}, []
        self.folder = folder

    def __str__(self):
        return "memory"

    def prepare(self):
        self.log.append("prepare")

    def close(self):
        self.log.append("close")

    def __contains__(self, run):
        return run.id in self.tables

    def add(self, run, table, skills):
        self.tables[run.id] = table
        if skills is not None:
            self.skill_files[run.id] = skills
        self.errors.pop(run.id, None)

    def fail(self, run, error, traceback):
        self.errors[run.id] = (error, traceback)

    def failure(self, run):
        return self.errors.get(run.id, (None,))[0]

    def claim(self, run):
        self.log.append(f"claim {run.seed}")
        return True

    def release(self, run):
        self.log.append(f"release {run.seed}")

    def skills(self, run):
        path = self.folder / "loaded.skills"
        path.write_bytes(self.skill_files[run.id])
        return Skills.load(path)

    def has_skills(self, run):
        return run.id in self.skill_files

    def _tables(self, runs):
        ids = self.tables if runs is None else dict.fromkeys(run.id for run in runs)
        return [(self.tables[i], decode(self.tables[i])) for i in ids if i in self.tables]

    def frame(self, runs=None):
        return build_frame(self._tables(runs))

    def records(self, runs=None):
        return build_records([header for _, header in self._tables(runs)])


@pytest.fixture
def memory(tmp_path):
    return MemoryStore(tmp_path)


def execute(batch, store, **options):
    return run_all(batch, store, executor=ThreadPoolExecutor(1), **options)


def test_both_stores_satisfy_the_protocol(memory, tmp_path):
    assert isinstance(memory, RunStore)
    assert isinstance(Store(tmp_path), RunStore)


def test_runs_are_executed_once_and_resumed(memory):
    assert execute(runs(3), memory).done == 3
    again = execute(runs(5), memory)
    assert (again.done, again.found) == (2, 3)
    assert again.summary(memory).endswith("3 found in memory")


def test_every_run_is_claimed_and_released_between_prepare_and_close(memory):
    execute(runs(2), memory)
    assert memory.log == [
        "prepare", "claim 0", "release 0", "claim 1", "release 1", "close",
    ]  # fmt: skip
    memory.log.clear()
    execute(runs(2), memory)
    assert memory.log == ["close"]  # nothing to execute, nothing prepared


def test_a_failure_is_recorded_and_forgotten_after_a_success(memory, tmp_path):
    bad = Raises(5, str(tmp_path / "flag"))
    error = "ZeroDivisionError: seed 5 cannot be divided"
    assert execute([bad], memory).failures == {bad.stem: error}
    assert "in execute" in memory.errors[bad.id][1]
    (tmp_path / "flag").touch()
    assert execute([bad], memory).failures == {bad.stem: error}
    assert execute([bad], memory, retry_failed=True).done == 1
    assert memory.failure(bad) is None


def test_the_frame_is_that_of_a_folder(memory, tmp_path):
    folder = Store(tmp_path / "runs")
    for store in (memory, folder):
        execute([*reversed(runs(4)), Tiny(1, scale=2.0)], store)
    assert_frame_equal(memory.frame(), folder.frame())
    assert_frame_equal(memory.frame(runs(2)), folder.frame(runs(2)))
    assert memory.records(runs(2)).columns == folder.records(runs(2)).columns
    assert [store.has_skills(Tiny(0)) for store in (memory, folder)] == [False, False]
    assert [store.has_skills(Tiny(1)) for store in (memory, folder)] == [True, True]


def test_a_store_that_cannot_be_written_to_ends_the_job(memory):
    def refuse(*_):
        raise UserError("the database is gone")

    memory.add = refuse
    with pytest.raises(UserError, match="the database is gone; finished runs are stored: rerun"):
        execute(runs(2), memory)
    assert memory.log[-1] == "close"


def test_discovered_skills_come_back_from_any_store(memory):
    with Job(memory, executor=ThreadPoolExecutor(1)) as job:
        job.execute([TINY])
    assert memory.skills(TINY).info["seed"] == TINY.seed
    record: Any = TINY.record(memory.frame())
    assert record["skills"][0]["skill"] == 0
