from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

import pytest

import skillfocus as sf
from commands import command
from frames import make_costs, sample_results
from skillfocus.errors import UserError
from skillfocus.experiments import gallery, presets, trajectories
from skillfocus.experiments.cases import Case, Setup
from skillfocus.experiments.gallery import gallery_runs, gallery_sets
from skillfocus.experiments.pipeline import Pipeline
from skillfocus.experiments.players import PLAYED_OBJECTIVES, make_players
from skillfocus.experiments.registry import select_experiments
from skillfocus.experiments.report import build_report
from skillfocus.experiments.trajectories import GALLERY_HINT
from skillfocus.metrics.summary import skill_records
from skillfocus.report.html_page import to_html
from skillfocus.report.markdown import to_markdown
from skillfocus.runs.discovery_run import Discovery
from skillfocus.runs.execution import Finished, perform
from skillfocus.runs.folder_store import Store
from skillfocus.viewer.page import page_html, write_page
from skillfocus.viewer.start_state import choose_start_state


def small(store, world, objective):
    """Four skills after two rounds of planning."""
    targets = None if objective in presets.PLAIN else "treasure=2,position=2"
    return Discovery(world, objective, 0, sf.Planning(rounds=2), 4, targets)


@dataclass(frozen=True)
class Failing(Discovery):
    def execute(self, report):
        raise ZeroDivisionError("as it was made to")


@pytest.fixture
def quick(monkeypatch):
    """Only MudWorld, and little of it."""
    monkeypatch.setattr(gallery, "_gallery_run", small)
    monkeypatch.setattr("skillfocus.experiments.players.WORLDS", ("mud-world",))


def do(store, run):
    store.prepare()
    finished = perform(run)
    assert isinstance(finished, Finished), finished
    store.add(run, finished.table, finished.skills)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A folder that holds the skills of a report's players in MudWorld."""
    store = Store(tmp_path_factory.mktemp("runs"))
    for objective in PLAYED_OBJECTIVES:
        do(store, small(store, "mud-world", objective))
    return store


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


# -------------------------------------------------------------------- which runs


def test_every_algorithm_in_every_world(tmp_path):
    runs = gallery_runs(Store(tmp_path))
    assert len(runs) == 24
    assert {(run.world, run.objective) for run in runs} == {
        (world, objective) for world in presets.WORLDS for objective in presets.OBJECTIVES
    }
    assert [run.objective for run in runs[:3]] == ["vic", "dusdi-vic", "focused-vic"]


def test_they_discover_what_the_paper_s_runs_discover(tmp_path):
    for run in gallery_runs(Store(tmp_path)):
        of_reproduce = Setup().case(run.world, run.objective, 0).run
        assert (type(run), type(of_reproduce)) == (Discovery, Pipeline)
        assert run.settings() == of_reproduce.settings()


def test_a_run_of_reproduce_that_kept_its_skills_is_not_done_again(tmp_path, filled, monkeypatch):
    asked = ["mud-world"], ["focused-diayn"]
    (own,) = gallery_runs(Store(tmp_path), *asked)
    of_reproduce = Setup().case("mud-world", "focused-diayn", 0).run
    skills = filled.skills_path(small(filled, "mud-world", "focused-diayn")).read_bytes()
    for kept, used in ((None, own), (skills, of_reproduce)):
        monkeypatch.setattr(Pipeline, "execute", lambda *_, kept=kept: sf.Result([], kept))
        store = Store(tmp_path / str(kept is None))
        do(store, of_reproduce)
        assert gallery_runs(store, *asked) == [used]


# -------------------------------------------------------------------- what is shown


def test_what_skills_do_is_read_from_their_runs(filled):
    runs = [small(filled, "mud-world", objective) for objective in (*PLAYED_OBJECTIVES, "lsd")]
    sets = gallery_sets(filled, runs, ("diayn", "focused-diayn"))
    assert [one.label for one in sets] == ["DIAYN", "DUSDi DIAYN", "focused DIAYN"]
    assert [one.first for one in sets] == [True, False, True]
    for one in sets:
        assert one.records == skill_records(one.skills)
        assert one.task.name == "treasure"
        assert one.solution.q.shape == (one.skills.mdp.n_states, 4 + one.skills.mdp.n_actions)
    with pytest.raises(UserError, match="holds no skills to show"):
        gallery_sets(filled, runs[-1:])


def test_coverage_comes_from_the_runs_too(tmp_path):
    store = Store(tmp_path)
    run = replace(small(store, "four-rooms", "diayn"), coverage=True)
    do(store, run)
    (one,) = gallery_sets(store, [run])
    assert one.coverage == run.record(store.frame())["coverage"]
    assert one.coverage is not None
    assert len(one.coverage) == 5


def test_a_page_begins_with_the_sets_it_is_told(filled):
    runs = [small(filled, "mud-world", objective) for objective in PLAYED_OBJECTIVES]
    data = data_of(page_html(gallery_sets(filled, runs, ("dusdi-diayn",))))
    assert [one["first"] for one in data["sets"]] == [False, True, False]
    skills = filled.skills(runs[0])
    assert data["worlds"][0]["start"] == choose_start_state(skills)
    assert data["worlds"][0]["start"] != skills.mdp.number(skills.world.showcase)


# -------------------------------------------------------------------- the report


def test_a_report_without_skills_says_how_to_get_them(tmp_path):
    assert make_players(Store(tmp_path / "nowhere")) == []
    report, _ = build_report(
        sample_results(), make_costs(sample_results()), select_experiments(["trajectories"])
    )
    (page,) = report.pages
    blocks = page.blocks
    assert GALLERY_HINT in to_markdown(blocks, "figures")
    assert "<code>skillfocus view --gallery</code>" in to_html(blocks, "report")
    assert "<iframe" not in to_html(blocks, "report")


def test_players_stand_in_the_page_and_not_in_its_twin(filled, quick):
    made = make_players(filled)
    assert [player.caption.split(":")[0] for player in made] == ["MudWorld-v0"]
    assert "DIAYN, DUSDi DIAYN, focused DIAYN" in made[0].caption
    tables = (
        sample_results(),
        make_costs(sample_results()),
        select_experiments(["trajectories", "coverage"]),
    )
    without, with_players = build_report(*tables)[0], build_report(*tables, players=made)[0]
    for one, other in zip(without.pages, with_players.pages, strict=True):
        assert to_markdown(one.blocks, "figures") == to_markdown(other.blocks, "figures")
    counts = [to_html(page.blocks, page.title).count("<iframe") for page in with_players.pages]
    assert counts == [1, 0]  # on Figure 1's page alone
    assert "<iframe" not in to_html(with_players.blocks, "report")


@pytest.mark.slow
def test_the_report_s_player_plays(filled, quick, page, tmp_path):
    report, _ = build_report(
        sample_results(),
        make_costs(sample_results()),
        select_experiments(["trajectories"]),
        players=make_players(filled),
    )
    path = tmp_path / "figure-1.html"
    path.write_text(to_html(report.pages[0].blocks, "report"))
    page.goto(path.as_uri())
    page.locator("iframe").scroll_into_view_if_needed()
    inside = page.frame_locator("iframe")
    inside.locator("body[data-ready]").wait_for()
    assert inside.locator(".panel").count() == 3
    inside.locator("#last").click()
    length = inside.locator("#scrub").get_attribute("max")
    assert inside.locator("#clock").inner_text() == f"{length} / {length}"
    inside.locator("#play").click()
    inside.locator("#play[aria-label=Play]").wait_for()  # it has come to its end again
    assert inside.locator("#clock").inner_text() == f"{length} / {length}"


@pytest.mark.slow
def test_worlds_are_turned_to_while_something_plays(filled, page, tmp_path):
    other = Store(tmp_path)
    plain = small(other, "forage-world", "diayn")
    do(other, plain)
    runs = [small(filled, "mud-world", objective) for objective in PLAYED_OBJECTIVES]
    sets = [*gallery_sets(filled, runs, PLAYED_OBJECTIVES[1:]), *gallery_sets(other, [plain])]
    page.goto(write_page([*sets, *sets[-1:] * 2], tmp_path / "gallery.html").as_uri())
    shown = page.locator(".panel > header select")
    page.locator("body[data-ready]").wait_for()
    assert [one.input_value() for one in shown.all()] == ["1", "2"]
    for name, count in (("ForageWorld-v0", 3), ("MudWorld-v0", 2), ("ForageWorld-v0", 3)):
        page.get_by_role("button", name=name).click()
        page.wait_for_function("() => skillfocus.model.runs")
        assert page.locator("h1").inner_text() == name
        assert shown.count() == count


# -------------------------------------------------------------------- the commands


@pytest.mark.slow
def test_the_command_does_what_is_missing(tmp_path, monkeypatch, filled):
    runs = [small(filled, "mud-world", name) for name in ("diayn", "focused-diayn")]
    monkeypatch.setattr(gallery, "gallery_runs", lambda store: runs)
    made = command("view", "--gallery", "--no-open", "--workers", "1", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "2 runs: 2 done now" in made.stderr
    assert "page: out/gallery.html" in made.stderr
    page = tmp_path / "out" / "gallery.html"
    assert [one["label"] for one in data_of(page.read_text())["sets"]] == ["DIAYN", "focused DIAYN"]
    again = command("view", "--gallery", "--json", "--no-open", cwd=tmp_path)
    assert "2 runs: 2 found in out" in again.stderr
    assert json.loads(again.stdout) == {"page": "out/gallery.html", "bytes": page.stat().st_size}


@pytest.mark.slow
def test_runs_that_fail_are_left_out_of_the_gallery(tmp_path, monkeypatch, filled):
    good = small(filled, "mud-world", "diayn")
    bad = Failing("mud-world", "focused-diayn", 0, good.learner, 4, "treasure=2,position=2")
    monkeypatch.setattr(gallery, "gallery_runs", lambda store: [good, bad])
    for name in ("parquet", "skills"):
        file = filled.path(good).with_suffix(f".{name}")
        (tmp_path / file.name).write_bytes(file.read_bytes())
    made = command("view", "--gallery", "--out", "all.html", "--no-open", cwd=tmp_path)
    assert made.returncode == 1
    assert "ZeroDivisionError: as it was made to" in made.stderr
    page = (tmp_path / "all.html").read_text()
    assert [one["label"] for one in data_of(page)["sets"]] == ["DIAYN"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--gallery", "a.skills"], "name no files"), (["--gallery", "--coverage"], "of its own"),
     (["--gallery", "--task", "true"], "of its own"),
     (["a.skills", "--workers", "2"], "are for the runs of --gallery"),
     (["a.skills", "--retry-failed"], "are for the runs of --gallery")],
)  # fmt: skip
def test_mistakes_have_one_sentence(arguments, message, tmp_path):
    said = command("view", *arguments, cwd=tmp_path)
    assert said.returncode == 2
    assert message in said.stderr
    assert len(said.stderr.strip().splitlines()) == 1


@pytest.mark.slow
def test_reproduce_discovers_the_skills_that_its_report_plays(tmp_path, quick, monkeypatch):
    run = Pipeline("mud-world", "diayn", 0, sf.Planning(rounds=1), 2)
    case = Case("paper", "planning", "mud-world", "diayn", "", 0, run)
    monkeypatch.setattr(
        trajectories, "EXPERIMENT", replace(trajectories.EXPERIMENT, cases=lambda *_: [case])
    )
    asked = ["reproduce", "trajectories", "--preset", "paper", "--learner", "planning"]
    made = command(*asked, "--seeds", "1", "--workers", "1", "--keep", "kept", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "4 runs: 4 done now" in made.stderr
    assert "report: out/report.html" in made.stderr
    assert (tmp_path / "out" / "report" / "figure-1.html").read_text().count("<iframe") == 1
    for out, count in (("out", 1), ("elsewhere", 0)):
        made = command("reproduce", "trajectories", "--from", "kept", "--out", out, cwd=tmp_path)
        assert made.returncode == 0, made.stderr
        folder = tmp_path / out / "report"
        assert (folder / "figure-1.html").read_text().count("<iframe") == count
        assert "skillfocus view --gallery" in (folder / "figure-1.md").read_text()


def test_reproduce_keeps_the_skills_that_the_gallery_shows_and_no_others():
    def shown(agent: str, seed: int = 0, preset: str = "paper", **changes) -> bool:
        return Setup(preset).case("mud-world", agent, seed, **changes).run.keeps_skills  # pyright: ignore

    assert all(shown(agent) for agent in presets.OBJECTIVES)
    assert not shown("vic-with-memory")  # a hundred times as large
    assert not shown("permuted-focused-vic")
    assert not shown("vic", seed=1)
    assert not shown("focused-vic", strength=10.0)
    assert not shown("focused-diayn", preset="stopping=ends")
