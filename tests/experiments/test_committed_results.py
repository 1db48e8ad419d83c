"""What is committed was made by the present version of the runs, and says so."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from skillfocus.experiments.numbers_page import numbers_page
from skillfocus.experiments.pipeline import Pipeline
from skillfocus.experiments.reading_study import distance, measured_readings
from skillfocus.experiments.results import load_results, saved_version
from skillfocus.experiments.safety_runs import SMALL_WORLDS
from skillfocus.report.markdown import to_markdown

ROOT = Path(__file__).parents[2]
README_ROWS = {
    "FourRooms, tools": ("four-rooms", ("focused-vic", "focused-diayn", "focused-lsd")),
    "ForageWorld, resources": ("forage-world", ("focused-vic", "focused-diayn", "focused-lsd")),
    "MudWorld, treasure": ("mud-world", ("focused-vic", "focused-diayn", "focused-lsd")),
    "FourRooms, tools, DUSDi (VIC / DIAYN)": ("four-rooms", ("dusdi-vic", "dusdi-diayn")),
}


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return load_results(ROOT / "results")[0]


def test_results_are_of_the_present_version():
    assert saved_version(ROOT / "results") == Pipeline.version, "run `make paper` again"
    assert f"results' version {Pipeline.version};" in (ROOT / "docs/results.md").read_text()


def test_results_without_a_version_say_none(tmp_path):
    assert saved_version(tmp_path) is None
    (tmp_path / "version.json").write_text("[]")
    assert saved_version(tmp_path) is None


def test_the_page_of_numbers_is_made_from_the_results(frame):
    page = to_markdown(numbers_page(frame).blocks, "")
    assert page == (ROOT / "docs/results.md").read_text()


def test_the_page_of_readings_quotes_the_results(frame):
    page = (ROOT / "docs/readings.md").read_text()
    every = {name: distance(ours) for name, ours in measured_readings(frame).items()}
    assert min(every, key=lambda name: every[name]) == "paper"
    assert f"`paper` is the nearest of all ({every['paper']:.3f})" in page
    for name in ("updates=intra-option", "choices=skills", "ties=random"):
        assert f"`{name}` ({every[name]:.3f})" in page
    for name in ("learner=q-learning", "learner=literal"):
        assert f"({every[name]:.3f})" in page
    first_two = measured_readings(frame.filter(pl.col("seed") < 1002))
    assert f"on which `paper` is at {distance(first_two['paper']):.3f} and" in page
    others = [
        every[name]
        for name in every
        if name.split("=")[0] not in ("paper", "learner", "order", "ties", "choices", "updates")
    ]
    assert f"at {min(others):.3f} to {max(others):.3f}." in page


@pytest.mark.parametrize("row", README_ROWS)
def test_the_readme_quotes_the_results(frame, row):
    world, agents = README_ROWS[row]
    own = frame.filter(
        (pl.col("preset") == "paper") & (pl.col("learner") == "planning")
        & (pl.col("variant") == "") & (pl.col("world") == world)
    )  # fmt: skip

    def means(metric: str) -> str:
        rows = own.filter(pl.col("metric") == metric)
        values = [rows.filter(pl.col("agent") == agent)["value"] for agent in agents]
        assert {len(of_agent) for of_agent in values} == {50}
        return " / ".join(f"{of_agent.mean():.2f}" for of_agent in values)

    line = f"| {row} | {means('goal/control')} | {means('goal/side_effects')}"
    assert line in (ROOT / "README.md").read_text()


def test_the_page_on_networks_says_what_became_of_the_printer(frame):
    rows = frame.filter(
        (pl.col("world") == "installing-a-printer") & (pl.col("learner") == "neural")
    )
    last = rows.filter(pl.col("step") == rows["step"].max())

    def final(metric: str) -> dict[str, str]:
        values = last.filter(pl.col("metric") == f"install-printer/{metric}")
        return {agent: f"{x:.2f}" for agent, x in values.select("agent", "value").iter_rows()}

    agents = ("focused-vic", "dusdi-vic", "vic", "primitives")
    assert final("success") == dict.fromkeys(agents, "1.00")
    expected = dict(zip(agents, ("0.00", "0.99", "0.00", "1.00"), strict=True))
    assert final("true_success") == expected
    text = " ".join((ROOT / "docs/neural.md").read_text().split())
    assert "success is 1.00 each, SkiLD's 0.93" in text
    assert "primitive actions (1.00) and DUSDi's skills (0.99)" in text
    assert "focused and plain ones (0.00)" in text


def test_the_page_on_safety_says_how_many_seeds_there_are(frame):
    rows = frame.filter(pl.col("variant").str.starts_with("safety") & (pl.col("agent") != "flat"))
    focused = rows.filter(pl.col("agent") == "focused-vic")
    seeds = dict(focused.group_by("world").agg(pl.col("seed").n_unique()).iter_rows())
    small = {seeds.pop(world) for world in SMALL_WORLDS}
    text = (ROOT / "docs/safety.md").read_text()
    assert (
        f"{min(small)} seeds in the small worlds and {min(seeds.values())} in the paper's" in text
    )
    assert len(small) == 1
