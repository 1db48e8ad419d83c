"""What is committed was made by the present version of the runs, and says so."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import polars as pl
import pytest

from skillfocus.experiments.continuous import SINGLE
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


HOUSEHOLD_ROWS = {
    "thaw olive / fish / date": ("thaw-olive", "thaw-fish", "thaw-date"),
    "soak rag / clean car / clean rag": ("soak-rag", "clean-car", "clean-rag"),
    "install printer": ("install-printer",),
}


def scale_mean(frame: pl.DataFrame, agent: str, metric: str, variant: str = "") -> str:
    """Return a metric of networks at its last step, the mean over seeds, in two decimals."""
    rows = frame.filter(
        (pl.col("preset") == "scale") & (pl.col("agent") == agent)
        & (pl.col("metric") == metric) & (pl.col("variant") == variant)
    )  # fmt: skip
    last = rows.filter(pl.col("step").eq_missing(rows["step"].max()))
    assert last["world"].n_unique() == 1
    return f"{last['value'].mean():.2f}"


@pytest.mark.parametrize("row", HOUSEHOLD_ROWS)
def test_the_page_on_networks_quotes_the_success_of_households(frame, row):
    tasks = HOUSEHOLD_ROWS[row]
    cells = [
        " / ".join(scale_mean(frame, agent, f"{task}/success") for task in tasks)
        for agent in ("focused-vic", "dusdi-vic", "vic", "primitives")
    ]
    page = (ROOT / "docs/neural.md").read_text()
    line = next(each for each in page.splitlines() if each.startswith(f"| {row} |"))
    assert line.endswith(f"| {' | '.join(cells)} |")


def test_the_page_on_networks_quotes_what_household_skills_change(frame):
    text = " ".join((ROOT / "docs/neural.md").read_text().split())
    focused, dusdi = (
        partial(scale_mean, frame, "focused-vic"),
        partial(scale_mean, frame, "dusdi-vic"),
    )
    for world, quoted in (
        ("thawing-frozen-food", "when thawing ({} against {} variables)"),
        ("cleaning-a-car", "with the car ({} against {})"),
    ):
        own = frame.filter(pl.col("world") == world)
        pair = (
            scale_mean(own, agent, "goal/side_effects") for agent in ("focused-vic", "dusdi-vic")
        )
        assert quoted.format(*pair) in text
    fish = "first/fish_position/"
    assert focused(f"{fish}changes") == dusdi(f"{fish}changes") == "1.00"
    left = (focused(f"{fish}also/fridge_open"), dusdi(f"{fish}also/fridge_open"))
    assert "stays open in {} of them with focused skills, and in {} with".format(*left) in text
    sink = "first/car_stain/also/sink_on"
    assert f"the sink stays on in {focused(sink)} and in {dusdi(sink)}." in text
    for world, quoted in (
        ("thawing-frozen-food", "variable in {} of the rollouts against {} when thawing"),
        ("cleaning-a-car", "and in {} against {} with the car."),
    ):
        own = frame.filter(pl.col("world") == world)
        pair = (scale_mean(own, agent, "goal/control") for agent in ("focused-vic", "dusdi-vic"))
        assert quoted.format(*pair) in text
    thawed = (dusdi("first/fish_frozen/changes"), focused("first/fish_frozen/changes"))
    assert "thaws the fish in {} of the rollouts and the focused one in {};".format(*thawed) in text
    cleaned = (dusdi("first/car_stain/changes"), focused("first/car_stain/changes"))
    assert "the car gets clean in {} and {}.".format(*cleaned) in text


def test_the_page_on_networks_quotes_true_success(frame):
    text = " ".join((ROOT / "docs/neural.md").read_text().split())
    focused, dusdi = (
        partial(scale_mean, frame, "focused-vic"),
        partial(scale_mean, frame, "dusdi-vic"),
    )
    car = "clean-car/true_success"
    assert f"cleaning the car ({focused(car)} against {dusdi(car)})" in text
    others = ("thaw-olive", "thaw-fish", "thaw-date", "soak-rag", "clean-rag")
    most = max(float(each(f"{task}/true_success")) for each in (focused, dusdi) for task in others)
    assert f"at most {most:.2f} with either in the other tasks" in text
    fish = scale_mean(frame, "primitives", "thaw-fish/true_success")
    assert f"thaw the fish without any side effect ({fish})" in text
    printer = "install-printer/true_success"
    assert f"primitive actions ({scale_mean(frame, 'primitives', printer)})" in text
    assert f"lower for the printer ({focused(printer)} against {dusdi(printer)})" in text
    assert focused(printer) == scale_mean(frame, "vic", printer) == "0.00"
    rows = frame.filter((pl.col("metric") == printer) & (pl.col("agent") == "dusdi-vic"))
    last = rows.filter(pl.col("step") == rows["step"].max())["value"].sort()
    assert [round(value) for value in last] == [0, 1], "with DUSDi's in one of two seeds"


def test_the_page_on_networks_quotes_what_held_rewards_are_worth(frame):
    text = " ".join((ROOT / "docs/neural.md").read_text().split())
    control = partial(scale_mean, frame.filter(pl.col("world") == "four-rooms"), "focused-vic")
    with_it, without = control("goal/control"), control("goal/control", "rewards not held")
    assert f"from {without} (0.50 to 1.00) of the fair starts instead of {with_it}" in text
    assert control("goal/control", "no earlier starts") == with_it


FOOD_POISON = tuple(f"food-poison-{level}" for level in ("easy", "mid", "hard"))
GUNNER = ("gunner-unlimited", "gunner-limited")
CONTINUOUS_ROWS = {
    "gunner | focused DIAYN": ("gunner", "focused-diayn", "", GUNNER),
    "gunner | DUSDi": ("gunner", "dusdi-diayn", "", GUNNER),
    "gunner | DUSDi, one target at a time": ("gunner", "dusdi-diayn", SINGLE, GUNNER),
    "particles | DUSDi": ("particles", "dusdi-diayn", "", FOOD_POISON),
    "two-rooms | focused VIC": ("two-rooms", "focused-vic", "", ("carry-box",)),
    "two-rooms | DUSDi's VIC, one target at a time": (
        "two-rooms", "dusdi-vic", SINGLE, ("carry-box",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", CONTINUOUS_ROWS)
def test_the_page_on_continuous_worlds_quotes_the_results(frame, row):
    world, agent, variant, tasks = CONTINUOUS_ROWS[row]
    own = frame.filter(
        (pl.col("learner") == "neural-large") & (pl.col("world") == world)
        & (pl.col("agent") == agent) & (pl.col("variant") == variant)
    )  # fmt: skip

    def mean(metric: str) -> float:
        return own.filter(pl.col("metric") == metric)["value"].mean()  # pyright: ignore[reportReturnType]

    page = (ROOT / "docs/continuous.md").read_text()
    line = next(each for each in page.splitlines() if each.startswith(f"| {row} |"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[2] == f"{mean('from_random/target_change'):.2f}"
    assert cells[3] == f"{mean('from_random/side_effects'):.2f}"
    assert cells[5] == " / ".join(f"{mean(f'{task}/return'):.1f}" for task in tasks)
    assert cells[7] == str(own["seed"].n_unique())


def test_the_page_on_continuous_worlds_quotes_true_returns(frame):
    large = frame.filter((pl.col("learner") == "neural-large") & (pl.col("preset") == "scale"))
    text = " ".join((ROOT / "docs/continuous.md").read_text().split())
    true = {
        agent: rows["value"].mean()
        for (agent,), rows in large.filter(pl.col("metric") == "carry-box/true_return").group_by(
            "agent"
        )
    }
    assert f"all of its return counts ({true['focused-vic']:.1f})" in text
    assert f"({true['dusdi-vic']:.1f} of 3.1 count)" in text
    settled = large.filter(
        (pl.col("world") == "gunner") & (pl.col("agent") == "dusdi-diayn")
        & (pl.col("variant") == "") & (pl.col("metric") == "from_settled/side_effects")
    )  # fmt: skip
    assert f"settled ({settled['value'].item():.2f} instead of 1.08)" in text
    small = frame.filter((pl.col("learner") == "neural") & (pl.col("world") == "two-rooms"))

    def carried(agent: str, variant: str, metric: str) -> str:
        rows = small.filter(
            (pl.col("agent") == agent) & (pl.col("variant") == variant)
            & (pl.col("metric") == f"carry-box/{metric}")
        )  # fmt: skip
        return f"{rows['value'].mean():.1f}"

    counted = carried("focused-vic", "", "true_return"), carried("focused-vic", "", "return")
    assert "breaks ({} of {} count)".format(*counted) in text
    assert f"hardly carried ({carried('dusdi-vic', SINGLE, 'return')})" in text


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
