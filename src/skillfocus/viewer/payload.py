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

from skillfocus.core.mdp import TabularMDP
from skillfocus.errors import UserError
from skillfocus.metrics.summary import origin, skill_records
from skillfocus.progress import Progress
from skillfocus.render.icons import ICONS
from skillfocus.render.palette import PALETTES
from skillfocus.skills.skills import Skills
from skillfocus.skills.tables import fingerprint
from skillfocus.tasks.smdp_q_learning import Solution
from skillfocus.tasks.task import Task
from skillfocus.viewer.packing import pack_array
from skillfocus.viewer.recordings import RecordedWorld
from skillfocus.viewer.start_state import opening
from skillfocus.viewer.walks import walk_policy
from skillfocus.viewer.world_payload import recorded_world_data, world_data

if TYPE_CHECKING:
    from skillfocus.skills.intrinsic_reward import IntrinsicReward

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
