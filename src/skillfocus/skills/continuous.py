"""Sets of skills in continuous worlds: `ContinuousSkills`, with one policy network for all.

A skill is named by its components, such as `{"box": (0.6, 0.8)}`, not by a number. Rollouts are
compiled by JAX where the world is written in it (`jax_rollouts.py`), and otherwise step
environments on the CPU (`HostRunner`), in NumPy only.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skillfocus.errors import UserError
from skillfocus.files import write_atomically
from skillfocus.objectives.kinds import SkillLayout, Sphere
from skillfocus.objectives.objective import Objective
from skillfocus.skills.actor import ActorModel, SkillEstimates
from skillfocus.skills.policy import draw_keys
from skillfocus.spaces import ContinuousSpace
from skillfocus.worlds.continuous import ContinuousBase, HostBatch, HostWorld

if TYPE_CHECKING:
    from skillfocus.skills.jax_rollouts import ContinuousRunner


# {"agent": 2}              the third value of the agent's component
# {"box": (0.6, 0.8)}       a direction for the box
# {"agent": 2, "box": 0}    two targets at once
# {}                        no target: leave everything unchanged
# 2, or (0.6, 0.8)          a skill of a plain objective, which has no targets

SkillName = Mapping[str, Any] | int | Sequence[float]
"""A skill, as above."""
MAX_LISTED = 10_000
"""Most skills that `ContinuousSkills.all` returns."""


@dataclass(frozen=True, eq=False)
class ContinuousSkills:
    """Skills in a world with continuous variables and actions.

        skills = sf.discover("two-rooms", sf.focused(sf.diayn()), seed=0, learner="neural",
                             targets={"box": 4, "lamp": 2})
        rollouts = skills.run({"box": 2}, 100, np.random.default_rng(0))
        policy = skills.policy({"lamp": 1})  # action = policy(observation, values)

    Attributes:
        world: The world.
        objective: The objective they were trained with.
        layout: The layout of their components (`objectives/skill_layout.py`).
        weights: Weights of the policy and of the discriminators or phi, as NumPy arrays.
        step_limit: Number of steps of a skill.
        info: Objective, learner, seed and versions, JSON-serializable.
    """

    world: ContinuousBase
    objective: Objective
    layout: SkillLayout
    weights: dict[str, Any]
    step_limit: int
    info: dict[str, object] = field(default_factory=dict)

    @cached_property
    def model(self) -> ActorModel:
        """The actor model."""
        return ActorModel(self.world, self.objective, self.layout, self.step_limit)

    @cached_property
    def estimates(self) -> SkillEstimates:
        """The discriminators or phi."""
        return SkillEstimates(self.world.space, self.objective, self.layout)

    def __repr__(self) -> str:
        """`<focused-diayn skills in TwoRooms-v0: agent (4), box (sphere of 2), seed 0>`."""
        kinds = []
        for kind in self.layout.kinds:
            parts = []
            for k in kind:
                slot = self.layout.slots[k]
                size = slot.component if slot.is_discrete else f"sphere of {slot.width}"
                name = "" if slot.variable is None else f"{self.world.space.names[slot.variable]} "
                parts.append(f"{name}({size})")
            kinds.append(" + ".join(parts) or "nothing")
        return (
            f"<{self.objective.name} skills in {self.world.id}: {', '.join(kinds)}, "
            f"seed {self.info.get('seed')}>"
        )

    def __eq__(self, other: object) -> bool:
        from skillfocus.skills.files import same_skills

        return isinstance(other, ContinuousSkills) and same_skills(self, other)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "runner"}

    # ------------------------------------------------------------------ naming skills

    def all(self, directions: int = 8) -> list[SkillName]:
        """Return all skills, by kind; spheres are represented by some directions.

        Args:
            directions: Number of directions per sphere: evenly spaced on a circle, otherwise
                random with a fixed seed.

        Raises:
            UserError: If there are too many.
        """
        slots, names = self.layout.slots, self.world.space.names
        listed: list[SkillName] = []
        for kind in self.layout.kinds:
            each_slot = [choices(slots[k].component, directions) for k in kind]
            total = len(listed) + int(np.prod([len(each) for each in each_slot], dtype=float))
            if total > MAX_LISTED:
                raise UserError(
                    f"there are more than {MAX_LISTED:,} skills: name those you mean, such as "
                    f"{{{names[slots[0].variable or 0]!r}: 0, …}}"
                )
            variables = [slots[k].variable for k in kind]
            for values in itertools.product(*each_slot):
                named = {
                    None if j is None else names[j]: value
                    for j, value in zip(variables, values, strict=True)
                }
                listed.append(named.get(None, named))  # pyright: ignore[reportArgumentType]
        return listed

    def targets_of(self, skill: SkillName) -> tuple[str, ...]:
        """Return the names of a skill's target variables."""
        kind, _ = encode_skill(self.world.space, self.layout, skill)
        names = zip(self.world.space.names, self.layout.masks[kind], strict=True)
        return tuple(name for name, is_target in names if is_target)

    def encode(self, skills: Sequence[SkillName]) -> tuple[np.ndarray, np.ndarray]:
        """Return target masks, float32 [n, n_variables], and z, float32 [n, layout.width]."""
        pairs = [encode_skill(self.world.space, self.layout, skill) for skill in skills]
        return self.layout.masks[[kind for kind, _ in pairs]], np.stack([z for _, z in pairs])

    # ------------------------------------------------------------------ acting

    def policy(self, skill: SkillName, rng: np.random.Generator | None = None) -> ContinuousPolicy:
        """Return one skill as a function from observation to action, in NumPy only.

        Args:
            skill: The skill.
            rng: Samples actions from the policy's distribution (default: its mean action).
        """
        masks, z = self.encode([skill])
        return ContinuousPolicy(self.model, self.weights, masks, z, rng)

    @cached_property
    def runner(self) -> ContinuousRunner | HostRunner:
        """Runs the skills, in JAX or in environments on the CPU."""
        if isinstance(self.world, HostWorld):
            return HostRunner(self.model, self.weights)
        from skillfocus.skills.jax_rollouts import ContinuousRunner

        return ContinuousRunner(self.model, self.weights)

    def draw_starts(self, n: int, rng: np.random.Generator) -> Any:
        """Sample initial states of the world, a pytree with a leading axis [n]."""
        return self.runner.reset(draw_keys(n, rng))

    def run(
        self,
        skills: SkillName | Sequence[SkillName],
        starts: Any,
        rng: np.random.Generator,
        *,
        noise: float = 0.0,
    ) -> ContinuousRollouts:
        """Run skills.

        Args:
            skills: One skill for all rollouts, or a list with one per rollout.
            starts: The number of rollouts, from initial states of the world; first values, float
                [n, size]; or first states, as from `draw_starts` or earlier rollouts.
            rng: Source of randomness.
            noise: Factor of the policy's standard deviation; 0 takes the mean action.
        """
        if isinstance(starts, int | np.integer):
            starts = self.draw_starts(int(starts), rng)
        elif isinstance(starts, np.ndarray):
            starts = self.runner.place(starts, draw_keys(len(starts), rng))
        n = len(self.runner.values(starts))
        listed: list[Any] = list(skills) if isinstance(skills, list) else [skills]
        if len(listed) not in (1, n):
            raise UserError(f"{len(listed)} skills cannot run from {n} starts: give one each")
        masks, z = self.encode(listed)
        if len(listed) != n:
            masks, z = np.repeat(masks, n, axis=0), np.repeat(z, n, axis=0)
        return self.runner.follow(starts, masks, z, draw_keys(n, rng), noise)

    def phi(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """Return the learned representation of values, by target; {"": …} without targets.

        Args:
            values: float [n, size].

        Returns:
            float [n, width of the component] each.

        Raises:
            UserError: If the objective learns no representation.
        """
        if self.estimates.is_discriminator:
            raise UserError(f"{self.objective.name} learns discriminators, not a representation")
        values = np.asarray(values, np.float32)
        outputs = self.estimates.outputs(self.weights["judges"], values, values)
        found = {}
        for copy, k in enumerate(self.estimates.slots):
            slot = self.layout.slots[k]
            name = "" if slot.variable is None else self.world.space.names[slot.variable]
            found[name] = outputs[copy, :, : slot.width]
        return found

    # ------------------------------------------------------------------ files

    def to_bytes(self) -> bytes:
        """Return the contents of a skills file (docs/skills-files.md)."""
        from skillfocus.skills.files import to_bytes

        return to_bytes(self)

    def save(self, path: str | Path) -> Path:
        """Write a skills file atomically."""
        write_atomically(Path(path), self.to_bytes())
        return Path(path)

    @staticmethod
    def load(path: str | Path, world: ContinuousBase | str | None = None) -> ContinuousSkills:
        """Read a skills file. Nothing in it is executed.

        Args:
            path: The file.
            world: The world, if the file cannot recreate it.
        """
        from skillfocus.skills.files import load

        skills = load(Path(path), world)
        if not isinstance(skills, ContinuousSkills):
            raise UserError(f"{path} holds skills of a finite world: use Skills.load")
        return skills


class ContinuousPolicy:
    """One skill as a function: `action = policy(observation, values)`.

    Its context is the values of the first call. It starts over after `reset` or its last step.
    """

    def __init__(
        self,
        model: ActorModel,
        weights: Any,
        masks: np.ndarray,
        z: np.ndarray,
        rng: np.random.Generator | None,
    ) -> None:
        self._model, self._weights, self._rng = model, weights, rng
        self._mask, self._z = masks, z
        self.reset()

    def reset(self) -> None:
        """Start the skill over at the next call."""
        self._start: np.ndarray | None = None
        self._steps = 0

    @property
    def is_over(self) -> bool:
        """Whether the skill has taken all of its steps."""
        return self._steps >= self._model.step_limit

    def __call__(self, observation: np.ndarray, values: np.ndarray | None = None) -> np.ndarray:
        """Return an action, float32 [n_action_dims].

        Args:
            observation: The observation, [observation_size].
            values: Values of the variables, [size] (default: the observation).
        """
        if self.is_over:
            self.reset()
        seen = np.asarray(observation, np.float32)[None]
        now = seen if values is None else np.asarray(values, np.float32)[None]
        if self._start is None:
            self._start = now
        time = np.full(1, self._steps / self._model.step_limit, np.float32)
        model, draws, noise = self._model, 0.0, 0.0
        if self._rng is not None:
            draws, noise = self._rng.standard_normal((1, model.world.n_action_dims)), 1.0
        inputs = model.inputs(self._weights, seen, now, self._start, self._mask, self._z, time)
        action = model.act(self._weights, inputs, draws, noise)[0]
        self._steps += 1
        return action


# -------------------- Names of skills, and their encoding for the actor


def encode_skill(
    space: ContinuousSpace, layout: SkillLayout, skill: SkillName
) -> tuple[int, np.ndarray]:
    """Return the index of a skill's kind, and its z, float32 [layout.width].

    Raises:
        UserError: If there is no such skill.
    """
    plain = layout.slots[0].variable is None
    given: Mapping[Any, Any] = {None: skill} if plain else skill  # pyright: ignore[reportAssignmentType]
    if not isinstance(given, Mapping):
        raise UserError(
            f"{skill!r} is not a skill: give a component per target, such as "
            f"{{{space.names[layout.slots[0].variable or 0]!r}: 0}}"
        )
    variables = {None if name is None else space.index(name): name for name in given}
    chosen = tuple(k for k, slot in enumerate(layout.slots) if slot.variable in variables)
    if chosen not in layout.kinds or len(chosen) != len(given):
        several = [[layout.slots[k].variable for k in kind] for kind in layout.kinds[:6]]
        kinds = ", ".join(
            " + ".join("numbers" if j is None else space.names[j] for j in variables) or "nothing"
            for variables in several
        )
        raise UserError(f"no skills target {' + '.join(map(str, given)) or 'nothing'}: {kinds} do")
    z = np.zeros(layout.width, np.float32)
    for k in chosen:
        slot = layout.slots[k]
        z[layout.places[k]] = _component(slot.component, given[variables[slot.variable]])
    return layout.kinds.index(chosen), z


def _component(component: int | Sphere, value: Any) -> np.ndarray:
    if isinstance(component, Sphere):
        direction = np.asarray(value, np.float32)
        length = float(np.linalg.norm(direction)) if direction.ndim == 1 else 0.0
        if direction.shape != (component.dimensions,) or not 0 < length < np.inf:
            raise UserError(
                f"{value!r} is not a direction: give {component.dimensions} finite numbers, "
                f"not all 0"
            )
        return direction / length
    if not 0 <= value < component:
        raise UserError(f"there is no skill {value!r}: they are numbered 0 to {component - 1}")
    return np.eye(component, dtype=np.float32)[int(value)]


def choices(component: int | Sphere, directions: int) -> list[Any]:
    """Return the values of a component; a sphere is represented by some directions."""
    if not isinstance(component, Sphere):
        return list(range(component))
    if component.dimensions == 2:
        angles = 2 * np.pi * np.arange(directions) / directions
        return [(float(np.cos(a)), float(np.sin(a))) for a in angles]
    sampled = np.random.default_rng(0).standard_normal((directions, component.dimensions))
    sampled /= np.linalg.norm(sampled, axis=1, keepdims=True)
    return [tuple(row) for row in sampled.tolist()]


# -------------------- Rollouts of continuous skills in environments on the CPU, in NumPy only


class ContinuousRollouts(NamedTuple):
    """Rollouts of skills. In environments on the CPU, values are frozen after an episode's end.

    Attributes:
        states: The last states, of JAX worlds a pytree whose leaves have a leading axis [n].
        values: Values of the variables, float32 [n, n_steps + 1, size].
        observations: Observations, float32 [n, n_steps + 1, observation_size].
        actions: Actions, float32 [n, n_steps, n_action_dims].
    """

    states: Any
    values: np.ndarray
    observations: np.ndarray
    actions: np.ndarray


class HostStates(NamedTuple):
    """Environments on the CPU and their current observations. Rollouts step them in place."""

    batch: HostBatch
    observations: np.ndarray


class HostRunner:
    """Runs a set of skills in environments on the CPU.

    Args:
        model: The actor model.
        weights: Its weights.
    """

    def __init__(self, model: ActorModel, weights: Any) -> None:
        assert isinstance(model.world, HostWorld)
        self.model, self.world, self.weights = model, model.world, weights

    def reset(self, keys: np.ndarray) -> HostStates:
        """Make as many environments as there are keys, uint32 [n, 2], and reset them."""
        batch = self.world.make_batch(len(keys))
        return HostStates(batch, batch.reset_batch(int(keys[0, 0]) % 2**31))

    def place(self, values: np.ndarray, keys: np.ndarray) -> HostStates:
        """Raise `UserError`: environments on the CPU cannot be set to given values."""
        del values, keys
        raise UserError(f"{self.world.id} cannot be set to given values: give a number of starts")

    def values(self, states: HostStates) -> np.ndarray:
        """Return the values of states, float32 [n, size]."""
        return np.asarray(self.world.values(states.observations), np.float32)

    def follow(
        self,
        states: HostStates,
        masks: np.ndarray,
        z: np.ndarray,
        keys: np.ndarray,
        noise: float = 0.0,
    ) -> ContinuousRollouts:
        """Run skills for `step_limit` steps; see `ContinuousRunner.follow`."""
        model, world, seen = self.model, self.world, states.observations
        rng = np.random.default_rng(keys.ravel().tolist())
        start = now = self.values(states)
        going = np.ones(len(seen), bool)
        values, observations, actions = [start], [], []
        for number in range(model.step_limit):
            time = np.full(len(seen), number / model.step_limit, np.float32)
            here = np.asarray(world.values(seen), np.float32)
            inputs = model.inputs(self.weights, seen, here, start, masks, z, time)
            draws = rng.standard_normal((len(seen), world.n_action_dims)) if noise else 0.0
            action = model.act(self.weights, inputs, draws, noise)
            step = states.batch.step_batch(action)
            observations.append(seen)
            actions.append(action)
            now = np.where(going[:, None], world.values(step.observations), now)
            values.append(now.astype(np.float32))
            going &= ~(step.terminated | step.truncated)
            seen = step.next_observations
        observations.append(seen)
        stacked = (np.stack(each, axis=1) for each in (values, observations, actions))
        return ContinuousRollouts(HostStates(states.batch, seen), *stacked)
