"""Pages of skills in continuous worlds: recorded rollouts, many skills side by side.

A page needs arrays, not policies: whoever has skills rolls them out (`record_rollouts` does it for
functions in JAX) and hands over `ContinuousRollouts`. The page draws the world from its `Drawing`,
and the change of every variable over time. Its script is in `assets/continuous/`.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skillfocus.errors import UserError
from skillfocus.files import write_atomically
from skillfocus.render.icons import PALETTES, PLATE_COLOURS
from skillfocus.skills.actor import ActorPolicy
from skillfocus.skills.skills import Skills, objective_label
from skillfocus.viewer.page import bundle, fill, page_path, read_asset
from skillfocus.viewer.recordings import pack_array, script_element
from skillfocus.world import World
from skillfocus.worlds.host import HostWorld

if TYPE_CHECKING:
    from skillfocus.worlds.jax.world import JaxWorld

THRESHOLD = 0.1
"""From which change on a variable counts as changed, as a share of its scale."""
MAX_NUMBERS = 20_000_000
"""The most numbers that a page may hold: 80 MB before compression."""
ENTRY = "continuous/main.js"
"""The module that opens the page."""


@dataclass(frozen=True, eq=False)
class ContinuousRollouts:
    """What a set of skills did, from a few starts each.

    Example::

        view_continuous(ContinuousRollouts(world, values, (("agent",), ("box",))), "page.html")
    """

    world: World
    """The world."""
    values: np.ndarray
    """Values before the first and after every step, float [n_skills, n_starts, T + 1, size]."""
    targets: Sequence[Sequence[str]]
    """[n_skills]: the variables that each skill is to change; none for "leave everything"."""
    titles: Sequence[str] = ()
    """[n_skills]: what the page calls them; by default, skill 0, skill 1, …"""
    observations: np.ndarray | None = None
    """What policies saw, float [n_skills, n_starts, T + 1, observation_size]; may be left out if it
    is the values. The world is drawn from these."""
    label: str = ""
    """What the page calls the set, beside others."""

    def __post_init__(self) -> None:
        world, n = self.world, len(self.targets)
        titles = tuple(self.titles) or tuple(f"skill {z}" for z in range(n))
        object.__setattr__(self, "titles", titles)
        shape = np.shape(self.values)
        if len(shape) != 4 or shape[0] != n or shape[3] != world.space.width or 0 in shape:
            raise UserError(
                f"values of rollouts must have the shape [{n} skills, starts, steps + 1, "
                f"{world.space.width} numbers], got {list(shape)}"
            )
        if len(titles) != n:
            raise UserError(f"there are {n} skills, but {len(titles)} titles")
        seen = self.values if self.observations is None else self.observations
        wanted = (*shape[:3], world.observation_size)
        if np.shape(seen) != wanted:
            raise UserError(
                f"observations of rollouts must have the shape {list(wanted)}, got "
                f"{list(np.shape(seen))}; they can be left out only where policies see the values"
            )
        if not np.isfinite(self.values).all() or not np.isfinite(seen).all():
            raise UserError("rollouts contain a number that is not finite")
        for names in self.targets:
            for name in names:
                world.space.index(name)


def view_continuous(
    rollouts: ContinuousRollouts | Sequence[ContinuousRollouts], out: str | Path, title: str = ""
) -> Path:
    """Write one HTML page, which needs nothing but a browser, to watch continuous skills on.

    Args:
        rollouts: One set of skills or several of the same world.
        out: The page.
        title: Its title; by default the world's id.

    Returns:
        The path of the page.

    Raises:
        UserError: If the sets are of different worlds, too large, or the page cannot be written.
    """
    sets = [rollouts] if isinstance(rollouts, ContinuousRollouts) else list(rollouts)
    path = page_path(out, None)
    page = fill(
        "continuous/page.html",
        data=script_element("data", continuous_document(sets)),
        title=html.escape(title or f"Skills in {sets[0].world.id}"),
        style=read_asset("page.css") + read_asset("continuous/page.css"),
        script=bundle(ENTRY, read_asset),
    )
    write_atomically(path, page.encode())
    return path


def continuous_document(sets: Sequence[ContinuousRollouts]) -> dict[str, object]:
    """Return everything a page holds: `ContinuousPageData` of `assets/continuous/data.js`.

    Raises:
        UserError: There are no sets, they are of different worlds, or they are too large.
    """
    if not sets:
        raise UserError("there are no skills to show: give at least one set of rollouts")
    world = sets[0].world
    for other in sets:
        if (other.world.id, other.world.settings) != (world.id, world.settings):
            raise UserError(
                f"a page shows one continuous world, got {world.id} {world.settings} and "
                f"{other.world.id} {other.world.settings}"
            )
    numbers = sum(
        one.values.size + (0 if one.observations is None else one.observations.size) for one in sets
    )
    if numbers > MAX_NUMBERS:
        raise UserError(
            f"these rollouts have {numbers:,} numbers; a page takes {MAX_NUMBERS:,}: show fewer "
            f"starts or skills"
        )
    drawing, space = world.drawing(), world.space
    return {
        "world": {
            "id": world.id,
            "variables": [
                {"name": v.name, "first": at.start, "size": v.width, "scale": v.largest_distance}
                for v, at in zip(space.variables, space.slices, strict=True)
            ],
            "size": space.width,
            "observationSize": world.observation_size,
            "drawing": None if drawing is None else drawing.as_json(),
        },
        "sets": [
            {
                "label": one.label or f"set {number}",
                "titles": list(one.titles),
                "targets": [[space.index(name) for name in names] for names in one.targets],
                "nStarts": one.values.shape[1],
                "nSteps": one.values.shape[2] - 1,
                "values": pack_array(np.asarray(one.values, np.float32)),
                "observations": None
                if one.observations is None
                else pack_array(np.asarray(one.observations, np.float32)),
            }
            for number, one in enumerate(sets, 1)
        ],
        "threshold": THRESHOLD,
        "palettes": PALETTES,
        "colours": list(PLATE_COLOURS),
    }


def record_rollouts(
    world: JaxWorld,
    act: Callable[[Any, Any, Any, Any], Any],
    targets: Sequence[Sequence[str]],
    *,
    seed: int,
    n_starts: int = 8,
    steps: int | None = None,
    titles: Sequence[str] = (),
    label: str = "",
) -> ContinuousRollouts:
    """Roll skills out from shared starts, drawn by the world's `reset`.

    Args:
        world: The world.
        act: `act(skill, key, first_observation, observation)` returns an action, in JAX.
        targets: [n_skills]: the variables that each skill is to change.
        seed: Seed of starts, actions and steps; equal seeds give equal rollouts.
        n_starts: How many starts.
        steps: How many steps (default: the world's step limit).
        titles: What the page calls the skills.
        label: What the page calls the set.
    """
    import jax
    import jax.numpy as jnp

    first_key, run_key = jax.random.split(jax.random.key(seed))
    starts = jax.vmap(world.reset)(jax.random.split(first_key, n_starts))
    length = world.step_limit if steps is None else steps

    def run(skill: Any, start: Any, key: Any) -> Any:
        first = world.observation(start)

        def advance(state: Any, key: Any) -> Any:
            action_key, step_key = jax.random.split(key)
            action = act(skill, action_key, first, world.observation(state))
            after = world.step(step_key, state, action)
            return after, (world.values(after), world.observation(after))

        later = jax.lax.scan(advance, start, jax.random.split(key, length))[1]
        zero = world.values(start), first
        return jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), zero, later)

    keys = jax.random.split(run_key, (len(targets), n_starts))
    over_starts = jax.vmap(run, (None, 0, 0))
    several = jax.jit(jax.vmap(over_starts, (0, None, 0)))
    values, observations = several(jnp.arange(len(targets)), starts, keys)
    return ContinuousRollouts(
        world, np.asarray(values), targets, titles, np.asarray(observations), label
    )


# -------------------- Rollouts of skills for a page: every skill from the same few states

MAX_SKILLS = 64
"""The most skills on a page; of more, these many are shown, evenly chosen."""


def record_skills(skills: Skills, *, starts: int = 4, seed: int = 0) -> ContinuousRollouts:
    """Run every skill from the same states.

    Args:
        skills: The skills.
        starts: How many states.
        seed: Seed of the states and of the rollouts.

    Raises:
        UserError: If the world cannot be started in the same state twice.
    """
    policy = skills.policies
    if isinstance(skills.world, HostWorld) or not isinstance(policy, ActorPolicy):
        raise UserError(f"{skills.world.id} cannot be drawn: pages are of worlds written in JAX")
    chosen = np.unique(np.linspace(0, len(skills) - 1, min(len(skills), MAX_SKILLS)).astype(int))
    states = skills.engine.reset(starts, np.random.default_rng(seed))
    done = [skills.run(int(z), states, np.random.default_rng(seed)) for z in chosen]
    return ContinuousRollouts(
        skills.world,
        np.stack([each.values for each in done]),
        [skills.targets[z] for z in chosen],
        [_title(skills.targets[z], policy.skills[z]) for z in chosen],
        np.stack([each.observations for each in done if each.observations is not None]),
        f"{objective_label(skills.info)}, seed {skills.info.get('seed')}",
    )


def _title(targets: Sequence[str], skill: Mapping[int, Any]) -> str:
    """Return a skill's name on the page: `box 2`, `agent (0.71, 0.71)`, `leave everything`."""
    parts = [
        str(z) if isinstance(z, int) else f"({', '.join(f'{x:.2f}' for x in z)})"
        for _, z in sorted(skill.items())
    ]
    if not targets:
        return f"skill {parts[0]}" if parts else "leave everything"
    return ", ".join(f"{name} {part}" for name, part in zip(targets, parts, strict=True))
