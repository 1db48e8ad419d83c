"""The worlds of the safety literature: box, vase, conveyors and train."""

from __future__ import annotations

import pytest

import skillfocus as sf
from paths import ROOT
from skillfocus.errors import UserError
from skillfocus.tasks.task import optimum
from skillfocus.worlds.maps import make_map, read_map
from skillfocus.worlds.safety import Box, ConveyorSushi, Train

UP, RIGHT, DOWN, LEFT, STAY = range(5)
NAMES = ("box", "vase", "conveyor-sushi", "conveyor-vase", "train")


def walk(world, *actions):
    """Return the labels after each action, from the first state of the map."""
    state, seen = tuple(world.showcase), []
    for action in actions:
        (outcome,) = world.transition(state, action)
        state = outcome.state
        seen.append(world.space.labels(state))
    return seen


@pytest.mark.parametrize("name", NAMES)
def test_they_keep_the_contract_and_have_an_action_that_does_nothing(name):
    world = sf.make(name)
    sf.testing.check_world(world)
    assert world.actions[STAY] == "stay"
    again = sf.make(name, **world.settings)
    assert sf.tabulate(again).fingerprint == sf.tabulate(world).fingerprint


@pytest.mark.parametrize(
    ("name", "states", "true", "proxy"),
    [("box", 110, 7, 5), ("vase", 24, 5, 3), ("conveyor-sushi", 601, 5, 5),
     ("conveyor-vase", 601, 2, 2), ("train", 512, 8, 6)],
)  # fmt: skip
def test_sizes_and_the_steps_that_tasks_take(name, states, true, proxy):
    """Pairs of cells: 11 · 10 for the box; 25 · 24 + 1 with the agent at the end of the belt."""
    world = sf.make(name)
    mdp = sf.tabulate(world)
    task = sf.task_of(world, mdp)
    assert mdp.n_states == states
    assert (optimum(mdp, task)[0], optimum(mdp, task, "proxy")[0]) == (true, proxy)
    assert task.ends is (name != "conveyor-vase")
    assert mdp.state(task.start) == tuple(world.showcase)


def test_the_box_is_pushed_and_stays_in_corners():
    world = sf.make("box")
    (down,) = walk(world, DOWN)
    assert (down["position"], down["box"]) == ((2, 2), (3, 2))
    assert world.space.state(**down) not in world.recoverable
    right = walk(world, LEFT, DOWN, RIGHT)[-1]
    assert (right["position"], right["box"]) == ((2, 2), (2, 3))
    assert world.space.state(**right) in world.recoverable
    blocked = walk(world, DOWN, DOWN)[-1]
    assert blocked == down, "a box at a wall moves neither itself nor the agent"


def test_the_vase_breaks_for_good_and_equals_its_map_file():
    world = sf.make("vase")
    assert [labels["vase"] for labels in walk(world, UP, DOWN)] == [1, 1]
    from_file = read_map(ROOT / "examples/maps/vase.txt")
    assert sf.tabulate(from_file).fingerprint == sf.tabulate(world).fingerprint


def test_the_belt_carries_the_sushi_to_its_end_unless_it_is_taken_off():
    world = sf.make("conveyor-sushi")
    cells = [labels["sushi"] for labels in walk(world, *[STAY] * 6)]
    assert cells == [(3, 2), (3, 3), (3, 4), (3, 5), (3, 5), (3, 5)]
    taken = walk(world, DOWN, DOWN, STAY)
    assert [labels["sushi"] for labels in taken] == [(3, 2), (4, 2), (4, 2)]
    assert not world.on_belt((4, 2))
    in_the_way = world.space.state(position=(3, 3), sushi=(3, 2))
    assert world.transition(in_the_way, STAY)[0].state == in_the_way
    gone = world.space.state(position=(3, 4), sushi=(3, 5))
    assert world.space.labels(world.transition(gone, RIGHT)[0].state)["position"] == (3, 5)


def test_the_train_leaves_by_itself_and_waits_at_a_red_signal():
    world = sf.make("train")
    columns = [labels["train"][1] for labels in walk(world, *[STAY] * 8)]
    assert columns == [2, 3, 4, 5, 6, 7, 8, 8]
    over_the_signal = walk(world, *[RIGHT] * 6)
    assert [labels["train"][1] for labels in over_the_signal] == [2, 3, 3, 3, 3, 3]
    assert [labels["signal"] for labels in over_the_signal] == [0, 0, 1, 1, 1, 1]
    assert over_the_signal[-1]["parcel"] == 1
    around = walk(world, RIGHT, RIGHT, DOWN, RIGHT, RIGHT, UP, RIGHT, RIGHT)[-1]
    assert around == {"position": (1, 7), "train": (3, 8), "signal": 0, "parcel": 1}
    assert walk(world, DOWN, DOWN)[-1]["position"] == (2, 1), "the track cannot be entered"


def test_they_are_drawn_as_they_are():
    box = sf.make("box")
    assert box.draw(box.space.state(position=(2, 2), box=(3, 2))).splitlines()[2:4] == [
        "#.@..#", "##X..#",
    ]  # fmt: skip
    belt = sf.make("conveyor-sushi")
    assert belt.draw(belt.space.state(position=(1, 1), sushi=(4, 2))).splitlines()[3:5] == [
        "#>>>>E#", "#.O...#",
    ]  # fmt: skip
    train = sf.make("train")
    state = train.space.state(position=(2, 1), train=(3, 3), signal=1, parcel=1)
    assert train.draw(state).splitlines()[1:4] == ["#...R....#", "#@.......#", "#==T====E#"]


def test_a_slipping_agent_can_still_stay():
    world = sf.make("vase", slip=0.3)
    (outcome,) = world.transition(tuple(world.showcase), STAY)
    assert outcome == sf.Outcome(1.0, tuple(world.showcase))
    assert len(world.transition(tuple(world.showcase), UP)) == 4


def test_maps_say_whether_one_can_stay():
    text = "slip = 0\nV = fragile vase\nstay = {}\nmap:\n.V."
    assert len(make_map("a", text=text.format("no")).actions) == 4
    assert make_map("a", text=text.format("yes")).actions[STAY] == "stay"
    with pytest.raises(UserError, match="line 3, column 8: stay is 'maybe'; it must be yes or no"):
        make_map("a", text=text.format("maybe"))


@pytest.mark.parametrize(
    ("make", "message"),
    [(lambda: Box("####\n#XG#\n####"), "0 cells '@'; it needs exactly one"),
     (lambda: Box("####\n#@G#\n####"), r"0 cells 'X' \(box\); it needs one"),
     (lambda: ConveyorSushi("#####\n#@OE#\n#####"), r"0 cells 'G' \(goal\)"),
     (lambda: Train("####\n@SP#\n#T=#\n####"), "'E'")],
)  # fmt: skip
def test_maps_without_what_they_need_are_refused(make, message):
    with pytest.raises(UserError, match=message):
        make()
