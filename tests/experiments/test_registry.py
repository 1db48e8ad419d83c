from __future__ import annotations

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
