"""Pages of skills in continuous worlds: recorded rollouts in a browser, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

import skillfocus as sf
from neural_skills import untrained_actor
from pages import READY, quick, settle, values_shown
from skillfocus.errors import UserError
from skillfocus.progress import no_progress
from skillfocus.rollout import Rollouts
from skillfocus.skills.policy import Policy, Traced
from skillfocus.viewer import recordings
from skillfocus.viewer.page import view, write_page
from skillfocus.viewer.payload import MAX_REAL_SKILLS, SkillSetView, page_data
from skillfocus.viewer.recordings import RecordedWorld, record
from skillfocus.worlds.jax.dusdi.worlds import Gunner, Particles
from skillfocus.worlds.jax.two_rooms import TwoRooms

TARGETS = (("agent",), ("box", "lamp"), ())
LAST = jnp.array([[0.1, 0.0, -1.0, 0.0], [0.0, 0.1, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]])


class Traveling(Policy):
    """Skills as a function in JAX: `act(weights, skill, key)`."""

    def __init__(self, n_skills, act, weights=None):
        self.context_variables, self._traced = ((),) * n_skills, Traced(weights, act)

    def trace(self):
        return self._traced._replace(
            act=lambda weights, skill, mode, start, values, seen, step, key: self._traced.act(
                weights, skill, key
            )
        )

    def actions(self, skill, starts, states, mode=0):
        raise NotImplementedError


def travelers(world=None, steps=20):
    """Go right; go up with the box and turn; stay."""
    policy = Traveling(3, lambda weights, skill, key: weights[skill], LAST)
    return sf.Skills(world or TwoRooms(), policy, TARGETS, steps)


@pytest.fixture(scope="module")
def skills():
    return travelers()


@pytest.fixture(scope="module")
def values(skills):
    """[n_skills, n_starts, T + 1, width]"""
    return np.stack([done.values for done in record(skills)])


@pytest.fixture
def opened(page, skills, values, tmp_path):
    """A page of two sets, not moving."""
    some = np.zeros(2, np.int64)
    short = Rollouts(values[0, :2, :6], np.zeros((2, 5, 4)), some.astype(np.int32) + 5, some, some)
    other = SkillSetView(skills[[0]], "other", rollouts=[short])
    page.emulate_media(reduced_motion="reduce")
    page.goto(write_page([skills, other], tmp_path / "page.html").as_uri())
    page.wait_for_selector(READY)
    return page


def changes_shown(page, panel):
    """Return {variable: change} of a panel."""
    rows = page.locator(".rollout").nth(panel).locator("tr").all()
    return {row.locator("th").inner_text(): row.locator("td").last.inner_text() for row in rows}


def test_rollouts_begin_at_shared_starts_and_follow_the_world(skills, values):
    assert values.shape == (3, 4, 21, 6)
    assert (values[:, :, 0] == values[:1, :, 0]).all()
    assert len(np.unique(values[0, :, 0], axis=0)) == 4
    after = skills.world.step(jax.random.key(0), jnp.asarray(values[0, 2, 7]), LAST[0])
    np.testing.assert_allclose(after, values[0, 2, 8], atol=1e-6)
    assert (values[2] == values[2, :, :1]).all()
    again = np.stack([done.values for done in record(travelers())])
    assert (again == values).all()


def test_document(skills, values):
    data, policies = page_data([SkillSetView(skills, "a")], no_progress)
    (world,), (one,) = data["worlds"], data["sets"]
    assert world["variables"][1] == {
        "name": "box", "labels": [], "points": None, "scale": 5**0.5,
    }  # fmt: skip
    assert world["real"]["places"][1] == [2, 2]
    assert world["nStates"] == 4 + len(np.unique(values[:, :, 1:].reshape(-1, 6), axis=0))
    assert one["targets"] == [[0], [1, 3], []]
    assert one["titles"] == ["skill 0", "skill 1", "skill 2"]
    assert one["starts"] == [0, 1, 2, 3]
    assert (one["effects"], one["reaches"]) == ([], [])
    assert [set(policy) for policy in policies[0]] == [{"states", "actions", "counts"}] * 3


def test_states_are_told_apart_by_what_policies_see_and_starts_by_their_number():
    world = Gunner()
    policy = Traveling(1, lambda weights, skill, key: jnp.zeros(len(world.action_low)))
    skills = sf.Skills(world, policy, ((world.goals[0],),), 3)
    (done,) = record(skills)
    told = RecordedWorld([(skills, [done])])
    assert told.values.shape[1] == world.space.width
    assert told.observations is not None
    assert done.observations is not None
    assert told.observations.shape == (len(told.values), world.observation_size)
    assert len(np.unique(done.starts, axis=0)) == 1
    assert told.starts == [[0, 1, 2, 3]]
    seen = np.concatenate([done.values, done.observations], axis=2)
    later = np.unique(seen[:, 1:].reshape(-1, seen.shape[2]), axis=0)
    assert len(told.values) == 4 + len(later)


def test_skills_of_an_actor_are_called_by_their_components():
    skills = untrained_actor()
    data, _ = page_data([SkillSetView(skills, "a")], no_progress)
    assert len(data["sets"][0]["titles"]) == min(len(skills), MAX_REAL_SKILLS)
    assert data["sets"][0]["titles"][:3] == ["agent 0", "agent 1", "agent 2"]
    assert data["sets"][0]["titles"][-1] == "leave everything"
    many = untrained_actor(targets={"agent": 70})
    (shown,), _ = page_data([SkillSetView(many, "a")], no_progress)[0]["sets"], None
    assert len(shown["titles"]) == MAX_REAL_SKILLS
    assert (shown["titles"][0], shown["titles"][-1]) == ("agent 0", "agent 69")


@pytest.mark.parametrize("world", [Gunner(), Particles()], ids=lambda world: world.id)
def test_drawings_refer_to_observations(world):
    drawn = world.drawing().as_json()
    text = str(drawn["shapes"])
    used = {int(part.split("}")[0]) for part in text.split("'observation': ")[1:]}
    assert max(used) < world.observation_size
    variables = {shape.get("variable") for shape in drawn["shapes"]} - {None}
    assert variables == set(world.space.names)


def test_what_does_not_fit_is_refused(skills, tmp_path, monkeypatch):
    apart = [
        done._replace(values=done.values + np.float32(done.skills[0])) for done in record(skills)
    ]
    with pytest.raises(UserError, match="no start in common"):
        write_page([SkillSetView(skills, rollouts=apart)], tmp_path / "page.html")
    with pytest.raises(UserError, match=r"ends in \.html"):
        view(skills, tmp_path / "page.txt")
    with pytest.raises(UserError, match="leave task and coverage out"):
        view(skills, tmp_path / "page.html", coverage=True)
    monkeypatch.setattr(recordings, "MAX_NUMBERS", 100)
    with pytest.raises(UserError, match="show fewer starts or skills"):
        view(skills, tmp_path / "page.html")


@pytest.mark.slow
def test_changes_are_those_of_the_recordings(opened, skills, values):
    space = skills.world.space
    assert opened.locator(".rollout h2").all_inner_texts() == [
        "skill 0 changes agent", "skill 1 changes box and lamp", "skill 2 leaves everything as it is",
    ]  # fmt: skip
    for start, t in ((0, 0), (0, 20), (3, 11)):
        opened.select_option("#recorded-start", str(start))
        settle(opened)
        opened.evaluate("t => skillfocus.app.seek(() => t)", t)
        for z in range(3):
            change = space.change(values[z, start, 0], values[z, start, t])
            shown = changes_shown(opened, z)
            assert list(shown) == list(space.names)
            for name, expected in zip(space.names, change, strict=True):
                told = shown[name].removeprefix("<")
                assert abs(float(told) - expected) <= 0.0101, (z, start, t, name)
            red = opened.locator(".rollout").nth(z).locator("tr.effect th").all_inner_texts()
            others = [n for n in space.names if n not in TARGETS[z]]
            assert red == [n for n in others if change[space.index(n)] > 0.1]


@pytest.mark.slow
def test_targets_and_sets_choose_what_is_shown(opened):
    opened.get_by_role("button", name="lamp").click()
    settle(opened)
    assert opened.locator(".rollout h2").all_inner_texts() == ["skill 1 changes box and lamp"]
    opened.get_by_role("button", name="everything").click()
    settle(opened)
    assert opened.locator(".rollout").count() == 3
    opened.get_by_label("Skill set 1").select_option(label="other")
    settle(opened)
    assert opened.locator(".rollout h2").all_inner_texts() == ["skill 0 changes agent"]
    assert opened.locator("#recorded-start option").count() == 2
    opened.evaluate("skillfocus.app.seek(() => 99)")
    assert opened.locator("#clock").inner_text() == "5 / 5"


@pytest.mark.slow
def test_a_skill_chosen_by_its_number_is_shown_alone_and_judged(opened, skills, values):
    assert opened.locator(".chip[aria-pressed=true]").count() == 3
    assert not opened.locator(".verdict").is_visible()
    opened.locator(".chip").nth(1).click()
    opened.locator("#last").click()
    settle(opened)
    assert opened.locator(".rollout h2").all_inner_texts() == ["skill 1 changes box and lamp"]
    assert opened.locator(".chip[aria-pressed=true]").count() == 1
    space, first, last = skills.world.space, *values[1, 0, [0, 20]]
    changed = [n for n, c in zip(space.names, space.change(first, last), strict=True) if c > 0.1]
    told = values_shown(opened)
    assert [name for name, row in told.items() if row[2] not in ("target", "as it was")] == changed
    for name, at in zip(space.names, space.slices, strict=True):
        shown = [[float(x) for x in text.split(", ")] for text in told[name][:2]]
        np.testing.assert_allclose(shown, [first[at], last[at]], atol=0.0051)
    assert "lamp" in opened.locator(".verdict").inner_text()
    link = opened.evaluate("location.href")
    opened.keyboard.press("j")
    settle(opened)
    assert opened.locator(".rollout h2").all_inner_texts() == ["skill 2 leaves everything as it is"]
    opened.goto(link)
    settle(opened)
    assert opened.locator(".rollout h2").all_inner_texts() == ["skill 1 changes box and lamp"]
    assert opened.locator("#clock").inner_text() == "20 / 20"


@pytest.mark.slow
def test_worlds_of_every_kind_share_a_page(page, skills, four_rooms, tmp_path):
    """A table, which the page simulates, and recordings in two real-valued worlds."""
    shorter = travelers(TwoRooms(step_limit=7), 7)
    table = quick(four_rooms, sf.vic())
    page.emulate_media(reduced_motion="reduce")
    page.goto(write_page([table, skills, shorter], tmp_path / "page.html").as_uri())
    page.wait_for_selector(READY)
    assert page.locator("#worlds button").all_inner_texts() == [
        "FourRooms-v0", "TwoRooms-v0", "TwoRooms-v0",
    ]  # fmt: skip
    assert page.locator("#chance").is_visible()
    assert page.locator(".map").count() == 1
    page.get_by_role("button", name="Chain").click()
    for place in (1, 2):
        page.locator("#worlds button").nth(place).click()
        settle(page)
        assert page.locator(".rollout").count() == 3
        assert not page.locator("#chance").is_visible()
        assert page.locator("#speed").input_value() == "16"
    page.locator("#worlds button").first.click()
    settle(page)
    assert page.locator("#speed").input_value() == "4"
    page.locator(".chip").nth(3).click()
    settle(page)
    assert page.locator(".map").count() == 1


@pytest.mark.slow
def test_the_agent_is_drawn_where_it_is_and_leaves_a_trail(opened, skills, values):
    pixel = """([x, y]) => {
      const canvas = document.querySelector(".rollout .picture");
      const { scale } = skillfocus.app.panels[0].view.skills[0].drawing;
      const at = [(x + 0.06) * scale, canvas.height - (y + 0.06) * scale].map(Math.round);
      return Array.from(canvas.getContext("2d").getImageData(...at, 1, 1).data);
    }"""
    opened.locator("#others").uncheck()
    settle(opened)
    opened.evaluate("skillfocus.app.seek(() => 20)")
    first, last = (values[0, 0, t, :2].astype(float).tolist() for t in (0, 20))
    color = opened.evaluate("skillfocus.model.world.real.colors[0]")
    agent = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    assert opened.evaluate(pixel, last)[:3] == agent
    middle = [(a + b) / 2 for a, b in zip(first, last, strict=True)]
    assert opened.evaluate(pixel, middle)[3] > 0
    before = opened.evaluate("document.querySelector('.rollout canvas').toDataURL()")
    opened.evaluate("skillfocus.app.seek(() => 0)")
    assert opened.evaluate(pixel, last)[:3] != agent
    assert opened.evaluate("document.querySelector('.rollout canvas').toDataURL()") != before


@pytest.mark.slow
def test_playing(opened):
    assert opened.locator("#clock").inner_text() == "0 / 20"
    opened.keyboard.press("ArrowRight")
    assert opened.locator("#clock").inner_text() == "1 / 20"
    opened.locator("#play").click()
    opened.wait_for_function("() => skillfocus.model.t === 20 && !skillfocus.model.playing")
    assert opened.locator("#play").get_attribute("aria-label") == "Play"


@pytest.mark.slow
@pytest.mark.parametrize("world", [Gunner(), Particles()], ids=lambda world: world.id)
def test_other_worlds_open(page, tmp_path, world):
    high = jnp.array(world.action_high)

    def wander(weights, skill, key):
        return jax.random.uniform(key, high.shape, minval=-high, maxval=high)

    skills = sf.Skills(world, Traveling(1, wander), ((world.goals[0],),), 10)
    page.goto(view(skills, tmp_path / "page.html").as_uri())
    page.wait_for_selector(READY)
    page.wait_for_function("() => skillfocus.model.t === 10")
    drawn = page.evaluate(
        """() => {
          const canvas = document.querySelector(".rollout .picture");
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return data.filter((value, i) => i % 4 === 3 && value > 0).length;
        }"""
    )
    assert drawn > 500
