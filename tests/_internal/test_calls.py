"""Calls of the wrong form: one sentence that says what the function takes."""

# pyright: reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest

import skillfocus as sf
from skillfocus._internal.calls import CallError, explain_calls
from skillfocus.envs import SkillEnv, SkillVectorEnv, WorldEnv

W = sf.make("FourRooms-v0", drawing="#######\n#...T.#\n#######", slip=0.0, step_limit=12)
S = sf.discover(W, sf.focused(sf.vic()), seed=0, learner=sf.Planning(rounds=2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sf.discover(W, "vic"), r"discover: missing .* 'seed'; write discover\(world, obj"),
        (
            lambda: sf.discover(W, "vic", seeds=0),
            "argument of discover: 'seeds': did you mean 'seed",
        ),
        (lambda: sf.discover(W, "vic", 0), "takes 2 arguments by position, got 3: name the others"),
        (lambda: sf.make(slip=0.1), r"make: missing .* 'name'; write make\(name, …\)"),
        (lambda: sf.focused(sf.vic(), 4.0), "focused takes 1 argument by position, got 2"),
        (lambda: sf.focused(sf.vic(), lam=4.0), "unknown argument of focused: 'lam' .*strength"),
        (lambda: sf.vic(rates=0.1), "did you mean 'rate'"),
        (lambda: sf.Planning(round=3), "argument of Planning: 'round': did you mean 'rounds'"),
        (lambda: sf.QLearning(episode=3), "did you mean 'episodes'"),
        (lambda: sf.Objective("own"), "Objective: missing a required argument: 'reward'"),
        (lambda: sf.Penalty("own", 3.0), "Penalty: missing a required argument: 'measure'"),
        (lambda: S.rollout(0), r"'start'; write rollout\(skill, start, rng\)"),
        (lambda: sf.Skills.load(), r"'path'; write load\(path"),
        (lambda: sf.metrics.side_effects(S, samples=3), "did you mean 'sample'"),
        (lambda: sf.solve(S, "tool_1=1"), "solve: missing a required argument: 'seed'"),
        (lambda: SkillEnv(S, tsk="true"), "argument of SkillEnv: 'tsk': did you mean 'task'"),
        (lambda: WorldEnv(W).reset(seed="a"), "seed must be a non-negative integer, got 'a'"),
        (lambda: SkillEnv(S).reset(seed=-1), "seed must be a non-negative integer, got -1"),
        (lambda: SkillVectorEnv(S, "true", 2).reset(seed=-1), "seed must be a non-negative"),
        (lambda: SkillVectorEnv(S, "true", 2).reset(seed=[0, "a"]), "integer, got 'a'"),
        (lambda: SkillVectorEnv(S, "true", 2).reset(seed="7"), "got '7'; try seed=7"),
    ],
)
def test_one_sentence_each(call, message):
    with pytest.raises(sf.UserError, match=message) as found:
        call()
    assert "\n" not in str(found.value)


def test_numpy_seeds_are_seeds():
    first, _ = SkillEnv(S, start="random").reset(seed=5)
    second, _ = SkillEnv(S, start="random").reset(seed=np.int64(5))  # pyright: ignore
    assert np.array_equal(first, second)


def test_what_fails_inside_is_not_explained_away():
    @explain_calls
    def add(one, other):
        return one + other

    with pytest.raises(TypeError, match="unsupported operand") as found:
        add(1, "2")
    assert not isinstance(found.value, sf.UserError)
    with pytest.raises(CallError, match=r"add: missing a required argument: 'other'"):
        add(1)
    assert issubclass(CallError, TypeError), "as Python's own"


def test_signatures_and_pickles_stay():
    assert list(inspect.signature(sf.discover).parameters)[:3] == ["world", "objective", "seed"]
    assert next(iter(inspect.signature(sf.Planning).parameters)) == "rounds"
    assert pickle.loads(pickle.dumps(sf.Planning(rounds=3))) == sf.Planning(rounds=3)
    assert pickle.loads(pickle.dumps(sf.discover)) is sf.discover
