"""JSON records of what skills do and of worlds, and the same numbers as rows of a result table.

The records are what `discover --json`, `evaluate --json` and `describe --json` print, so programs
rely on their fields.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np

from skillfocus.errors import UserError
from skillfocus.mdp import TabularMDP, uninfluenced
from skillfocus.metrics.coverage import check_countable
from skillfocus.metrics.coverage import coverage as measure_coverage
from skillfocus.metrics.reachability import isolated_change_chances
from skillfocus.metrics.side_effects import fair_and_all_effects, side_effects
from skillfocus.objectives.kinds import default_counts, goal_label
from skillfocus.progress import Progress, no_progress, part_of, shown
from skillfocus.skills.actor import ActorPolicy
from skillfocus.skills.skills import (
    Skills,
    SkillSource,
    list_sources,
    load_source,
    objective_label,
    source_file,
)
from skillfocus.spaces import Row, Variable
from skillfocus.world import World, check_seed
from skillfocus.worlds.registry import WORLD_IDS


def skill_records(
    skills: Skills, sample: int | None = None, seed: int = 0, progress: Progress = no_progress
) -> list[dict]:
    """Return one JSON record per skill: what it changes, averaged over start states.

    Args:
        skills: The skills.
        sample: Number of rollouts per skill; by default, values are exact where possible.
        seed: Seed of the rollouts.
        progress: Callback for the fraction done.

    Returns:
        Records with `skill`, `targets`, `reaches` (of goal-conditioned skills), the fields of
        `SkillEffects.summary()` over fair starts, and under `all_starts` the same fields over all
        start states. In worlds of real-valued variables also `component`, and under `settled` the
        same fields over states in which other skills have ended.
    """
    pairs = fair_and_all_effects(skills, sample=sample, seed=seed, progress=progress)
    records = [
        {
            "skill": z,
            "targets": list(fair.targets),
            **fair.summary(),
            "all_starts": everywhere.summary(),
        }
        for z, (fair, everywhere) in enumerate(pairs)
    ]
    if any(skills.goals):
        for record, goal in zip(records, skills.goals, strict=True):
            record["reaches"] = goal_label(skills.world.space, goal)
    if isinstance(skills.policies, ActorPolicy):
        rng = np.random.default_rng(seed)
        settled = side_effects(skills, "settled", sample=sample, rng=rng)
        for record, skill, effects in zip(records, skills.policies.skills, settled, strict=True):
            record |= {"component": [*skill.values()], "settled": effects.summary()}
    return records


def origin(skills: Skills) -> dict[str, object]:
    """Return where skills come from: world, objective, strength, learner and seed.

    They are as `skills.info` has them, which holds what a file says: names that are not text become
    "?", numbers that are not numbers None.
    """
    objective, learner = (
        value if isinstance(value := skills.info.get(key), dict) else {}
        for key in ("objective", "learner")
    )
    strength, name, seed = objective.get("strength"), learner.get("name"), skills.info.get("seed")
    return {
        "world": skills.world.id,
        "objective": objective_label(skills.info),
        "strength": strength if type(strength) in (int, float) else None,
        "learner": name if isinstance(name, str) else "?",
        "seed": seed if type(seed) is int else None,
    }


def rows_of(records: list[dict]) -> list[Row]:
    """Return the numbers of `skill_records` as rows.

    The path of a number in its record becomes the metric and the skill the step, as in
    `("all_starts/side_effects_by_variable/position", 3, 0.1)`.
    """
    return [
        (metric, record["skill"], value)
        for record in records
        for metric, value in _leaves(
            {**record, "skill": {}, "targets": {}, "reaches": {}, "component": {}}
        )
    ]


def _leaves(tree: dict, prefix: str = "") -> Iterable[tuple[str, float | None]]:
    """Yield the path and the value of every number in a nested dict; list items are numbered."""
    for name, value in tree.items():
        if isinstance(value, list):
            value = {str(index): number for index, number in enumerate(value)}
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", None if value is None else float(value)


def overall(records: list[dict]) -> list[Row]:
    """Return three numbers for a whole set of skills, over fair starts, as rows without a step.

    `control`: how often a target's best skill changes it, averaged over targets.
    `mean_side_effects`: side effects averaged over skills.
    `focus`: control minus mean side effects.
    They are None where undefined: skills without targets have no control and no focus.
    """
    usable = [record for record in records if record["starts"]]
    targets = dict.fromkeys(tuple(record["targets"]) for record in usable if record["targets"])
    best = [
        max(record["changes_target"] for record in usable if tuple(record["targets"]) == target)
        for target in targets
    ]
    control = sum(best) / len(best) if best else None
    effects = sum(record["side_effects"] for record in usable) / len(usable) if usable else None
    focus = None if control is None or effects is None else control - effects
    return [
        ("control", None, control),
        ("mean_side_effects", None, effects),
        ("focus", None, focus),
    ]


# -------------------- `evaluate`: JSON records of what skills do, from files or from memory


def evaluate(
    skills: SkillSource | Iterable[SkillSource],
    *,
    coverage: bool = False,
    sample: int | None = None,
    seed: int = 0,
    world: World | None = None,
    progress: Progress | None = None,
) -> list[dict]:
    """Return what each skill changes, and optionally what chains of skills cover.

        evaluate("out/four-rooms.skills")[0]["skills"][0]["side_effects"]

    Args:
        skills: Sets of skills or files of them, one or several.
        coverage: Whether to measure the coverage of chains of 1 to 5 skills too.
        sample: Number of rollouts per skill; by default, values are exact where possible.
        seed: Seed of everything that is sampled.
        world: The world of the skills, for files that cannot name it.
        progress: Progress callback (default: a bar, as `discover` shows it).

    Returns:
        One record per set: `world`, `objective`, `strength`, `learner`, `seed`, `file` (None for
        skills in memory), `skills` (see `summary.skill_records`), `unusual` if the world has
        settings that are not the default, and with `coverage` also `coverage`, `auc` and
        `coverage_exact`.

    Raises:
        UserError: If a file cannot be loaded, `sample` is below 2, or `seed` is no seed.
    """
    if sample is not None and sample < 2:
        raise UserError(f"sample is {sample}; it must be at least 2")
    check_seed(seed)
    sources = list_sources(skills)
    records = []
    with shown(progress, "evaluate") as report:
        for number, source in enumerate(sources):
            loaded = load_source(source, world)
            record = {**origin(loaded), **_unusual(loaded.world), "file": source_file(source)}
            records.append(record)
            if coverage:
                check_countable(loaded)
            name = record["file"] or f"{record['objective']}, seed {record['seed']}"
            first, last = number / len(sources), (number + 1 - coverage / 2) / len(sources)
            part = part_of(report, first, last, name)
            record["skills"] = skill_records(loaded, sample, seed, part)
            if coverage:
                report(last, f"coverage of {name}")
                record |= measure_coverage(loaded, rng=np.random.default_rng(seed)).summary()
        report(1.0, "done")
    return records


def _unusual(world: World) -> dict[str, Any]:
    """Return a world's settings as `discover` shows them: those that are not the default, without
    maps, too long for titles. Nothing if there are none."""
    known = WORLD_IDS.get(world.id)
    defaults = known().settings if known is not None and type(world) is known else {}
    settings = {
        name: value
        for name, value in world.settings.items()
        if not (name in defaults and defaults[name] == value)
        and not (isinstance(value, str) and "\n" in value)
    }
    shown = {"world_settings": json.dumps(settings, sort_keys=True)}
    return {"unusual": shown} if settings else {}


# -------------------- Worlds: variables in numbers, and what may surprise a user in sentences

MAX_LISTED = 6
"""The most values or names to list one by one."""


def describe(world: World, mdp: TabularMDP | None = None) -> dict[str, Any]:
    """Return a JSON-compatible summary of a world.

    Args:
        world: The world.
        mdp: `tabulate(world)`, for a world that has a table.

    Returns:
        `world` (id), `actions`, `step_limit`, `notes` and `variables`. With a table, `states`;
        without one, `goals` and `combinations` of values, or for real-valued variables
        `observations` (how many numbers a policy sees) and `episode_steps`. Real-valued actions
        have `name`, `low` and `high`. Per variable `name`, `changes` ("never", "by itself", "for
        good", "partly for good" or "and back"), and `skills` (how many by default); finite ones
        `values` (how many), `listed` (as text) and, with a table, `alone` (see
        `isolated_change_chances`); real-valued ones `numbers`, `low`, `high` (null where there is
        no bound) and `scale`.
    """
    actions: list[Any] = list(world.actions)
    if world.has_real_actions:
        bounds = zip(world.actions, world.action_low, world.action_high, strict=True)
        actions = [{"name": name, "low": low, "high": high} for name, low, high in bounds]
    about = {"world": world.id, "actions": actions, "step_limit": world.step_limit}
    notes = list(world.notes if mdp is None else remarks(world, mdp))
    if mdp is not None:
        about["states"] = mdp.n_states
    elif world.space.is_finite:
        about |= {"combinations": world.space.n_combinations, "goals": list(world.goals)}
        notes.append("there is no table of its states: use learner=Neural() or --learner neural")
    else:
        about |= {"observations": world.observation_size, "episode_steps": world.episode_steps}
        notes.append("its variables are real-valued: use learner=Actor() or --learner neural")
    variables = [_variable(world, mdp, variable) for variable in world.space.variables]
    if world.space.is_finite:
        skills: dict[str, int] = {}  # no skill has a target where nothing ever changes
        if mdp is None or len(mdp.fixed) < len(mdp.space):
            skills = default_counts(world, left_out=() if mdp is None else uninfluenced(mdp))
        alone = {} if mdp is None else _alone(world, mdp)
        for entry in variables:
            own = {"alone": alone[entry["name"]]} if alone else {}
            entry |= {**own, "skills": skills.get(entry["name"], 0)}
    return {**about, "variables": variables, "notes": notes}


def _variable(world: World, mdp: TabularMDP | None, variable: Variable) -> dict[str, Any]:
    changes = {"changes": _changes(world, mdp, variable.name)}
    if variable.is_finite:
        listed = list_values(variable.values)
        own = {"name": variable.name, "values": len(variable.values), "listed": listed}
        return {**own, **changes}
    bounds = {"low": variable.low, "high": variable.high}
    return {
        "name": variable.name,
        "numbers": variable.width,
        **{k: [x if math.isfinite(x) else None for x in v] for k, v in bounds.items()},
        "scale": variable.largest_distance,
        **changes,
    }


def remarks(world: World, mdp: TabularMDP) -> Iterator[str]:
    """Yield what may surprise a user of this world, in sentences; its own `notes` come first.

    Args:
        world: The world.
        mdp: `tabulate(world)`.
    """
    yield from world.notes
    if mdp.fixed:
        them = "it" if len(mdp.fixed) == 1 else "them"
        yield f"no action changes {' or '.join(mdp.fixed)}, so no skill targets {them} by default"
    alive = [name for name in uninfluenced(mdp) if name not in mdp.fixed]
    if alive:
        one = len(alive) == 1
        change = "changes by itself" if one else "change by themselves"
        yield (
            f"{', '.join(alive)} {change}, whatever is done, so no skill targets "
            f"{'it' if one else 'them'} by default; what {'it does' if one else 'they do'} while a "
            f"skill runs counts among the skill's side effects"
        )
    never = [name for name, chance in _alone(world, mdp).items() if chance == 0]
    if never:
        verb = "changes" if len(never) == 1 else "change"
        yield (
            f"{_some_of(never)} never {verb} alone: whatever does it changes something else too, "
            f"so such skills have side effects or do nothing (groups=… joins what changes together)"
        )
    steps_on = [name for j, name in enumerate(mdp.space.names) if _has_stages(mdp, j)]
    if steps_on:
        moves, its, it_has = (
            ("moves", "its", "it has") if len(steps_on) == 1 else ("move", "their", "they have")
        )
        yield (
            f"{_some_of(steps_on)} only {moves} on, so {its} skills are judged from states in "
            f"which {it_has} not moved yet; the columns with * in tables are from every start"
        )
    for name, values in mdp.irrecoverable_values.items():
        if mdp.reversible[mdp.space.index(name)]:
            yield f"{name}: once it has left {list_values(values)} it never comes back"


def _has_stages(mdp: TabularMDP, variable: int) -> bool:
    """Whether a variable only moves on, and has values between its first and its last."""
    between = mdp.can_change[:, variable] & ~mdp.pristine[:, variable]
    return not mdp.n_marks and not mdp.reversible[variable] and bool(between.any())


def _some_of(names: list[str]) -> str:
    return ", ".join(names[:MAX_LISTED]) + (", …" if len(names) > MAX_LISTED else "")


def _alone(world: World, mdp: TabularMDP) -> dict[str, float | None]:
    default_target = mdp.space.index(world.default_target)
    return isolated_change_chances(mdp, world.step_limit, default_target)


def list_values(values: tuple[Hashable, ...]) -> str:
    """Return the values as text: all of them, or the first and the last of many."""
    if len(values) <= MAX_LISTED:
        return ", ".join(map(str, values))
    return f"{values[0]} … {values[-1]}"


def _changes(world: World, mdp: TabularMDP | None, name: str) -> str:
    """Return how a variable changes, as its table shows, or as the world declares."""
    if mdp is None:
        if name in world.fixed:
            return "never"
        return "for good" if name in world.one_way else "and back"
    if name in mdp.fixed:
        return "never"
    if name in uninfluenced(mdp):
        return "by itself"
    if not mdp.reversible[mdp.space.index(name)]:
        return "for good"
    return "partly for good" if name in mdp.irrecoverable_values else "and back"
