"""Search of settings with Optuna's TPE sampler, resumable and independent of the worker count.

Trials are drawn in batches of a fixed size, each from the study's history and its own position, and
their runs are executed and stored like any others. The study lives in a database: an interrupted
search resumes, and several processes on several machines may search the same study.
"""

from __future__ import annotations

import hashlib
import os
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from skillfocus._internal.atomic_io import process_alive
from skillfocus.errors import UserError
from skillfocus.metrics.statistics import mean_interval
from skillfocus.sweeps.grid import Point
from skillfocus.sweeps.scores import Score, SweepSpec

if TYPE_CHECKING:
    import optuna
    from optuna.trial import FrozenTrial

BATCH = 4
"""Trials drawn before any of them is scored."""
UNSIGNED_TIMEOUT = timedelta(seconds=10)
"""A running trial without an owner is abandoned after this time; signing takes far less."""
Scorer = Callable[[list[Point]], list[Score | None]]
"""Execute the runs of some points and score them; None for a point that cannot be scored."""


def sqlite_url(folder: Path) -> str:
    """Return the URL of the default database, in a folder of runs.

    Raises:
        UserError: If there is another program's database, which Optuna would add its tables to.
    """
    path = folder.resolve() / "search.db"
    tables = _tables(path) if path.is_file() else []
    if tables and "studies" not in tables:
        raise UserError(f"{path} is not a database of searches; name another with --storage")
    return f"sqlite:///{path}"


def _tables(path: Path) -> list[str]:
    """Return the names of a database's tables; none if it cannot be read."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table'"
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
            return [name for (name,) in database.execute(query)]
    except sqlite3.Error:
        return []


@contextmanager
def open_study(storage: str, name: str, spec: SweepSpec) -> Iterator[optuna.Study]:
    """Open the study of that name, new or existing; its database is closed at the end.

    Args:
        storage: SQLAlchemy URL of the database.
        name: Name of the study.
        spec: What the search compares; a study belongs to one specification.

    Raises:
        UserError: If Optuna is missing, the database cannot be opened, or the study has another
            specification.
    """
    try:
        import optuna
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:
        raise UserError(
            "--trials needs Optuna, which is not installed: pip install 'skillfocus[sweep]'"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        database = optuna.storages.RDBStorage(storage)
    except (SQLAlchemyError, ImportError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(
            f"cannot open the study's storage {storage}: {reason} (without that database a search "
            f"starts again, and reuses the stored runs)"
        ) from None
    try:
        study = optuna.create_study(
            storage=database, study_name=name, load_if_exists=True,
            direction="minimize" if spec.minimise else "maximize",
        )  # fmt: skip
        digest = study.user_attrs.get("question")
        if digest is None:
            study.set_user_attr("question", spec.digest)
        elif digest != spec.digest:
            raise UserError(
                f"the study {name} searches something else (other settings, ranges, seeds or "
                f"metric); give this search another name with --study"
            )
        yield study
    finally:
        database.remove_session()
        database.engine.dispose()


def search(
    study: optuna.Study,
    spec: SweepSpec,
    *,
    trials: int,
    seed: int,
    score: Scorer,
    retry_failed: bool = False,
) -> list[Score]:
    """Search until the study has a number of trials.

    Args:
        study: The study, see `open_study`.
        spec: What the search compares.
        trials: Number of trials in all, including those of earlier searches.
        seed: Seed of the sampler.
        score: Function that executes and scores points.
        retry_failed: Whether to draw failed trials again.

    Returns:
        The scores of all completed trials, in order.
    """
    from optuna.trial import TrialState

    _resume(study, spec, retry_failed)
    while (drawn := len(_active_trials(study))) < trials:
        # After an interruption the incomplete batch is filled up, so that batches stay the same.
        count = min(BATCH - drawn % BATCH, trials - drawn)
        batch = [_draw(study, spec, seed, drawn + i) for i in range(count)]
        scores = score([_point(spec, trial) for trial in batch])
        for trial, result in zip(batch, scores, strict=True):
            if result is None:
                study.tell(trial, state=TrialState.FAIL)
            else:
                trial.set_user_attr("values", list(result.values))
                study.tell(trial, result.mean)
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    values = [tuple(trial.user_attrs["values"]) for trial in complete]
    return [
        Score(_point(spec, trial), *mean_interval(by_seed), by_seed)
        for trial, by_seed in zip(complete, values, strict=True)
    ]


def _point(spec: SweepSpec, trial: optuna.Trial | FrozenTrial) -> Point:
    return {axis.setting: trial.params[axis.setting] for axis in spec.axes}


def _active_trials(study: optuna.Study) -> list[FrozenTrial]:
    """Return the trials that were or are being scored, without those drawn again as others."""
    return [
        trial
        for trial in study.get_trials(deepcopy=False)
        if trial.state.name in ("COMPLETE", "FAIL", "RUNNING")
        and _replaced_attribute(trial) not in study.user_attrs
    ]


def _replaced_attribute(trial: FrozenTrial) -> str:
    """Return the study attribute that marks a trial as drawn again; existing studies contain it."""
    return f"given up {trial.number}"


def _draw(study: optuna.Study, spec: SweepSpec, seed: int, position: int) -> optuna.Trial:
    """Draw a trial; it depends on the study's history, the seed and the trial's position alone."""
    import optuna

    digest = hashlib.sha256(f"{seed} {position}".encode()).digest()
    study.sampler = optuna.samplers.TPESampler(seed=int.from_bytes(digest[:4], "big"))
    trial = study.ask()
    trial.set_user_attr("owner", _this_process())
    types = spec.base.setting_types()
    for axis in spec.axes:
        if axis.values:
            trial.suggest_categorical(axis.setting, axis.values)
        elif "int" in types[axis.setting]:
            trial.suggest_int(axis.setting, int(axis.low), int(axis.high), log=axis.log)
        else:
            trial.suggest_float(axis.setting, axis.low, axis.high, log=axis.log)
    return trial


def _this_process() -> str:
    return f"{os.getpid()}@{socket.gethostname()}"


def _resume(study: optuna.Study, spec: SweepSpec, retry_failed: bool) -> None:
    """Queue the trials of dead processes, and if asked the failed ones, to be drawn again.

    A trial that was interrupted while being drawn is only marked: the next one at its position is
    drawn the same.
    """
    from optuna.trial import TrialState

    for trial in _active_trials(study):
        running = trial.state is TrialState.RUNNING
        if (running and _abandoned(trial)) or (trial.state is TrialState.FAIL and retry_failed):
            study.set_user_attr(_replaced_attribute(trial), True)
            if running:
                study.tell(trial.number, state=TrialState.FAIL)
            if all(axis.setting in trial.params for axis in spec.axes):
                study.enqueue_trial(trial.params)


def _abandoned(trial: FrozenTrial) -> bool:
    """Return whether a running trial's process is dead, or is this one, which has no other search.

    Nothing is known about processes of other machines, so their trials are left alone.
    """
    owner = trial.user_attrs.get("owner")
    if owner is None:
        return datetime.now() - (trial.datetime_start or datetime.min) > UNSIGNED_TIMEOUT
    pid, _, host = owner.partition("@")
    dead = host == socket.gethostname() and not process_alive(int(pid))
    return dead or owner == _this_process()
