from __future__ import annotations

import subprocess
import sys

import pytest

from skillfocus.errors import UserError
from skillfocus.experiments import registry


def test_every_experiment_is_in_the_file_its_name_suggests():
    for module in registry.MODULES:
        name = module.replace("_", "-")
        assert registry.get_experiment(name).name == name


def test_an_unknown_experiment_is_a_usage_error():
    with pytest.raises(UserError, match=r"unknown experiment 'coverge'.*coverage"):
        registry.select_experiments(["coverge"])
    with pytest.raises(UserError, match="unknown experiment 'nothing'"):
        registry.get_experiment("nothing")
    with pytest.raises(UserError, match="name an experiment: trajectories, coverage"):
        registry.select_experiments([])


def test_experiments_come_in_the_order_of_the_report():
    names = [e.name for e in registry.select_experiments(["side-effects", "coverage", "coverage"])]
    assert names == ["coverage", "side-effects"]
    everything = [e.name for e in registry.select_experiments(["all"], on_request=True)]
    assert everything == registry.experiment_names()
    assert [e.name for e in registry.select_experiments(["all"])] == [
        name for name in everything if name not in ("scale", "continuous")
    ]


@pytest.mark.parametrize(
    ("code", "absent"),
    [("import skillfocus.cli.reproduce", {"polars", "numba", "matplotlib"}),
     ("from skillfocus.experiments import registry; registry.select_experiments(['all'])",
      {"matplotlib"})],
)  # fmt: skip
def test_names_cost_no_import_and_experiments_no_matplotlib(code, absent):
    check = f"{code}; import sys; print(sorted({absent} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
