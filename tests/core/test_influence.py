"""Variables that no action influences."""

from __future__ import annotations

import pytest

import skillfocus as sf
from probes import RandomWorld
from skillfocus.discovery import Discovery
from skillfocus.mdp import uninfluenced
from skillfocus.metrics.summary import describe
from skillfocus.worlds.registry import WORLDS


class Station(sf.World):
    """A lamp with a switch, the shadow that it threw a step before, a clock, weather that changes by
    chance, and a wall."""

    id, actions, step_limit = "Station-v0", ("switch", "wait"), 12
    space = sf.Space(
        (
            sf.Variable("clock", (0, 1, 2, 3)),
            sf.Variable("lamp", ("off", "on")),
            sf.Variable("shadow", ("no", "yes")),
            sf.Variable("weather", ("sun", "rain")),
            sf.Variable("wall", ("red", "blue")),
        )
    )

    def states(self):
        return [(0, 0, 0, 0, wall) for wall in range(2)]

    def transition(self, state, action):
        clock, lamp, _, weather, wall = state
        after = 1 - lamp if action == 0 else lamp
        return [
            sf.Outcome(0.75, ((clock + 1) % 4, after, lamp, weather, wall)),
            sf.Outcome(0.25, ((clock + 1) % 4, after, lamp, 1 - weather, wall)),
        ]


def test_a_clock_and_the_weather_are_not_influenced_but_a_shadow_is():
    """No action decides the next shadow, but one decides the lamp that it follows."""
    assert uninfluenced(sf.tabulate(Station())) == ("clock", "weather", "wall")


def test_where_stopping_is_the_only_choice_only_what_never_changes_counts():
    class Waiting(Station):
        actions = ("switch",)

    assert uninfluenced(sf.tabulate(Waiting())) == ("wall",)
    assert uninfluenced(sf.tabulate(RandomWorld(0, n_actions=1))) == ()


@pytest.mark.parametrize("name", WORLDS)
def test_agents_influence_everything_in_built_in_worlds(name):
    """`Discovery` relies on it, to know a run's skills without a table."""
    assert uninfluenced(sf.tabulate(sf.make(name))) == ()


def test_what_is_not_influenced_gets_no_skills_by_default():
    """The clock has most values, but the lamp and the shadow get the skills."""
    for objective, targets in (
        (sf.focused(sf.vic()), ["shadow", "lamp"]),
        (sf.focused(sf.reach()), ["shadow", "lamp"]),
        (sf.focused(sf.reach(change=True)), ["shadow", "lamp"]),
    ):
        skills = sf.discover(Station(), objective, seed=0)
        assert list(dict.fromkeys(skill.target for skill in skills)) == targets
    asked = sf.discover(Station(), sf.focused(sf.vic()), seed=0, targets={"clock": 2})
    assert asked.targets == (("clock",),) * 2


def test_the_description_says_so():
    description = describe(Station(), sf.tabulate(Station()))
    variables = {v["name"]: (v["changes"], v["skills"]) for v in description["variables"]}  # pyright: ignore
    assert variables == {
        "clock": ("by itself", 0), "lamp": ("and back", 2), "shadow": ("and back", 2),
        "weather": ("by itself", 0), "wall": ("never", 0),
    }  # fmt: skip
    notes = description["notes"]
    assert isinstance(notes, list)
    assert notes[0] == "no action changes wall, so no skill targets it by default"
    assert notes[1].startswith("clock, weather change by themselves, whatever is done, so no skill")


def test_runs_name_the_same_skills(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clocks.py").write_text(
        "import skillfocus as sf\n\n\nclass Clock(sf.World):\n"
        "    id, actions, step_limit = 'Clock-v0', ('switch', 'wait'), 4\n"
        "    space = sf.Space((sf.Variable('lamp', (0, 1)), sf.Variable('time', (0, 1, 2))))\n\n"
        "    def states(self):\n        return [(0, 0)]\n\n"
        "    def transition(self, state, action):\n"
        "        lamp, time = state\n"
        "        return [sf.Outcome(1.0, (1 - lamp if action == 0 else lamp, (time + 1) % 3))]\n"
    )
    run = Discovery("clocks.py:Clock", "focused-vic", 0)
    assert [len(run.problem.skills), run.problem.skills.targets(0)] == [2, (0,)]


def test_a_world_in_which_nothing_changes_has_no_targets():
    class Still(Station):
        def transition(self, state, action):
            return [sf.Outcome(1.0, state)]

    message = "no action changes anything in Station-v0, so skills have no targets"
    with pytest.raises(sf.UserError, match=message):
        sf.discover(Still(), sf.focused(sf.vic()), seed=0)
    assert describe(Still(), sf.tabulate(Still()))["variables"]
