"""Runs, their files, and how they are executed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from polars.testing import assert_frame_equal

from paths import SUPPORT
from runs_for_tests import Dies, Raises, Tiny, runs, wait_until
from skillfocus.errors import UserError
from skillfocus.runs import (
    Header,
    Interrupted,
    JobStatus,
    Result,
    Run,
    Store,
    StoreWarning,
    decode,
    encode,
    flatten,
    format_duration,
    keep_skills,
    run_all,
)

# -------------------------------------------------------------------- identity


@dataclass(frozen=True)
class Learner:
    rounds: int = 3
    gamma: float = 1
    name: str = "plan"


@dataclass(frozen=True)
class Inner:
    width: int = 8


@dataclass(frozen=True)
class Nested(Run):
    seed: int
    learner: Learner = Learner()
    inner: Inner = Inner()
    path: str = field(default="a", metadata={"volatile": True})


def test_settings_are_the_fields_of_all_levels():
    expected = {"seed": 0, "learner": "plan", "rounds": 3, "gamma": 1.0, "inner_width": 8}
    assert flatten(Nested(0)) == expected
    assert type(flatten(Nested(0))["gamma"]) is float


def test_what_decides_a_result_decides_the_id():
    run = Nested(0)
    assert run.id == Nested(0, Learner(gamma=1.0), path="b").id
    others = [Nested(1), Nested(0, Learner(rounds=4)), Nested(0, inner=Inner(9))]
    assert len({each.id for each in (run, *others)}) == 4

    class Newer(Nested):
        version = 2

    Newer.__name__ = "Nested"
    assert Newer(0).id != run.id


def test_settings_that_a_frame_cannot_hold_are_refused():
    @dataclass(frozen=True)
    class Bad(Run):
        step: int

    with pytest.raises(TypeError, match="cannot have a setting step = 3"):
        _ = Bad(3).id


# -------------------------------------------------------------------- files

HEADER = Header("0" * 16, "Tiny", 1, {"seed": 0}, {"host": "h"}, None, {"a": [1]})
ROWS = [("draw", 0, 0.25), ("nothing", None, None), ("é\n", 7, -1e300)]


def test_a_file_comes_back_as_it_was():
    assert decode(encode(HEADER, ROWS)) == (HEADER, ROWS)
    assert decode(encode(HEADER, [])) == (HEADER, [])
    numpy: Any = [("draw", np.int64(0), np.float32(0.25))]
    assert decode(encode(HEADER, numpy))[1] == ROWS[:1]
    lines = encode(HEADER, ROWS).splitlines()
    assert all(json.loads(line) is not None for line in lines), "every line is JSON"


def test_a_flipped_bit_or_a_missing_end_is_noticed():
    content = encode(HEADER, ROWS)
    for place in range(8 * len(content) - 8):  # the last byte is a line feed
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << place % 8
        with pytest.raises(UserError):
            decode(bytes(flipped))
    for end in range(len(content) - 1):
        with pytest.raises(UserError):
            decode(content[:end])


@pytest.mark.parametrize(
    "change",
    [{"version": "1"}, {"settings": {"seed": [0]}}, {"settings": {"metric": 1}}, {"more": 1}],
)
def test_a_header_of_another_form_is_refused(change):
    from skillfocus.files import digest

    first = encode(HEADER, []).splitlines()[0]
    body = json.dumps({**json.loads(first), **change}).encode() + b"\n"
    with pytest.raises(UserError):
        decode(body + json.dumps({"sha256": digest(body)}).encode() + b"\n")


# -------------------------------------------------------------------- the store


def test_a_frame_has_settings_and_rows_whatever_the_order(tmp_path):
    one, two = Store(tmp_path / "one"), Store(tmp_path / "two")
    run_all(runs(3), one)
    run_all(reversed(runs(3)), two)
    frame = one.frame()
    assert frame.columns == [
        "kind", "version", "seed", "scale", "seconds", "run", "metric", "step", "value"
    ]  # fmt: skip
    assert_frame_equal(frame, two.frame())
    assert_frame_equal(one.frame([Tiny(1)]), frame.filter(frame["seed"] == 1))
    assert frame.filter(frame["metric"] == "nothing")["value"].null_count() == 3
    expected = np.random.default_rng(2).random(5).tolist()
    assert frame.filter(frame["seed"] == 2)["value"].to_list()[:5] == expected
    records = one.records()
    assert records["seed"].to_list() == [0, 1, 2]
    assert records["host"].null_count() == 0
    assert one.document(Tiny(1)) == {"seed": 1}
    assert one.document(Tiny(9)) is None


@pytest.mark.parametrize("suffix", [".jsonl", ".skills"])
def test_damaged_files_are_set_aside_and_made_again(tmp_path, suffix):
    store, run = Store(tmp_path), Tiny(1)
    run_all([run], store)
    frame, path = store.frame(), store.path(run).with_suffix(suffix)
    for _ in range(2):
        content = bytearray(path.read_bytes())
        content[3] ^= 1
        path.write_bytes(content)
        with pytest.warns(StoreWarning, match="it was set aside in .*damaged"):
            assert run not in store
        assert run_all([run], store).done == 1
        assert_frame_equal(store.frame(), frame)
    assert len(list((tmp_path / "damaged").iterdir())) == 4


def test_foreign_files_are_left_out_of_a_frame(tmp_path):
    store = Store(tmp_path)
    run_all(runs(2), store)
    (tmp_path / "mine.jsonl").write_text("{}")
    (tmp_path / f"x_{'0' * 16}.jsonl").write_text("no run")
    with pytest.warns(StoreWarning, match="is damaged, or not a run"):
        assert len(store.frame()) == 12


def test_a_folder_that_is_none_is_one_sentence(tmp_path):
    with pytest.raises(UserError, match="there is no folder"):
        Store(tmp_path / "nowhere").frame()
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="is a file; name a folder"):
        Store(tmp_path / "file")


# -------------------------------------------------------------------- execution


def test_results_are_the_same_wherever_they_are_executed(tmp_path):
    here, there, pool = (Store(tmp_path / name) for name in ("here", "there", "pool"))
    assert run_all([*runs(4), *runs(2)], here).done == 4
    assert run_all(runs(4), there, workers=2).done == 4
    assert run_all(runs(4), pool, executor=ThreadPoolExecutor(2)).done == 4
    for other in (there, pool):
        assert_frame_equal(here.frame(), other.frame())
        for run in runs(4):
            assert here.skills_path(run).exists() == other.skills_path(run).exists()
    again = run_all(runs(5), there, workers=2)
    assert (again.found, again.done) == (4, 1)


def test_a_single_run_needs_no_second_process(tmp_path):
    log = tmp_path / "log"
    run_all([Tiny(0, log=str(log))], Store(tmp_path / "out"), workers=8)
    assert log.read_text() == f"0 {os.getpid()}\n"


def test_what_raises_is_recorded_and_does_not_stop_others(tmp_path):
    store, good = Store(tmp_path), tmp_path / "good"
    batch = [Raises(1, str(good)), *runs(2)]
    status = run_all(batch, store)
    assert (status.done, len(status.failures)) == (2, 1)
    assert status.failures[batch[0].stem] == "ZeroDivisionError: seed 1 cannot be divided"
    record = json.loads(store._failure_path(batch[0]).read_text())
    assert "runs_for_tests.py" in record["traceback"]
    assert run_all(batch, store).failures == status.failures, "it is not tried again"
    good.touch()
    again = run_all(batch, store, retry_failed=True)
    assert (again.done, again.failures) == (1, {})
    assert store.failure(batch[0]) is None


@dataclass(frozen=True)
class Mistaken(Run):
    seed: int

    def execute(self, progress):
        raise UserError("use fewer skills")


def test_a_mistake_in_a_job_of_one_run_is_raised(tmp_path):
    with pytest.raises(UserError, match="use fewer skills"):
        run_all([Mistaken(0)], Store(tmp_path))
    assert not (tmp_path / "failed").exists()
    assert len(run_all([Mistaken(0), Mistaken(1)], Store(tmp_path)).failures) == 2


@dataclass(frozen=True)
class Measures(Run):
    seed: int

    def execute(self, progress):
        keep_skills(b"learned")
        raise MemoryError("Unable to allocate 133 GiB")


def test_skills_are_kept_before_they_are_measured(tmp_path):
    store = Store(tmp_path)
    assert "133 GiB" in run_all([Measures(0)], store).failures[Measures(0).stem]
    assert store.skills_path(Measures(0)).read_bytes() == b"learned"


def test_a_run_that_kills_its_worker_is_found(tmp_path):
    """The others are done; one that dies once gets a second chance, alone."""
    store = Store(tmp_path / "out")
    batch = [Dies(0), *runs(3), Dies(1, str(tmp_path / "once"))]
    status = run_all(batch, store, workers=2)
    assert status.done == 4
    assert [*status.failures] == [batch[0].stem]
    assert "its worker process died" in status.failures[batch[0].stem]


@pytest.mark.slow
def test_workers_that_cannot_start_are_one_failure_per_run(tmp_path):
    """As in a script that calls run_all without `if __name__ == "__main__":`."""
    script = tmp_path / "script.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(SUPPORT)!r})\n"
        "from runs_for_tests import runs\nfrom skillfocus.runs import Store, run_all\n"
        "status = run_all(runs(2), Store('out'), workers=2)\nprint(*status.failures.values())\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.count('must call run_all under `if __name__ == "__main__":`') == 2


def _start(folder, count, seconds, workers, log):
    arguments = [folder, count, seconds, workers, log]
    return subprocess.Popen(
        [sys.executable, str(SUPPORT / "runs_for_tests.py"), *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip


def _group_is_gone(pid) -> bool:
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "kill -9"])
def test_a_job_that_is_stopped_anywhere_resumes(tmp_path, workers, number):
    """Equal results, nothing half written, and no process left behind."""
    whole, out, log = Store(tmp_path / "whole"), Store(tmp_path / "out"), tmp_path / "log"
    run_all(runs(8), whole)
    process = _start(out.folder, 8, 0.3, workers, log)
    try:
        wait_until(lambda: any(out.folder.glob("*.jsonl")), 60)
        if number == signal.SIGINT:
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.kill()
        stdout, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    assert "Traceback" not in stderr
    if number == signal.SIGINT:
        status = json.loads(stdout)
        assert status["done"] + status["found"] < 8
    wait_until(lambda: _group_is_gone(process.pid), 20)
    batch = runs(8, seconds=0.3)
    finished = [run for run in batch if run in out]
    assert 0 < len(finished) < 8
    rest = run_all(batch, out, workers=2)
    assert rest.found == len(finished)
    assert out.frame()["value"].to_list() == whole.frame()["value"].to_list()
    assert not list(out.folder.glob(".*@*"))


@pytest.mark.parametrize("in_kernel", [False, True])
def test_ctrl_c_while_a_run_is_executed_here(tmp_path, in_kernel):
    @dataclass(frozen=True)
    class Stopped(Run):
        seed: int

        def execute(self, progress):
            if self.seed and in_kernel:
                raise SystemError(
                    "returned a result with an exception set"
                ) from KeyboardInterrupt()
            if self.seed:
                raise KeyboardInterrupt
            return Result([])

    with pytest.raises(Interrupted, match=r"interrupted\. 2 runs: 1 done now .* 1 left") as stop:
        run_all([Stopped(0), Stopped(1)], Store(tmp_path))
    assert stop.value.status.done == 1
    assert not (tmp_path / "failed").exists()


def test_progress_rises_to_the_end(tmp_path):
    seen = []
    run_all(runs(4), Store(tmp_path), progress=lambda f, text: seen.append((f, text)))
    fractions = [fraction for fraction, _ in seen]
    assert fractions == sorted(fractions)
    assert seen[-1] == (1.0, "4 of 4 runs")


def test_a_summary_is_one_line():
    status = JobStatus(5, 2, 1, {"a": "b"}, 61.0, 3.0)
    assert status.summary("out") == (
        "5 runs: 2 done now (1 min 1 s, CPU 3.0 s), 1 found in out, 1 failed, 1 left to do"
    )
    assert (status + status).total == 10
    assert [format_duration(s) for s in (3.21, 59.96, 7261)] == ["3.2 s", "1 min 0 s", "2 h 1 min"]


# -------------------------------------------------------------------- a cluster


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        local = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        )
        yield local.scheduler_address
        local.close()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_same_results(tmp_path, cluster):
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    run_all(runs(3), here)
    assert run_all(runs(3), there, cluster=cluster).done == 3
    assert_frame_equal(here.frame(), there.frame())


@pytest.mark.slow
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere", "ftp://x:1"])
def test_an_address_without_a_scheduler_is_one_sentence(tmp_path, address):
    with pytest.raises(UserError, match="there is no Dask scheduler at"):
        run_all(runs(2), Store(tmp_path), cluster=address)
