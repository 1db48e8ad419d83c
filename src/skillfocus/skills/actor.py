"""Skills as an actor: a tanh-Gaussian policy network for real-valued actions.

    u ~ N(mu(x), sigma(x)^2),   a = low + (high - low) (tanh u + 1) / 2

All skills of a set share the network. Its inputs x are the observation, the target mask and z;
where the objective compares with the start, also the variables' first values, their changes since
then, and the time. `SkillCode` encodes skills as mask and z, `ActorPolicy` acts.

All functions take NumPy or JAX arrays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skillfocus.errors import UserError
from skillfocus.machine import array_namespace
from skillfocus.objectives.kinds import WHOLE, Components, Skill, SkillKinds, Sphere
from skillfocus.objectives.objective import Objective, Term
from skillfocus.skills.estimators import SkillEstimates, half_widths, scaled_values
from skillfocus.skills.network import apply_network
from skillfocus.skills.policy import Policy, Traced
from skillfocus.spaces import Space
from skillfocus.world import World
from skillfocus.worlds.jax.world import jax, jnp

MIN_LOG_STD, MAX_LOG_STD = -3.0, 2.0
"""Bounds of log sigma; initially it is midway."""


# -------------------- Skills as numbers: a mask of target variables, and z
#
# z has a place for every target of any skill: a number per component, or per dimension of a sphere;
# it is 0 where a variable is no target.


@dataclass(frozen=True)
class Slot:
    """The place of one target in z.

    Attributes:
        variable: The target variable's index; `WHOLE` for skills of plain objectives.
        components: How many components it has, or their sphere.
    """

    variable: int
    components: Components

    @property
    def width(self) -> int:
        """How many numbers of z it takes: one per component, or one per dimension."""
        return self.components if isinstance(self.components, int) else self.components.dimensions

    @property
    def is_discrete(self) -> bool:
        """Whether it has finitely many components."""
        return isinstance(self.components, int)

    def encode(self, component: Any) -> np.ndarray:
        """Return a component as numbers of z, float32 [width].

        Raises:
            UserError: If there is no such component.
        """
        if isinstance(self.components, Sphere):
            direction = np.asarray(component, np.float64)
            length = math.hypot(*direction) if direction.ndim == 1 else 0.0
            if direction.shape != (self.width,) or not 0 < length < np.inf:
                raise UserError(
                    f"{component!r} is not a direction: give {self.width} finite numbers, not all 0"
                )
            return (direction / length).astype(np.float32)
        if not isinstance(component, int | np.integer) or not 0 <= component < self.components:
            raise UserError(
                f"there is no skill {component!r}: they are numbered 0 to {self.components - 1}"
            )
        return np.eye(self.components, dtype=np.float32)[int(component)]


@dataclass(frozen=True)
class SkillCode:
    """How the skills of a set are encoded.

    Attributes:
        n_variables: How many variables the world has.
        slots: The targets of any skill, in the order of their variables.
        kinds: Per kind of skill, the numbers of the slots that are active.
    """

    n_variables: int
    slots: tuple[Slot, ...]
    kinds: tuple[tuple[int, ...], ...]

    @cached_property
    def width(self) -> int:
        """How many numbers z has."""
        return sum(slot.width for slot in self.slots)

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """Where each slot's numbers are in z."""
        ends = np.cumsum([slot.width for slot in self.slots]).tolist()
        return tuple(slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True))

    @cached_property
    def active(self) -> np.ndarray:
        """Which slots each kind has, float32 [n_kinds, n_slots]."""
        active = np.zeros((len(self.kinds), len(self.slots)), np.float32)
        for row, kind in zip(active, self.kinds, strict=True):
            row[list(kind)] = 1.0
        return active

    @cached_property
    def masks(self) -> np.ndarray:
        """Which variables each kind targets, float32 [n_kinds, n_variables]."""
        masks = np.zeros((len(self.kinds), self.n_variables), np.float32)
        for row, kind in enumerate(self.kinds):
            targets = [self.slots[k].variable for k in kind]
            masks[row, [j for j in targets if j != WHOLE]] = 1.0
        return masks

    def terms(self, objective: Objective) -> list[tuple[int, Term]]:
        """Return the copies of the reward that skills can earn, each with its slot's number."""
        if not objective.targeted:
            return [(0, term) for term in objective.terms((), self.n_variables)]
        variables = [slot.variable for slot in self.slots]
        terms = objective.terms(variables, self.n_variables)
        return [(variables.index(term.target), term) for term in terms if term.target is not None]

    def kind_index(self, skill: Skill) -> int:
        """Return the kind of a skill: the one with the fewest targets that has all of its.

        Raises:
            UserError: If there is none.
        """
        slots = {k for k, slot in enumerate(self.slots) if slot.variable in skill}
        fitting = [i for i, kind in enumerate(self.kinds) if slots <= set(kind)]
        if len(slots) < len(skill) or not fitting:
            raise UserError("no skills have these targets")
        return min(fitting, key=lambda i: len(self.kinds[i]))

    def draw(self, kinds: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw components of skills of given kinds, float32 [n, width]."""
        n, parts = len(kinds), []
        for k, slot in enumerate(self.slots):
            if slot.is_discrete:
                part = np.eye(slot.width)[rng.integers(slot.width, size=n)]
            else:
                part = rng.standard_normal((n, slot.width))
                part /= np.linalg.norm(part, axis=1, keepdims=True)
            parts.append(part * self.active[kinds, k : k + 1])
        return np.concatenate(parts, axis=1).astype(np.float32)


def make_code(kinds: SkillKinds, n_variables: int) -> SkillCode:
    """Return how the skills of some kinds are encoded."""
    components = {j: count for kind in kinds.kinds for j, count in kind.components.items()}
    order = sorted(components)
    return SkillCode(
        n_variables,
        tuple(Slot(j, components[j]) for j in order),
        tuple(tuple(order.index(j) for j in sorted(kind.components)) for kind in kinds.kinds),
    )


# -------------------- The policy network


@dataclass(frozen=True, eq=False)
class ActorModel:
    """Inputs and outputs of the policy network of a set of skills.

    Attributes:
        world: The world.
        objective: The skills' objective.
        code: How skills are encoded.
        step_limit: Number of steps of a skill.

    The weights that methods take are a dictionary: `actor`, the network's parameters, and `shift`
    and `scale` of the observation, [observation_size].
    """

    world: World
    objective: Objective
    code: SkillCode
    step_limit: int

    @property
    def space(self) -> Space:
        """The world's variables."""
        return self.world.space

    @property
    def n_action_dims(self) -> int:
        """How many numbers an action has."""
        return len(self.world.action_low)

    @cached_property
    def sees_start(self) -> bool:
        """Whether first values are inputs: only if reward or penalty depends on them."""
        reward = self.objective.reward
        return self.objective.penalty is not None or (
            reward.timing == "final" and reward.uses_start
        )

    @cached_property
    def n_inputs(self) -> int:
        """Number of inputs."""
        context = 2 * self.space.width + 1 if self.sees_start else 0
        return self.world.observation_size + len(self.space) + self.code.width + context

    @property
    def n_outputs(self) -> int:
        """Number of outputs: mean and log sigma of every action dimension."""
        return 2 * self.n_action_dims

    def inputs(
        self, weights: Any, observation: Any, values: Any, start: Any, mask: Any, z: Any, time: Any
    ) -> Any:
        """Return the network's inputs, [n, n_inputs].

        Args:
            weights: See the class.
            observation: [n, observation_size].
            values: Values of the variables, [n, width].
            start: Their first values, [n, width].
            mask: Which variables are targets, [n, n_variables].
            z: Components of the skills, [n, code.width].
            time: Share of the skill's steps that has passed, [n].
        """
        xp = array_namespace(observation)
        parts = [(observation - weights["shift"]) / weights["scale"], mask, z]
        if self.sees_start:
            parts += [
                scaled_values(self.space, start),
                (values - start) / half_widths(self.space),
                time[:, None],
            ]
        return xp.concatenate(parts, axis=1)

    def distribution(self, parameters: Any, inputs: Any) -> tuple[Any, Any]:
        """Return mean and log sigma of u, [n, n_action_dims] each."""
        xp = array_namespace(inputs)
        outputs = apply_network(parameters, inputs)
        n = self.n_action_dims
        half = (MAX_LOG_STD - MIN_LOG_STD) / 2
        return outputs[..., :n], MIN_LOG_STD + half * (1 + xp.tanh(outputs[..., n:]))

    def action(self, u: Any) -> Any:
        """Map u to actions within the world's bounds, [n, n_action_dims]."""
        xp = array_namespace(u)
        low = np.asarray(self.world.action_low, np.float32)
        high = np.asarray(self.world.action_high, np.float32)
        return low + (high - low) * (xp.tanh(u) + 1) / 2

    def mean_action(self, weights: Any, *seen: Any) -> Any:
        """Return the actions of mean u, [n, n_action_dims]; see `inputs` for the arguments."""
        mean, _ = self.distribution(weights["actor"], self.inputs(weights, *seen))
        return self.action(mean.astype(np.float32))


class ActorPolicy(Policy):
    """Skills as an actor. What a skill draws when it starts is its z, [code.width]: its own
    components, and for other targets of its kind any.

    Args:
        model: The actor's model.
        weights: `actor`, `shift` and `scale`, and the estimators' parameters, `estimators`.
        skills: Per skill, {variable: component}.
    """

    def __init__(self, model: ActorModel, weights: Any, skills: Sequence[Skill]) -> None:
        self.model, self.weights, self.skills = model, weights, tuple(skills)
        code, names = model.code, model.space.names
        self._kinds = np.array([code.kind_index(skill) for skill in self.skills], dtype=np.int64)
        self._masks = code.masks[self._kinds]
        seen = names if model.sees_start else ()
        self.context_variables = (seen,) * len(self.skills)

    def pick(self, skills: Sequence[int]) -> ActorPolicy:
        """Return the policies of some of the skills, in this order."""
        return self.named([self.skills[z] for z in skills])

    def named(self, skills: Sequence[Skill]) -> ActorPolicy:
        """Return the policies of skills given by their components.

        Raises:
            UserError: If there are no such skills.
        """
        slots = {slot.variable: slot for slot in self.model.code.slots}
        for skill in skills:
            self.model.code.kind_index(skill)
            for j, component in skill.items():
                slots[j].encode(component)
        return ActorPolicy(self.model, self.weights, skills)

    def draw_modes(self, skills: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw z, float32 [n, code.width]; see the class."""
        code = self.model.code
        z = code.draw(self._kinds[skills], rng)
        for k, slot in enumerate(code.slots):
            for number in np.unique(skills).tolist():
                if slot.variable in self.skills[number]:
                    own = slot.encode(self.skills[number][slot.variable])
                    z[skills == number, code.places[k]] = own
        return z

    def actions(
        self, skill: int, starts: np.ndarray, states: np.ndarray, mode: int = 0
    ) -> np.ndarray:
        """Refuse: what a skill does depends on the time; see `act`."""
        raise NotImplementedError

    def act(
        self,
        skills: np.ndarray,
        modes: np.ndarray,
        starts: np.ndarray,
        values: np.ndarray,
        *,
        observations: np.ndarray | None = None,
        steps: np.ndarray | None = None,
        draws: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the actor's mean actions; see `Policy.act`."""
        del draws
        seen = values if observations is None else observations
        taken = np.zeros(len(skills)) if steps is None else steps
        time = (taken / self.model.step_limit).astype(np.float32)
        return self.model.mean_action(
            self.weights, seen, values, starts, self._masks[skills], modes, time
        )

    def trace(self) -> Traced:
        """Return the policy as a function in JAX; see `Policy.trace`."""
        model, masks = self.model, jnp.asarray(self._masks)
        names = ("actor", "shift", "scale")
        weights = jax.tree.map(jnp.asarray, {name: self.weights[name] for name in names})

        def act(
            weights: Any, skill: Any, mode: Any, start: Any, values: Any, observation: Any,
            step: Any, key: Any,
        ) -> Any:  # fmt: skip
            del key
            time = jnp.full(1, step / model.step_limit)
            return model.mean_action(
                weights, observation[None], values[None], start[None], masks[skill][None],
                mode[None], time,
            )[0]  # fmt: skip

        return Traced(weights, act)

    def phi(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """Return the learned representation of values, by target; {"": …} without targets.

        Args:
            values: float [n, width].

        Returns:
            float [n, width of the component] each.

        Raises:
            UserError: If the objective learns no representation.
        """
        model, names = self.model, self.model.space.names
        estimates = SkillEstimates(model.space, model.objective, model.code)
        if estimates.is_discriminator:
            raise UserError(f"{model.objective.name} learns discriminators, not a representation")
        values = np.asarray(values, np.float32)
        outputs = estimates.outputs(self.weights["estimators"], values, values)
        slots = [model.code.slots[k] for k in estimates.slots]
        return {
            "" if slot.variable == WHOLE else names[slot.variable]: phi[:, : slot.width]
            for slot, phi in zip(slots, outputs, strict=True)
        }


def log_densities(u: Any, mean: Any, log_std: Any) -> Any:
    """Return the log density of each dimension of u under N(mean, std^2), [n, n_action_dims]."""
    xp = array_namespace(u)
    scaled = (u - mean) / xp.exp(log_std)
    return -0.5 * scaled**2 - log_std - 0.5 * math.log(2 * math.pi)


def log_squashing(u: Any) -> Any:
    """Return log(1 - tanh(u)^2) summed over dimensions, [n], in a stable form."""
    xp = array_namespace(u)
    return (2 * (math.log(2) - u - xp.logaddexp(0.0, -2 * u))).sum(axis=-1)
