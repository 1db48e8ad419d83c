"""Learning with networks, on worlds where the truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import skillfocus as sf
from probes import corridor, tiny_mud
from skillfocus.errors import UserError

jax = pytest.importorskip("jax")

from skillfocus.learners import network_training
from skillfocus.learners.cost_network import training
from skillfocus.worlds.four_rooms import FourRooms

TINY = sf.Neural(steps=32, updates_per_jit=2, environments=8, batch=8, memory=64, hidden=8)
ROOM = "#######\n#..#.T#\n#.....#\n#T.#..#\n#######"


def weights_of(skills):
    return jax.tree.leaves(skills.policies.weights)


def same(one, two):
    return all(np.array_equal(x, y) for x, y in zip(weights_of(one), weights_of(two), strict=True))


@pytest.mark.slow
def test_a_small_world_is_learned_nearly_as_well_as_by_planning():
    world = FourRooms(ROOM, slip=0.1, step_limit=20)
    objective = sf.focused(sf.vic(), strength=2.5)
    settings = {"seed": 0, "targets": {"tool_1": 2, "tool_2": 2}}
    planned = sf.discover(world, objective, **settings)
    learner = sf.Neural(steps=256_000, environments=64, batch=128)
    learned = sf.discover(world, objective, learner=learner, **settings)
    for tool in range(2):
        pairs = [
            max(
                (sf.metrics.side_effects(skills)[z] for z in (2 * tool, 2 * tool + 1)),
                key=lambda effects: effects.changes_target or 0.0,
            )
            for skills in (planned, learned)
        ]
        assert pairs[1].changes_target > 0.97
        assert pairs[1].side_effects < pairs[0].side_effects + 0.05


@pytest.mark.parametrize(
    "objective",
    [sf.vic(), sf.lsd(), sf.dusdi(sf.diayn()), sf.focused(sf.lsd())],
    ids=lambda objective: objective.name,
)
def test_objectives_of_every_kind_train(objective):
    skills = sf.discover(tiny_mud(), objective, seed=0, n_skills=6, learner=TINY)
    assert len(skills) == 6
    assert all(np.isfinite(leaf).all() for leaf in weights_of(skills))
    action = skills.policy(0)(skills.mdp.state(0))
    assert action is None or 0 <= action < 4


@pytest.mark.slow
def test_equal_seeds_give_equal_weights_and_others_do_not():
    one, two, three = (
        sf.discover(corridor(0.1), sf.focused(sf.vic()), seed=seed, n_skills=4, learner=TINY)
        for seed in (0, 0, 1)
    )
    assert same(one, two)
    assert not same(one, three)


@pytest.mark.slow
def test_no_strength_is_no_penalty():
    focused = sf.focused(sf.vic(), strength=0.0)
    without = replace(focused, penalty=None)
    one, two = (
        sf.discover(corridor(0.1), objective, seed=0, n_skills=4, learner=TINY)
        for objective in (focused, without)
    )
    assert same(one, two)


@pytest.mark.slow
def test_the_penalty_of_the_objective_trains():
    one, two = (
        sf.discover(
            corridor(0.1), sf.focused(sf.vic(), strength=strength), seed=0, n_skills=4, learner=TINY
        )
        for strength in (4.0, 0.5)
    )
    assert [each.policies.weights["strength"] for each in (one, two)] == [4.0, 0.5]
    assert not same(one, two)


def test_a_loss_that_is_not_finite_ends_training():
    wild = replace(TINY, learning_rate=1e30, steps=320)
    with pytest.raises(UserError, match=r"training diverged: .* lower learning_rate"):
        sf.discover(corridor(), sf.focused(sf.vic()), seed=0, n_skills=4, learner=wild)


class Interrupt(Exception):
    """Stands for Ctrl-C."""


@pytest.mark.slow
def test_training_goes_on_from_a_checkpoint_bit_for_bit(tmp_path, monkeypatch):
    monkeypatch.setattr(network_training, "SECONDS_BETWEEN_CHECKPOINTS", -1.0)
    path = tmp_path / "folder" / "training.safetensors"

    def files():
        return sorted(path.parent.iterdir())

    settings = replace(TINY, steps=96, warmup_fraction=0.3)
    kept = replace(settings, checkpoint=str(path))

    def stop(fraction, activity):
        if fraction > 0.5:
            raise Interrupt

    def learn(learner, progress=None, seed=0):
        return sf.discover(
            corridor(0.1), sf.focused(sf.vic()), seed=seed, n_skills=4, learner=learner,
            progress=progress,
        )  # fmt: skip

    whole = learn(settings)
    with pytest.raises(Interrupt):
        learn(kept, stop)
    (file,) = files()
    kept_state = file.read_bytes()
    for other in ({"seed": 1}, {"learner": replace(kept, hidden=16)}):
        learn(**{"learner": kept, **other})  # another training, and so another file
        assert files() == [file]
    resumed = learn(kept)
    assert same(whole, resumed)
    assert whole.info == resumed.info
    assert files() == []
    rng = np.random.default_rng(0)
    flipped = [bytearray(kept_state) for _ in range(10)]
    for content in flipped:
        content[rng.integers(len(content))] ^= 1 << rng.integers(8)
    for content in (b"", b"no checkpoint", kept_state[:-1], *flipped):
        file.write_bytes(content)
        with pytest.raises(UserError, match="is not a checkpoint of this training"):
            learn(kept)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": 0}, "steps is 0; it must be at least 1"),
        ({"environments": 1}, "half of them explore"),
        ({"warmup_fraction": 2.0}, "warmup_fraction is 2.0; it must be between 0 and 1"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0; it must be positive"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(UserError, match=message):
        sf.Neural(**settings)


def test_a_penalty_on_whole_states_is_refused():
    penalty = sf.StatePenalty("far", 1.0, lambda mdp, start, end, watched: 1.0 * (start != end))
    with pytest.raises(UserError, match="far needs a table of states"):
        sf.discover(
            corridor(), sf.focused(sf.vic(), penalty=penalty), seed=0, n_skills=4, learner=TINY
        )


def test_large_settings_can_be_changed():
    assert sf.large_neural(hidden=64) == replace(sf.large_neural(), hidden=64)


@pytest.mark.parametrize(
    ("precision", "expected"), [("default", None), ("bfloat16", "BF16_BF16_F32")]
)
def test_training_is_compiled_with_the_precision_asked_for(monkeypatch, precision, expected):
    seen, run = [], training.Trainer.run

    def recording(*args):
        seen.append(jax.config.jax_default_matmul_precision)
        return run(*args)

    monkeypatch.setattr(training.Trainer, "run", recording)
    learner = replace(TINY, precision=precision)
    sf.discover(tiny_mud(), sf.vic(), seed=0, n_skills=2, learner=learner)
    assert set(seen) == {expected}


def test_another_precision_is_refused():
    with pytest.raises(UserError, match=r"unknown precision 'half' \(known: default, bfloat16\)"):
        sf.Neural(precision="half")
