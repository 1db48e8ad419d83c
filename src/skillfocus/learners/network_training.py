"""The training loop of networks, and the checkpoints that it resumes from, bit for bit.

A checkpoint is a sealed file (`files.py`) with the arrays of the training state and the state of
the generator. Its name ends in a digest of everything that decides the training, so that several
trainings may share a path, and none resumes another's state.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import msgspec
import numpy as np

from skillfocus.errors import UserError
from skillfocus.files import (
    digest,
    make_folder,
    read_bytes,
    remove_leftovers,
    seal,
    unseal,
    write_atomically,
)
from skillfocus.learners.problem import Problem, learner_settings
from skillfocus.machine import code_version
from skillfocus.progress import Progress
from skillfocus.worlds.explored import MAX_BYTES, cache_folder

if TYPE_CHECKING:
    from skillfocus.learners.actor.learner import Actor
    from skillfocus.learners.cost_network.learner import Neural

SECONDS_BETWEEN_CHECKPOINTS = 60.0


class Header(msgspec.Struct, forbid_unknown_fields=True):
    """What a checkpoint holds beside its arrays."""

    training: str
    """A digest of everything that decides the training."""
    done: int
    """How many updates or rounds are finished."""
    generator: dict[str, Any]
    """State of the training's generator."""


class Checkpoint:
    """The checkpoint file of one training; without a path, it neither writes nor reads.

    Args:
        settings: The learner's settings, whose `checkpoint` is the path. A digest of the training
            is added to the file's name.
        problem: What is learned.
        rng: The training's generator, before anything is drawn from it.
    """

    path: Path | None = None

    def __init__(
        self, settings: Actor | Neural, problem: Problem, rng: np.random.Generator
    ) -> None:
        self._rng, self._written = rng, time.monotonic()
        if settings.checkpoint is None:
            return
        world = problem.world
        decides = [
            learner_settings(settings), rng.bit_generator.state, world.id, world.settings,
            problem.objective.to_dict(), problem.kinds, problem.modes, problem.step_limit,
            code_version(), jax.devices()[0].device_kind, jax.__version__,
        ]  # fmt: skip
        self.training = digest(json.dumps(decides, default=str).encode())
        named = Path(settings.checkpoint)
        self.path = named.with_name(f"{named.stem}-{self.training[:8]}{named.suffix}")
        make_folder(self.path.parent)
        remove_leftovers(self.path.parent)

    def write(self, state: Any, done: int) -> None:
        """Write a training state, a pytree, if `SECONDS_BETWEEN_CHECKPOINTS` have passed.

        If the write fails (a full disk), warn and keep training.
        """
        if self.path is None or time.monotonic() - self._written <= SECONDS_BETWEEN_CHECKPOINTS:
            return
        leaves = enumerate(jax.tree.leaves(state))
        arrays = {f"state/{i}": np.asarray(_plain(leaf)) for i, leaf in leaves}
        header = Header(self.training, done, dict(self._rng.bit_generator.state))
        try:
            write_atomically(self.path, seal(header, arrays))
        except UserError as error:
            warnings.warn(f"training goes on without a new checkpoint: {error}", stacklevel=2)
        self._written = time.monotonic()

    def read(self, state: Any) -> tuple[Any, int]:
        """Restore the generator; return the saved state and the number of finished units.

        Args:
            state: A training state with the same tree structure, returned if there is no file.

        Raises:
            UserError: If the file is damaged, or another training's.
        """
        if self.path is None or not self.path.exists():
            return state, 0
        leaves, structure = jax.tree.flatten(state)
        try:
            header, arrays = unseal(read_bytes(self.path, "a checkpoint"), Header)
            if header.training != self.training:
                raise UserError("it belongs to another training")
            leaves = [_like(arrays[f"state/{i}"], leaf) for i, leaf in enumerate(leaves)]
            self._rng.bit_generator.state = header.generator
        except (UserError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise UserError(
                f"{self.path} is not a checkpoint of this training ({error}); delete it to start "
                f"over"
            ) from None
        return jax.tree.unflatten(structure, leaves), header.done

    def delete(self) -> None:
        """Delete the file, if it exists."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def _is_key(leaf: Any) -> bool:
    return jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _plain(leaf: Any) -> Any:
    """Return the numbers of a JAX key; other arrays as they are."""
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf


def _like(array: np.ndarray, leaf: Any) -> Any:
    plain = _plain(leaf)
    if (array.shape, array.dtype) != (plain.shape, plain.dtype):
        raise UserError("an array has another size")
    if isinstance(leaf, np.ndarray):
        return array.copy()
    restored = jax.numpy.asarray(array)
    return jax.random.wrap_key_data(restored) if _is_key(leaf) else restored


def train(
    settings: Actor | Neural,
    checkpoint: Checkpoint,
    progress: Progress,
    state: Any,
    run: Callable[[Any, int], tuple[Any, Any, dict[str, Any]]],
    *,
    unit: str,
    n_units: int,
    units_per_call: int,
    steps_per_unit: int,
) -> Any:
    """Train from the initial state, or from a checkpoint, to the end.

    Args:
        settings: The learner's settings.
        checkpoint: The training's checkpoint.
        progress: Progress callback.
        state: The initial training state, a pytree of arrays.
        run: `run(state, count)` trains for so many units. It returns the state, numbers that must
            be finite, and metrics for `on_metrics`, which are averaged.
        unit: Name of a unit of training, such as "round", for messages.
        n_units: Number of units.
        units_per_call: Units per call of `run`.
        steps_per_unit: Environment steps of a unit.

    Returns:
        The last training state.

    Raises:
        UserError: If training diverges, or the checkpoint cannot be used.
    """
    enable_compilation_cache()
    state, first = checkpoint.read(state)
    began, done = time.monotonic(), first
    while done < n_units:
        steps = (done - first) * steps_per_unit
        speed = f"{steps / max(time.monotonic() - began, 1e-9):,.0f} steps/s"
        progress(
            done / n_units, f"{unit} {done:,} of {n_units:,}, {speed if steps else 'compiling'}"
        )
        count = min(units_per_call, n_units - done)
        state, losses, metrics = run(state, count)
        done += count
        if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(losses)):
            advice = "set checkpoint to keep earlier states"
            if checkpoint.path is not None and checkpoint.path.exists():
                advice = f"the last finite state is in {checkpoint.path}"
            raise UserError(
                f"training diverged: a loss is no longer finite after {done:,} {unit}s; lower "
                f"learning_rate or estimator_rate ({advice})"
            )
        if settings.on_metrics is not None:
            means = {name: float(np.mean(value)) for name, value in metrics.items()}
            settings.on_metrics({"steps": float(done * steps_per_unit), **means})
        checkpoint.write(state, done)
    checkpoint.delete()
    return state


def enable_compilation_cache() -> None:
    """Turn on JAX's persistent compilation cache on accelerators, where compiling takes long.

    A folder configured elsewhere is kept. Programs for CPUs are not kept: one compiled
    on another machine of a shared home folder may use instructions that this one lacks.
    """
    folder = cache_folder()
    chosen = jax.config.jax_compilation_cache_dir  # pyright: ignore[reportAttributeAccessIssue]
    if folder is None or chosen is not None or jax.default_backend() == "cpu":
        return
    jax.config.update("jax_compilation_cache_dir", str(folder / "jax"))
    jax.config.update("jax_compilation_cache_max_size", MAX_BYTES)
