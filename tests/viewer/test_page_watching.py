"""What a visitor sees of one skill: values, verdicts, ghosts, several sets."""

from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from pages import (
    READY,
    assert_shows,
    click_cell,
    first_value,
    settle,
    values_shown,
)
from probes import Button
from skillfocus.metrics.side_effects import side_effects
from skillfocus.objectives.kinds import goal_label
from skillfocus.viewer.page import write_page

pytestmark = pytest.mark.slow


def test_choose_a_skill_click_a_start_play_to_the_end(page, rooms_page, focused_vic, four_rooms):
    page.goto(rooms_page.as_uri())
    page.wait_for_selector(READY)
    page.get_by_label("Speed").select_option("32")
    cell = (9, 8)
    start = four_rooms.space.state(position=cell)
    rollouts = {z: focused_vic.rollout(z, start, np.random.default_rng(0)) for z in (4, 5)}
    z, path = max(rollouts.items(), key=lambda item: len(item[1]))  # the one that fetches the tool
    page.get_by_label(f"skill {z}, for tool_3").first.click()
    click_cell(page, cell, four_rooms)
    page.wait_for_function("() => skillfocus.model.t > 0 && !skillfocus.model.playing")
    assert_shows(page, focused_vic, path)
    assert page.locator("#clock").inner_text() == f"{len(path) - 1} / {len(path) - 1}"


def test_verdicts(opened, focused_vic, four_rooms):
    """Focused, as it says; and with a side effect, in words, not by color alone."""
    panel = opened.locator(".panel").first
    opened.get_by_label("skill 1, for tool_1").first.click()
    opened.keyboard.press("End")
    path = focused_vic.rollout(1, four_rooms.showcase, np.random.default_rng(0))
    assert path.changed == ("tool_1",)
    settle(opened)
    assert "Focused: it changed tool_1" in panel.locator(".verdict").inner_text()
    assert values_shown(opened)["tool_1"][2] == "✓ target"
    opened.keyboard.press("Home")
    for _ in range(4):
        opened.keyboard.press("ArrowRight")
    assert values_shown(opened)["position"][1] == str(four_rooms.space.labels(path[4])["position"])
    assert values_shown(opened)["position"][2] == "changed so far"
    assert "step 4 of" in panel.locator(".verdict").inner_text()


def test_the_page_and_python_say_the_same(opened, focused_vic, four_rooms):
    """In the same words, whatever a run has come to."""
    said = set()
    for z in range(len(focused_vic)):
        for seed in (0, 28):
            told = opened.evaluate(
                """async ([z, seed]) => {
                  const { app, model } = skillfocus;
                  await app.change(() => Object.assign(model, { seed, goal: null, skill: [z, 0] }));
                  app.seek(({ length }) => length);
                  const [sign, words] = document.querySelector(".verdict").childNodes;
                  return `${sign.textContent} ${words.textContent}`;
                }""",
                [z, seed],
            )
            path = focused_vic.rollout(z, four_rooms.showcase, np.random.default_rng(seed))
            assert told.replace(" (its steps are used up)", "") == path.verdict
            said.add(path.verdict[0])
    assert said == {"✓", "✗", "○"}


def test_side_effects_are_marked_at_the_end(opened, focused_vic, four_rooms):
    path = next(
        (seed, path)
        for seed in range(1000)
        for path in [focused_vic.rollout(1, four_rooms.showcase, np.random.default_rng(seed))]
        if path.side_effects
    )
    seed, path = path
    opened.locator("#seed").fill(str(seed))
    opened.keyboard.press("Tab")
    opened.get_by_label("skill 1, for tool_1").first.click()
    opened.keyboard.press("End")
    marked = {name for name, row in values_shown(opened).items() if row[2] == "✗ side effect"}
    assert marked == set(path.side_effects)
    said = opened.locator(".verdict").first.inner_text()
    assert all(name in said for name in path.side_effects)
    row = opened.locator(".effects .current").first.locator("th, td").all_text_contents()
    (effects,) = [e for z, e in enumerate(side_effects(focused_vic)) if z == 1]
    assert row[:4] == [
        "1",
        "tool_1",
        f"{effects.changes_target:.2f}",
        f"{effects.side_effects:.3f}",
    ]


def test_first_values_can_be_set(opened, focused_vic, four_rooms):
    first_value(opened, "tool_2").select_option("1")
    first_value(opened, "position").select_option(label="(1, 1)")
    opened.get_by_label("skill 1, for tool_1").first.click()
    opened.keyboard.press("End")
    start = four_rooms.space.state(position=(1, 1), tool_2=1)
    path = focused_vic.rollout(1, start, np.random.default_rng(0))
    assert_shows(opened, focused_vic, path)


def test_other_slips_and_ghosts(opened, focused_vic, four_rooms):
    opened.get_by_label("skill 1, for tool_1").first.click()
    opened.keyboard.press("r")
    assert opened.locator("#seed").input_value() == "1"
    opened.locator("#seed").fill("12")
    opened.keyboard.press("Tab")
    opened.get_by_label("Ghosts").select_option("50")
    opened.get_by_label("To the end").click()
    path = focused_vic.rollout(1, four_rooms.showcase, np.random.default_rng(12))
    assert_shows(opened, focused_vic, path)
    ghosts = [
        focused_vic.rollout(1, four_rooms.showcase, np.random.default_rng([12, k]))
        for k in range(1, 51)
    ]
    number = focused_vic.mdp.number
    paths = opened.evaluate("skillfocus.model.runs.get(0).ghosts.map((ghost) => ghost.states)")
    assert paths == [[number(state) for state in ghost] for ghost in ghosts]
    done = sum("tool_1" in ghost.changed for ghost in ghosts)
    side = sum(bool(ghost.side_effects) for ghost in ghosts)
    said = opened.locator(".crowd").nth(1).inner_text()
    assert said == f"Of 50 ghosts, {done} changed the target; {side} had side effects."


def test_side_by_side(opened, rooms, four_rooms):
    """Both sets begin in the same state with the same random numbers."""
    assert opened.locator(".panel").count() == 2
    click_cell(opened, (2, 2), four_rooms, panel=1)
    opened.keyboard.press("End")
    start = four_rooms.space.state(position=(2, 2))
    chosen = opened.evaluate("skillfocus.model.skill")
    for panel, shown in enumerate(rooms):
        path = shown.skills.rollout(chosen[panel], start, np.random.default_rng(0))
        assert_shows(opened, shown.skills, path, panel)
    opened.get_by_label("Remove diayn, seed 0").click()
    assert opened.locator(".panel").count() == 1
    opened.get_by_label("Compare with another").select_option(label="diayn, seed 0")
    assert opened.locator(".panel").count() == 2


def test_skills_that_are_told_a_value_say_which(page, tmp_path):
    skills = sf.discover(Button(), sf.focused(sf.reach()), seed=0)
    page.emulate_media(reduced_motion="reduce")
    page.goto(write_page([skills], tmp_path / "told.html").as_uri())
    page.wait_for_selector(READY)
    titles = [chip.get_attribute("title") for chip in page.locator(".skills .chip").all()]
    told = [goal_label(skills.world.space, goal) for goal in skills.goals]
    assert len(told) > 1
    assert titles == [f"skill {z}, for {text}" for z, text in enumerate(told)]
    assert page.locator(".effects tbody td:nth-child(2)").all_inner_texts() == told
    page.locator(".skills .chip").nth(1).click()
    page.wait_for_function("() => document.body.innerText.includes('It is told to reach lamp=on.')")
