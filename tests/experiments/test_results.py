from __future__ import annotations

import polars as pl
import pytest

from frames import make_costs, sample_results
from skillfocus.errors import UserError
from skillfocus.experiments.cases import Setup
from skillfocus.experiments.readings import PRESETS
from skillfocus.experiments.results import (
    collect_costs,
    collect_results,
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
