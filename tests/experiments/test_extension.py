"""Follow the recipes of docs/reproduction.md literally: an experiment, and a metric."""

from __future__ import annotations

import importlib
import re
import sys

import polars as pl
import pytest

from commands import command
from frames import make_costs, make_results, sample_results
from paths import ROOT
from skillfocus.errors import UserError
from skillfocus.experiments import registry
from skillfocus.experiments.reduce import (
    METRICS,
    Metric,
    find_metric,
    keep,
    mean_by_role,
    register_metric,
    unregister_metric,
)
from skillfocus.experiments.registry import (
    experiment_names,
    get_experiment,
    register_experiment,
    unregister_experiment,
)
from skillfocus.experiments.report import build_report
from skillfocus.experiments.reproduction import reproduce
from skillfocus.experiments.results import load_results
from skillfocus.report.markdown import to_markdown

PAGE = (ROOT / "docs" / "reproduction.md").read_text()
EXPERIMENT_CODE, METRIC_CODE = re.findall(r"```python\n(.*?)```", PAGE, flags=re.S)


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    """The recipe's module, imported from a folder of its own."""
    (tmp_path / "skill_length.py").write_text(EXPERIMENT_CODE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("skill_length")
    unregister_experiment("skill-length")
    unregister_metric("skill_length")
    del sys.modules["skill_length"]


@pytest.mark.slow
def test_an_experiment_from_outside_the_package_is_reproduced(recipe, tmp_path):
    register_experiment(recipe.EXPERIMENT)
    register_metric(Metric("skill_length", title="Steps per skill"))
    made = reproduce(
        ["skill-length"], seeds=2, preset="paper", learner="planning", workers=1,
        out=tmp_path / "out", keep=tmp_path / "kept", markdown=tmp_path / "twin.md",
    )  # fmt: skip
    assert (made.status.total, made.status.done, made.status.failures) == (4, 4, {})
    (claim,) = made.claims
    assert claim.id == "length-diayn"
    frame, costs = load_results(tmp_path / "kept")
    lengths = frame.filter(pl.col("metric") == "skill_length")
    assert lengths.height == costs.height == 4
    by_agent = dict(lengths.group_by("agent").agg(pl.col("value").mean()).iter_rows())
    difference = by_agent["focused-diayn"] - by_agent["diayn"]
    assert claim.ours.estimate == pytest.approx(difference)

    main = (tmp_path / "out" / "report.md").read_text()
    assert "- [Length of skills](report/skill-length.md): " in main
    assert "| `length-diayn` | Focused skills take more steps |" in main
    text = (tmp_path / "out" / "report" / "skill-length.md").read_text()
    assert "| `length-diayn` | Focused skills take more steps |" in text
    assert "skillfocus reproduce skill-length --preset paper --learner planning --seeds 2" in text
    assert "**Length of skills**\n\n| agent | steps |" in text
    assert "Length of skills; the paper's settings, planning. A point per seed." in text
    assert (tmp_path / "out" / "figures" / "paper-planning-skill-length.svg").is_file()
    assert (tmp_path / "twin" / "paper-planning-skill-length.png").is_file()
    row = r"\| skill_length \| the paper's settings, planning \| four-rooms \| DIAYN, rounds=2 \|"
    assert re.search(rf"\*\*Steps per skill\*\*.*{row} {by_agent['diayn']:.3f} ", main, flags=re.S)

    again = reproduce(["skill-length"], from_=tmp_path / "kept", out=tmp_path / "again")
    assert again.status is None
    assert [c.id for c in again.claims] == ["length-diayn"]


def test_an_experiment_in_the_package_is_one_file_and_one_name(recipe, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skillfocus.experiments.skill_length", recipe)
    monkeypatch.setattr(registry, "MODULES", (*registry.MODULES, "skill_length"))
    assert get_experiment("skill-length") is recipe.EXPERIMENT
    assert "scale, continuous, skill-length\n" in command("list", cwd=tmp_path).stdout


def test_names_of_experiments_are_not_taken_twice(recipe):
    from dataclasses import replace

    before = experiment_names()
    register_experiment(recipe.EXPERIMENT)
    register_experiment(replace(recipe.EXPERIMENT, title="Another"))
    assert experiment_names() == [*before, "skill-length"]
    assert get_experiment("skill-length").title == "Another"
    for name in ("coverage", "all"):
        with pytest.raises(UserError, match=f"the name '{name}' is taken"):
            register_experiment(replace(recipe.EXPERIMENT, name=name))


def test_a_metric_is_one_declaration(recipe):
    """Declared as the page says, it is in the report; without, it is kept and not shown."""
    metric = eval(METRIC_CODE)
    assert (metric.name, metric.reduction) == ("skill_length", mean_by_role)
    rows = [("mud-world", "vic", "", "goal/skill_length", None, [3.0, 5.0])]
    frame = pl.concat([sample_results(), make_results(rows)])
    experiments = [get_experiment("coverage")]
    assert find_metric("skill_length").reduction is keep
    text = to_markdown(build_report(frame, make_costs(frame), experiments)[0].blocks, "")
    assert "skill_length" not in text
    register_metric(metric)
    assert find_metric("skill_length") is metric
    text = to_markdown(build_report(frame, make_costs(frame), experiments)[0].blocks, "")
    assert "### Other metrics" in text
    assert (
        "| goal/skill_length | the paper's settings, planning | mud-world | VIC | "
        "4.000 (−2.314 to 10.314) | 2 |"
    ) in text


def test_a_declaration_replaces_the_one_of_the_same_name():
    before = list(METRICS)
    try:
        register_metric(Metric("auc", mean_by_role))
        assert find_metric("auc").reduction is mean_by_role
        assert len(METRICS) == len(before)
    finally:
        METRICS[:] = before
