from __future__ import annotations

import numpy as np

import skillfocus as sf
from probes import RandomWorld, corridor
from skillfocus.mdp import after_inaction, inaction, moves_by_itself, noop_action


def test_the_no_op_is_found_by_its_name():
    assert noop_action(sf.tabulate(sf.make("train"))) == 4
    assert noop_action(sf.tabulate(corridor())) is None


def test_a_world_without_a_no_op_stands_still():
    mdp = sf.tabulate(corridor())
    successors, probabilities = inaction(mdp)
    assert (successors[:, 0] == np.arange(mdp.n_states)).all()
    assert (probabilities == 1).all()
    assert not moves_by_itself(mdp).any()


def test_what_moves_by_itself():
    train = sf.tabulate(sf.make("train"))
    assert dict(zip(train.space.names, moves_by_itself(train), strict=True)) == {
        "position": False, "train": True, "signal": False, "parcel": False,
    }  # fmt: skip
    assert not moves_by_itself(sf.tabulate(sf.make("box"))).any()


def test_the_state_after_steps_without_acting():
    world = sf.make("train")
    mdp = sf.tabulate(world)
    rows = after_inaction(mdp, mdp.number(tuple(world.showcase)), 9)
    trains = [mdp.values[row.argmax(), 1] for row in rows]
    assert trains == [0, 1, 2, 3, 4, 5, 6, 7, 7, 7]
    assert (rows.max(axis=1) == 1).all()


def test_chance_without_acting_is_followed():
    world = RandomWorld(1, n_actions=2)
    world.actions = ("go", "wait")
    mdp = sf.tabulate(world)
    rows = after_inaction(mdp, 0, 3)
    matrix = np.zeros((mdp.n_states, mdp.n_states))
    np.add.at(
        matrix, (np.arange(mdp.n_states)[:, None], mdp.successors[:, 1]), mdp.probabilities[:, 1]
    )
    np.testing.assert_allclose(rows[3], np.linalg.matrix_power(matrix, 3)[0])
