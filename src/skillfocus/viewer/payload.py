"""What a page knows of skill sets: policies, side effects, rewards, learned tasks.

Data is exact but for two things: what an agent learned has single precision, and the rewards of
the heat maps have 256 levels. Of large policies, states that runs hardly ever reach are left out
(see `walks`). `assets/data.js` documents the fields.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skillfocus.errors import UserError
from skillfocus.mdp import TabularMDP, index_values
from skillfocus.metrics.reachability import round_trips
from skillfocus.metrics.summary import origin, skill_records
from skillfocus.progress import Progress
from skillfocus.render.icons import (
    GROUNDS,
    ICONS,
    PALETTES,
    TRACKED,
    agent_icon_name,
    glyph_icon,
    ground_glyphs,
)
from skillfocus.render.scene import changing_places, mark_of_cell, places_in_table
from skillfocus.rollout import most_likely_path
from skillfocus.skills.skills import Skills
from skillfocus.spaces import State
from skillfocus.tasks.solving import Solution
from skillfocus.tasks.task import Task
from skillfocus.viewer.recordings import (
    RecordedWorld,
    frames_data,
    missing_frames_note,
    outcome_costs,
    pack_array,
    walk_policy,
)
from skillfocus.world import World
from skillfocus.worlds.grid import Cell, GridWorld
from skillfocus.worlds.registry import fingerprint

if TYPE_CHECKING:
    from skillfocus.skills.intrinsic_reward import IntrinsicReward


# --------------------
#
# What a page knows of a world: its variables, transitions and map as compact tables
#
# The page simulates with these tables exactly as `core.rollout` does: same outcomes in the same
# order, same cumulative probabilities, same hidden marks. `assets/data.js` documents the fields.


def world_data(world: World, mdp: TabularMDP) -> dict[str, object]:
    """Return the page's data of a world.

    Successor states are stored relative to their source, and equal rows of probabilities once:
    both compress far better.

    Args:
        world: The world.
        mdp: Its tables.

    Returns:
        `WorldData` of `assets/data.js`, without the start.
    """
    width = mdp.successors.shape[2]
    both = np.concatenate([mdp.cumulative, outcome_costs(mdp.probabilities)], axis=2)
    laws, law_of = np.unique(both.reshape(-1, 2 * width), axis=0, return_inverse=True)
    source = np.arange(mdp.n_states, dtype=np.int32)[:, None, None]
    hidden_marks = (
        {
            "marks": pack_array(mdp.marks),
            "again": pack_array(mdp.again - source),
            "marksIn": pack_array(mdp.marks_in),
        }
        if mdp.n_marks
        else {}
    )
    return {
        **_common_data(world, mdp.values),
        "nOutcomes": width,
        "nMarks": mdp.n_marks,
        "successors": pack_array(mdp.successors - source),
        "lawOf": pack_array(law_of.ravel().astype(np.int32)),
        "laws": laws[:, :width].tolist(),
        "costs": laws[:, width:].astype(int).tolist(),
        **hidden_marks,
        "map": _tabular_map(world, mdp) if isinstance(world, GridWorld) else None,
        "frames": None if isinstance(world, GridWorld) else frames_data(world, mdp),
        "noFrames": "" if isinstance(world, GridWorld) else missing_frames_note(world, mdp),
    }


def recorded_world_data(world: World, recorded: RecordedWorld) -> dict[str, object]:
    """Return the page's data of a world without a table: the states that occur in recordings."""
    map_data = None
    if isinstance(world, GridWorld):
        _, example, look_of = np.unique(
            recorded.values[:, 1:], axis=0, return_index=True, return_inverse=True
        )
        states = [tuple(row) for row in recorded.values[example].tolist()]
        look_of = look_of.reshape(-1).astype(np.int32)
        before, after = recorded.values[recorded.moves[:, 0]], recorded.values[recorded.moves[:, 1]]
        map_data = _map_data(world, states, look_of, {}, changing_places(before, after))
    return {
        **_common_data(world, recorded.values),
        "nOutcomes": 1,
        "nMarks": 0,
        "laws": [],
        "costs": [],
        "starts": list(range(recorded.n_starts)),
        "start": 0,
        "map": map_data,
    }


def _common_data(world: World, values: np.ndarray) -> dict[str, object]:
    """Return what pages know of any world, with or without a table."""
    return {
        "id": world.id,
        "nStates": len(values),
        "actions": list(world.actions),
        "variables": [
            {
                "name": variable.name,
                "labels": [str(value) for value in variable.values],
                "points": value_points(variable.coordinates),
                "scale": variable.largest_distance,
            }
            for variable in world.space.variables
        ],
        "defaultTarget": world.space.index(world.default_target),
        "values": pack_array(values),
    }


def value_points(coordinates: np.ndarray) -> list | None:
    """Return where a variable's values lie; None for values that are all equally far apart.

    Args:
        coordinates: [n_values, n_dimensions]
    """
    n = len(coordinates)
    apart = coordinates.shape == (n, n) and np.array_equal(coordinates, np.eye(n) / np.sqrt(2))
    return None if apart else coordinates.tolist()


def _tabular_map(world: GridWorld, mdp: TabularMDP) -> dict[str, object]:
    """Return the map of a world with a table."""
    others = index_values(mdp, range(1, len(mdp.space)))
    states = [mdp.state(s) for s in others.example]
    marks, places = mark_of_cell(world, mdp), places_in_table(mdp)
    return _map_data(world, states, others.of_state, marks, places)


def _map_data(
    world: GridWorld,
    states: Sequence[State],
    look_of: np.ndarray,
    marks: Mapping[Cell, int],
    places: list[list[int]],
) -> dict[str, object]:
    """Return how the cells look, which depends on every variable but the agent's position.

    States that agree in those variables share a *look*; cells whose glyph differs between looks
    are listed with one glyph per look.

    Args:
        world: The world.
        states: A state of each look.
        look_of: int32 [n_states]: the look of each state.
        marks: The hidden marks of cells.
        places: See `changing_places`.
    """
    looks = {}
    for place, cell in enumerate(world.map.cells):
        glyphs = [world.glyph_now(cell, state) for state in states]
        if set(glyphs) != {world.map.glyph(cell)}:
            looks[place] = glyphs
    return {
        "rows": world.map.rows,
        "cells": [list(cell) for cell in world.map.cells],
        "lookOf": pack_array(look_of),
        "looks": looks,
        "tracked": [marks.get(cell, -1) for cell in world.map.cells],
        "places": places,
        "looksLike": {
            TRACKED: (ICONS["tracks"], ""),
            **{glyph: glyph_icon(world, glyph) for glyph in world.legend},
        },
        "under": {world.map.index[cell]: glyph for cell, glyph in ground_glyphs(world).items()},
        "grounds": [glyph for glyph, kind in world.legend.items() if kind in GROUNDS],
        "agents": [agent_icon_name(world, state) for state in states],
    }


# --------------------
#
# Where a page starts: a state from which skills have time to do what they are for

AMPLE_SHARE = 0.6
"""A round trip that takes at most this share of the step limit is hardly ever spoilt by slips."""
MAX_SHOWCASE_STATES = 20_000
"""In a larger world the showcase is taken as it is."""
MAX_STARTS = 300
"""Starts that are tried in a world without a map."""


def opening(skills: Skills) -> tuple[int, int | None]:
    """Return the state that a page starts in, and the variable to watch; None for the first."""
    if isinstance(skills.world, GridWorld):
        return choose_start_state(skills), None
    return longest_errand(skills)


def choose_start_state(skills: Skills) -> int:
    """Return the index of the state that a page starts in.

    On a map that is the showcase if every goal's round trip takes at most `AMPLE_SHARE` of the
    step limit from there, else the state nearest to it for which that holds, with only the agent's
    position changed; in two of the paper's worlds the showcase is too far away. Without a map it is
    where the longest errand that succeeds begins, see `longest_errand`.
    """
    world, mdp = skills.world, skills.mdp
    if not isinstance(world, GridWorld):
        return longest_errand(skills)[0]
    showcase = mdp.number(world.showcase)
    if mdp.n_states > MAX_SHOWCASE_STATES:
        return showcase
    states = np.flatnonzero((mdp.values[:, 1:] == mdp.values[showcase, 1:]).all(axis=1))
    trips = [round_trips(mdp, [mdp.space.index(goal)], states) for goal in world.goals]
    ample = states[:0]
    if trips:
        ample = states[np.max(trips, axis=0) <= AMPLE_SHARE * skills.step_limit]
    points = mdp.space.variables[0].coordinates[mdp.values[:, 0]]
    distances = np.abs(points[ample] - points[showcase]).sum(axis=1)
    return int(ample[distances.argmin()]) if len(ample) else showcase


def longest_errand(skills: Skills) -> tuple[int, int | None]:
    """Return where the longest focused run of any skill starts, and the variable it changes.

    A run counts if, every action having its likeliest outcome, it changes its targets and nothing
    else. Without one, it is the first state the world lists.

    Args:
        skills: The skills; of a world with many states, `MAX_STARTS` starts are tried.
    """
    mdp = skills.mdp
    best, found = 0, (mdp.number(next(iter(skills.world.states()))), None)
    starts = np.unique(np.linspace(0, mdp.n_states - 1, MAX_STARTS).astype(int))
    for z, names in enumerate(skills.targets):
        targets = [mdp.space.index(name) for name in names]
        if len(targets) != 1:
            continue
        for start in starts.tolist():
            path = most_likely_path(mdp, skills.arrays, z, start, 0, skills.step_limit)
            changed = np.flatnonzero(mdp.values[path[0]] != mdp.values[path[-1]]).tolist()
            if changed == targets and len(path) - 1 > best:
                best, found = len(path) - 1, (start, targets[0])
    return found


SMALL_POLICY = 65_536
"""A policy of at most so many cells (state × context × mode) is stored whole."""
BYTE_BUDGET = 32_768
"""So is a larger one that compresses to at most so many bytes; others are stored as walks."""
SAMPLED_COLUMNS = 16
"""One column in so many is compressed to estimate that."""
REWARD_RANGE = 12.0
"""Rewards farther than this below the highest one are all shown alike."""
MAP_ICONS = ("agent", "muddy agent", "tracks")
"""Icons that no legend of a map names."""


@dataclass(frozen=True, eq=False)
class SkillSetView:
    """A skill set as a page shows it.

    write_page([SkillSetView(plain, "plain"), SkillSetView(focused, "focused")], "page.html")
    """

    skills: Skills
    label: str = ""
    """Its name on the page; by default its objective and seed."""
    records: list[dict] | None = None
    """What its skills do (`metrics.summary.skill_records`); computed if not given."""
    coverage: np.ndarray | Sequence[float] | None = None
    """[length]: expected coverage by chains of 1, 2, … skills, if known."""
    task: Task | None = None
    """A task that was learned with these skills; without one there is no agent to watch."""
    solution: Solution | None = None
    """What was learned of it."""
    reward: str = "true"
    """The reward it was learned from: "true" or "proxy"."""
    first: bool = False
    """Whether the page opens with it. If no set of a world says so, the page chooses."""


def record_worlds(sets: Sequence[SkillSetView]) -> dict[str, RecordedWorld]:
    """Record runs in the worlds that have no table, by their fingerprints."""
    by_world: dict[str, list[Skills]] = {}
    for view in sets:
        if not view.skills.has_table:
            by_world.setdefault(fingerprint(view.skills.world), []).append(view.skills)
    return {key: RecordedWorld(several) for key, several in by_world.items()}


def document(
    sets: Sequence[SkillSetView],
    progress: Progress,
    recorded: Mapping[str, RecordedWorld] | None = None,
) -> dict:
    """Return everything a page holds but the policies.

    Args:
        sets: The skill sets, with their labels.
        progress: Called with the fraction done and the current activity.
        recorded: What `record_worlds` returns; may be left out if all worlds have tables.

    Returns:
        `PageData` of `assets/data.js`. Sets whose worlds are equal share one world.

    Raises:
        UserError: There are no skill sets.
    """
    if not sets:
        raise UserError("there are no skills to show: name at least one file of skills")
    places: dict[str, int] = {}
    worlds: list[dict] = []
    data = []
    for i, view in enumerate(sets):
        progress(i / len(sets), f"what the skills of {view.label} do")
        skills = view.skills
        key = skills.mdp.fingerprint if skills.has_table else fingerprint(skills.world)
        if key not in places:
            places[key] = len(worlds)
            if recorded is not None and key in recorded:
                worlds.append(recorded_world_data(skills.world, recorded[key]))
            else:
                start, goal = opening(skills)
                data_of_world = world_data(skills.world, skills.mdp)
                worlds.append({**data_of_world, "start": start, "goal": goal})
        data.append({**set_data(view), "world": places[key]})
    icons = {name: ICONS[name] for name in MAP_ICONS}
    return {"worlds": worlds, "sets": data, "icons": icons, "palettes": PALETTES}


def policies(
    sets: Sequence[SkillSetView],
    progress: Progress,
    recorded: Mapping[str, RecordedWorld] | None = None,
) -> list[list[dict]]:
    """Return the policy of every skill, set by set.

    They are separate from `document` because they are most of a page: the page can be used before
    all of them have arrived.
    """
    data = []
    for i, view in enumerate(sets):
        data.append([])
        for z in range(len(view.skills)):
            progress((i + z / len(view.skills)) / len(sets), f"the policies of {view.label}")
            if view.skills.has_table:
                data[-1].append(policy_data(view.skills, z))
            else:
                world = (recorded or {})[fingerprint(view.skills.world)]
                data[-1].append(recorded_policy(world, view.skills, z))
    return data


def set_data(view: SkillSetView) -> dict[str, object]:
    """Return the page's data of a skill set without its policies."""
    skills, space = view.skills, view.skills.world.space
    records = skill_records(skills) if view.records is None else view.records
    index = space.index
    n_modes = skills.n_modes.tolist() if skills.has_table else [1] * len(skills)
    remembered = skills.context_variables if skills.has_table else [()] * len(skills)
    objective = skills.info.get("objective")
    penalty = objective.get("penalty") if isinstance(objective, dict) else None
    return {
        "label": view.label,
        "first": view.first,
        **origin(skills),
        "penalty": penalty if isinstance(penalty, str) else None,
        "stepLimit": skills.step_limit,
        "targets": [[index(name) for name in names] for names in skills.targets],
        "reaches": [record.get("reaches") for record in records],
        "remembered": [sorted(index(name) for name in names) for names in remembered],
        "modes": n_modes,
        "effects": [_effects_data(record, space.names) for record in records],
        "learned": None
        if skills.intrinsic_reward is None
        else _reward_data(skills.intrinsic_reward, skills.mdp),
        **{field: make(view) for field, make in MODE_DATA.items()},
    }


def policy_data(skills: Skills, z: int) -> dict[str, object]:
    """Return a skill's policy, whole or as walks.

    Args:
        skills: The skill set.
        z: The skill.

    Returns:
        `{"whole": …}`, the actions [n_columns, n_states] where a column is a context and mode, or
        `{"actions": …, "counts": …, "limit": …}`, see `walks.PolicyWalk`.
    """
    policy = skills.tabular.columns(z)
    columns = np.ascontiguousarray(policy.T)
    if columns.size > SMALL_POLICY:
        sample = columns[::SAMPLED_COLUMNS]
        size = len(zlib.compress(sample.tobytes(), 6)) * len(columns) / len(sample)
        if size > BYTE_BUDGET:
            modes = int(skills.n_modes[z])
            walk = walk_policy(skills.mdp, policy, skills.contexts[z], modes, skills.step_limit)
            return {
                "actions": pack_array(walk.actions, 6),
                "counts": pack_array(walk.counts),
                "limit": walk.limit,
            }
    return {"whole": pack_array(columns)}


def recorded_policy(world: RecordedWorld, skills: Skills, z: int) -> dict[str, object]:
    """Return the recorded runs of a skill, one after another."""
    runs = world.runs_of(skills, z)
    return {
        "states": pack_array(np.concatenate([run.states for run in runs]).astype(np.int32)),
        "actions": pack_array(np.concatenate([run.actions for run in runs]).astype(np.uint8)),
        "counts": pack_array(np.array([len(run.states) for run in runs], dtype=np.int32)),
    }


def _effects_data(record: dict, names: Sequence[str]) -> dict[str, object]:
    """Return one skill's record (`metrics.summary`) with the page's names."""
    by_variable = record["side_effects_by_variable"]
    return {
        "changesTarget": record["changes_target"],
        "sideEffects": record["side_effects"],
        "byVariable": [by_variable.get(name) for name in names],
        "steps": record["steps"],
        "exact": record["exact"],
    }


def _reward_data(learned: IntrinsicReward, mdp: TabularMDP) -> dict[str, object]:
    """Return learned rewards in 256 levels between the lowest shown and the highest."""
    groups = []
    for group in learned.groups:
        high = float(group.tables.max())
        low = max(float(group.tables.min()), high - REWARD_RANGE)
        step = (high - low) / 255 or 1.0
        levels = np.rint((group.tables.clip(low, high) - low) / step)
        groups.append(
            {
                "variables": [mdp.space.index(name) for name in group.variables],
                "startVariables": [mdp.space.index(name) for name in group.start_variables],
                "separable": group.separable,
                "shape": list(group.tables.shape),
                "tables": pack_array(levels.astype(np.uint8)),
                "low": low,
                "step": step,
            }
        )
    return {"groups": groups, "terms": learned.terms}


def _coverage_data(view: SkillSetView) -> list[float] | None:
    """Return the expected coverage by chains of 1, 2, … skills, if known."""
    return None if view.coverage is None else [float(share) for share in view.coverage]


def _task_data(view: SkillSetView) -> dict[str, object] | None:
    """Return the learned task, if there is one; values are rounded to single precision."""
    task, solution = view.task, view.solution
    if task is None or solution is None:
        return None
    return {
        "name": task.name,
        "reward": view.reward,
        "start": task.start,
        "maxSteps": task.max_episode_steps,
        "done": pack_array(task.reward(view.reward).astype(np.uint8)),
        "true": pack_array(task.true.astype(np.uint8)),
        "q": pack_array(solution.q.astype(np.float32)),
        "optimum": solution.optimum_steps,
    }


MODE_DATA: dict[str, Callable[[SkillSetView], object]] = {
    "coverage": _coverage_data,
    "task": _task_data,
}
"""What single modes of the page need of a skill set, by field of the set's data: the chain mode
draws its expected coverage, the agent mode plays its task. A mode that needs more adds a field."""
