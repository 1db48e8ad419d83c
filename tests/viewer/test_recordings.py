"""Pages of worlds without a table: recorded runs."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax")

import skillfocus as sf
from neural_skills import neural_skills, small_room
from pages import READY, click_cell, settle, unpacked, values_shown
from skillfocus.errors import UserError
from skillfocus.progress import no_progress
from skillfocus.skills.policy import Policy
from skillfocus.viewer.page import export_rollout, view
from skillfocus.viewer.payload import SkillSetView, page_data
from skillfocus.viewer.recordings import ROLLOUTS_PER_START, STARTS, RecordedWorld, record
from skillfocus.worlds.jax.world import JaxWorld


@pytest.fixture(scope="module")
def skills():
    return neural_skills(small_room(), sf.scattered(sf.focused(sf.vic())))


def recorded_world(*sets):
    return RecordedWorld([(skills, record(skills)) for skills in sets])


@pytest.fixture(scope="module")
def recorded(skills):
    return recorded_world(skills)


def runs_of(recorded, z, place=0):
    """The recorded runs of a skill: states and actions of each."""
    packed = recorded.policies[place][z]
    states, actions, counts = (unpacked(packed[name]) for name in ("states", "actions", "counts"))
    ends = np.cumsum(counts)[:-1]
    return list(zip(np.split(states, ends), np.split(actions, ends), strict=True))


def test_runs_follow_the_skills_from_shared_starts(skills, recorded):
    world = skills.world
    assert tuple(recorded.values[0]) == world.showcase
    assert 1 < recorded.n_starts <= STARTS
    assert recorded.starts == [list(range(recorded.n_starts))]
    assert len(np.unique(recorded.values, axis=0)) == len(recorded.values)
    for z in range(len(skills)):
        runs = runs_of(recorded, z)
        assert len(runs) == recorded.n_starts * ROLLOUTS_PER_START
        for states, actions in runs:
            assert states[0] < recorded.n_starts
            assert len(states) == len(actions) <= skills.step_limit + 1
            values = recorded.values[states]
            start = tuple(values[0])
            possible = [
                [skills.action(z, start, tuple(now), mode) for now in values]
                for mode in range(int(skills.n_modes[z]))
            ]
            told = [None if a == 4 else world.actions[a] for a in actions]
            assert told in possible
            if len(states) <= skills.step_limit:
                assert told[-1] is None
            assert None not in told[:-1]


def test_equal_sets_are_recorded_equally_and_share_states(skills, recorded):
    again = recorded_world(skills, neural_skills(small_room(), seed=1))
    assert (again.values[: len(recorded.values)] == recorded.values).all()
    for z in range(len(skills)):
        for one, other in zip(runs_of(recorded, z), runs_of(again, z), strict=True):
            assert one[0].tolist() == other[0].tolist()


def test_sets_of_one_world_share_it(skills):
    others = [neural_skills(small_room(), seed=1), neural_skills(small_room(step_limit=5))]
    data, _ = page_data([SkillSetView(each) for each in (skills, *others)], no_progress)
    assert [one["world"] for one in data["sets"]] == [0, 0, 1]
    assert len(data["worlds"]) == 2


def test_worlds_of_very_many_actions_are_refused():
    class Many(JaxWorld):
        id = "Many-v0"
        actions = tuple(map(str, range(300)))
        space = sf.Space((sf.Variable("a", (0, 1)),))

        def reset(self, key):
            raise NotImplementedError

        def step(self, key, state, action):
            raise NotImplementedError

    class Nothing(Policy):
        context_variables = ((),)

        def actions(self, skill, starts, states, mode=0):
            raise NotImplementedError

    with pytest.raises(UserError, match="up to 254 actions"):
        RecordedWorld([(sf.Skills(Many(), Nothing(), ((),), 3), [])])


def test_tasks_and_coverage_are_refused(skills, tmp_path):
    with pytest.raises(UserError, match="coverage is a share of all states"):
        view(skills, tmp_path / "a.html", coverage=True)
    with pytest.raises(UserError, match="has no table of its states"):
        view(skills, tmp_path / "a.html", task="true")


@pytest.mark.parametrize("name", ["a.svg", "a.gif"])
def test_a_run_is_exported(skills, tmp_path, name):
    exported = export_rollout(skills, tmp_path / name, skill=3, start="position=(1, 1)")
    start = skills.world.state(position=(1, 1))
    run = skills.rollout(3, start, np.random.default_rng(0))
    assert (exported.skill, exported.steps) == (3, len(run) - 1)
    assert exported.path.stat().st_size > 1000
    export_rollout(skills, tmp_path / name)


# ---------------------------------------------------------------------- the page


@pytest.fixture(scope="module")
def room_page(skills, tmp_path_factory):
    return skills.view(tmp_path_factory.mktemp("recorded") / "room.html")


@pytest.mark.slow
def test_the_page_replays_recorded_runs(page, room_page, skills, recorded):
    page.emulate_media(reduced_motion="reduce")
    page.goto(room_page.as_uri())
    page.wait_for_selector(READY)
    assert page.locator("#modes button").all_inner_texts() == ["One skill"]
    assert page.locator("#recorded-start option").count() == recorded.n_starts
    assert not page.locator("#slips").is_visible()
    names = skills.world.space.names
    for start in range(recorded.n_starts):
        page.select_option("#recorded-start", str(start))
        for z in (0, 2, 4):
            page.locator(".panel button", has_text=str(z)).first.click()
            settle(page)
            runs = [states for states, _ in runs_of(recorded, z) if states[0] == start]
            shown = set()
            for seed in range(6):
                page.fill("#seed", str(seed))
                page.keyboard.press("Enter")
                settle(page)
                page.click("#last")
                states = page.evaluate(
                    "[...skillfocus.model.runs.values()][0].run.states.map((s) => Array.from(skillfocus.model.world.state(s)))"
                )
                assert states in [recorded.values[run].tolist() for run in runs]
                shown.add(str(states))
                table = values_shown(page)
                last = skills.world.space.labels(states[-1])
                assert {n: table[n][1] for n in names} == {n: str(last[n]) for n in names}
            assert len(shown) == 1 or len(runs) > 1


@pytest.mark.slow
def test_layers_words_and_clicks_work_on_recordings(page, room_page, skills, recorded):
    page.emulate_media(reduced_motion="reduce")
    page.goto(
        room_page.as_uri() + "#skills=4&arrows=1&heat=ends&ghosts=20&seed=3&mode=chain&queue=4.2.4"
    )
    page.wait_for_selector(READY)
    settle(page)
    page.goto(room_page.as_uri() + "#skills=4&arrows=1&heat=ends&ghosts=20&seed=3&mode=skill")
    page.wait_for_selector(READY)
    settle(page)
    assert "starts that the world draws" in page.locator(".panel").inner_text()
    page.click("#first")
    page.click("#forward")
    for place in range(recorded.n_starts):
        cell = skills.world.map.cells[recorded.values[place, 0]]
        click_cell(page, cell, skills.world)
        settle(page)
        start = page.evaluate("skillfocus.model.start")
        assert start < recorded.n_starts
        assert skills.world.map.cells[recorded.values[start, 0]] == cell
    page.click("#again")
    settle(page)


@pytest.mark.slow
def test_worlds_without_a_map_show_their_variables(page, tmp_path):
    import jax

    class Lamps(JaxWorld):
        id = "Lamps-v0"
        step_limit = 4
        actions = tuple(f"press_{i}" for i in range(30))
        space = sf.Space(tuple(sf.Variable(f"lamp_{i}", (0, 1)) for i in range(30)))

        def reset(self, key):
            return jax.random.randint(key, (30,), 0, 2)

        def step(self, key, state, action):
            return state.at[action].set(1 - state[action])

    class Press(Policy):
        context_variables = ((), ())

        def actions(self, skill, starts, states, mode=0):
            changed = (starts != states).any(axis=1)
            return np.where(changed, 30, skill)

    skills = sf.Skills(Lamps(), Press(), (("lamp_0",), ("lamp_1",)), 4)
    page.emulate_media(reduced_motion="reduce")
    page.goto(skills.view(tmp_path / "lamps.html").as_uri())
    page.wait_for_selector(READY)
    page.click("#last")
    settle(page)
    assert "Focused: it changed lamp_1" in page.locator(".panel").inner_text()
    assert "29 other variables are as they were" in page.locator(".panel").inner_text()
    assert page.locator(".values tbody tr:visible").count() == 1


@pytest.mark.slow
def test_tracks_that_are_variables_are_drawn(page, tmp_path):
    """A start of VisibleMud with mud on vacant cells looks different from one without."""
    skills = neural_skills(sf.make("visible-mud", step_limit=3), targets={"treasure": 2})
    page.emulate_media(reduced_motion="reduce")
    page.goto(skills.view(tmp_path / "mud.html").as_uri())
    page.wait_for_selector(READY)
    settle(page)
    drawn = page.evaluate(
        """() => { const { world } = skillfocus.model, { map } = world;
          return Object.values(map.looks).flat().filter((glyph) => glyph === ",").length && map.looksLike[","] !== undefined; }"""
    )
    assert drawn
    for start in range(3):
        page.select_option("#recorded-start", str(start))
        settle(page)
