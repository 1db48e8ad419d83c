"""The gallery and the report's players: which skills they show, and that they play."""

from __future__ import annotations

import json
import re

import pytest

import skillfocus as sf
from frames import make_costs, sample_results
from paper import gallery, settings
from paper.__main__ import EXPERIMENTS, parse
from paper.agents import Setup
from paper.gallery import PLAYED, gallery_runs, gallery_sets, make_players, write_gallery
from paper.report import build_report, write_report
from skillfocus.errors import UserError
from skillfocus.metrics.summary import skill_records
from skillfocus.viewer.page import page_html
from skillfocus.viewer.payload import choose_start_state


def small(store, world, objective):
    """Four skills after two rounds of planning."""
    targets = None if objective in settings.PLAIN else "treasure=2,position=2"
    return sf.Discovery(world, objective, 0, sf.Planning(rounds=2), skills=4, targets=targets)


@pytest.fixture
def quick(monkeypatch):
    """Only MudWorld, and little of it."""
    monkeypatch.setattr(gallery, "_gallery_run", small)
    monkeypatch.setattr(gallery, "WORLDS", ("mud-world",))


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A folder that holds the skills of a report's players in MudWorld."""
    store = sf.Store(tmp_path_factory.mktemp("runs"))
    sf.run_all([small(store, "mud-world", objective) for objective in PLAYED], store, workers=1)
    return store


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_every_algorithm_in_every_world_as_the_report_discovers_them(tmp_path):
    runs = gallery_runs(sf.Store(tmp_path))
    assert {(run.world, run.objective) for run in runs} == {
        (world, objective) for world in settings.WORLDS for objective in settings.OBJECTIVES
    }
    assert [run.objective for run in runs[:3]] == ["vic", "dusdi-vic", "focused-vic"]
    for run in runs:
        assert run.settings() == Setup().case(run.world, run.objective, 0).run.settings()


def test_a_run_of_the_report_that_kept_its_skills_is_not_done_again(tmp_path, filled, monkeypatch):
    of_report = Setup().case("mud-world", "focused-diayn", 0).run
    skills = filled.skills_path(small(filled, "mud-world", "focused-diayn")).read_bytes()
    for kept in (None, skills):
        result = sf.Result([], kept)
        monkeypatch.setattr(type(of_report), "execute", lambda run, progress, r=result: r)
        store = sf.Store(tmp_path / str(kept is None))
        sf.run_all([of_report], store, workers=1)
        (used,) = gallery_runs(store, ["mud-world"], ["focused-diayn"])
        assert (used == of_report) == (kept is not None)


def test_what_skills_do_is_read_from_their_runs(filled):
    runs = [small(filled, "mud-world", objective) for objective in (*PLAYED, "lsd")]
    sets = gallery_sets(filled, runs, ("diayn", "focused-diayn"))
    assert [one.label for one in sets] == ["DIAYN", "DUSDi DIAYN", "focused DIAYN"]
    assert [one.first for one in sets] == [True, False, True]
    for one in sets:
        assert one.records == skill_records(one.skills)
        assert one.task.name == "treasure"
        assert one.solution.q.shape == (one.skills.mdp.n_states, 4 + one.skills.mdp.n_actions)
    data = data_of(page_html(sets))
    assert [one["first"] for one in data["sets"]] == [True, False, True]
    assert data["worlds"][0]["start"] == choose_start_state(sets[0].skills)


def test_players_stand_on_figure_1_s_page(filled, quick, tmp_path):
    players = make_players(filled)
    assert [caption.split(":")[0] for caption, _ in players] == ["MudWorld-v0"]
    assert "DIAYN, DUSDi DIAYN, focused DIAYN" in players[0][0]
    experiments = [EXPERIMENTS[name] for name in ("trajectories", "coverage")]
    report = build_report(sample_results(), make_costs(sample_results()), experiments)
    write_report(report, tmp_path, players)
    counts = {
        name: (tmp_path / f"{name}.html").read_text().count("<iframe")
        for name in ("report", "report/figure-1", "report/figure-2")
    }
    assert counts == {"report": 0, "report/figure-1": 1, "report/figure-2": 0}
    assert "<iframe" not in (tmp_path / "report" / "figure-1.md").read_text()
    assert make_players(sf.Store(tmp_path / "nowhere")) == []


@pytest.mark.slow
def test_the_report_s_player_plays(filled, quick, page, tmp_path):
    experiments = [EXPERIMENTS["trajectories"]]
    report = build_report(sample_results(), make_costs(sample_results()), experiments)
    write_report(report, tmp_path, make_players(filled))
    page.goto((tmp_path / "report" / "figure-1.html").as_uri())
    page.locator("iframe").scroll_into_view_if_needed()
    inside = page.frame_locator("iframe")
    inside.locator("body[data-ready]").wait_for()
    assert inside.locator(".panel").count() == 3
    inside.locator("#last").click()
    length = inside.locator("#scrub").get_attribute("max")
    assert inside.locator("#clock").inner_text() == f"{length} / {length}"


def test_the_gallery_does_what_is_missing(filled, quick, monkeypatch, tmp_path):
    monkeypatch.setattr(gallery, "ALGORITHMS", ("diayn", "focused-diayn"))
    options = parse(["gallery", "--out", str(tmp_path), "--workers", "1"])
    monkeypatch.setattr(gallery, "gallery_runs", lambda store: [
        small(store, "mud-world", name) for name in ("diayn", "focused-diayn")
    ])  # fmt: skip
    page, status = write_gallery(options, lambda *_: None)
    assert (status.done, status.found) == (2, 0)
    assert [one["label"] for one in data_of(page.read_text())["sets"]] == ["DIAYN", "focused DIAYN"]
    _, again = write_gallery(options, lambda *_: None)
    assert (again.done, again.found) == (0, 2)
    monkeypatch.setattr(gallery, "gallery_runs", lambda store: [])
    with pytest.raises(UserError, match="holds no skills to show"):
        write_gallery(options, lambda *_: None)


def test_the_runs_that_keep_their_skills_are_those_that_are_shown():
    def shown(agent: str, seed: int = 0, preset: str = "paper", **changes) -> bool:
        return Setup(preset).case("mud-world", agent, seed, **changes).run.keeps_skills  # pyright: ignore

    assert all(shown(agent) for agent in settings.OBJECTIVES)
    assert not shown("vic-with-memory")  # a hundred times as large
    assert not shown("vic", seed=1)
    assert not shown("focused-vic", strength=10.0)
    assert not shown("focused-diayn", preset="stopping=ends")
