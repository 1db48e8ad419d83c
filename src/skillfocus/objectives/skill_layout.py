"""What a skill of a continuous world is: which variables it targets, and what z it has for each.

A skill is a mask of target variables and, for each of them, a component: one of K values, or a
direction on a sphere. `targets` lists the kinds of skills that are learned:

    {"agent": 4, "box": Sphere(2)}    focused: 4 skills for the agent, and directions for the box;
                                      DUSDi: both at once, a component for every variable
    [{"agent": 4}, {"agent": 4, "box": Sphere(2)}, {}]
                                      one kind each: the agent alone, both at once, and nothing
                                      ("leave everything")

A kind that is listed twice is one kind. Skills without targets have a single component, for the
whole state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skillfocus.core.continuous import ContinuousSpace
from skillfocus.errors import UserError
from skillfocus.objectives.objective import Objective, Term

N_COMPONENTS = 5
"""Values of a component by default, as in DUSDi's experiments."""
N_PLAIN = 16
"""Number of skills without targets, by default."""
MAX_COMPONENTS = 10_000
"""The most values, or dimensions, of a component."""


@dataclass(frozen=True)
class Sphere:
    """Continuous skills: z is a direction, a point on the unit sphere.

        sf.discover(world, sf.focused(sf.metra()), seed=0, learner="neural",
                    targets={"box": sf.Sphere(2)})

    Attributes:
        dimensions: Of the space that the sphere lies in; a direction has as many numbers.
    """

    dimensions: int

    def __post_init__(self) -> None:
        if not 2 <= self.dimensions <= MAX_COMPONENTS:
            raise UserError(
                f"a Sphere of {self.dimensions} dimensions has no directions to choose from; take "
                f"2 to {MAX_COMPONENTS:,}, or a number of discrete skills"
            )


Component = int | Sphere
"""The number of values that a component has, or the sphere it lies on."""
ContinuousTargets = Mapping[str, Component] | Sequence[Mapping[str, Component]]
"""Components by target variable, or one such mapping per kind of skill."""


@dataclass(frozen=True)
class Slot:
    """One component of skills.

    Attributes:
        variable: The target variable's index; None for skills without targets.
        component: How many values it has, or its sphere.
    """

    variable: int | None
    component: Component

    @property
    def width(self) -> int:
        """How many numbers of z it takes: one per value, or one per dimension."""
        return self.component.dimensions if isinstance(self.component, Sphere) else self.component

    @property
    def is_discrete(self) -> bool:
        """Whether it has finitely many values."""
        return not isinstance(self.component, Sphere)


@dataclass(frozen=True)
class SkillLayout:
    """The components of all skills of a set, and the kinds of skills there are.

    Attributes:
        n_variables: How many variables the world has.
        slots: The components, in the order of their variables.
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
        rows = [[float(k in kind) for k in range(len(self.slots))] for kind in self.kinds]
        return np.array(rows, np.float32).reshape(len(self.kinds), len(self.slots))

    @cached_property
    def masks(self) -> np.ndarray:
        """Which variables each kind targets, float32 [n_kinds, n_variables]."""
        masks = np.zeros((len(self.kinds), self.n_variables), np.float32)
        for row, kind in enumerate(self.kinds):
            for k in kind:
                if (variable := self.slots[k].variable) is not None:
                    masks[row, variable] = 1.0
        return masks

    @property
    def is_discrete(self) -> bool:
        """Whether every component has finitely many values."""
        return all(slot.is_discrete for slot in self.slots)

    def count(self, kind: int) -> int | None:
        """Return how many skills are of a kind; None if they are infinitely many."""
        total = 1
        for k in self.kinds[kind]:
            component = self.slots[k].component
            if isinstance(component, Sphere):
                return None
            total *= component
        return total

    def terms(self, objective: Objective) -> list[tuple[int, Term]]:
        """Return the copies of the reward that skills can earn, each with its slot's number."""
        if not objective.targeted:
            return [(0, term) for term in objective.terms((), self.n_variables)]
        variables = [slot.variable for slot in self.slots if slot.variable is not None]
        terms = objective.terms(variables, self.n_variables)
        return [(variables.index(term.target), term) for term in terms if term.target is not None]

    def describe(self, space: ContinuousSpace) -> list[Any]:
        """Return the kinds of skills as JSON can hold them; `from_description` reads it."""
        return [
            [[self._name(k, space), _plain(self.slots[k].component)] for k in kind]
            for kind in self.kinds
        ]

    def _name(self, k: int, space: ContinuousSpace) -> str | None:
        variable = self.slots[k].variable
        return None if variable is None else space.names[variable]


def _plain(component: Component) -> Any:
    return {"sphere": component.dimensions} if isinstance(component, Sphere) else component


def lay_out(
    space: ContinuousSpace,
    objective: Objective,
    targets: ContinuousTargets | None = None,
    n_skills: int | None = None,
    goals: Sequence[str] | None = None,
) -> SkillLayout:
    """Return the skills that an objective is to learn.

    Args:
        space: The world's variables.
        objective: What skills are rewarded for.
        targets: See the module (default: `N_COMPONENTS` values for each of the goals). Of an
            objective without targets, a `Sphere` or nothing.
        n_skills: Number of skills of an objective without targets (default: 16).
        goals: The variables that are targeted by default (default: all).

    Raises:
        UserError: If objective and targets do not fit together.
    """
    if objective.modes != "single":
        raise UserError(f"{objective.name} needs variables with finitely many values")
    if not objective.targeted:
        return _plain_layout(space, objective, targets, n_skills)
    if n_skills is not None:
        raise UserError(
            f"{objective.name} skills of continuous worlds are counted per target: leave n_skills "
            f"out and give targets, such as {{{space.names[0]!r}: {N_COMPONENTS}}}"
        )
    if targets is None:
        targets = dict.fromkeys(goals or space.names, N_COMPONENTS)
    kinds = _kinds(targets, at_once=objective.weight is not None)
    components: dict[int, Component] = {}
    for kind in kinds:
        for name, component in kind.items():
            j = space.index(name)
            _check_component(name, component, objective)
            if components.setdefault(j, component) != component:
                raise UserError(
                    f"{name} has components {components[j]} and {component}; all kinds of skills "
                    f"that target it must have the same"
                )
    if objective.penalty is not None and all(len(kind) == len(space) for kind in kinds):
        raise UserError(
            f"all skills target every variable ({', '.join(space.names)}), so nothing is left to "
            f"keep unchanged"
        )
    order = sorted(components)
    slots = tuple(Slot(j, components[j]) for j in order)
    active = (sorted(order.index(space.index(name)) for name in kind) for kind in kinds)
    return SkillLayout(len(space), slots, tuple(dict.fromkeys(tuple(kind) for kind in active)))


def _plain_layout(
    space: ContinuousSpace, objective: Objective, targets: object, n_skills: int | None
) -> SkillLayout:
    if isinstance(targets, Sphere):
        return SkillLayout(len(space), (Slot(None, targets),), ((0,),))
    if targets is not None:
        raise UserError(
            f"{objective.name} skills have no targets; use focused({objective.name}(…)), or "
            f"targets=Sphere(2) for continuous ones"
        )
    count = N_PLAIN if n_skills is None else n_skills
    _check_component("the whole state", count, objective)
    return SkillLayout(len(space), (Slot(None, count),), ((0,),))


def _kinds(targets: object, at_once: bool) -> list[Mapping[str, Component]]:
    given: list[Mapping[str, Component]]
    if isinstance(targets, Mapping):
        given = [targets] if at_once else [{name: targets[name]} for name in targets]
    else:
        given = list(targets)  # pyright: ignore[reportArgumentType]
    if not any(given):
        raise UserError(
            'no skill has a target; write {"agent": 4, "box": Sphere(2)}, or a list of such'
        )
    return given


def _check_component(name: str, component: object, objective: Objective) -> None:
    if isinstance(component, Sphere):
        return
    if not 2 <= component <= MAX_COMPONENTS:  # pyright: ignore[reportOperatorIssue]
        raise UserError(
            f"{name} cannot have {component} skills of {objective.name}; give it 2 to "
            f"{MAX_COMPONENTS:,}, or a Sphere"
        )
