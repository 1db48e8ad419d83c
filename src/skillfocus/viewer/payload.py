"""What a page knows of skill sets: policies, side effects, rewards, learned tasks.

Data is exact but for two things: what an agent learned has single precision, and the rewards of
the heat maps have 256 levels. Of large policies, states that runs hardly ever reach are left out
(see `known_cells`). `assets/data.js` documents the fields.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from skillfocus.compilation import njit
from skillfocus.errors import UserError
from skillfocus.mdp import TabularMDP
from skillfocus.metrics.reachability import round_trips
from skillfocus.metrics.summary import origin, skill_records
from skillfocus.progress import Progress
from skillfocus.render.icons import (
    GROUNDS,
    ICONS,
    PALETTES,
    PLATE_COLORS,
    TRACKED,
    agent_icon_name,
    glyph_icon,
    ground_glyphs,
)
from skillfocus.render.scene import changing_places, mark_of_cell, places_in_table
from skillfocus.rollout import Rollouts, most_likely_path
from skillfocus.skills.actor import ActorPolicy
from skillfocus.skills.skills import Skills
from skillfocus.tasks.solving import Solution
from skillfocus.tasks.task import Task
from skillfocus.viewer.recordings import RecordedWorld, frames_data, pack_array, record
from skillfocus.world import World
from skillfocus.worlds.grid import Cell, GridWorld

if TYPE_CHECKING:
    from skillfocus.skills.intrinsic_reward import IntrinsicReward


THRESHOLD = 0.1
"""From which change on a real-valued variable counts as changed, as a share of its scale."""
MAX_REAL_SKILLS = 64
"""The most real-valued skills of a set on a page."""

# -------------------- What a page knows of a world: its variables, transitions and map
#
# The page simulates with these tables exactly as `skills.rollout` does: same outcomes in the same
# order, same cumulative probabilities, same hidden marks.


def world_data(skills: Skills, recorded: RecordedWorld | None) -> dict[str, object]:
    """Return the page's data of the world of some skills, `WorldData` of `assets/data.js`.

    Successor states are stored relative to their source, and equal rows of probabilities once:
    both compress far better.

    Args:
        skills: The skills.
        recorded: Runs in a world without a table, whose states are those that occur in them.
    """
    world, values = skills.world, skills.mdp.values if recorded is None else recorded.values
    data: dict[str, object] = {
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
    if recorded is not None:
        data |= {"starts": list(range(recorded.n_starts)), "start": 0}
        if isinstance(world, GridWorld):
            places = changing_places(*values[recorded.moves.T])
            data["map"] = _map_data(world, values, {}, places)
        elif not world.space.is_finite:
            data["real"] = _real_data(world, recorded)
        return data
    mdp = skills.mdp
    width = mdp.successors.shape[2]
    laws, law_of = np.unique(mdp.cumulative.reshape(-1, width), axis=0, return_inverse=True)
    source = np.arange(mdp.n_states, dtype=np.int32)[:, None, None]
    data |= {
        "nOutcomes": width,
        "nMarks": mdp.n_marks,
        "successors": pack_array(mdp.successors - source),
        "lawOf": pack_array(law_of.ravel().astype(np.int32)),
        "laws": laws.tolist(),
    }
    if mdp.n_marks:
        data["marks"], data["marksIn"] = pack_array(mdp.marks), pack_array(mdp.marks_in)
        data["again"] = pack_array(mdp.again - source)
    if isinstance(world, GridWorld):
        drawn = _map_data(world, values, mark_of_cell(world, mdp), places_in_table(mdp))
        frames, note, start, goal = None, "", choose_start_state(skills), None
    else:
        drawn, (frames, note), (start, goal) = None, frames_data(world, mdp), longest_errand(skills)
    return {
        **data, "map": drawn, "frames": frames, "noFrames": note, "start": start, "goal": goal
    }  # fmt: skip


def _real_data(world: World, recorded: RecordedWorld) -> dict[str, object]:
    """Return what the page knows besides of a world of real-valued variables."""
    drawing, seen = world.drawing(), recorded.observations
    return {
        "places": [[at.start, at.stop - at.start] for at in world.space.slices],
        "width": world.space.width,
        "observationSize": world.observation_size,
        "observations": None if seen is None else pack_array(seen),
        "threshold": THRESHOLD,
        "colors": list(PLATE_COLORS),
        "drawing": None if drawing is None else drawing.as_json(),
    }


def value_points(coordinates: np.ndarray) -> list | None:
    """Return where a variable's values lie; None for values that are all equally far apart.

    Args:
        coordinates: [n_values, n_dimensions]
    """
    n = len(coordinates)
    apart = coordinates.shape == (n, n) and np.array_equal(coordinates, np.eye(n) / np.sqrt(2))
    return None if apart else coordinates.tolist()


def _map_data(
    world: GridWorld, values: np.ndarray, marks: Mapping[Cell, int], places: list[list[int]]
) -> dict[str, object]:
    """Return how the cells look, which depends on every variable but the agent's position.

    States that agree in those variables share a *look*; cells whose glyph differs between looks
    are listed with one glyph per look.

    Args:
        world: The world.
        values: int32 [n_states, n_variables]
        marks: The hidden marks of cells.
        places: See `changing_places`.
    """
    _, example, look_of = np.unique(values[:, 1:], axis=0, return_index=True, return_inverse=True)
    states = [tuple(state) for state in values[example].tolist()]
    looks = {}
    for place, cell in enumerate(world.map.cells):
        glyphs = [world.glyph_now(cell, state) for state in states]
        if set(glyphs) != {world.map.glyph(cell)}:
            looks[place] = glyphs
    return {
        "rows": world.map.rows,
        "cells": [list(cell) for cell in world.map.cells],
        "lookOf": pack_array(look_of.ravel().astype(np.int32)),
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


# -------------------- Where a page starts: where skills have time to do what they are for

AMPLE_SHARE = 0.6
"""A round trip that takes at most this share of the step limit is hardly ever spoilt by slips."""
MAX_SHOWCASE_STATES = 20_000
"""In a larger world the showcase is taken as it is."""
MAX_STARTS = 300
"""Starts that are tried in a world without a map."""


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


# -------------------- Skill sets, their policies and what was learned with them

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
    rollouts: Sequence[Rollouts] = ()
    """What the page replays where it cannot simulate: every skill from the same starts; by default,
    it is recorded."""


def page_data(
    sets: Sequence[SkillSetView], progress: Progress
) -> tuple[dict, list[list[dict[str, object]]]]:
    """Return everything a page holds.

    Args:
        sets: The skill sets, with their labels.
        progress: Called with the fraction done and the current activity.

    Returns:
        `PageData` of `assets/data.js`, where sets whose worlds are equal share one world; and the
        policy of every skill, set by set. They are apart because they are most of a page, which can
        be used before all of them have arrived.

    Raises:
        UserError: There are no skill sets, or too many rollouts.
    """
    if not sets:
        raise UserError("there are no skills to show: name at least one file of skills")
    views = [_limit_skills(view) for view in sets]
    worlds: dict[str, dict] = {}
    recorded: dict[str, RecordedWorld] = {}
    data, policies = [], []
    for i, view in enumerate(views):
        progress(i / len(views), f"what the skills of {view.label} do")
        skills, key = view.skills, view.skills.fingerprint
        mates = [one for one in views if one.skills.fingerprint == key]
        if key not in worlds:
            if not skills.has_table:
                recorded[key] = RecordedWorld(
                    [(one.skills, one.rollouts or record(one.skills)) for one in mates]
                )
            worlds[key] = world_data(skills, recorded.get(key))
        shown = {**set_data(view), "world": list(worlds).index(key)}
        if key in recorded:
            place = mates.index(view)
            shown["starts"] = recorded[key].starts[place]
            policies.append(recorded[key].policies[place])
        else:
            policies.append([])
            for z in range(len(skills)):
                progress((i + z / len(skills)) / len(views), f"the policies of {view.label}")
                policies[-1].append(policy_data(skills, z))
        data.append(shown)
    icons = {name: ICONS[name] for name in MAP_ICONS}
    page = {"worlds": list(worlds.values()), "sets": data, "icons": icons, "palettes": PALETTES}
    return page, policies


def _limit_skills(view: SkillSetView) -> SkillSetView:
    """Return a view of at most `MAX_REAL_SKILLS` skills, evenly chosen, if they are real-valued."""
    n = len(view.skills)
    if view.skills.world.space.is_finite or view.rollouts or n <= MAX_REAL_SKILLS:
        return view
    chosen = np.linspace(0, n - 1, MAX_REAL_SKILLS).astype(int)
    return replace(view, skills=view.skills[chosen.tolist()])


def _title(skills: Skills, z: int) -> str:
    """Return what a page calls a real-valued skill: `box 2`, `agent (0.71, 0.71)`, `skill 3`."""
    if not isinstance(skills.policies, ActorPolicy):
        return f"skill {z}"
    parts = [
        str(value) if isinstance(value, int) else f"({', '.join(f'{x:.2f}' for x in value)})"
        for _, value in sorted(skills.policies.skills[z].items())
    ]
    if not skills.targets[z]:
        return f"skill {parts[0]}" if parts else "leave everything"
    named = zip(skills.targets[z], parts, strict=True)
    return ", ".join(f"{name} {part}" for name, part in named)


def set_data(view: SkillSetView) -> dict[str, object]:
    """Return the page's data of a skill set without its policies."""
    skills, space = view.skills, view.skills.world.space
    records = view.records
    if records is None:
        records = skill_records(skills) if space.is_finite else []
    index = space.index
    n_modes = skills.n_modes.tolist() if skills.has_table else [1] * len(skills)
    remembered = skills.context_variables if skills.has_table else [()] * len(skills)
    objective, learned = skills.info.get("objective"), skills.intrinsic_reward
    penalty = objective.get("penalty") if isinstance(objective, dict) else None
    return {
        "label": view.label,
        "first": view.first,
        **origin(skills),
        "penalty": penalty if isinstance(penalty, str) else None,
        "stepLimit": skills.step_limit,
        "titles": [] if space.is_finite else [_title(skills, z) for z in range(len(skills))],
        "targets": [[index(name) for name in names] for names in skills.targets],
        "reaches": [record.get("reaches") for record in records],
        "remembered": [sorted(index(name) for name in names) for names in remembered],
        "modes": n_modes,
        "effects": [
            {
                "changesTarget": record["changes_target"],
                "sideEffects": record["side_effects"],
                "byVariable": [
                    record["side_effects_by_variable"].get(name) for name in space.names
                ],
                "steps": record["steps"],
                "exact": record["exact"],
            }
            for record in records
        ],
        "learned": None if learned is None else _reward_data(learned, skills.mdp),
        "coverage": None if view.coverage is None else [float(share) for share in view.coverage],
        "task": _task_data(view),
    }


def policy_data(skills: Skills, z: int) -> dict[str, object]:
    """Return a skill's policy as actions [n_columns, n_states]; a column is a context and mode.

    Returns:
        `{"whole": …}`, all actions, or `{"known": …, "actions": …}`: one bit per cell, and the
        actions of those that are set.
    """
    policy = skills.tabular.columns(z)
    columns = np.ascontiguousarray(policy.T)
    sample = columns[::SAMPLED_COLUMNS]
    size = len(zlib.compress(sample.tobytes(), 6)) * len(columns) / len(sample)
    if columns.size <= SMALL_POLICY or size <= BYTE_BUDGET:
        return {"whole": pack_array(columns)}
    mdp, probabilities = skills.mdp, skills.mdp.probabilities
    odds = probabilities / probabilities.max(axis=2, keepdims=True)
    known = known_cells(
        mdp.successors, mdp.again, odds, policy, skills.contexts[z], int(skills.n_modes[z])
    )
    return {
        "known": pack_array(np.packbits(known), 6),
        "actions": pack_array(columns[known], 6),
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


# -------------------- Large policies: only the states that a skill can reach
#
# A policy has an action for every state and context, 44 million for sixteen plain VIC skills in
# FourRooms, nearly all of them for states that the skill never reaches.

SMALL_POLICY = 65_536
"""A policy of at most so many cells (state × context × mode) is stored whole."""
BYTE_BUDGET = 32_768
"""So is a larger one that compresses to at most so many bytes."""
SAMPLED_COLUMNS = 16
"""One column in so many is compressed to estimate that."""
LEAST_ODDS = 1e-8
"""States that a run reaches only with lower odds are left out. In the paper's worlds, a run meets
one with a probability below a millionth."""


@njit(cache=True, nogil=True)
def known_cells(successors, again, odds, policy, contexts, n_modes):
    """Return the states that a skill reaches in each context and mode, bool [n_columns, n_states].

    The odds of an outcome are relative to the likeliest one, those of a path are their product: a
    state is left out if every path to it takes improbable turns, not if there are many like it.

    Args:
        successors, again: int [n_states, n_actions, n_outcomes]: where an outcome leads, and where
            it leads if its hidden mark is set already.
        odds: [n_states, n_actions, n_outcomes]
        policy: [n_states, n_columns]: actions, n_actions to stop.
        contexts: [n_states]: the context of each first state.
        n_modes: Modes of the skill; a column is context × n_modes + mode.
    """
    n_states, n_columns = policy.shape
    known = np.zeros((n_columns, n_states), np.bool_)
    for column in range(n_columns):
        best = (contexts == column // n_modes).astype(np.float64)
        changed = True
        while changed:
            changed = False
            for s in range(n_states):
                a = policy[s, column]
                if best[s] < LEAST_ODDS or a == successors.shape[1]:
                    continue
                for m in range(successors.shape[2]):
                    reached = best[s] * odds[s, a, m]
                    for target in (successors[s, a, m], again[s, a, m]):
                        if reached > best[target]:
                            best[target] = reached
                            changed = True
        known[column] = best >= LEAST_ODDS
    return known
