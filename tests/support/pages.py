"""What tests of pages share: making them, and reading what they show."""

from __future__ import annotations

import base64
import zlib

import numpy as np

import skillfocus as sf
from skillfocus.viewer.payload import SkillSetView

READY = "body[data-ready]"
"""Matches once a page can be used."""
WORLDS = ("FourRooms-v0", "ForageWorld-v0", "MudWorld-v0")


def quick(world, objective):
    """Discover skills fast, without learning them well."""
    return sf.discover(world, objective, seed=0, learner=sf.Planning(rounds=2, rollouts=50))


def view_without_effects(skills):
    """View a set without spending the time to compute what its skills do."""
    nothing = dict.fromkeys(("changes_target", "side_effects", "steps"))
    record = {**nothing, "side_effects_by_variable": {}, "starts": 0, "exact": True}
    return SkillSetView(skills, records=[record] * len(skills))


def first_value(page, variable):
    return page.locator("#firsts label").filter(has_text=variable).locator("select")


def settle(page):
    """Wait until what was chosen is shown: policies take a moment to unpack."""
    page.wait_for_function("() => !skillfocus.app.busy")


def values_shown(page, panel=0):
    """Return {variable: (first, now, mark)} from a panel's table."""
    settle(page)
    rows = page.locator(".panel").nth(panel).locator(".values tbody tr").all()
    texts = [row.locator("th, td").all_inner_texts() for row in rows]
    return {name: tuple(rest) for name, *rest in texts}


def labels_of(skills, first, last):
    labels = (skills.mdp.space.labels(state) for state in (first, last))
    return [{name: str(value) for name, value in each.items()} for each in labels]


def assert_shows(page, skills, path, panel=0):
    first, last = labels_of(skills, path[0], path[-1])
    told = values_shown(page, panel)
    assert {name: row[0] for name, row in told.items()} == first
    assert {name: row[1] for name, row in told.items()} == last


def map_image(page):
    settle(page)
    return page.evaluate("document.querySelector('.map').toDataURL()")


def pixel(page, world, row, column):
    """The color of a map's first panel at a place, in cells from its top left corner."""
    settle(page)
    rows = world.map.rows
    found = page.evaluate(
        """([across, down]) => {
          const map = document.querySelector(".map");
          return Array.from(map.getContext("2d").getImageData(across * map.width, down * map.height, 1, 1).data);
        }""",
        [column / len(rows[0]), row / len(rows)],
    )
    return "#" + bytes(found[:3]).hex()


def click_cell(page, cell, world, panel=0):
    box = page.locator(".map").nth(panel).bounding_box()
    rows = world.map.rows
    page.mouse.click(
        box["x"] + (cell[1] + 0.5) * box["width"] / len(rows[0]),
        box["y"] + (cell[0] + 0.5) * box["height"] / len(rows),
    )


def unpacked(blob: dict) -> np.ndarray:
    """The array that `pack_array` has packed, flat."""
    kinds = {"u8": np.uint8, "u16": np.uint16, "i32": np.int32, "f32": np.float32}
    return np.frombuffer(zlib.decompress(base64.b64decode(blob["data"])), kinds[blob["type"]])
