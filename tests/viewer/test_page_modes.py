"""The modes of the page, and how one is added."""

from __future__ import annotations

import pytest

from pages import READY, assert_shows, settle, values_shown, view_without_effects
from skillfocus.viewer import page as page_module
from skillfocus.viewer.page import read_asset, write_page

pytestmark = pytest.mark.slow

TWICE = """
// A mode that runs each set's skill twice.

import { element } from "../dom.js";
import { baseMode } from "./mode.js";

export const twiceMode = {
  ...baseMode,
  name: "twice",
  label: "Twice",
  lead: () => ["Each skill, ", element("b", {}, "twice"), "."],
  queue: (model, set) => [model.skill[set.index], model.skill[set.index]],
  details: (set, run) => [element("p", { class: "twice" }, `${run.followed.length} runs`)],
};
"""


def lead(page):
    settle(page)
    return page.locator("#lead").inner_text()


def test_a_new_mode_is_one_file_and_one_line(page, focused_vic, tmp_path, monkeypatch):
    index = read_asset("modes/index.js")
    longer = index.replace("agentMode];", "agentMode, twiceMode];").replace(
        'import { skillMode } from "./skill.js";',
        'import { skillMode } from "./skill.js";\nimport { twiceMode } from "./twice.js";',
    )
    assets = {"modes/index.js": longer, "modes/twice.js": TWICE}
    monkeypatch.setattr(
        page_module, "read_asset", lambda path: assets.get(path) or read_asset(path)
    )
    path = write_page([view_without_effects(focused_vic)], tmp_path / "p.html")
    page.emulate_media(reduced_motion="reduce")
    page.goto(path.as_uri())
    page.wait_for_selector(READY)
    page.get_by_role("button", name="Twice").click()
    assert lead(page) == "Each skill, twice."
    assert page.locator(".twice").inner_text() == "2 runs"
    z, states, followed = page.evaluate(
        """() => {
          const { run } = skillfocus.model.runs.get(0);
          return [skillfocus.model.skill[0], run.states, run.followed.map(({ z }) => z)];
        }"""
    )
    assert followed == [z, z]
    page.keyboard.press("End")
    mdp = focused_vic.mdp
    assert_shows(page, focused_vic, [mdp.state(states[0]), mdp.state(states[-1])])
    link = page.evaluate("location.href")
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector(READY)
    assert "mode=twice" in link
    assert page.evaluate("skillfocus.model.mode") == "twice"
    assert page.locator(".twice").inner_text() == "2 runs"


def test_each_mode_shows_its_own_controls(opened):
    """Goals for one skill, a queue for chains, no skills and no layers for the agent."""
    shown = {}
    for label in ("One skill", "Chain", "Agent"):
        opened.get_by_role("button", name=label).click()
        settle(opened)
        shown[label] = [
            opened.locator(selector).first.is_visible()
            for selector in ("#goal-row", ".skills", ".queue", "#layers", ".chains", ".choices")
        ]
    assert shown == {
        "One skill": [True, True, False, True, False, False],
        "Chain": [False, True, True, True, True, False],
        "Agent": [False, False, False, False, False, True],
    }


def test_each_mode_says_what_it_shows(opened):
    assert lead(opened).startswith("A focused skill changes its target")
    opened.keyboard.press("m")
    assert lead(opened).startswith("Skills one after another")
    opened.keyboard.press("m")
    assert lead(opened).startswith("An agent has learned the task “tools”")


def test_the_agent_needs_a_task(page, focused_vic, tmp_path):
    page.emulate_media(reduced_motion="reduce")
    page.goto(write_page([view_without_effects(focused_vic)], tmp_path / "p.html").as_uri())
    page.wait_for_selector(READY)
    assert page.locator("#modes button").all_inner_texts() == ["One skill", "Chain"]


def test_the_agent_on_the_page(opened, rooms):
    opened.get_by_role("button", name="Agent").click()
    opened.keyboard.press("End")
    first = opened.locator(".panel").first
    first.locator(".choices .chosen").wait_for()
    assert "tools" in first.locator(".verdict").inner_text()
    assert "No task was learned" in opened.locator(".verdict").nth(1).inner_text()
    shown = rooms[0]
    corner = shown.skills.mdp.space.labels(shown.skills.mdp.state(shown.task.start))
    assert values_shown(opened)["position"][0] == str(corner["position"])


def test_a_queue_is_part_of_the_link(opened):
    opened.get_by_role("button", name="Chain").click()
    opened.get_by_label("skill 3, for tool_2").first.click()
    settle(opened)
    queue = opened.evaluate("skillfocus.model.modeState.chain.queues[0]")
    assert queue[-1] == 3
    link = opened.evaluate("location.href")
    opened.goto("about:blank")
    opened.goto(link)
    opened.wait_for_selector(READY)
    assert opened.evaluate("skillfocus.model.modeState.chain.queues[0]") == queue
    assert opened.locator(".panel").first.locator(".queued").count() == len(queue)


def test_leaving_the_chains_stops_their_trees(opened):
    opened.get_by_role("button", name="Chain").click()
    opened.get_by_role("button", name="Grow all chains").click()
    opened.wait_for_function("() => skillfocus.app.sections.chain.trees.get(0)?.chains > 0")
    opened.get_by_role("button", name="One skill").click()
    settle(opened)
    assert not opened.evaluate("skillfocus.app.sections.chain.animating")
    assert not opened.locator(".chains").is_visible()
