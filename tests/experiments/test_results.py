from __future__ import annotations

import polars as pl
import pytest

from frames import make_costs, sample_results
from skillfocus.errors import UserError
from skillfocus.experiments.cases import Setup
from skillfocus.experiments.readings import PRESETS
from skillfocus.experiments.results import (
    check_results_folder,
    collect_costs,
    collect_results,
    consistent,
    load_results,
    save_results,
)
from skillfocus.runs.folder_store import Store
from skillfocus.runs.run import settings_of
from skillfocus.runs.run_file import Header, encode


def test_results_and_costs_are_joined_to_the_labels_of_finished_cases(tmp_path):
    store = Store(tmp_path)
    made = [
        Setup(preset).case("mud-world", "primitives", seed) for preset in PRESETS for seed in (0, 1)
    ]
    store.prepare()
    assert collect_results(store, made).is_empty()
    assert collect_costs(store, made).is_empty()
    run = made[1].run
    record = {"python": "3", "skillfocus": "0", "numpy": "2", "numba": "0", "cpu_seconds": 2.5,
              "peak_memory_mb": None, "host": "somewhere"}  # fmt: skip
    header = Header(run.id, "Primitives", run.version, settings_of(run), record)
    store.add(run, encode(header, [("auc", None, 1.5), ("task", 2, 3.0)]), None)
    frame = collect_results(store, made)
    assert frame.filter(pl.col("metric") == "auc").rows() == [
        (preset, "planning", "mud-world", "primitives", "", 1, "auc", None, 1.5)
        for preset in PRESETS
    ]
    assert collect_costs(store, made)["cpu_seconds"].to_list() == [2.5, 2.5]


def test_a_folder_with_other_files_is_not_overwritten(tmp_path):
    frame = sample_results()
    check_results_folder(tmp_path / "new")
    save_results(tmp_path / "new", frame, make_costs(frame))
    check_results_folder(tmp_path / "new")
    pl.DataFrame({"mine": [1]}).write_parquet(tmp_path / "results.parquet")
    with pytest.raises(UserError, match=r"results.parquet is not a file of saved results"):
        check_results_folder(tmp_path)
    (tmp_path / "results.parquet").unlink()
    (tmp_path / "version.json").write_text('{"version": 3}')
    with pytest.raises(UserError, match=r"version.json is not of saved results"):
        check_results_folder(tmp_path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda frame: frame.with_columns(seed=pl.lit("x")), "columns of other types"),
        (lambda frame: frame.with_columns(value=pl.lit([1.0])), "columns of other types"),
        (lambda frame: frame.with_columns(agent=pl.lit(None, pl.String)), "rows without labels"),
        (lambda frame: frame.with_columns(metric=pl.lit(None, pl.String)), "rows without labels"),
        (lambda frame: pl.concat([frame, frame.head(1)]), "several rows for the same result"),
    ],
)
def test_rows_that_are_inconsistent_are_refused(change, sentence, tmp_path):
    frame = sample_results()
    save_results(tmp_path, frame, make_costs(frame))
    change(frame).write_parquet(tmp_path / "results.parquet")
    with pytest.raises(UserError, match=rf"results.parquet has {sentence}"):
        load_results(tmp_path)


def test_what_saved_results_break_is_one_sentence(tmp_path):
    with (
        pytest.raises(UserError, match=r"do not fit together \(KeyError: 'mars'\)"),
        consistent(tmp_path),
    ):
        raise KeyError("mars")
    with pytest.raises(KeyError), consistent(None):
        raise KeyError("mars")


def test_kept_results_are_read_again(tmp_path):
    frame = sample_results()
    save_results(tmp_path, frame, make_costs(frame))
    found, taken = load_results(tmp_path)
    assert found.schema == frame.schema
    assert found["value"].to_list() == pytest.approx(frame["value"].to_list())
    assert taken["cpu_seconds"].sum() == 24 * 3600
    with pytest.raises(UserError, match=r"no results.parquet in .*name a folder of saved results"):
        load_results(tmp_path / "elsewhere")
    (tmp_path / "results.parquet").write_bytes(b"nothing")
    with pytest.raises(UserError, match="cannot read"):
        load_results(tmp_path)
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "results.parquet")
    with pytest.raises(UserError, match="other columns"):
        load_results(tmp_path)
