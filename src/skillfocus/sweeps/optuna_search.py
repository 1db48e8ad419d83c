"""Searching settings with Optuna: trials are drawn in batches of a fixed size, so that the search
does not depend on the number of workers, and their runs are done and kept like any others.

The study lives in a database. A search that was stopped goes on where it was; several commands,
on several machines, may search the same study.
"""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from skillfocus._internal.atomic_io import process_alive
from skillfocus.errors import UserError
from skillfocus.metrics.statistics import mean_interval
from skillfocus.runs.discovery_run import Discovery
from skillfocus.runs.run import Setting
from skillfocus.sweeps.grid import Axis, Score, check_axes

if TYPE_CHECKING:
    import optuna
    from optuna.trial import FrozenTrial

BATCH = 4
"""Trials drawn before any of them is judged."""
ASK = timedelta(seconds=10)
"""Longer than it takes to draw a trial and sign it."""
Judge = Callable[[list[dict[str, Setting]]], list[Score | None]]
"""Do the runs of these points, and score them; None for a point that cannot be scored."""


@dataclass(frozen=True)
class Question:
    """What is searched for; a study answers one question."""

    base: Discovery
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...]
    metric: str
    minimise: bool

    def __post_init__(self) -> None:
        check_axes(self.axes)
        for axis in self.axes:
            self.base.check_setting(axis.setting)

    @property
    def digest(self) -> str:
        base = self.base.changed({"seed": 0}).id
        key = repr((base, self.axes, self.seeds, self.metric, self.minimise))
        return hashlib.sha256(key.encode()).hexdigest()[:8]

    def point(self, trial: optuna.Trial | FrozenTrial) -> dict[str, Setting]:
        return {axis.setting: trial.params[axis.setting] for axis in self.axes}


def sqlite_url(folder: Path) -> str:
    return f"sqlite:///{folder.resolve() / 'search.db'}"


@contextmanager
def open_study(storage: str, name: str, question: Question) -> Iterator[optuna.Study]:
    """The study of that name, new or begun before; its database is closed at the end."""
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
            f"begins anew, and finds its runs again)"
        ) from None
    try:
        study = optuna.create_study(
            storage=database, study_name=name, load_if_exists=True,
            direction="minimize" if question.minimise else "maximize",
        )  # fmt: skip
        asked = study.user_attrs.get("question")
        if asked is None:
            study.set_user_attr("question", question.digest)
        elif asked != question.digest:
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
    question: Question,
    *,
    trials: int,
    seed: int,
    judge: Judge,
    retry_failed: bool = False,
) -> list[Score]:
    """Search until the study has so many trials; every completed one's score, in order. Trials
    that failed before are drawn again if `retry_failed`."""
    from optuna.trial import TrialState

    _take_up(study, question, retry_failed)
    while (drawn := len(_counted(study))) < trials:
        # After an interruption the batch that was cut is filled up: batches stay what they were.
        count = min(BATCH - drawn % BATCH, trials - drawn)
        batch = [_ask(study, question, seed, drawn + i) for i in range(count)]
        for trial, score in zip(batch, judge([question.point(t) for t in batch]), strict=True):
            if score is None:
                study.tell(trial, state=TrialState.FAIL)
            else:
                trial.set_user_attr("values", list(score.values))
                study.tell(trial, score.mean)
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    values = [tuple(trial.user_attrs["values"]) for trial in complete]
    return [
        Score(question.point(trial), *mean_interval(found), found)
        for trial, found in zip(complete, values, strict=True)
    ]


def _counted(study: optuna.Study) -> list[FrozenTrial]:
    """The trials that were or are being judged."""
    return [
        trial
        for trial in study.get_trials(deepcopy=False)
        if trial.state.name in ("COMPLETE", "FAIL", "RUNNING")
        and _given_up(trial) not in study.user_attrs
    ]


def _given_up(trial: FrozenTrial) -> str:
    """The study's note that a trial was drawn again as another one."""
    return f"given up {trial.number}"


def _ask(study: optuna.Study, question: Question, seed: int, place: int) -> optuna.Trial:
    """Draw a trial, from the study's history and the trial's place in it alone."""
    import optuna

    digest = hashlib.sha256(f"{seed} {place}".encode()).digest()
    study.sampler = optuna.samplers.TPESampler(seed=int.from_bytes(digest[:4], "big"))
    trial = study.ask()
    trial.set_user_attr("owner", _here())
    types = question.base.setting_types()
    for axis in question.axes:
        if axis.values:
            trial.suggest_categorical(axis.setting, axis.values)
        elif "int" in types[axis.setting]:
            trial.suggest_int(axis.setting, int(axis.low), int(axis.high), log=axis.log)
        else:
            trial.suggest_float(axis.setting, axis.low, axis.high, log=axis.log)
    return trial


def _here() -> str:
    return f"{os.getpid()}@{socket.gethostname()}"


def _take_up(study: optuna.Study, question: Question, retry_failed: bool) -> None:
    """Draw again, as they were, the trials of processes that are no more. One that was cut while
    it was being drawn is only given up: the next at its place is drawn the same."""
    from optuna.trial import TrialState

    for trial in _counted(study):
        running = trial.state is TrialState.RUNNING
        if (running and _abandoned(trial)) or (trial.state is TrialState.FAIL and retry_failed):
            study.set_user_attr(_given_up(trial), True)
            if running:
                study.tell(trial.number, state=TrialState.FAIL)
            if all(axis.setting in trial.params for axis in question.axes):
                study.enqueue_trial(trial.params)


def _abandoned(trial: FrozenTrial) -> bool:
    """Whether a running trial's process is this one, which has no other search, or is no more. Of
    other machines' processes nobody knows."""
    owner = trial.user_attrs.get("owner")
    if owner is None:
        return datetime.now() - (trial.datetime_start or datetime.min) > ASK
    pid, _, host = owner.partition("@")
    gone = host == socket.gethostname() and not process_alive(int(pid))
    return gone or owner == _here()
