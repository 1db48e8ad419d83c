"""Checkpoints: the full training state, so that training resumes bit for bit.

A checkpoint is a safetensors file: the arrays of the training state, the estimators' parameters,
and a JSON header with the generators' states. Reading one executes nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
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

SECONDS_BETWEEN_CHECKPOINTS = 60.0


class Checkpoint:
    """A checkpoint file of one training run.

    Args:
        path: The file.
        decisive: Everything that determines the run. `read` rejects checkpoints of other runs.
    """

    def __init__(self, path: str | Path, decisive: Sequence[object]) -> None:
        self.path, self._written = Path(path), time.monotonic()
        device = jax.devices()[0]
        everything = [*decisive, device.device_kind, jax.__version__]
        self.digest = hashlib.sha256(json.dumps(everything, default=str).encode()).hexdigest()

    @property
    def is_due(self) -> bool:
        """Whether `SECONDS_BETWEEN_CHECKPOINTS` have passed since the last write."""
        return time.monotonic() - self._written > SECONDS_BETWEEN_CHECKPOINTS

    def exists(self) -> bool:
        """Return whether there is a file to resume from."""
        return self.path.exists()

    def write(
        self, carry: Any, arrays: Mapping[str, np.ndarray], header: Mapping[str, object]
    ) -> None:
        """Write the training state, further arrays and a header, atomically."""
        leaves = jax.tree.leaves(_plain_key(carry))
        named = {f"carry/{i}": np.asarray(leaf) for i, leaf in enumerate(leaves)}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        text = json.dumps({"digest": self.digest, **header})
        save_file({**named, **arrays}, unfinished, metadata={"skillfocus": text})
        os.replace(unfinished, self.path)
        self._written = time.monotonic()

    def read(self, carry: Any) -> tuple[Any, dict[str, np.ndarray], dict[str, Any]]:
        """Return the training state, the further arrays and the header.

        Args:
            carry: A training state with the same tree structure.

        Raises:
            UserError: If the file is damaged, or belongs to another run.
        """
        try:
            with safe_open(self.path, "numpy") as file:
                header = json.loads((file.metadata() or {})["skillfocus"])
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, KeyError, ValueError, OSError) as error:
            raise UserError(
                f"{self.path} is not a valid checkpoint ({error}); delete it to start over"
            ) from None
        if header.get("digest") != self.digest:
            raise UserError(
                f"{self.path} is a checkpoint of another run or device; choose another path, or "
                f"delete it to start over"
            )
        plain = _plain_key(carry)
        leaves = [arrays.pop(f"carry/{i}") for i in range(len(jax.tree.leaves(plain)))]
        restored = jax.tree.unflatten(
            jax.tree.structure(plain), [jax.numpy.asarray(leaf) for leaf in leaves]
        )
        restored = restored._replace(key=jax.random.wrap_key_data(restored.key))
        return restored, arrays, header

    def delete(self) -> None:
        """Delete the file, if it exists."""
        self.path.unlink(missing_ok=True)


def make_checkpoint(
    settings: Neural,
    problem: Problem,
    rngs: Sequence[np.random.Generator],
    strengths: Sequence[float],
) -> Checkpoint | None:
    """Return the checkpoint of a training run, or None if the settings name no file."""
    if settings.checkpoint is None:
        return None
    own = {name: value for name, value in asdict(settings).items() if name != "checkpoint"}
    decisive = [
        own, generator_states(rngs), list(strengths), problem.world.id, problem.world.settings,
        problem.objective.describe(),
        [sorted(skill.items()) for skill in problem.assignment.skills], problem.modes,
        problem.step_limit,
    ]  # fmt: skip
    return Checkpoint(settings.checkpoint, decisive)


def generator_states(rngs: Sequence[np.random.Generator]) -> list[Any]:
    """Return the generators' states: at the start of training, they stand for its seeds."""
    return [rng.bit_generator.state for rng in rngs]


def write_state(
    checkpoint: Checkpoint, carry: Any, sets: Sequence[SkillSet], stretches: int
) -> None:
    """Write the training state with the estimates and generators of all sets of skills."""
    generators = generator_states([each.rng for each in sets])
    checkpoint.write(carry, _estimates(sets), {"stretches": stretches, "generators": generators})


def read_state(checkpoint: Checkpoint, carry: Any, sets: Sequence[SkillSet]) -> tuple[Any, int]:
    """Restore the training state, and the estimates and generators of all sets of skills.

    Returns:
        The training state, and the number of finished stretches.
    """
    carry, arrays, header = checkpoint.read(carry)
    for name, parameters in _estimates(sets).items():
        parameters[...] = arrays[name]
    for each, state in zip(sets, header["generators"], strict=True):
        each.rng.bit_generator.state = state
        each.refresh(header["stretches"])
    return carry, header["stretches"]


def _plain_key(carry: Any) -> Any:
    return carry._replace(key=jax.random.key_data(carry.key))


def _estimates(sets: Sequence[SkillSet]) -> dict[str, np.ndarray]:
    """Return the parameters of the host-side estimates, by name."""
    return {
        f"estimate/{i}/{number}": reward.params
        for i, each in enumerate(sets)
        for number, reward in enumerate(each.rewards)
        if not isinstance(reward, NetworkReward)
    }
