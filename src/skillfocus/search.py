"""Searching settings with Optuna: trials are drawn in batches of a fixed size, so that the search
does not depend on the number of workers, and their runs are done and kept like any others.

The study lives in a database. A search that was stopped goes on where it was; several commands,
on several machines, may search the same study.
"""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from skillfocus.errors import UserError
from skillfocus.experiments.discovery import Discovery
from skillfocus.files import process_alive
from skillfocus.metrics.intervals import mean_interval
from skillfocus.runs import Setting
from skillfocus.sweeps import Axis, Score

if TYPE_CHECKING:
    import optuna

OWNER, ABANDONED = "owner", "abandoned"
BATCH = 4
"""Trials drawn before any of them is judged."""
Judge = Callable[[list[dict[str, Setting]]], list[Score | None]]
"""Do the runs of these points, and score them; None for a point whose runs failed."""


def study_name(base: Discovery, axes: Sequence[Axis], metric: str, seeds: Sequence[int]) -> str:
    """Equal searches have equal names, so that one goes on where an earlier one stopped."""
    key = repr((base.changed({"seed": 0}).id, tuple(axes), metric, tuple(seeds)))
    return f"{base.objective}_{metric}_{hashlib.sha256(key.encode()).hexdigest()[:8]}"


def open_study(storage: str, name: str, minimise: bool) -> optuna.Study:
    try:
        import optuna
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:
        raise UserError(
            "--trials needs Optuna, which is not installed: pip install 'skillfocus[sweep]'"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        return optuna.create_study(
            storage=storage, study_name=name, load_if_exists=True,
            direction="minimize" if minimise else "maximize",
        )  # fmt: skip
    except (SQLAlchemyError, ImportError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"cannot open the study's storage {storage}: {reason}") from None


def sqlite_url(folder: Path) -> str:
    return f"sqlite:///{folder.resolve() / 'search.db'}"


def search(
    study: optuna.Study,
    base: Discovery,
    axes: Sequence[Axis],
    *,
    trials: int,
    seed: int,
    judge: Judge,
) -> list[Score]:
    """Search until the study has so many trials; every completed one's score, in order."""
    from optuna.trial import TrialState

    _take_up_abandoned(study)
    while (drawn := len(_counted(study))) < trials:
        # After an interruption the batch that was cut is filled up: batches stay what they were.
        count = min(BATCH - drawn % BATCH, trials - drawn)
        batch = [_ask(study, base, axes, seed, drawn + i) for i in range(count)]
        points = [{axis.setting: trial.params[axis.setting] for axis in axes} for trial in batch]
        for trial, score in zip(batch, judge(points), strict=True):
            if score is None:
                study.tell(trial, state=TrialState.FAIL)
            else:
                trial.set_user_attr("values", list(score.values))
                study.tell(trial, score.mean)
    return [
        Score(
            {axis.setting: trial.params[axis.setting] for axis in axes},
            *mean_interval(values),
            values,
        )
        for trial in study.get_trials(deepcopy=False)
        if (values := tuple(trial.user_attrs.get("values", ())))
        and trial.state is TrialState.COMPLETE
    ]


def _counted(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    """The trials that were or are being judged."""
    return [
        trial
        for trial in study.get_trials(deepcopy=False)
        if trial.state.name in ("COMPLETE", "FAIL", "RUNNING") and ABANDONED not in trial.user_attrs
    ]


def _ask(
    study: optuna.Study, base: Discovery, axes: Sequence[Axis], seed: int, place: int
) -> optuna.Trial:
    """Draw a trial, from the study's history and the trial's place in it alone."""
    import optuna

    digest = hashlib.sha256(f"{seed} {place}".encode()).digest()
    study.sampler = optuna.samplers.TPESampler(seed=int.from_bytes(digest[:4], "big"))
    trial = study.ask()
    trial.set_user_attr(OWNER, _here())
    for axis in axes:
        if axis.values:
            trial.suggest_categorical(axis.setting, axis.values)
        elif "int" in base.setting_types().get(axis.setting, ()):
            trial.suggest_int(axis.setting, int(axis.low), int(axis.high), log=axis.log)
        else:
            trial.suggest_float(axis.setting, axis.low, axis.high, log=axis.log)
    return trial


def _here() -> str:
    return f"{os.getpid()}@{socket.gethostname()}"


def _take_up_abandoned(study: optuna.Study) -> None:
    """Trials of processes of this machine that are no more are drawn again, as they were."""
    from optuna.trial import TrialState

    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        pid, _, host = trial.user_attrs.get(OWNER, f"0@{socket.gethostname()}").partition("@")
        if host != socket.gethostname() or process_alive(int(pid)):
            continue
        study._storage.set_trial_user_attr(trial._trial_id, ABANDONED, True)
        study.tell(trial.number, state=TrialState.FAIL)
        if trial.params:
            study.enqueue_trial(trial.params)
