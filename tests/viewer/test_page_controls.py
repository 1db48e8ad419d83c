"""Links, keys, names for screen readers, small screens."""

from __future__ import annotations

import numpy as np
import pytest

from pages import (
    READY,
    assert_shows,
    click_cell,
    first_value,
    map_image,
    values_shown,
)

pytestmark = pytest.mark.slow


def test_a_link_is_the_exact_view(opened, rooms_page, browser):
    opened.get_by_label("skill 7, for tool_4").first.click()
    first_value(opened, "tool_1").select_option("1")
    opened.keyboard.press("a")
    opened.get_by_label("Coloring").select_option("ends")
    opened.get_by_label("Ghosts").select_option("10")
    opened.keyboard.press("End")
    opened.keyboard.press("ArrowLeft")
    link, told = opened.evaluate("location.href"), values_shown(opened)
    picture = map_image(opened)
    opened.goto("about:blank")
    opened.goto(link)
    opened.wait_for_selector(READY)
    assert values_shown(opened) == told
    assert opened.evaluate("location.href") == link
    assert map_image(opened) == picture


def test_nonsense_in_a_link_is_ignored(opened, rooms_page):
    opened.goto("about:blank")
    nonsense = "#world=9&sets=7.x&mode=toString&skills=99&start=1.2&seed=-4&t=x&heat=__proto__"
    opened.goto(rooms_page.as_uri() + nonsense)
    opened.wait_for_selector(READY)
    assert opened.locator(".panel").count() == 2


def test_keys(opened):
    model = "skillfocus.model"
    opened.keyboard.press("Space")
    assert opened.evaluate(f"{model}.playing")
    opened.keyboard.press("Space")
    assert not opened.evaluate(f"{model}.playing")
    before = opened.evaluate(f"{model}.skill[0]")
    opened.keyboard.press("j")
    assert opened.evaluate(f"{model}.skill[0]") == (before + 1) % 16
    opened.keyboard.press("k")
    opened.keyboard.press("g")
    assert opened.evaluate(f"{model}.ghosts") == 50
    opened.keyboard.press("h")
    assert opened.evaluate(f"{model}.heat") == "ends"
    opened.keyboard.press("m")
    assert opened.evaluate(f"{model}.mode") == "chain"
    opened.keyboard.press("Shift+?")
    assert opened.locator("#keys").is_visible()
    opened.keyboard.press("Escape")
    opened.get_by_role("button", name="One skill").click()
    opened.get_by_role("button", name="usual start").click()
    opened.locator(".map").first.focus()
    opened.keyboard.press("ArrowUp")
    assert first_value(opened, "position").locator("option:checked").inner_text() == "(5, 9)"


def test_everything_can_be_reached_and_has_a_name(opened):
    """Whatever takes the focus says what it is."""
    nameless = opened.evaluate(
        """() => [...document.querySelectorAll("button, select, input, canvas, [tabindex]")]
          .filter((it) => !(it.getAttribute("aria-label") || it.labels?.length || (it.tagName !== "SELECT" && it.textContent.trim())))
          .map((it) => it.outerHTML)"""
    )
    assert nameless == []
    assert opened.evaluate("document.documentElement.lang") == "en"


def test_on_a_phone(browser, page, rooms_page, focused_vic, four_rooms):
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(reduced_motion="reduce", color_scheme="dark")
    page.goto(rooms_page.as_uri())
    page.wait_for_selector(READY)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.locator(".map").first.bounding_box()
    assert box["width"] > 300
    play = page.get_by_role("button", name="Play").bounding_box()
    assert play["y"] + play["height"] <= 844
    assert play["width"] >= 40
    click_cell(page, (2, 2), four_rooms)
    page.get_by_label("skill 1, for tool_1").first.click()
    for _ in range(60):
        page.get_by_label("One step forward").click()
    start = four_rooms.space.state(position=(2, 2))
    assert_shows(page, focused_vic, focused_vic.rollout(1, start, np.random.default_rng(0)))


def test_choices_made_while_others_are_being_prepared(opened):
    """Policies take a moment to unpack: what was chosen last counts."""
    shown = opened.evaluate(
        """async () => {
          const { app, model } = skillfocus;
          for (const set of model.sets) Object.assign(set, { loading: [], taskLoading: null });
          app.change(() => model.watch(1), true);
          app.chooseSkill(model.sets[1], 3);
          app.setMode("agent");
          app.setMode("skill");
          await app.chooseSkill(model.sets[1], 5);
          return [model.skill[1], app.busy, model.mode];
        }"""
    )
    assert shown == [5, False, "skill"]
