"""Pages of skills in continuous worlds: recorded rollouts in a browser, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

import skillfocus as sf
from pages import READY, quick, settle, values_shown
from skillfocus.errors import UserError
from skillfocus.progress import no_progress
from skillfocus.viewer import payload
from skillfocus.viewer.page import view_continuous, write_page
from skillfocus.viewer.payload import page_data
from skillfocus.viewer.recordings import ContinuousRollouts, record_rollouts
from skillfocus.worlds.jax.dusdi.worlds import Gunner, Particles
from skillfocus.worlds.jax.two_rooms import TwoRooms

TARGETS = (("agent",), ("box", "lamp"), ())
LAST = jnp.array([[0.1, 0.0, -1.0, 0.0], [0.0, 0.1, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]])


def act(skill, key, first, now):
    """Go right; go up with the box and turn; stay."""
    del key, first, now
    return LAST[skill]


@pytest.fixture(scope="module")
def rollouts():
    return record_rollouts(TwoRooms(), act, TARGETS, seed=0, n_starts=4, steps=20)


@pytest.fixture
def opened(page, rollouts, tmp_path):
    """A page of two sets, not moving."""
    other = ContinuousRollouts(
        rollouts.world, rollouts.values[:1, :2, :6], (("agent",),), ("short",), label="other"
    )
    page.emulate_media(reduced_motion="reduce")
    page.goto(view_continuous([rollouts, other], tmp_path / "page.html").as_uri())
    page.wait_for_selector(READY)
    return page


def changes_shown(page, panel):
    """Return {variable: change} of a panel."""
    rows = page.locator(".rollout").nth(panel).locator("tr").all()
    return {row.locator("th").inner_text(): row.locator("td").last.inner_text() for row in rows}


def test_rollouts_begin_at_shared_starts_and_follow_the_world(rollouts):
    world = rollouts.world
    assert rollouts.values.shape == (3, 4, 21, 6)
    assert (rollouts.values[:, :, 0] == rollouts.values[:1, :, 0]).all()
    assert len(np.unique(rollouts.values[0, :, 0], axis=0)) == 4
    state = rollouts.values[0, 2, 7]
    after = world.step(jax.random.key(0), jnp.asarray(state), LAST[0])
    np.testing.assert_allclose(after, rollouts.values[0, 2, 8], atol=1e-6)
    assert (rollouts.values[2] == rollouts.values[2, :, :1]).all()
    again = record_rollouts(world, act, TARGETS, seed=0, n_starts=4, steps=20)
    assert (again.values == rollouts.values).all()
    assert record_rollouts(world, act, TARGETS, seed=1).values.shape == (3, 8, 61, 6)


def test_document(rollouts):
    data, policies = page_data([rollouts], no_progress)
    assert data["worlds"][0]["variables"][1] == {
        "name": "box", "labels": [], "points": None, "first": 2, "size": 2, "scale": 5**0.5,
    }  # fmt: skip
    (one,) = data["sets"]
    assert one["targets"] == [[0], [1, 3], []]
    assert one["rollouts"] == {
        "titles": ["skill 0", "skill 1", "skill 2"], "first": 4, "nStarts": 4, "nSteps": 20,
    }  # fmt: skip
    assert data["worlds"][0]["nStates"] == 4 + 3 * 4 * 21
    assert policies == [[]]


@pytest.mark.parametrize("world", [Gunner(), Particles()], ids=lambda world: world.id)
def test_drawings_refer_to_observations(world):
    drawn = world.drawing().as_json()
    text = str(drawn["shapes"])
    used = {int(part.split("}")[0]) for part in text.split("'observation': ")[1:]}
    assert max(used) < world.observation_size
    variables = {shape.get("variable") for shape in drawn["shapes"]} - {None}
    assert variables == set(world.space.names)


def test_what_does_not_fit_is_refused(rollouts, tmp_path, monkeypatch):
    world, values = rollouts.world, rollouts.values
    wrong: list[tuple[tuple[Any, ...], str]] = [
        ((values[0], TARGETS), r"must have the shape \[3 skills, starts, steps \+ 1, 6 numbers\]"),
        ((values[:2], TARGETS), "must have the shape"),
        ((values, TARGETS, ("one",)), "3 skills, but 1 titles"),
        ((values, TARGETS, (), values[..., :2]), "observations of rollouts must have the shape"),
        ((values * np.nan, TARGETS), "not finite"),
        ((values, (("agnt",), (), ())), "did you mean 'agent'"),
    ]
    for arguments, reason in wrong:
        with pytest.raises(UserError, match=reason):
            ContinuousRollouts(world, *arguments)
    with pytest.raises(UserError, match="no skills to show"):
        view_continuous([], tmp_path / "page.html")
    with pytest.raises(UserError, match=r"ends in \.html"):
        view_continuous(rollouts, tmp_path / "page.txt")
    monkeypatch.setattr(payload, "MAX_NUMBERS", 100)
    with pytest.raises(UserError, match="show fewer starts or skills"):
        view_continuous(rollouts, tmp_path / "page.html")


@pytest.mark.slow
def test_changes_are_those_of_the_recordings(opened, rollouts):
    space = rollouts.world.space
    assert opened.locator(".rollout h2").all_inner_texts() == [
        "skill 0 changes agent", "skill 1 changes box and lamp", "skill 2 leaves everything as it is",
    ]  # fmt: skip
    for start, t in ((0, 0), (0, 20), (3, 11)):
        opened.select_option("#recorded-start", str(start))
        settle(opened)
        opened.evaluate("t => skillfocus.app.seek(() => t)", t)
        for z in range(3):
            change = space.change(rollouts.values[z, start, 0], rollouts.values[z, start, t])
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
    assert opened.locator(".rollout h2").all_inner_texts() == ["short changes agent"]
    assert opened.locator("#recorded-start option").count() == 2
    opened.evaluate("skillfocus.app.seek(() => 99)")
    assert opened.locator("#clock").inner_text() == "5 / 5"


@pytest.mark.slow
def test_a_skill_chosen_by_its_number_is_shown_alone_and_judged(opened, rollouts):
    assert opened.locator(".chip[aria-pressed=true]").count() == 3
    assert not opened.locator(".verdict").is_visible()
    opened.locator(".chip").nth(1).click()
    opened.locator("#last").click()
    settle(opened)
    assert opened.locator(".rollout h2").all_inner_texts() == ["skill 1 changes box and lamp"]
    assert opened.locator(".chip[aria-pressed=true]").count() == 1
    space, first, last = rollouts.world.space, *rollouts.values[1, 0, [0, 20]]
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
def test_worlds_of_every_kind_share_a_page(page, rollouts, four_rooms, tmp_path):
    """A table, which the page simulates, and recordings in two real-valued worlds."""
    shorter = ContinuousRollouts(TwoRooms(step_limit=7), rollouts.values, TARGETS)
    table = quick(four_rooms, sf.vic())
    page.emulate_media(reduced_motion="reduce")
    page.goto(write_page([table, rollouts, shorter], tmp_path / "page.html").as_uri())
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
def test_the_agent_is_drawn_where_it_is_and_leaves_a_trail(opened, rollouts):
    pixel = """([x, y]) => {
      const canvas = document.querySelector(".rollout .picture");
      const { scale } = skillfocus.app.panels[0].view.skills[0].drawing;
      const at = [(x + 0.06) * scale, canvas.height - (y + 0.06) * scale].map(Math.round);
      return Array.from(canvas.getContext("2d").getImageData(...at, 1, 1).data);
    }"""
    opened.locator("#others").uncheck()
    settle(opened)
    opened.evaluate("skillfocus.app.seek(() => 20)")
    first, last = (rollouts.values[0, 0, t, :2].astype(float).tolist() for t in (0, 20))
    colour = opened.evaluate("skillfocus.model.world.real.colours[0]")
    agent = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
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

    def wander(skill, key, first, now):
        del skill, first, now
        return jax.random.uniform(key, high.shape, minval=-high, maxval=high)

    recorded = record_rollouts(world, wander, [(world.goals[0],)], seed=0, n_starts=2, steps=10)
    page.goto(view_continuous(recorded, tmp_path / "page.html").as_uri())
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
