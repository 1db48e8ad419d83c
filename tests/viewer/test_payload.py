"""What pages are told: policies as walks, tables as bytes, names as text."""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillfocus as sf
from probes import RandomWorld
from skill_sets import make_skills
from skillfocus.cli.view import View, starting
from skillfocus.errors import UserError
from skillfocus.metrics.reachability import round_trips
from skillfocus.viewer import payload
from skillfocus.viewer.packing import pack_array
from skillfocus.viewer.page import labelled, page_html
from skillfocus.viewer.payload import SkillSetView
from skillfocus.viewer.start_state import AMPLE_SHARE, choose_start_state
from skillfocus.viewer.walks import COST_PER_BIT, outcome_costs, walk_policy
from skillfocus.viewer.world_payload import value_points
from skillfocus.worlds.maps.parser import make_map


def data_of(page: str, part: str = "data"):
    return json.loads(re.search(rf'id="{part}">(.*?)</script>', page, re.S)[1])


def unpacked(blob: dict) -> np.ndarray:
    kinds = {"u8": np.uint8, "u16": np.uint16, "i32": np.int32, "f32": np.float32}
    return np.frombuffer(zlib.decompress(base64.b64decode(blob["data"])), kinds[blob["type"]])


def test_costs_by_hand():
    assert outcome_costs(np.array([1.0, 0.5, 0.25, 0.9])).tolist() == [0, 16, 32, 2]
    assert outcome_costs(np.array([0.0]))[0] > 96 * COST_PER_BIT


def followed(mdp, policy, starts, column, limit):
    """A walk in plain Python: per state it can come to, the least cost; and the order met."""
    costs = outcome_costs(mdp.probabilities)
    queues = {0: list(starts)}
    order = []
    for cost in range(limit + 1):
        queue = queues.get(cost, [])
        while queue:
            s = queue.pop(0)
            if s in order:
                continue
            order.append(s)
            a = policy[s, column]
            if a == mdp.n_actions:
                continue
            for m in range(mdp.successors.shape[2]):
                targets = [mdp.successors[s, a, m]]
                if mdp.marks[s, a, m] >= 0:
                    targets.append(mdp.again[s, a, m])
                for target in targets:
                    queues.setdefault(cost + int(costs[s, a, m]), []).append(int(target))
    return order


@given(st.integers(0, 2**32 - 1))
def test_walks_are_those_of_plain_python(seed):
    mdp = sf.tabulate(RandomWorld(seed, sizes=(3, 2, 2), n_actions=3))
    rng = np.random.default_rng(seed)
    contexts = rng.integers(3, size=mdp.n_states)
    contexts = np.unique(contexts, return_inverse=True)[1].astype(np.int32)
    width = (contexts.max() + 1) * 2
    policy = rng.integers(mdp.n_actions + 1, size=(mdp.n_states, width)).astype(np.uint8)
    walked = walk_policy(mdp, policy, contexts, 2, 5)
    ends = np.cumsum(walked.counts)
    for column in range(width):
        starts = np.flatnonzero(contexts == column // 2)
        order = followed(mdp, policy, starts, column, walked.limit)
        noted = walked.actions[ends[column] - walked.counts[column] : ends[column]]
        assert noted.tolist() == policy[order, column].tolist()
    assert walked.left_out <= 1e-5 or walked.limit == 96 * COST_PER_BIT


def alone(mdp, action_where):
    """A policy that is the same in every context, each first state having one of its own."""
    policy = np.repeat(action_where[:, None], mdp.n_states, axis=1).astype(np.uint8)
    return policy, np.arange(mdp.n_states, dtype=np.int32)


class Throws(sf.World):
    """So many throws, each of which shows one of `sides`; the last is gone on from no further."""

    id = "Throws-v0"
    actions = ("throw",)

    def __init__(self, n, sides):
        self.n, self.sides = n, sides
        counts, shown = tuple(range(n + 1)), tuple(range(sides))
        self.space = sf.FactoredSpace((sf.Variable("turn", counts), sf.Variable("shown", shown)))

    def states(self):
        return [(0, 0)]

    def transition(self, state, action):
        turn = min(state[0] + 1, self.n)
        share = 1 / self.sides
        return [sf.Outcome(share, (turn, shown)) for shown in range(self.sides)]


def test_walks_end_at_24_bits_and_not_before():
    """After 24 throws of a coin every state has cost 24 bits; the 25th would be one too many. All
    the rest is left out, so the walk must go on to the next limit, 32 bits."""
    mdp = sf.tabulate(Throws(40, 2))
    policy, contexts = alone(mdp, np.zeros(mdp.n_states))
    walked = walk_policy(mdp, policy, contexts, 1, 24)
    assert (walked.limit, walked.left_out, walked.counts[0]) == (24 * COST_PER_BIT, 0.0, 1 + 24 * 2)
    longer = walk_policy(mdp, policy, contexts, 1, 25)
    assert (longer.limit, longer.counts[0]) == (32 * COST_PER_BIT, 1 + 32 * 2)


def test_walks_go_on_until_little_is_left_out():
    """Where every step shows one of a hundred sides, 24 bits are three steps."""
    mdp = sf.tabulate(Throws(8, 100))
    policy, contexts = alone(mdp, mdp.values[:, 0] == 8)
    walked = walk_policy(mdp, policy, contexts, 1, 20)
    assert walked.left_out == 0
    assert walked.counts[0] == mdp.n_states


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


def test_large_noisy_policies_are_walked(focused_vic, rng):
    noise = rng.integers(4, size=len(focused_vic.policies)).astype(np.uint8)
    noisy = replace(focused_vic, policies=noise)
    assert {"actions", "counts", "limit"} == set(payload.policy_data(noisy, 0))
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
    assert max(round_trips(mdp, goal, [start])[0] for goal in goals) == trip
    assert trip <= AMPLE_SHARE * world.step_limit
    (here, *others), (usual, *as_usual) = mdp.state(start), world.showcase
    assert others == as_usual
    (row, column), (usual_row, usual_column) = world.map.cells[here], world.map.cells[usual]
    assert abs(row - usual_row) + abs(column - usual_column) == cells
    hasty = replace(skills, step_limit=2)  # nowhere is near enough
    assert choose_start_state(hasty) == mdp.number(world.showcase)


def test_starts_in_words(focused_vic):
    mdp = focused_vic.mdp
    usual = mdp.state(choose_start_state(focused_vic))
    assert starting(focused_vic, "") == usual
    named = starting(focused_vic, "tool_1=1, position=(1,2),tool_4 = 1")
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
            starting(focused_vic, wrong)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "name at least one file"),
        ({"gallery": True, "files": ("a",)}, "--gallery makes its own"),
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
