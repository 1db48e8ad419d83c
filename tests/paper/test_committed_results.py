"""What is committed was made by the present version of the runs, and says so."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from paper.__main__ import EXPERIMENTS
from paper.agents import Pipeline
from paper.claims import PAPER_CLAIMS
from paper.continuous import SINGLE
from paper.formatting import number
from paper.readings import distance, measured_readings
from paper.report import analyze_results, numbers_page
from paper.results import load_results
from paper.safety.comparison import SMALL_WORLDS
from paper.scale import BEST, MORE, PLANNED, SKILD
from paper.settings import FOCUSED

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
    saved = json.loads((ROOT / "results" / "version.json").read_text())
    assert saved["results"] == Pipeline.version, "run `make paper` again"
    assert f"results' version {Pipeline.version};" in (ROOT / "docs/results.md").read_text()


def test_the_page_of_numbers_is_made_from_the_results(frame):
    page = numbers_page(frame, Pipeline.version)
    assert page == (ROOT / "docs/results.md").read_text()


def test_every_detailed_claim_bears_on_one_claim_of_the_paper(frame):
    """But for the appendix's numbers of skills, and the paper's ratio that an agent of ours has."""
    claims = {
        claim.id
        for section in analyze_results(frame, list(EXPERIMENTS.values()))
        for claim in section.analysis.claims
        if claim.source == "paper"
    }
    matching = {each: [c.name for c in PAPER_CLAIMS if c.matches(each)] for each in claims}
    lost = {each for each, found in matching.items() if len(found) != 1}
    assert all(each.startswith(("skills-", "coverage-scattered-")) for each in lost), lost
    assert {name for found in matching.values() for name in found} == {c.name for c in PAPER_CLAIMS}


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

    line = f"| {row} | {means('goal/control')} | {means('goal/worst/side_effects')} |"
    assert line in (ROOT / "README.md").read_text()


TARGETED = ("focused-vic", "dusdi-vic")
AGENTS = (*TARGETED, "vic", "primitives")
TASKS = (
    "thaw-olive", "thaw-fish", "thaw-date", "soak-rag", "clean-car", "clean-rag", "install-printer",
)  # fmt: skip
LATER_TASKS = (*TASKS[:3], "thaw-all", *TASKS[3:6])
"""Those after 262 million steps."""


def scale_mean(frame: pl.DataFrame, agent: str, metric: str, variant: str = "") -> str:
    """Return a metric of networks at its last step, the mean over seeds, in two decimals."""
    rows = frame.filter(
        (pl.col("preset") == "scale") & (pl.col("agent") == agent)
        & (pl.col("metric") == metric) & (pl.col("variant") == variant)
    )  # fmt: skip
    last = rows.filter(pl.col("step").eq_missing(rows["step"].max()))
    assert last["world"].n_unique() == 1
    return f"{last['value'].mean():.2f}"


def rows_of(page: str, first: str) -> dict[str, str]:
    """Return the rows of the table whose first cell is given, by their first cells."""
    lines = page.partition(f"| {first} |")[2].partition("\n\n")[0].splitlines()[2:]
    return {line.split("|")[1].strip(" `"): line for line in lines}


def test_the_page_on_networks_quotes_the_success_of_households(frame):
    page = (ROOT / "docs/neural.md").read_text()
    rows = rows_of(page, "SkiLD's number of steps")
    assert tuple(rows) == TASKS
    for task, row in rows.items():
        cells = [scale_mean(frame, agent, f"{task}/success") for agent in AGENTS]
        assert row == f"| `{task}` | {SKILD[task]:g} | {' | '.join(cells)} |"
    rows = rows_of(page, "262 M steps")
    assert tuple(rows) == LATER_TASKS
    for task, row in rows.items():
        cells = [
            scale_mean(frame, agent, f"{task}/{metric}", MORE)
            for metric in ("success", "true_success")
            for agent in TARGETED
        ]
        assert row == f"| `{task}` | {' | '.join(cells)} |"


def test_the_page_on_networks_quotes_true_success(frame):
    text = " ".join((ROOT / "docs/neural.md").read_text().split())
    focused, dusdi = (
        {task: scale_mean(frame, agent, f"{task}/true_success", MORE) for task in LATER_TASKS}
        for agent in TARGETED
    )
    kept = [task for task in LATER_TASKS if float(focused[task]) > 0.1]
    named = ", ".join(f"`{task}`" for task in kept)
    assert f"three of the seven tasks at 262 million steps ({named})" in text
    assert len(kept) == 3
    assert f"hold in at least {min(focused[task] for task in kept)} of its episodes" in text
    assert f"over DUSDi's skills, in at most {max(dusdi.values())}." in text
    fish = scale_mean(frame, "primitives", "thaw-fish/true_success")
    assert f"thaw the fish and keep all conditions ({fish})" in text


def test_the_page_on_networks_quotes_the_printer_s_table(frame):
    text = " ".join((ROOT / "docs/neural.md").read_text().split())
    rows = frame.filter(pl.col("metric") == "install-printer/true_success")
    last = rows.filter(pl.col("step") == rows["step"].max())
    cleaned = {
        agent: [value < 0.5 for value in mine["value"]] for (agent,), mine in last.group_by("agent")
    }
    assert all(cleaned["focused-vic"])
    assert all(cleaned["vic"])
    assert (sum(cleaned["dusdi-vic"]), len(cleaned["dusdi-vic"])) == (2, 3)
    assert not any(cleaned["primitives"])
    assert (
        "those over DUSDi's in two of three seeds, and those with primitive actions never" in text
    )


def test_the_page_on_networks_quotes_what_household_skills_change(frame):
    text = " ".join((ROOT / "docs/neural.md").read_text().split())
    for metric, variant, first, second in (
        ("goal/side_effects", MORE, "{} other variables change against {} when thawing", "{} against {} with the car."),
        ("goal/control", "", "in {} of the rollouts against {} when thawing", "and in {} against {} with the car."),
        ("goal/control", MORE, "it is {} against {} and", "and {} against {}, but"),
    ):  # fmt: skip
        for world, quoted in (("thawing-frozen-food", first), ("cleaning-a-car", second)):
            own = frame.filter(pl.col("world") == world)
            pair = [scale_mean(own, agent, metric, variant) for agent in TARGETED]
            assert quoted.format(*pair) in text
    focused, dusdi = (partial(scale_mean, frame, agent, variant=MORE) for agent in TARGETED)
    for variable in ("car_stain", "bucket_soaped", "fish_position"):
        name = f"first/{variable}/changes"
        assert focused(name) == dusdi(name) == "1.00"
    sink, fridge = "first/car_stain/also/sink_on", "first/fish_position/also/fridge_open"
    assert f"The sink is left on in {dusdi(sink)} of the rollouts" in text
    assert f"leaves the fridge open in {dusdi(fridge)} of them, the focused one in none." in text
    assert focused(sink) == focused(fridge) == "0.00"
    soap = "soak-rag/held/bucket without soap"
    assert f"soap in {focused(soap)} of the episodes against {dusdi(soap)}." in text
    names = [f"first/{each}/changes" for each in ("olive_frozen", "date_frozen", "bucket_soaped")]
    for agent in TARGETED:
        assert {scale_mean(frame, agent, name) for name in names} == {"0.00"}
    least = min(each(name) for each in (focused, dusdi) for name in names)
    assert f"After 262 million, all do in at least {least} of the rollouts." in text


def test_the_page_on_networks_quotes_four_rooms(frame):
    text = " ".join((ROOT / "docs/neural.md").read_text().split())
    own = frame.filter((pl.col("world") == "four-rooms") & (pl.col("learner") == "neural"))

    def mean(agent: str, metric: str, variant: str = "") -> float:
        rows = own.filter((pl.col("agent") == agent) & (pl.col("variant") == variant))
        return rows.filter(pl.col("metric") == metric)["value"].mean()  # pyright: ignore[reportReturnType]

    least = min(mean(agent, "goal/control") for agent in FOCUSED)
    more = [
        mean(agent, "goal/side_effects") - mean(agent, "goal/side_effects", PLANNED)
        for agent in FOCUSED
    ]
    assert f"from at least {least:.3f} of the fair starts" in text
    assert f"with {min(more):.3f} to {max(more):.3f} more side effects" in text
    vic = partial(mean, "focused-vic", "goal/control")
    quoted = f"from {vic('rewards not held'):.2f} of the fair starts instead of {vic():.2f}"
    assert quoted in text
    assert abs(vic("no earlier starts") - vic()) < 0.005
    effects = [f"{mean(agent, 'goal/side_effects'):.3f}" for agent in FOCUSED]
    assert "are {}, {} and {} for focused VIC, DIAYN and LSD".format(*effects) in text
    lsd = mean("focused-lsd", "goal/control")
    assert f"LSD's tools change from {lsd:.2f} instead of 0.98" in text


@pytest.mark.parametrize(
    ("world", "quoted"),
    [
        ("tool-rooms", "from at least {worst:.2f} of the fair starts, and in four"),
        ("room-blocks", "states, from at least {worst:.2f} ({mean:.2f} on average;"),
    ],
)
def test_the_page_on_networks_quotes_rooms(frame, world, quoted):
    text = " ".join((ROOT / "docs/neural.md").read_text().split())
    own = frame.filter((pl.col("world") == world) & (pl.col("agent") == "focused-vic"))

    def values(metric: str, variant: str = "") -> pl.Series:
        return own.filter((pl.col("metric") == metric) & (pl.col("variant") == variant))["value"]

    fair = values("fair/changes")
    assert quoted.format(worst=fair.min(), mean=fair.mean()) in text
    effects = (values("all/tool_effects").mean(), values("all/tool_effects", BEST).mean())
    assert "{:.2f} against {:.2f} at strength".format(*effects) in text


def test_the_page_on_networks_quotes_mud(frame):
    text = " ".join((ROOT / "docs/neural.md").read_text().split())
    own = frame.filter(pl.col("world") == "visible-mud")
    changes, muddy, cells = (
        own.filter(pl.col("metric") == f"treasure/{name}")["value"].item()
        for name in ("changes", "muddy", "tracked")
    )
    quoted = f"in {changes:.2f} of the rollouts; in {muddy:.2f} the agent ends muddy, and {cells:.1f} cells"
    assert quoted in text


FOOD_POISON = tuple(f"food-poison-{level}" for level in ("easy", "mid", "hard"))
GUNNER = ("gunner-unlimited", "gunner-limited")
COMMON_ROWS = {
    "gunner | focused DIAYN": ("gunner", "focused-diayn", "", GUNNER),
    "gunner | DUSDi": ("gunner", "dusdi-diayn", "", GUNNER),
    "gunner | DUSDi, one target at a time": ("gunner", "dusdi-diayn", SINGLE, GUNNER),
    "gunner | METRA": ("gunner", "metra", "", GUNNER),
    "particles | DUSDi": ("particles", "dusdi-diayn", "", FOOD_POISON),
}
LARGE_ROWS = {
    **COMMON_ROWS,
    "two-rooms | focused VIC": ("two-rooms", "focused-vic", "", ("carry-box",)),
    "two-rooms | DUSDi's VIC, one target at a time": (
        "two-rooms", "dusdi-vic", SINGLE, ("carry-box",),
    ),
}  # fmt: skip
SMALL_ROWS = {
    **COMMON_ROWS,
    "gunner | DIAYN, 125 skills": ("gunner", "diayn", "", GUNNER),
    "particles | focused DIAYN": ("particles", "focused-diayn", "", FOOD_POISON),
    "particles | DIAYN, 50 skills": ("particles", "diayn", "", FOOD_POISON),
    "particles | METRA": ("particles", "metra", "", FOOD_POISON),
}


def continuous_section(heading: str) -> str:
    """Return a section of the page on continuous skills."""
    text = (ROOT / "docs/continuous.md").read_text()
    return text.split(f"\n### {heading}\n")[1].split("\n## ")[0].split("\n### ")[0]


def continuous_mean(frame: pl.DataFrame, of: tuple, metric: str, learner: str) -> float:
    """Return the mean of a metric over the seeds of a world, an agent and a variant."""
    world, agent, variant = of[:3]
    rows = frame.filter(
        (pl.col("learner") == learner) & (pl.col("world") == world) & (pl.col("agent") == agent)
        & (pl.col("variant") == variant) & (pl.col("metric") == metric)
    )  # fmt: skip
    return rows["value"].mean()  # pyright: ignore[reportReturnType]


def cells_of(section: str, row: str) -> list[str]:
    line = next((each for each in section.splitlines() if each.startswith(f"| {row} |")), None)
    assert line is not None, f"no row {row}"
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize("row", LARGE_ROWS)
def test_the_page_on_continuous_worlds_quotes_results_of_a_gpu(frame, row):
    mean = partial(continuous_mean, frame, LARGE_ROWS[row], learner="neural-large")
    cells = cells_of(continuous_section("On a GPU"), row)
    assert cells[2] == f"{mean('from_random/target_change'):.2f}"
    assert cells[3] == f"{mean('from_random/side_effects'):.2f}"
    assert cells[5] == " / ".join(number(mean(f"{task}/return"), 1) for task in LARGE_ROWS[row][3])


@pytest.mark.parametrize("row", SMALL_ROWS)
def test_the_page_on_continuous_worlds_quotes_results_of_a_cpu(frame, row):
    mean = partial(continuous_mean, frame, SMALL_ROWS[row], learner="neural")
    cells = cells_of(continuous_section("On a CPU"), row)
    assert cells[3] == " / ".join(number(mean(f"{task}/return"), 1) for task in SMALL_ROWS[row][3])


@pytest.mark.parametrize(
    ("heading", "learner", "rows"),
    [("On a GPU", "neural-large", LARGE_ROWS), ("On a CPU", "neural", SMALL_ROWS)],
)
def test_the_page_on_continuous_worlds_says_how_many_seeds_there_are(frame, heading, learner, rows):
    for row, (world, agent, variant, _) in rows.items():
        own = frame.filter(
            (pl.col("learner") == learner) & (pl.col("world") == world)
            & (pl.col("agent") == agent) & (pl.col("variant") == variant)
        )  # fmt: skip
        assert cells_of(continuous_section(heading), row)[-1] == str(own["seed"].n_unique())


def test_the_page_on_continuous_worlds_quotes_what_else_was_measured(frame):
    gpu, cpu = (" ".join(continuous_section(name).split()) for name in ("On a GPU", "On a CPU"))
    focused, dusdi = ("two-rooms", "focused-vic", ""), ("two-rooms", "dusdi-vic", SINGLE)
    both = ("gunner", "dusdi-diayn", "")

    def mean(of: tuple, metric: str, learner: str = "neural-large") -> float:
        return continuous_mean(frame, of, metric, learner)

    told, true = "carry-box/return", "carry-box/true_return"
    assert f"all of its return counts ({mean(focused, true):.1f})" in gpu
    assert mean(focused, told) == pytest.approx(mean(focused, true))
    assert f"({mean(dusdi, true):.1f} of {mean(dusdi, told):.1f} count)" in gpu
    random, settled = (f"from_{start}/side_effects" for start in ("random", "settled"))
    assert f"({mean(both, settled):.2f} instead of {mean(both, random):.2f})" in gpu
    item = ("gunner", "focused-diayn", "")
    assert f"focused ones have {mean(item, settled):.2f}." in gpu
    single = ("gunner", "dusdi-diayn", SINGLE)
    fewer = (mean(item, random, "neural"), mean(single, random, "neural"))
    assert "side effects ({:.2f} against {:.2f}; the intervals".format(*fewer) in cpu
    less = [mean(of, "from_random/target_change", "neural") for of in (item, single)]
    assert "({:.2f} of the scale against {:.2f} with DUSDi's".format(*less) in cpu
    broken = (mean(focused, true, "neural"), mean(focused, told, "neural"))
    assert "breaks ({:.1f} of {:.1f} count)".format(*broken) in cpu
    assert f"hardly carried ({mean(dusdi, told, 'neural'):.1f})" in cpu


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
