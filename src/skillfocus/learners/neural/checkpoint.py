"""Checkpoints: everything that training needs to go on as if it had not been interrupted.

A checkpoint is a safetensors file: the arrays of the training state, the parameters of estimates,
and a JSON header with the state of the generators. Nothing in it is executed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from skillfocus.errors import UserError
from skillfocus.learners.base import Problem
from skillfocus.learners.neural.rewards import NetworkReward

if TYPE_CHECKING:
    from skillfocus.learners.neural.learner import Neural
    from skillfocus.learners.neural.train import SkillSet


def write_checkpoint(
    settings: Neural, problem: Problem, carry: Any, sets: Sequence[SkillSet], stretches: int
) -> None:
    """Write the state of training; the file is replaced at once, never half."""
    leaves = jax.tree.leaves(_plain_key(carry))
    arrays = {f"carry/{i}": np.asarray(leaf) for i, leaf in enumerate(leaves)}
    arrays |= _estimates(sets)
    header = {
        "digest": _digest(settings, problem, len(sets)),
        "stretches": stretches,
        "generators": [each.rng.bit_generator.state for each in sets],
    }
    path = Path(str(settings.checkpoint))
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    save_file(arrays, unfinished, metadata={"skillfocus": json.dumps(header)})
    os.replace(unfinished, path)


def read_checkpoint(
    settings: Neural, problem: Problem, carry: Any, sets: Sequence[SkillSet]
) -> tuple[Any, int]:
    """Restore the state of training.

    Args:
        settings: The learner's settings.
        problem: What is learned.
        carry: A training state of the same form.
        sets: Sets of skills in training; their estimates and generators are restored.

    Returns:
        The training state, and how many stretches are done.

    Raises:
        UserError: If the file is damaged, or belongs to another training.
    """
    path = Path(str(settings.checkpoint))
    try:
        with safe_open(path, "numpy") as file:
            header = json.loads((file.metadata() or {})["skillfocus"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise UserError(f"{path} is no checkpoint ({error}); delete it to start anew") from None
    if header.get("digest") != _digest(settings, problem, len(sets)):
        raise UserError(
            f"{path} belongs to another training, or to another device; name another checkpoint, "
            f"or delete it to start anew"
        )
    plain = _plain_key(carry)
    leaves = [arrays[f"carry/{i}"] for i in range(len(jax.tree.leaves(plain)))]
    restored = jax.tree.unflatten(jax.tree.structure(plain), [jax.numpy.asarray(x) for x in leaves])
    for name, parameters in _estimates(sets).items():
        parameters[...] = arrays[name]
    for each, state in zip(sets, header["generators"], strict=True):
        each.rng.bit_generator.state = state
        each.refresh(header["stretches"])
    return restored._replace(key=jax.random.wrap_key_data(restored.key)), header["stretches"]


def _plain_key(carry: Any) -> Any:
    return carry._replace(key=jax.random.key_data(carry.key))


def _estimates(sets: Sequence[SkillSet]) -> dict[str, np.ndarray]:
    """Return the parameters of estimates that are kept on the host, by name."""
    return {
        f"estimate/{i}/{number}": reward.params
        for i, each in enumerate(sets)
        for number, reward in enumerate(each.rewards)
        if not isinstance(reward, NetworkReward)
    }


def _digest(settings: Neural, problem: Problem, n_sets: int) -> str:
    """Return a digest of everything that decides how training goes on."""
    own = {name: value for name, value in asdict(settings).items() if name != "checkpoint"}
    device = jax.devices()[0]
    decisive = [
        own, n_sets, problem.world.id, problem.world.settings, problem.objective.describe(),
        [sorted(skill.items()) for skill in problem.assignment.skills], problem.modes,
        problem.step_limit, device.device_kind, jax.__version__,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(decisive, default=str).encode()).hexdigest()
