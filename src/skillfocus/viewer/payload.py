"""What a page is told: worlds and skill sets as compact integer tables, in one JSON document.

Arrays travel as `{"type": "u16", "data": base64 of their zlib-compressed bytes}`, little-endian.
The page simulates with them just as `simulation` does. Rounded are only what an agent learned (to
single precision) and the heat maps' rewards; of large policies, what is hardly ever needed is left
out (see `walks`).
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skillfocus.core.indexing import index_values
from skillfocus.core.mdp import TabularMDP
from skillfocus.core.progress import Progress
from skillfocus.core.world import World
from skillfocus.errors import UserError
from skillfocus.metrics.summary import origin, skill_records
from skillfocus.render.icons import GROUNDS, ICONS, agent_icon_name, glyph_icon, ground_glyphs
from skillfocus.render.palette import PALETTES
from skillfocus.render.paths import mark_of_cell
from skillfocus.skills.skills import Skills
from skillfocus.tasks.smdp_q_learning import Solution
from skillfocus.tasks.task import Task
from skillfocus.viewer.starts import first_state
from skillfocus.viewer.walks import costs_of, walk_policy
from skillfocus.worlds.grid import GridWorld

if TYPE_CHECKING:
    from skillfocus.skills.intrinsic_reward import IntrinsicReward

KINDS = {"uint8": "u8", "uint16": "u16", "int32": "i32", "float32": "f32"}
SMALL = 65_536
"""A policy of so few cells travels whole."""
BUDGET = 32_768
"""A larger one too, if it can be compressed to so many bytes; else it is walked."""
PROBE = 16
"""One column in so many is compressed to find out."""
FEW = 4
"""A variable that changes in more places of a map than these has none of its own."""
STEEP = 12.0
"""Rewards so far below the highest one are all shown alike."""


@dataclass(frozen=True, eq=False)
class Shown:
    """A skill set as a page shows it."""

    skills: Skills
    label: str = ""
    records: list[dict] | None = None
    """What its skills do (`metrics.record.skill_records`); worked out if it is not given."""
    coverage: np.ndarray | Sequence[float] | None = None
    """Expected coverage by chains of 1, 2, … skills, if known."""
    task: Task | None = None
    solution: Solution | None = None
    """A task learned with these skills, and what was learned."""
    reward: str = "true"
    """The reward it was learned from."""
    first: bool = False
    """Whether a page begins with it. Where none is said to be, that is for the page to choose."""


def packed(array: np.ndarray, level: int = 9) -> dict[str, str]:
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    data = base64.b64encode(zlib.compress(little.tobytes(), level)).decode()
    return {"type": KINDS[array.dtype.name], "data": data}


def document(sets: Sequence[Shown], report: Progress) -> dict:
    """Everything a page holds but the policies. Sets of equal worlds share one."""
    if not sets:
        raise UserError("there are no skills to show: name at least one file of skills")
    places: dict[str, int] = {}
    worlds: list[dict] = []
    shown = []
    for number, one in enumerate(sets):
        report(number / len(sets), f"what the skills of {one.label} do")
        mdp = one.skills.mdp
        if mdp.fingerprint not in places:
            places[mdp.fingerprint] = len(worlds)
            start = first_state(one.skills)
            worlds.append({**world_data(one.skills.world, mdp), "start": start})
        shown.append({**set_data(one), "world": places[mdp.fingerprint]})
    icons = {name: ICONS[name] for name in ("agent", "muddy agent", "tracks")}
    return {"worlds": worlds, "sets": shown, "icons": icons, "palettes": PALETTES}


def policies(sets: Sequence[Shown], report: Progress) -> list[list[dict]]:
    """Per set and skill, its policy."""
    made = []
    for number, one in enumerate(sets):
        made.append([])
        for z in range(len(one.skills)):
            done = number + z / len(one.skills)
            report(done / len(sets), f"the policies of {one.label}")
            made[-1].append(policy_data(one.skills, z))
    return made


def world_data(world: World, mdp: TabularMDP) -> dict[str, object]:
    width = mdp.successors.shape[2]
    both = np.concatenate([mdp.cumulative, costs_of(mdp.probabilities)], axis=2)
    laws, law_of = np.unique(both.reshape(-1, 2 * width), axis=0, return_inverse=True)
    here = np.arange(mdp.n_states, dtype=np.int32)[:, None, None]
    hidden = (
        {
            "marks": packed(mdp.marks),
            "again": packed(mdp.again - here),
            "marksIn": packed(mdp.marks_in),
        }
        if mdp.n_marks
        else {}
    )
    return {
        "id": world.id,
        "nStates": mdp.n_states,
        "nOutcomes": width,
        "nMarks": mdp.n_marks,
        "actions": list(mdp.actions),
        "variables": [
            {
                "name": variable.name,
                "labels": [str(value) for value in variable.values],
                "points": _points(variable.coordinates),
                "scale": variable.largest_distance,
            }
            for variable in mdp.space.variables
        ],
        "roams": mdp.space.index(world.default_target),
        "values": packed(mdp.values),
        "successors": packed(mdp.successors - here),
        "lawOf": packed(law_of.ravel().astype(np.int32)),
        "laws": laws[:, :width].tolist(),
        "costs": laws[:, width:].astype(int).tolist(),
        **hidden,
        "map": _map(world, mdp) if isinstance(world, GridWorld) else None,
    }


def _points(coordinates: np.ndarray) -> list | None:
    """Where values lie; none for values that are all equally far apart."""
    n = len(coordinates)
    apart = coordinates.shape == (n, n) and np.array_equal(coordinates, np.eye(n) / np.sqrt(2))
    return None if apart else coordinates.tolist()


def _map(world: GridWorld, mdp: TabularMDP) -> dict[str, object]:
    """How cells look. That depends on everything but where the agent is."""
    others = index_values(mdp, range(1, len(mdp.space)))
    states = [mdp.state(s) for s in others.example]
    looks = {}
    for place, cell in enumerate(world.map.cells):
        glyphs = [world.glyph_now(cell, state) for state in states]
        if set(glyphs) != {world.map.glyph(cell)}:
            looks[place] = glyphs
    tracked = mark_of_cell(world, mdp)
    return {
        "rows": world.map.rows,
        "cells": [list(cell) for cell in world.map.cells],
        "lookOf": packed(others.of_state),
        "looks": looks,
        "tracked": [tracked.get(cell, -1) for cell in world.map.cells],
        "places": _places(mdp),
        "looksLike": {glyph: glyph_icon(world, glyph) for glyph in world.legend},
        "under": {world.map.index[cell]: glyph for cell, glyph in ground_glyphs(world).items()},
        "grounds": [glyph for glyph, what in world.legend.items() if what in GROUNDS],
        "agents": [agent_icon_name(world, state) for state in states],
    }


def _places(mdp: TabularMDP) -> list[list[int]]:
    """Per variable, where on the map it changes, if that is a few places only."""
    source, action, slot = np.nonzero(mdp.probabilities > 0)
    target = mdp.successors[source, action, slot]
    changed = mdp.values[source] != mdp.values[target]
    found = [np.unique(mdp.values[target[changed[:, j]], 0]) for j in range(len(mdp.space))]
    found[0] = found[0][:0]
    return [places.tolist() if len(places) <= FEW else [] for places in found]


def set_data(one: Shown) -> dict[str, object]:
    skills, mdp = one.skills, one.skills.mdp
    records = skill_records(skills) if one.records is None else one.records
    index = mdp.space.index
    objective = skills.info.get("objective")
    objective = objective if isinstance(objective, dict) else {}
    return {
        "label": one.label,
        "first": one.first,
        **origin(skills),
        "penalty": objective.get("penalty"),
        "stepLimit": skills.step_limit,
        "targets": [[index(name) for name in names] for names in skills.targets],
        "remembered": [sorted(index(name) for name in names) for names in skills.remembered],
        "modes": skills.n_modes.tolist(),
        "effects": [_effects(record, mdp.space.names) for record in records],
        "coverage": None if one.coverage is None else [float(c) for c in one.coverage],
        "learned": None if skills.learned is None else _learned(skills.learned, mdp),
        "task": _task(one),
    }


def policy_data(skills: Skills, z: int) -> dict[str, object]:
    """A policy [column, state] whole, or walked."""
    n = skills.mdp.n_states
    policy = skills.policies[skills.offsets[z] : skills.offsets[z + 1]].reshape(n, -1)
    turned = np.ascontiguousarray(policy.T)
    if turned.size > SMALL:
        share = len(turned) / len(turned[::PROBE])
        if len(zlib.compress(turned[::PROBE].tobytes(), 6)) * share > BUDGET:
            modes = int(skills.n_modes[z])
            walked = walk_policy(skills.mdp, policy, skills.contexts[z], modes, skills.step_limit)
            return {
                "actions": packed(walked.actions, 6),
                "counts": packed(walked.counts),
                "limit": walked.limit,
            }
    return {"whole": packed(turned)}


def _effects(record: dict, names: Sequence[str]) -> dict[str, object]:
    by_variable = record["side_effects_by_variable"]
    return {
        "changesTarget": record["changes_target"],
        "sideEffects": record["side_effects"],
        "byVariable": [by_variable.get(name) for name in names],
        "steps": record["steps"],
        "exact": record["exact"],
    }


def _learned(learned: IntrinsicReward, mdp: TabularMDP) -> dict[str, object]:
    """Learned rewards in 256 shades."""
    groups = []
    for group in learned.groups:
        high = float(group.tables.max())
        low = max(float(group.tables.min()), high - STEEP)
        step = (high - low) / 255 or 1.0
        shades = np.rint((group.tables.clip(low, high) - low) / step)
        groups.append(
            {
                "variables": [mdp.space.index(name) for name in group.variables],
                "startVariables": [mdp.space.index(name) for name in group.start_variables],
                "separable": group.separable,
                "shape": list(group.tables.shape),
                "tables": packed(shades.astype(np.uint8)),
                "low": low,
                "step": step,
            }
        )
    return {"groups": groups, "terms": learned.terms}


def _task(one: Shown) -> dict[str, object] | None:
    task, found = one.task, one.solution
    if task is None or found is None:
        return None
    return {
        "name": task.name,
        "reward": one.reward,
        "start": task.start,
        "cap": task.max_episode_steps,
        "done": packed(task.reward(one.reward).astype(np.uint8)),
        "true": packed(task.true.astype(np.uint8)),
        "q": packed(found.q.astype(np.float32)),
        "optimum": found.optimum_steps,
    }
