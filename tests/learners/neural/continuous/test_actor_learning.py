"""Skills that an actor learns in a world whose best skills are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("jax")

import skillfocus as sf
from neural_skills import skills_of
from skillfocus.errors import UserError
from skillfocus.learners import network_training
from skillfocus.learners.actor.training import init_training, make_trainer, train_actor
from skillfocus.learners.problem import make_problem
from skillfocus.metrics.coverage import coverage_by_variable
from skillfocus.metrics.propagation import representation_fit
from skillfocus.metrics.side_effects import side_effects
from sliders import Sliders

WORLD = Sliders()
ACTOR = sf.Actor(
    steps=300 * 64 * WORLD.step_limit, environments=64, batch=384, estimator_hidden=16,
    entropy=0.005, warmup_fraction=0.4, penalty_delay=0.0, penalty_ramp=0.0,
)  # fmt: skip
TARGETS = {"a": 2, "b": 2, "c": 2}


def discover(seed, objective=None, actor=ACTOR, targets=TARGETS):
    return sf.discover(
        WORLD, objective or sf.focused(sf.diayn()), seed=seed, learner=actor,
        targets=targets,
    )  # fmt: skip


@pytest.fixture(scope="module")
def skills():
    return discover(0)


@pytest.fixture(scope="module")
def effects(skills):
    return side_effects(skills, sample=128, rng=np.random.default_rng(0))


def test_focused_skills_are_near_the_best(effects):
    # the best skills bring their slider to an end, and leave the others exactly where they were
    assert [each.targets for each in effects] == [(name,) for name in "aabbcc"]
    for each in effects:
        own = "abc".index(each.targets[0])
        assert each.ends[:, own].std() < 0.2, each.targets  # wherever it began
        others = np.delete(each.amount, own, axis=1) / WORLD.space.scales[0]
        assert others.sum(axis=1).mean() < 0.12, each.targets
    for i in (0, 2, 4):
        ends = [effects[i + k].ends[:, i // 2].mean() for k in (0, 1)]
        assert abs(ends[0] - ends[1]) > 1.5
    assert np.mean([each.side_effects for each in effects]) < 0.2
    assert np.mean([each.changes_target for each in effects]) > 0.8  # some begin where they end


def test_skills_are_as_clean_where_others_have_been(skills):
    settled = side_effects(skills, "settled", sample=64, rng=np.random.default_rng(1))
    assert np.mean([each.side_effects for each in settled]) < 0.2


def test_the_same_seed_is_the_same_skills(skills):
    assert discover(0) == skills


def test_seeds_differ_everywhere():
    problem = make_problem(WORLD, sf.focused(sf.diayn()), targets=TARGETS)
    trainer = make_trainer(ACTOR, problem)
    one, other = (init_training(trainer, np.random.default_rng(seed), 4.0)[0] for seed in (0, 1))
    for name in ("actor", "critic"):
        assert not np.array_equal(one.nets[name]["w0"], other.nets[name]["w0"])
    assert not np.array_equal(one.estimators.params["w0"], other.estimators.params["w0"])
    assert not np.array_equal(one.state, other.state)


def test_skills_reach_few_places(effects, skills):
    covered = coverage_by_variable(effects, skills)
    assert set(covered) == {"a", "b", "c"}
    assert all(0.2 <= share <= 0.6 for share in covered.values())  # two ends of ten bins, and near


def test_policies_do_in_numpy_what_rollouts_do(skills):
    done = skills.run(3, 3, np.random.default_rng(0))
    policy = skills.policy(3)
    for row in range(3):
        actions = [policy(values) for values in done.values[row, :-1]]
        assert np.stack(actions) == pytest.approx(done.actions[row], abs=1e-5)
        assert policy(done.values[row, -1]) is None
    again = skills.run(3, done.values[:, 0], np.random.default_rng(5))
    assert again.values == pytest.approx(done.values, abs=1e-6)


@pytest.fixture(scope="module")
def metra():
    problem = make_problem(
        WORLD, sf.focused(sf.metra()), targets={"a": sf.Sphere(2), "c": 2, "nothing": None}
    )
    steps = 150 * 64 * problem.step_limit
    actor = sf.Actor(steps=steps, environments=64, batch=384, estimator_hidden=16)
    trained = train_actor(actor, problem, np.random.default_rng(0), lambda *_: None)
    return problem, trained


def test_metra_keeps_its_constraint_and_moves(metra):
    problem, trained = metra
    skills = skills_of(problem, trained)
    first, second = (z for z, names in enumerate(skills.targets) if names == ("c",))
    done = skills.run(first, 64, np.random.default_rng(0))
    phi = np.stack([skills.phi(done.values[i])["c"] for i in range(64)])
    steps = np.linalg.norm(np.diff(phi, axis=1), axis=2)
    assert np.quantile(steps, 0.95) < 1.1
    assert steps[:, :3].mean() > 0.3  # the constraint is nearly used up while it moves
    ends = [skills.run(z, 64, np.random.default_rng(0)).ends[:, 2] for z in (first, second)]
    assert abs(ends[0].mean() - ends[1].mean()) > 1.0
    pairs = done.values[:32, 0], done.values[32:, 0]
    apart = np.abs(pairs[0][:, 2] - pairs[1][:, 2]) / 0.2  # steps between two places
    fit = representation_fit(skills.phi(pairs[0])["c"], apart, skills.phi(pairs[1])["c"])
    assert fit.correlation > 0.7
    still = skills.run(skills.targets.index(()), 64, np.random.default_rng(1))
    moved = np.asarray(WORLD.space.change(still.values[:, 0], still.values[:, -1]))
    going = np.asarray(WORLD.space.change(done.values[:, 0], done.values[:, -1]))
    assert moved[:, 2].mean() < 0.5 * going[:, 2].mean()  # "leave everything"


class Interrupt(Exception):
    """Stands for Ctrl-C."""


def test_training_goes_on_from_a_checkpoint_bit_for_bit(tmp_path, monkeypatch):
    monkeypatch.setattr(network_training, "SECONDS_BETWEEN_CHECKPOINTS", -1.0)
    short = replace(
        ACTOR, steps=6 * 8 * WORLD.step_limit, rounds_per_jit=2, environments=8, batch=48
    )
    path = tmp_path / "folder" / "training.safetensors"

    def learn(actor=short, path=path, stops=False, seed=0):
        def progress(fraction, activity):
            if stops and fraction > 0.5:
                raise Interrupt

        return sf.discover(
            WORLD, sf.focused(sf.diayn()), seed=seed, targets=TARGETS, progress=progress,
            learner=replace(actor, checkpoint=path),
        )  # fmt: skip

    whole = learn(path=None)
    with pytest.raises(Interrupt):
        learn(stops=True)
    (file,) = path.parent.iterdir()
    kept_state = file.read_bytes()
    learn(replace(short, entropy=0.5))
    learn(seed=1)
    assert [*path.parent.iterdir()] == [file]  # theirs were others, and are gone
    assert learn() == whole
    assert not [*path.parent.iterdir()]
    file.write_bytes(kept_state[:-9] + b"a" + kept_state[-8:])
    with pytest.raises(UserError, match="is not a checkpoint of this training"):
        learn()


def test_wrong_problems_are_refused():
    for objective, targets, match in [
        (sf.focused(sf.reach()), TARGETS, "looks values up in a table"),
        (sf.focused(sf.diayn(), penalty=sf.changed_variables()), TARGETS, "use weighted_norm"),
        (sf.focused(sf.diayn(), baseline="inaction"), TARGETS, "compare with the start"),
        (sf.focused(sf.diayn(), strength="auto"), TARGETS, "give a strength"),
        (sf.vic(prior="learned"), None, "learns a prior"),
        (sf.focused(sf.diayn()), {"a": 1}, "give it 2 to"),
        (sf.focused(sf.diayn()), {"d": 2}, "variable"),
        (sf.focused(sf.diayn()), [{"a": 2}], "are components by name"),
        (sf.focused(sf.diayn()), {"nothing": None}, "no skill has a target"),
        (sf.diayn(), {"a": 2}, "have no targets"),
    ]:
        with pytest.raises(UserError, match=match):
            discover(0, objective, targets=targets)
    with pytest.raises(UserError, match="no table"):
        sf.discover(WORLD, sf.focused(sf.diayn()), seed=0)
    with pytest.raises(UserError, match="2 to"):
        sf.Sphere(1)
    for objective in (sf.metra(), sf.focused(sf.metra())):
        with pytest.raises(UserError, match="use lsd in FourRooms-v0"):
            sf.discover("four-rooms", objective, seed=0)
    with pytest.raises(UserError, match="with a discriminator"):
        sf.dusdi(sf.metra())
