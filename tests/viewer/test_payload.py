"""What a page holds: tables as bytes, names as text."""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import replace

import numpy as np
import pytest

import skillfocus as sf
from pages import unpacked
from skill_sets import make_skills
from skillfocus.cli.commands import View
from skillfocus.errors import UserError
from skillfocus.metrics.reachability import round_trips
from skillfocus.skills.policy import TabularPolicy
from skillfocus.viewer import payload
from skillfocus.viewer.page import labelled, page_html, parse_start
from skillfocus.viewer.payload import AMPLE_SHARE, SkillSetView, choose_start_state, value_points
from skillfocus.viewer.recordings import pack_array, script_element
from skillfocus.worlds.maps import make_map


def data_of(page: str, part: str = "data"):
    return json.loads(re.search(rf'id="{part}">(.*?)</script>', page, re.S)[1])


def test_arrays_travel_whole():
    for array in (
        np.arange(300, dtype=np.int32).reshape(3, 100) - 7,
        np.arange(9, dtype=np.uint16)[::2],
        np.array([[1.5, -2.25]], dtype=np.float32).T,
    ):
        assert np.array_equal(unpacked(pack_array(array)), array.ravel())


@pytest.fixture(scope="module")
def whole_page(focused_vic):
    return page_html([focused_vic])


def test_a_page_tells_the_world_and_the_skills(focused_vic, whole_page):
    data = data_of(whole_page)
    mdp = focused_vic.mdp
    (world,), (shown,) = data["worlds"], data["sets"]
    values = unpacked(world["values"]).reshape(mdp.values.shape)
    assert np.array_equal(values, mdp.values)
    steps = unpacked(world["successors"]).reshape(mdp.successors.shape)
    assert np.array_equal(steps + np.arange(mdp.n_states)[:, None, None], mdp.successors)
    laws = np.array(world["laws"])[unpacked(world["lawOf"])]
    assert np.array_equal(laws.reshape(mdp.cumulative.shape), mdp.cumulative)
    policies = data_of(whole_page, "policies-0")
    for z in range(len(focused_vic)):
        whole = unpacked(policies[z]["whole"]).reshape(-1, mdp.n_states)
        assert np.array_equal(whole.T, focused_vic.policy_of(z))
    assert [[data["worlds"][0]["variables"][j]["name"] for j in t] for t in shown["targets"]] == [
        list(names) for names in focused_vic.targets
    ]
    assert mdp.state(world["start"]) == focused_vic.world.showcase


def test_a_page_of_four_rooms_is_less_than_a_megabyte(whole_page):
    assert len(whole_page) < 500_000


def test_large_noisy_policies_keep_what_is_reached(focused_vic, rng):
    noise = rng.integers(4, size=len(focused_vic.tabular.flat_actions)).astype(np.uint8)
    old = focused_vic.tabular
    policies = TabularPolicy(old.mdp, old.context_variables, noise)
    noisy = replace(focused_vic, policies=policies)
    assert {"known", "actions"} == set(payload.policy_data(noisy, 0))
    assert set(payload.policy_data(focused_vic, 0)) == {"whole"}


@pytest.fixture(scope="module")
def small():
    room = make_map("room", text="K = pick-up key\nmap:\n#####\n#..K#\n#####\n")
    return sf.discover(room, sf.diayn(), seed=0, learner=sf.Planning(rounds=1))


def test_worlds_are_told_once(focused_vic, small):
    sets = [SkillSetView(skills, records=[]) for skills in (focused_vic, small, focused_vic)]
    data = data_of(page_html(sets))
    assert [world["id"] for world in data["worlds"]] == ["FourRooms-v0", "map:room"]
    assert [one["world"] for one in data["sets"]] == [0, 1, 0]
    assert data["sets"][2]["label"] == "focused-vic, seed 0 (2)"


def test_labels_of_ones_own_are_kept(focused_vic):
    named = labelled(
        [
            SkillSetView(focused_vic, "mine"),
            SkillSetView(focused_vic, "mine"),
            SkillSetView(focused_vic),
        ]
    )
    assert [one.label for one in named] == ["mine", "mine (2)", "focused-vic, seed 0"]


def test_nothing_in_a_name_ends_the_data(focused_vic):
    hostile = "</script><script>alert(1)</script><!-- {{data}} \u2028 & \"'"
    page = page_html([SkillSetView(focused_vic, hostile, records=[])], title=hostile)
    assert data_of(page)["sets"][0]["label"] == hostile
    assert page.count("</script>") == 4
    assert "<script>alert" not in page


def test_numbers_that_json_lacks_are_left_out(small):
    strange = replace(small, info={**small.info, "seed": float("nan")})
    assert data_of(page_html([SkillSetView(strange, records=[])]))["sets"][0]["seed"] is None


def test_distances_travel_as_points_or_not_at_all():
    """Names are equally far apart; two places that happen to be pairs are not names."""
    names = sf.Variable("who", ("ann", "bob"))
    places = sf.Variable("where", ((0, 0), (0, 5)))
    assert value_points(names.coordinates) is None
    assert value_points(places.coordinates) == [[0, 0], [0, 5]]


def test_a_page_needs_skills():
    with pytest.raises(UserError, match="no skills to show"):
        page_html([])


def test_starts_in_words(focused_vic):
    mdp = focused_vic.mdp
    usual = mdp.state(choose_start_state(focused_vic))
    assert parse_start(focused_vic, "") == usual
    named = parse_start(focused_vic, "tool_1=1, position=(1,2),tool_4 = 1")
    assert mdp.space.labels(named) == {
        "position": (1, 2), "tool_1": 1, "tool_2": 0, "tool_3": 0, "tool_4": 1,
    }  # fmt: skip
    for wrong, said in (
        ("tool_1", "tool_1 can be 0, 1"),
        ("tool_1=2", "tool_1 can be 0, 1"),
        ("tol_1=1", "did you mean"),
        ("position=(1, 2", r"can be \(1, 1\)"),
    ):
        with pytest.raises(UserError, match=said):
            parse_start(focused_vic, wrong)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"files": ()}, "name at least one file"),
        ({"files": ("a",), "skill": 1}, "what to --export"),
        ({"files": ("a", "b"), "export": "x.gif"}, "takes one file"),
        ({"files": ("a",), "out": "x.png"}, "ends in .html"),
        ({"files": ("a",), "export": "x.gif", "out": "x.html"}, "are for a page"),
        ({"files": ("a",), "export": "x.gif", "slips": -1}, "at least 0"),
    ],
)
def test_mistakes_are_named(options, said, tmp_path):
    from pathlib import Path

    paths = {
        key: tuple(map(Path, value)) if isinstance(value, tuple) else Path(value)
        for key, value in options.items()
        if key in ("files", "export", "out")
    }
    with pytest.raises(UserError, match=said):
        View(**{**options, **paths}).run()


def test_sets_alike_are_called_by_their_files(small, tmp_path):
    for name in ("one", "<i>other</i>"):
        path = tmp_path / name.replace("/", "∕")
        small.save(path.with_suffix(".skills"))
    View(files=tuple(sorted(tmp_path.glob("*.skills"))), no_open=True).run()
    data = data_of((tmp_path / "<i>other<∕i>.html").read_text())
    assert [one["label"] for one in data["sets"]] == ["<i>other<∕i>", "one"]


def test_skills_are_viewed_beside_others(small, tmp_path):
    path = small.view(tmp_path / "page.html", small)
    assert len(data_of(path.read_text())["sets"]) == 2


@pytest.mark.parametrize(
    ("name", "trip", "cells"), [("FourRooms", 22, 0), ("ForageWorld", 12, 3), ("MudWorld", 12, 3)]
)
def test_it_begins_where_slips_can_be_made_up_for(name, trip, cells):
    world = sf.make(f"{name}-v0")
    mdp = sf.tabulate(world)
    nothing = np.full(mdp.n_states, mdp.n_actions, np.uint8)
    skills = make_skills(world, mdp, ((),), ((),), nothing, world.step_limit)
    start = choose_start_state(skills)
    goals = [[mdp.space.index(goal)] for goal in world.goals]
    assert max(round_trips(mdp, goal, np.array([start]))[0] for goal in goals) == trip
    assert trip <= AMPLE_SHARE * world.step_limit
    (here, *others), (usual, *as_usual) = mdp.state(start), world.showcase
    assert others == as_usual
    (row, column), (usual_row, usual_column) = world.map.cells[here], world.map.cells[usual]
    assert abs(row - usual_row) + abs(column - usual_column) == cells
    hasty = replace(skills, step_limit=2)  # nowhere is near enough
    assert choose_start_state(hasty) == mdp.number(world.showcase)


@pytest.mark.parametrize(
    ("dtype", "name"), [("uint8", "u8"), ("uint16", "u16"), ("int32", "i32"), ("float32", "f32")]
)
def test_arrays_are_little_endian_bytes_of_a_named_type(dtype, name):
    array = np.array([[1, 2], [3, 250]], dtype)
    packed = pack_array(array.astype(array.dtype.newbyteorder(">")))
    data = zlib.decompress(base64.b64decode(packed["data"]))
    assert packed["type"] == name
    assert data == array.astype(array.dtype.newbyteorder("<")).tobytes()


def test_types_that_a_page_does_not_know_are_refused():
    with pytest.raises(KeyError, match="float64"):
        pack_array(np.zeros(2))


def test_nothing_in_the_data_ends_its_element():
    text = "</script><!--"
    element = script_element("data", {"a": [text, float("nan")], "b": (float("inf"), 1.5)})
    assert element.startswith('<script type="application/json" id="data">')
    assert element.count("</script>") == 1
    assert "<!--" not in element
    body = element[element.index(">") + 1 : element.rindex("</")]
    assert json.loads(body) == {"a": [text, None], "b": [None, 1.5]}
