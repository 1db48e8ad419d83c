"""What the features of map cells do."""

from __future__ import annotations

import numpy as np
import pytest

import skillfocus as sf
from map_walks import column, parse, walk
from paths import ROOT
from skillfocus.worlds.maps import Feature, make_map, read_map

MAPS = ROOT / "examples" / "maps"
UP, RIGHT, DOWN, LEFT = range(4)


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [("pick-up", 0, 1), ("pick-up", 1, 1), ("fragile", 0, 1), ("counter", 1, 2), ("counter", 2, 2),
     ("switch", 0, 1), ("switch", 1, 0), ("sets", 1, 1), ("clears", 1, 0)],
)  # fmt: skip
def test_features_apply_to_a_value(kind, before, after):
    max_count = 2 if kind == "counter" else 1
    assert Feature(kind, "x", max_count).apply(before) == after


def test_doors_are_open_while_set_or_while_not_set():
    assert [Feature("door", "x").is_open(v) for v in (0, 1, 2)] == [False, True, True]
    shut = Feature("door", "x", passable_when_set=False)
    assert [shut.is_open(v) for v in (0, 1, 2)] == [True, False, False]


def test_repr_shows_the_size_of_the_map():
    world = read_map(MAPS / "museum.txt")
    assert repr(world) == (
        "<map:museum: 4 actions, position (52) × key (2) × painting (2) × vase (2) × lamp (2), "
        "map of 9 × 11 cells>"
    )


def test_slips_by_hand():
    world = make_map("probe", text="slip = 0.3\nT = pick-up tool\nmap:\n.T\n..\n")
    found = {o.state: o.probability for o in world.transition((0, 0), RIGHT)}
    # Right is meant; up and left hit the border, down is free.
    assert found == pytest.approx({(1, 1): 0.7, (2, 0): 0.1, (0, 0): 0.2})


def test_a_pick_up_is_taken_once_and_a_fragile_thing_breaks_for_good():
    world = parse("K = pick-up key\nV = fragile vase\nmap:\n#.K.V.#")
    assert world.space.names == ("position", "key", "vase")
    way = walk(world, ">>>><<<")
    assert column(way, "position") == [(0, c) for c in (1, 2, 3, 4, 5, 4, 3, 2)]
    assert column(way, "key") == [0, 1, 1, 1, 1, 1, 1, 1]
    assert column(way, "vase") == [0, 0, 0, 1, 1, 1, 1, 1]


def test_bumping_into_a_wall_is_no_arrival():
    world = parse("R = counter coin up to 5\nS = switch lamp\nmap:\nRS")
    assert walk(world, "<^v")[-1] == {"position": (0, 0), "coin": 0, "lamp": 0}


def test_a_counter_takes_one_unit_per_arrival_up_to_its_end():
    world = parse("R = counter coin up to 2\nmap:\n.R.")
    assert world.space.variables[1].values == (0, 1, 2)
    assert column(walk(world, "><><><"), "coin") == [0, 1, 1, 2, 2, 2, 2]


def test_a_switch_turns_at_each_arrival_and_two_cells_can_switch_one_lamp():
    world = parse("S = switch lamp\nmap:\n.S.S.")
    assert world.space.names == ("position", "lamp")
    assert column(walk(world, ">>>><<"), "lamp") == [0, 1, 1, 0, 0, 1, 1]


def test_patches_set_and_clear_a_flag_that_they_share():
    world = parse("M = sets muddy\nW = clears muddy\nmap:\n.MM.WM")
    assert world.space.names == ("position", "muddy")
    assert column(walk(world, ">>>>><"), "muddy") == [0, 1, 1, 1, 0, 1, 0]


def test_one_cell_does_several_things():
    world = parse("X = pick-up gem, sets alarm, switch lamp\nmap:\n.X.")
    assert world.space.names == ("position", "gem", "alarm", "lamp")
    assert walk(world, "><>")[1:] == [
        {"position": (0, 1), "gem": 1, "alarm": 1, "lamp": 1},
        {"position": (0, 0), "gem": 1, "alarm": 1, "lamp": 1},
        {"position": (0, 1), "gem": 1, "alarm": 1, "lamp": 0},
    ]


def test_a_door_is_a_wall_without_its_key():
    world = parse("K = pick-up key\nD = door needs key\nmap:\nK.D.")
    way = walk(world, ">><<>>>", position=(0, 1))
    assert column(way, "position") == [(0, c) for c in (1, 1, 1, 0, 0, 1, 2, 3)]
    shut_in = world.space.state(position=(0, 2), key=0)
    assert shut_in in set(world.states())
    assert world.transition(shut_in, LEFT)[0].state == world.space.state(position=(0, 1))


def test_a_door_may_need_a_flag_its_absence_a_count_or_several_things():
    world = parse(
        "L = switch lamp\nR = counter coin up to 2\nA = door needs lamp\nB = door needs no lamp\n"
        "C = door needs coin, door needs no lamp, sets paid\nmap:\nLR...\n#ABC#"
    )

    def enters(cell, **state):
        above = world.space.state(position=(cell[0] - 1, cell[1]), **state)
        (outcome,) = world.transition(above, DOWN)
        return world.space.labels(outcome.state)["position"] == cell

    assert [enters((1, 1), lamp=x) for x in (0, 1)] == [False, True]
    assert [enters((1, 2), lamp=x) for x in (0, 1)] == [True, False]
    assert [enters((1, 3), coin=c, lamp=x) for c in (0, 1, 2) for x in (0, 1)] == [
        False, False, True, False, True, False,
    ]  # fmt: skip
    (paid,) = world.transition(world.space.state(position=(0, 3), coin=2), DOWN)
    assert world.space.labels(paid.state)["paid"] == 1


def test_a_door_that_names_a_thing_of_its_own_cell_means_that_one():
    world = parse("B = fragile bridge, door needs no bridge\nmap:\n.B.B.")
    assert world.space.names == ("position", "bridge_1", "bridge_2")
    way = walk(world, ">><>><<")
    assert column(way, "position") == [(0, c) for c in (0, 1, 2, 2, 3, 4, 4, 4)]
    assert column(way, "bridge_1") == [0, 1, 1, 1, 1, 1, 1, 1]
    assert column(way, "bridge_2") == [0, 0, 0, 0, 1, 1, 1, 1]


def test_a_slip_into_a_closed_door_stays_put():
    world = make_map("x", text="slip = 0.3\nD = door needs k\nK = pick-up k\nmap:\nD.\n.K")
    state = world.space.state(position=(0, 1))
    found = {o.state: o.probability for o in world.transition(state, LEFT)}
    # Left is the door, up and right the border; down slips onto the key.
    assert found == pytest.approx({state: 0.9, world.space.state(position=(1, 1), k=1): 0.1})


def test_a_one_way_door_is_entered_in_its_direction_only():
    """The whole table by hand: cells 0, 1, 2 in a row, the middle one a door to the right."""
    mdp = sf.tabulate(make_map("x", text="slip = 0.3\n> = one-way right\nmap:\n.>."))
    stays = [[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]]
    expected = {
        # The first cell is left by moving right, the door to both sides, the last cell not at all.
        UP: [[0.9, 0.1, 0], [0.1, 0.8, 0.1], [0, 0, 1.0]],
        RIGHT: [[0.3, 0.7, 0], [0.1, 0.2, 0.7], [0, 0, 1.0]],
        DOWN: [[0.9, 0.1, 0], [0.1, 0.8, 0.1], [0, 0, 1.0]],
        LEFT: [[0.9, 0.1, 0], [0.7, 0.2, 0.1], [0, 0, 1.0]],
    }
    certain = sf.tabulate(make_map("x", text="slip = 0\n> = one-way right\nmap:\n.>."))
    moves = {UP: stays, DOWN: stays, RIGHT: [[0, 1.0, 0], [0, 0, 1.0], [0, 0, 1.0]],
             LEFT: [[1.0, 0, 0], [1.0, 0, 0], [0, 0, 1.0]]}  # fmt: skip
    for table, wanted in ((mdp, expected), (certain, moves)):
        found = np.zeros((3, 4, 3))
        for s, a, outcome in np.ndindex(table.successors.shape):
            found[s, a, table.successors[s, a, outcome]] += table.probabilities[s, a, outcome]
        for action, rows in wanted.items():
            np.testing.assert_allclose(found[:, action], rows, atol=1e-12)


def test_a_one_way_door_may_do_other_things_and_need_a_key():
    world = parse(
        "K = pick-up key\nA = one-way down, door needs key, sets bell\nmap:\n.K.\n#A#\n..."
    )
    assert world.space.names == ("position", "key", "bell")
    down = walk(world, "v>>v", position=(0, 1))
    assert column(down, "position") == [(0, 1), (0, 1), (0, 2), (0, 2), (0, 2)]
    through = walk(world, "vv^^", position=(0, 1), key=1)
    assert column(through, "position") == [(0, 1), (1, 1), (2, 1), (2, 1), (2, 1)]
    assert column(through, "bell") == [0, 1, 1, 1, 1]
    assert column(walk(world, "v^", position=(0, 1), key=1), "position")[-1] == (0, 1)
    assert world.draw(world.space.state(key=1)).splitlines()[1] == "#A#"


def test_what_lies_in_a_one_way_door_that_nothing_leads_to_is_fixed():
    world = parse("A = one-way right, pick-up gem\nB = one-way left, pick-up cup\nmap:\nA.B.")
    assert world.fixed == ("gem",)
    shut = parse("A = one-way right\nmap:\nAA\nAA")
    assert shut.fixed == ()
    assert parse("A = one-way up\nB = one-way down\nmap:\nA\nB").fixed == ()
    assert parse("A = one-way down\nB = one-way up\nmap:\nA\nB").fixed == ("position",)


def test_tracks_count_each_free_cell_once_while_the_flag_is_up():
    world = parse("tracks prints while muddy up to 2\nM = sets muddy\nmap:\n.M..#\n.@...")
    assert (world.n_marks, world.space.names) == (8, ("position", "muddy", "prints"))
    assert world.space.variables[2].values == (0, 1, 2)
    assert world.space.variables[2].largest_distance == 8
    state = world.space.state
    (clean,) = world.transition(state(position=(0, 2)), RIGHT)
    assert (clean.state, clean.mark, clean.again) == (state(position=(0, 3)), -1, None)
    (dirty,) = world.transition(state(position=(0, 2), muddy=1, prints=1), RIGHT)
    assert dirty.state == state(position=(0, 3), muddy=1, prints=2)
    assert dirty.again == state(position=(0, 3), muddy=1, prints=1)
    assert dirty.mark == 2  # the third free cell
    (onto_mud,) = world.transition(state(position=(0, 2), muddy=1), LEFT)
    assert onto_mud.mark == -1
    assert world.marks_in(state(prints=2)) == 2


def test_tracks_may_need_a_flag_to_be_down():
    world = parse("tracks steps while no boat up to 9\nB = pick-up boat\nmap:\n..B")
    assert column(walk(world, ">>"), "steps") == [0, 1, 1]
    assert column(walk(world, ">>", boat=1), "steps") == [0, 0, 0]
    assert world.space.variables[2].values == (0, 1, 2)  # two free cells, so no more tracks


def test_names_are_numbered_in_reading_order_where_there_are_several_cells():
    world = parse("A = pick-up gem\nB = fragile cup\nC = pick-up gem, sets wet\nmap:\n.C.\nBAC")
    assert world.space.names == ("position", "gem_1", "gem_2", "gem_3", "cup", "wet")
    assert walk(world, ">v")[-1] == {
        "position": (1, 1), "gem_1": 1, "gem_2": 1, "gem_3": 0, "cup": 0, "wet": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("head", "goals"),
    [
        ("", ("gem", "coin_1", "coin_2")),
        ("goals = lamp, coin", ("lamp", "coin_1", "coin_2")),
        ("goals = coin_2,gem, coin_2", ("coin_2", "gem")),
    ],
)
def test_goals_are_what_can_be_fetched_unless_they_are_named(head, goals):
    text = "G = pick-up gem\nR = counter coin up to 3\nV = fragile cup\nL = switch lamp\n"
    world = parse(f"{text}{head}\nmap:\nRGV\nRL.")
    assert (world.goals, world.default_target) == (goals, "position")


def test_without_anything_to_fetch_all_but_position_are_goals():
    assert parse("V = fragile cup\nL = switch lamp\nmap:\nVL.").goals == ("cup", "lamp")
    assert parse("map:\n..").goals == ()


def test_what_can_never_change_is_fixed_and_no_goal():
    world = parse(
        "A = pick-up gem, door needs gem\nB = pick-up cup, door needs no cup\nL = clears lamp\n"
        "map:\nA.B\n.L."
    )
    assert world.fixed == ("gem",)
    assert world.goals == ("cup",)
    changing = sf.tabulate(world).can_change.any(axis=0)
    assert changing.tolist() == [True, False, True, True]


def test_states_draw_what_is_left_of_their_cells():
    world = parse(
        "K = pick-up key\nV = fragile vase\nD = door needs key\nX = pick-up gem, sets wet\n"
        "M = sets wet\nY = pick-up hat, switch lamp\nR = counter coin up to 1\nmap:\n.KVDX\nMYR.@"
    )
    assert world.draw(world.showcase) == (
        ".KVDX\nMYR.@\nkey=0\nvase=0\ngem=0\nwet=0\nhat=0\nlamp=0\ncoin=0"
    )
    everything = world.space.state(key=1, vase=1, gem=1, hat=1, coin=1)
    assert world.draw(everything).splitlines()[:2] == ["@...M", "MYR.."]


@pytest.mark.slow
def test_in_the_museum_the_key_is_fetched_around_the_vase_and_the_lamp_left_as_it_was():
    world = read_map(MAPS / "museum.txt")
    skills = sf.discover(world, sf.focused(sf.vic()), seed=0, learner=sf.Planning(rounds=20))
    fetches = [e for e in sf.metrics.side_effects(skills) if e.targets == ("key",)]
    best = max(fetches, key=lambda e: e.changes_target or 0)
    assert best.exact
    assert best.changes_target >= 0.99
    assert best.by_variable["vase"] <= 0.001
    assert best.by_variable["lamp"] <= 0.001
    assert best.by_variable["position"] <= 0.03
    path = skills.likely_path(fetches.index(best), world.showcase)
    first, last = (world.space.labels(path[i]) for i in (0, -1))
    assert last == {**first, "key": 1}
    assert sum(world.map.glyph(world.map.cells[s[0]]) == "L" for s in path) == 2  # there and back
