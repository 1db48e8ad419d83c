from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from paths import SUPPORT
from runs_for_tests import Raises, Tiny
from skillfocus._internal.atomic_io import write_atomically
from skillfocus.errors import UserError
from skillfocus.runs.execution import perform
from skillfocus.runs.folder_store import Store, StoreWarning

SKILLS = Tiny(2)
"""A run that comes with skills."""


def keep(store, *runs):
    store.folder.mkdir(exist_ok=True)
    for run in runs:
        outcome = perform(run)
        store.add(run, outcome.table, outcome.skills)


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "runs")
    keep(made, *[Tiny(seed) for seed in range(4)])
    return made


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def test_a_folder_that_cannot_be_listed_is_one_sentence(tmp_path, monkeypatch):
    def refuse(folder):
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(UserError, match=r"cannot list the folder .*: Permission denied"):
        Store(tmp_path).frame()


def test_what_was_kept_is_there(store):
    assert Tiny(1) in store
    assert Tiny(9) not in store
    assert Tiny(1, scale=2.0) not in store
    assert store.skills_path(SKILLS).read_bytes() == b"skillsskills"
    assert not store.skills_path(Tiny(3)).exists()


def test_the_frame_is_long_sorted_and_complete(store):
    keep(store, Tiny(11), Tiny(2, scale=0.5))
    frame = store.frame()
    assert frame.columns == ["kind", "version", "scale", "seconds", "seed", "run", "metric", "step", "value"]  # fmt: skip
    assert len(frame) == 6 * 6
    order = frame.select("scale", "seed").unique(maintain_order=True).rows()
    assert order == [(0.5, 2), (1.0, 0), (1.0, 1), (1.0, 2), (1.0, 3), (1.0, 11)]
    mine = frame.filter(pl.col("run") == Tiny(3).id)
    assert mine["metric"].to_list() == ["draw"] * 5 + ["nothing"]
    assert mine["step"].to_list() == [0, 1, 2, 3, 4, None]
    assert mine["value"][-1] is None
    assert_frame_equal(store.frame([Tiny(3), Tiny(7), Tiny(3)]), mine)


def test_the_frame_does_not_depend_on_the_order_of_events(store, tmp_path):
    other = Store(tmp_path / "other")
    keep(other, *[Tiny(seed) for seed in (3, 0, 2, 1)])
    assert_frame_equal(store.frame(), other.frame())


def test_kinds_side_by_side(store, tmp_path):
    (tmp_path / "flag").touch()
    keep(store, Raises(5, str(tmp_path / "flag")))
    frame = store.frame()
    assert set(frame["kind"]) == {"Tiny", "Raises"}
    assert frame.filter(pl.col("kind") == "Raises")["scale"].to_list() == [None]


def test_an_empty_folder_gives_an_empty_frame(tmp_path):
    assert len(Store(tmp_path).frame()) == 0
    assert len(Store(tmp_path).records()) == 0
    with pytest.raises(UserError, match="there is no folder"):
        Store(tmp_path / "nowhere").frame()


def test_records_say_who_when_and_how_much(store):
    records = store.records()
    assert len(records) == 4
    assert {"run", "kind", "seed", "python", "numba", "host", "started", "wall_seconds", "cpu_seconds", "peak_memory_mb"} <= set(records.columns)  # fmt: skip


@pytest.mark.parametrize("harm", ["flip", "cut", "empty", "foreign"])
def test_a_damaged_run_is_set_aside_and_counts_as_not_done(store, harm):
    path = store.path(SKILLS)
    whole = path.read_bytes()
    broken = {
        "flip": whole[:100] + bytes([whole[100] ^ 1]) + whole[101:],
        "cut": whole[:-10],
        "empty": b"",
        "foreign": b"PAR1 somebody else's PAR1",
    }[harm]
    path.write_bytes(broken)
    with pytest.warns(StoreWarning, match=f"{path.name} is damaged.*set aside"):
        assert SKILLS not in store
    assert (store.folder / "damaged" / path.name).read_bytes() == broken
    assert not store.skills_path(SKILLS).exists()
    assert SKILLS not in store
    assert SKILLS.id not in set(store.frame()["run"])


def test_damage_is_found_when_the_frame_is_read(store):
    store.path(Tiny(1)).write_bytes(b"nothing")
    with pytest.warns(StoreWarning, match=r"damaged, or not a run.*left out"):
        frame = store.frame()
    assert set(frame["seed"]) == {0, 2, 3}
    assert store.path(Tiny(1)).exists()
    with pytest.warns(StoreWarning, match="set aside"):
        assert len(store.frame([Tiny(1)])) == 0


def test_a_run_is_there_only_once_its_skills_are(store, monkeypatch):
    outcome = perform(Tiny(8))

    def full(path, content):
        if path.suffix == ".skills":
            raise UserError("the disk is full")
        write_atomically(path, content)

    monkeypatch.setattr("skillfocus.runs.folder_store.write_atomically", full)
    with pytest.raises(UserError):
        store.add(Tiny(8), outcome.table, outcome.skills)
    assert Tiny(8) not in store
    assert not store.path(Tiny(8)).exists()


def test_a_copy_of_a_run_counts_once(store):
    before = store.frame()
    shutil.copy(store.path(Tiny(1)), store.folder / f"a_copy_{store.path(Tiny(1)).name}")
    assert_frame_equal(store.frame(), before)


def test_a_foreign_file_in_the_way_of_failures_is_no_crash(store):
    (store.folder / "failed").write_text("mine")
    keep(store, Tiny(9))
    assert store.failure(Tiny(8)) is None
    with pytest.raises(UserError, match="there is no folder"):
        store.fail(Tiny(8), "no", "no")


@pytest.mark.parametrize("harm", ["flip", "cut", "gone"])
def test_damaged_skills_are_found_too(store, harm):
    path = store.skills_path(SKILLS)
    path.unlink()
    if harm != "gone":
        path.write_bytes(b"skillsskillS" if harm == "flip" else b"skills")
    with pytest.warns(StoreWarning, match="its skills"):
        assert SKILLS not in store


def test_damaged_twice_keeps_both(store):
    for content in (b"one", b"two", b"three"):
        store.path(Tiny(1)).write_bytes(content)
        with pytest.warns(StoreWarning):
            assert Tiny(1) not in store
    kept = {file.read_bytes() for file in (store.folder / "damaged").iterdir()}
    assert kept == {b"one", b"two", b"three", b"skills"}


def test_a_run_under_another_s_name_is_not_used(store):
    shutil.copy(store.path(Tiny(0)), store.path(Tiny(9)))
    with pytest.warns(StoreWarning, match="its name is another run's"):
        assert Tiny(9) not in store


def test_foreign_files_are_named_and_left_alone(store):
    pl.DataFrame({"a": [1]}).write_parquet(store.folder / "mine.parquet")
    (store.folder / "notes.txt").write_text("mine")
    before = names(store.folder)
    with pytest.warns(StoreWarning, match="that are not runs: mine.parquet"):
        store.prepare()
    store.close()
    assert len(store.frame()) == 24
    assert names(store.folder) == sorted([".lock", *before])


def test_failures_are_kept_and_forgotten(store):
    assert store.failure(Tiny(9)) is None
    path = store.fail(Tiny(9), "ZeroDivisionError: no", "Traceback …")
    record = json.loads(path.read_text())
    assert record["traceback"] == "Traceback …"
    assert record["settings"] == Tiny(9).settings()
    assert store.failure(Tiny(9)) == "ZeroDivisionError: no"
    keep(store, Tiny(9))
    assert store.failure(Tiny(9)) is None
    path.write_text("{")
    with pytest.warns(StoreWarning, match="damaged"):
        assert store.failure(Tiny(9)) is None


def test_a_newer_format_is_not_taken_for_damage(store, monkeypatch):
    monkeypatch.setattr("skillfocus.runs.run_file.VERSION", 3)
    with pytest.raises(
        UserError, match=r"cannot use .*parquet: it has version 2 of the file format"
    ):
        store.frame()


def test_leftovers_of_dead_processes_go_and_those_of_living_ones_stay(store):
    host = os.uname().nodename
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    gone = store.folder / f".{dead.pid}@{host}~abc"
    stays = [
        store.folder / f".{os.getpid()}@{host}~abc",
        store.folder / f".{dead.pid}@elsewhere~abc",
    ]
    for file in (gone, *stays):
        file.touch()
    store.prepare()
    store.close()
    assert not gone.exists()
    assert all(file.exists() for file in stays)


def test_a_claim_excludes_other_processes_and_dies_with_its_own(store):
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[2])\n"
        "from runs_for_tests import Tiny; from skillfocus.runs.folder_store import Store\n"
        "store = Store(sys.argv[1]); store.prepare()\n"
        "print(store.claim(Tiny(1)), flush=True); time.sleep(60)"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(store.folder), str(SUPPORT)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert other.stdout.readline() == "True\n"
        store.prepare()
        assert not store.claim(Tiny(1))
        assert store.claim(Tiny(2))
    finally:
        other.kill()
        other.communicate()
    assert store.claim(Tiny(1))
    store.close()


def in_a_small_world(mount: str, folder: Path, *command: str) -> subprocess.CompletedProcess:
    """Run a command where `folder` is a file system of its own; skip where that cannot be had."""
    inside = f'mount -t tmpfs -o {mount} tmpfs {folder} || exit 77; exec "$@"'
    try:
        done = subprocess.run(
            ["unshare", "-rm", "sh", "-c", inside, "sh", *command],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        pytest.skip("there is no unshare here to make a small file system with")
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"no small file system can be made here: {done.stderr.strip()}")
    return done


HERE = SUPPORT
FILL = (
    "import sys; sys.path.insert(0, sys.argv[2])\n"
    "from runs_for_tests import Tiny; from skillfocus.runs.folder_store import Store\n"
    "from skillfocus.runs.scheduler import run_all; from skillfocus.errors import UserError\n"
    "from concurrent.futures import ThreadPoolExecutor\n"
    "store = Store(sys.argv[1])\n"
    "try:\n"
    "    run_all([Tiny(seed) for seed in range(200)], store, executor=ThreadPoolExecutor(1))\n"
    "except UserError as error:\n"
    "    print(error)\n"
    "if store.folder.is_dir():\n"
    "    print(len(set(store.frame()['run'])), len(list(store.folder.glob('.*~*'))))"
)


def test_a_full_disk_is_said_and_loses_nothing(tmp_path):
    done = in_a_small_world(
        "size=200k", tmp_path, sys.executable, "-c", FILL, str(tmp_path), str(HERE)
    )
    assert done.returncode == 0, done.stderr
    said, counts = done.stdout.splitlines()
    assert said.startswith(f"cannot write {tmp_path}") or said.startswith("cannot write to")
    assert "No space left on device" in said
    assert "rerun to resume" in said
    kept, leftovers = map(int, counts.split())
    assert 5 < kept < 200
    assert leftovers == 0
    assert done.stderr == ""


def test_a_read_only_folder_is_said(tmp_path):
    done = in_a_small_world("ro", tmp_path, sys.executable, "-c", FILL, f"{tmp_path}/a", str(HERE))
    assert "cannot create the folder" in done.stdout
    assert "Read-only file system" in done.stdout
    done = in_a_small_world("ro", tmp_path, sys.executable, "-c", FILL, str(tmp_path), str(HERE))
    assert "cannot write to the folder" in done.stdout
    assert "choose another" in done.stdout
