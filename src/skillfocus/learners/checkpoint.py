"""Checkpoints: the full training state, so that training resumes bit for bit.

A checkpoint is a sealed file (`files.py`) with the arrays of the training state, the estimators'
parameters, and the generators' states. Its name ends in a digest of everything that decides the
training, so that several trainings may share a path, and none resumes another's state.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import msgspec
import numpy as np

from skillfocus.errors import UserError
from skillfocus.files import (
    code_version,
    digest,
    make_folder,
    read_bytes,
    remove_leftovers,
    seal,
    unseal,
)
from skillfocus.files import write_atomically as write_file
from skillfocus.learners.cost_network.rewards import NetworkReward
from skillfocus.learners.problem import Problem
from skillfocus.worlds.explored import MAX_BYTES, cache_folder

if TYPE_CHECKING:
    from skillfocus.learners.cost_network.learner import Neural
    from skillfocus.learners.cost_network.training import SkillSet

SECONDS_BETWEEN_CHECKPOINTS = 60.0


class Header(msgspec.Struct, forbid_unknown_fields=True):
    """What a checkpoint holds beside its arrays."""

    training: str
    """A digest of everything that decides the training."""
    done: int
    """How many stretches or rounds are finished."""
    generators: list[dict[str, Any]] = []


class Checkpoint:
    """The checkpoint file of one training.

    Args:
        path: The file's name, to which a digest of the training is added.
        decides: Everything that decides the training, beside the code, the device and JAX.
    """

    def __init__(self, path: str | Path, decides: Sequence[object]) -> None:
        everything = [*decides, code_version(), jax.devices()[0].device_kind, jax.__version__]
        self.training = digest(json.dumps(everything, default=str).encode())
        named = Path(path)
        self.path = named.with_name(f"{named.stem}-{self.training[:8]}{named.suffix}")
        make_folder(self.path.parent)
        remove_leftovers(self.path.parent)
        self._written = time.monotonic()

    @property
    def is_due(self) -> bool:
        """Whether `SECONDS_BETWEEN_CHECKPOINTS` have passed since the last write."""
        return time.monotonic() - self._written > SECONDS_BETWEEN_CHECKPOINTS

    def exists(self) -> bool:
        """Return whether there is a file to resume from."""
        return self.path.exists()

    def write(
        self,
        carry: Any,
        arrays: Mapping[str, np.ndarray],
        done: int,
        generators: Sequence[dict[str, Any]] = (),
    ) -> None:
        """Write the training state, further arrays and the generators' states."""
        leaves = jax.tree.leaves(_plain_key(carry))
        named = {f"carry/{i}": np.asarray(leaf) for i, leaf in enumerate(leaves)}
        header = Header(self.training, done, list(generators))
        write_file(self.path, seal(header, {**named, **arrays}))
        self._written = time.monotonic()

    def read(self, carry: Any) -> tuple[Any, dict[str, np.ndarray], Header]:
        """Return the training state, the further arrays and the header.

        Args:
            carry: A training state with the same tree structure.

        Raises:
            UserError: If the file is damaged, or another training's.
        """
        try:
            header, arrays = unseal(read_bytes(self.path, "a checkpoint"), Header)
            if header.training != self.training:
                raise UserError("it is another training's")
            plain = _plain_key(carry)
            leaves = [_like(arrays.pop(f"carry/{i}"), leaf)
                      for i, leaf in enumerate(jax.tree.leaves(plain))]  # fmt: skip
        except (UserError, KeyError) as error:
            raise UserError(
                f"{self.path} is not a checkpoint of this training ({error}); delete it to start "
                f"over"
            ) from None
        restored = jax.tree.unflatten(jax.tree.structure(plain), leaves)
        return restored._replace(key=jax.random.wrap_key_data(restored.key)), arrays, header

    def delete(self) -> None:
        """Delete the file, if it exists."""
        self.path.unlink(missing_ok=True)


def _like(array: np.ndarray, leaf: Any) -> jax.Array:
    if (array.shape, array.dtype) != (leaf.shape, leaf.dtype):
        raise UserError("an array has another size")
    return jax.numpy.asarray(array)


def make_checkpoint(
    settings: Neural,
    problem: Problem,
    rngs: Sequence[np.random.Generator],
    strengths: Sequence[float],
) -> Checkpoint | None:
    """Return the checkpoint of a training, or None if the settings name no file."""
    if settings.checkpoint is None:
        return None
    own = {name: value for name, value in asdict(settings).items() if name != "checkpoint"}
    decides = [
        own, generator_states(rngs), list(strengths), problem.world.id, problem.world.settings,
        problem.objective.to_dict(),
        [sorted(skill.items()) for skill in problem.kinds.skills], problem.modes,
        problem.step_limit,
    ]  # fmt: skip
    return Checkpoint(settings.checkpoint, decides)


def generator_states(rngs: Sequence[np.random.Generator]) -> list[Any]:
    """Return the generators' states: at the start of training, they stand for its seeds."""
    return [rng.bit_generator.state for rng in rngs]


def write_state(
    checkpoint: Checkpoint, carry: Any, sets: Sequence[SkillSet], stretches: int
) -> None:
    """Write the training state with the estimates and generators of all sets of skills."""
    generators = generator_states([each.rng for each in sets])
    checkpoint.write(carry, _estimates(sets), stretches, generators)


def read_state(checkpoint: Checkpoint, carry: Any, sets: Sequence[SkillSet]) -> tuple[Any, int]:
    """Restore the training state, and the estimates and generators of all sets of skills.

    Returns:
        The training state, and the number of finished stretches.
    """
    carry, arrays, header = checkpoint.read(carry)
    for name, parameters in _estimates(sets).items():
        parameters[...] = arrays[name]
    for each, state in zip(sets, header.generators, strict=True):
        each.rng.bit_generator.state = state
        each.refresh(header.done)
    return carry, header.done


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


# --------------------
#
# JAX's cache of compiled programs on disk: compiling for a GPU takes half a minute, every time


def keep_compiled_programs() -> None:
    """Let JAX keep what it compiles for an accelerator, unless it was told where to keep it.

    Programs for CPUs are not kept: one compiled on another machine of a shared home folder may use
    instructions that this one lacks.
    """
    import jax

    folder = cache_folder()
    chosen = jax.config.jax_compilation_cache_dir  # pyright: ignore[reportAttributeAccessIssue]
    if folder is None or chosen is not None or jax.default_backend() == "cpu":
        return
    jax.config.update("jax_compilation_cache_dir", str(folder / "jax"))
    jax.config.update("jax_compilation_cache_max_size", MAX_BYTES)
