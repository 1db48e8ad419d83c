"""Recorded runs of skills in worlds without a table, which a page cannot simulate.

Every skill is run from the same few starts. The states that occur are numbered, the starts first,
so that a page can show them as it shows those of a table. Those of real-valued variables come as
`ContinuousRollouts`, arrays that may have any source.
"""

from __future__ import annotations

import base64
import io
import json
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from PIL import Image

from skillfocus.errors import UserError
from skillfocus.mdp import TabularMDP
from skillfocus.render.icons import PLATE_COLOURS
from skillfocus.skills.actor import ActorPolicy
from skillfocus.skills.skills import Skills
from skillfocus.spaces import State
from skillfocus.world import World
from skillfocus.worlds.grid import TILE_SIZE, GridWorld, environment_painter
from skillfocus.worlds.host import HostWorld

if TYPE_CHECKING:
    from skillfocus.worlds.jax.world import JaxWorld

STARTS = 8
"""First states of recorded runs; on a map, the showcase is one of them."""
RUNS = 12
"""Runs of each skill from each of them."""
MAX_ACTIONS = 254
"""Most actions of the world: a page holds them as bytes, and two bytes mean something else."""


class Recording(NamedTuple):
    """One run of a skill."""

    states: np.ndarray
    """int64 [n_steps + 1]: the states' numbers."""
    actions: np.ndarray
    """int64 [n_steps + 1]: what the skill does in each; the number of actions means "terminate"."""


class RecordedWorld:
    """Runs of all skills of some sets in one world.

    Attributes:
        values: int32 [n_states, n_variables]: the states that occur.
        n_starts: How many of them, the first ones, are starts.
        moves: int64 [n, 2]: the distinct pairs of a state and the next one.
    """

    def __init__(self, sets: Sequence[Skills], seed: int = 0) -> None:
        """Run the skills.

        Args:
            sets: Sets of skills in equal worlds.
            seed: Seed of starts and runs; equal seeds give equal recordings.
        """
        if len(sets[0].world.actions) > MAX_ACTIONS:
            raise UserError(f"a page shows worlds of up to {MAX_ACTIONS} actions")
        starts = draw_starts(sets[0], np.random.default_rng(seed))
        self.n_starts = len(starts)
        self._numbers = {start: number for number, start in enumerate(starts)}
        self._runs = [(skills, self._record(skills, starts, seed)) for skills in sets]
        self.values = np.array(list(self._numbers), dtype=np.int32)
        states = [run.states for _, recorded in self._runs for runs in recorded for run in runs]
        pairs = [np.stack([each[:-1], each[1:]], axis=1) for each in states]
        self.moves = np.unique(np.concatenate(pairs), axis=0)

    def runs_of(self, skills: Skills, z: int) -> list[Recording]:
        """Return the recorded runs of a skill, those from one start after those from another."""
        return next(recorded[z] for one, recorded in self._runs if one is skills)

    def _record(self, skills: Skills, starts: list[State], seed: int) -> list[list[Recording]]:
        rng = np.random.default_rng(seed)
        numbers = np.repeat(np.arange(len(skills)), len(starts) * RUNS)
        first = np.tile(np.repeat(np.array(starts), RUNS, axis=0), (len(skills), 1))
        done = skills.run(numbers, first, rng)
        # What each skill does in its last state: it stops, unless its steps are used up.
        stop = np.full((len(numbers), 1), len(skills.world.actions))
        taken = np.concatenate([done.actions, stop], axis=1)
        cut = np.flatnonzero(done.steps == skills.step_limit)
        taken[cut, skills.step_limit :] = skills.policies.act(
            numbers[cut], done.modes[cut], first[cut], done.ends[cut]
        )[:, None]
        runs: list[list[Recording]] = [[] for _ in range(len(skills))]
        for z, path, actions, steps in zip(numbers, done.values, taken, done.steps, strict=True):
            states = [
                self._numbers.setdefault(tuple(state), len(self._numbers))
                for state in path[: steps + 1].tolist()
            ]
            runs[z].append(Recording(np.array(states), actions[: steps + 1]))
        return runs


def draw_starts(skills: Skills, rng: np.random.Generator) -> list[State]:
    """Return different states to record runs from: a map's showcase, and some that are drawn."""
    drawn = [tuple(state) for state in skills.draw_starts(STARTS, rng).tolist()]
    showcase = [tuple(skills.world.showcase)] if isinstance(skills.world, GridWorld) else []
    return list(dict.fromkeys([*showcase, *drawn]))[:STARTS]


# -------------------- Recordings of real-valued variables

THRESHOLD = 0.1
"""From which change on a real-valued variable counts as changed, as a share of its scale."""
MAX_NUMBERS = 20_000_000
"""The most numbers of rollouts that a page may hold: 80 MB before compression."""


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
        wanted = (*shape[:3], world.observation_size)
        if np.shape(self.seen) != wanted:
            raise UserError(
                f"observations of rollouts must have the shape {list(wanted)}, got "
                f"{list(np.shape(self.seen))}; they can be left out only where policies see the "
                f"values"
            )
        if not np.isfinite(self.values).all() or not np.isfinite(self.seen).all():
            raise UserError("rollouts contain a number that is not finite")
        for names in self.targets:
            for name in names:
                world.space.index(name)

    @property
    def seen(self) -> np.ndarray:
        """What policies saw, [n_skills, n_starts, T + 1, observation_size]."""
        return self.values if self.observations is None else self.observations


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


MAX_SKILLS = 64
"""The most real-valued skills on a page; of more, these many are shown, evenly chosen."""
CONTINUOUS_STARTS = 4
"""States that real-valued skills are run from."""


def record_skills(skills: Skills, label: str = "") -> ContinuousRollouts:
    """Run every skill from the same few states.

    Raises:
        UserError: If the world cannot be started in the same state twice.
    """
    policy = skills.policies
    if isinstance(skills.world, HostWorld) or not isinstance(policy, ActorPolicy):
        raise UserError(f"{skills.world.id} cannot be drawn: pages are of worlds written in JAX")
    chosen = np.unique(np.linspace(0, len(skills) - 1, min(len(skills), MAX_SKILLS)).astype(int))
    states = skills.engine.reset(CONTINUOUS_STARTS, np.random.default_rng(0))
    done = [skills.run(int(z), states, np.random.default_rng(0)) for z in chosen]
    return ContinuousRollouts(
        skills.world,
        np.stack([each.values for each in done]),
        [skills.targets[z] for z in chosen],
        [_title(skills.targets[z], policy.skills[z]) for z in chosen],
        np.stack([each.observations for each in done if each.observations is not None]),
        label,
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


def rollouts_data(
    sets: Sequence[ContinuousRollouts],
) -> tuple[dict[str, object], list[dict[str, object]]]:
    """Return the page's data of a world of real-valued variables, and of the recordings in it.

    Returns:
        Parts of `WorldData`, and `SetData` of every set, of `assets/data.js`.
    """
    world, space = sets[0].world, sets[0].world.space
    drawing = world.drawing()
    most = max(sets, key=lambda one: one.values.shape[1])
    observed = any(one.observations is not None for one in sets)

    def packed(arrays: list[np.ndarray]) -> dict[str, str]:
        """Stack the states of all sets below those that stand for the starts."""
        first = arrays[sets.index(most)][0, :, 0]
        rows = [first, *(array.reshape(-1, array.shape[-1]) for array in arrays)]
        return pack_array(np.concatenate(rows).astype(np.float32))

    data, n_states = [], most.values.shape[1]
    for one in sets:
        n, n_starts, length, _ = one.values.shape
        data.append(
            {
                "label": one.label,
                "first": False,
                "targets": [[space.index(name) for name in names] for names in one.targets],
                "rollouts": {
                    "titles": list(one.titles),
                    "first": n_states,
                    "nStarts": n_starts,
                    "nSteps": length - 1,
                },
            }
        )
        n_states += n * n_starts * length
    return {
        "id": world.id,
        "nStates": n_states,
        "actions": [],
        "variables": [
            {
                "name": v.name, "labels": [], "points": None, "scale": v.largest_distance,
                "first": at.start, "size": v.width,
            }
            for v, at in zip(space.variables, space.slices, strict=True)
        ],
        "values": packed([one.values for one in sets]),
        "defaultTarget": 0,
        "starts": list(range(most.values.shape[1])),
        "start": 0,
        "real": {
            "width": space.width,
            "observationSize": world.observation_size,
            "observations": packed([one.seen for one in sets]) if observed else None,
            "threshold": THRESHOLD,
            "colours": list(PLATE_COLOURS),
            "drawing": None if drawing is None else drawing.as_json(),
        },
    }, data  # fmt: skip


# -------------------- Arrays and data as parts of a page
#
# An array is `{"type": "u16", "data": …}`: its little-endian bytes, compressed with zlib, in
# base64.

TYPES = {"uint8": "u8", "uint16": "u16", "int32": "i32", "float32": "f32"}
"""The page's names of the types it can unpack."""


def pack_array(array: np.ndarray, level: int = 9) -> dict[str, str]:
    """Return an array as JSON data that the page's `unpack` reads.

    Args:
        array: An array of one of `TYPES`; its shape is not kept.
        level: The zlib level.
    """
    little_endian = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    data = base64.b64encode(zlib.compress(little_endian.tobytes(), level)).decode()
    return {"type": TYPES[array.dtype.name], "data": data}


def script_element(name: str, data: object) -> str:
    """Return data as a JSON script element with an id.

    Inside a script element only "<" could end or begin something, so it is escaped. Numbers that
    JSON lacks (NaN, infinity) become null.
    """
    text = json.dumps(_replace_non_finite(data), separators=(",", ":"), allow_nan=False)
    text = text.replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'


def _replace_non_finite(data: object) -> object:
    if isinstance(data, dict):
        return {name: _replace_non_finite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_replace_non_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


# --------------------
#
# Pictures of all states of a world for a page: one sheet of tiles, and which tiles a state shows
#
# Environments draw most states alike but for a few cells, so frames are cut into tiles and equal
# tiles are kept once. Taxi's 404 frames are 120 tiles, DoorKey-8x8's 9,210 are some fifty.

MAX_STATES = 50_000
"""A world with more states is shown by its values: drawing them all would take more than half a
minute (MiniGrid draws 2,000 states a second)."""
MAX_TILES = 4096
"""Frames that differ in more tiles than these are no board of cells, and are not kept."""
MAX_SHEET = 600_000
"""The most bytes of a sheet; a larger one is not kept."""
MIN_TILE, MAX_TILE = 8, 64
"""The sides of a tile, in pixels."""
SHEET_COLUMNS = 16


def frames_data(world: World, mdp: TabularMDP) -> tuple[dict[str, object] | None, str]:
    """Return the page's pictures of a world whose environment draws, and why there are none.

    Returns:
        `FramesData` of `assets/data.js`, or None: the environment does not draw, or too much. The
        note is empty unless the world has too many states.
    """
    painter = environment_painter(world)
    if painter is None:
        return None, ""
    if mdp.n_states > MAX_STATES:
        return None, (
            f"No pictures: {mdp.n_states:,} states are more than the {MAX_STATES:,} that are drawn "
            f"for a page. Values are shown instead."
        )
    height, width = painter(mdp.state(0)).shape[:2]
    side = tile_side(height, width)
    rows, columns = -(-height // side), -(-width // side)
    places = np.empty((mdp.n_states, rows * columns), dtype=np.uint16)
    tiles: dict[bytes, int] = {}
    for number in range(mdp.n_states):
        frame = cut(painter(mdp.state(number)), side)
        places[number] = [tiles.setdefault(tile.tobytes(), len(tiles)) for tile in frame]
        if len(tiles) > MAX_TILES:
            return None, ""
    sheet = _png(list(tiles), side)
    if len(sheet) > MAX_SHEET:
        return None, ""
    return {
        "tile": side,
        "rows": rows,
        "columns": columns,
        "width": width,
        "height": height,
        "sheet": f"data:image/png;base64,{base64.b64encode(sheet).decode()}",
        "sheetColumns": SHEET_COLUMNS,
        "tiles": pack_array(places),
    }, ""


def tile_side(height: int, width: int) -> int:
    """Return the side of tiles that suits frames of a size: a divisor of both lengths, if any."""
    common = math.gcd(height, width)
    if common % TILE_SIZE == 0:
        return TILE_SIZE
    fitting = [side for side in range(MIN_TILE, MAX_TILE + 1) if common % side == 0]
    return max(fitting, default=MIN_TILE * 4)


def cut(frame: np.ndarray, side: int) -> np.ndarray:
    """Return a frame's tiles, uint8 [n, side, side, 3], row by row; the last ones are padded."""
    height, width = frame.shape[:2]
    padded = np.pad(frame, ((0, -height % side), (0, -width % side), (0, 0)), mode="edge")
    rows, columns = padded.shape[0] // side, padded.shape[1] // side
    split = padded.reshape(rows, side, columns, side, 3).swapaxes(1, 2)
    return split.reshape(-1, side, side, 3)


def _png(tiles: list[bytes], side: int) -> bytes:
    """Return tiles as one picture, with a palette where that is smaller."""
    rows = -(-len(tiles) // SHEET_COLUMNS)
    blank = [bytes(side * side * 3)] * (rows * SHEET_COLUMNS - len(tiles))
    every = np.frombuffer(b"".join([*tiles, *blank]), np.uint8)
    every = every.reshape(rows, SHEET_COLUMNS, side, side, 3).swapaxes(1, 2)
    image = Image.fromarray(every.reshape(rows * side, SHEET_COLUMNS * side, 3))
    files = []
    for picture in (image, image.quantize(256, dither=Image.Dither.NONE)):
        out = io.BytesIO()
        picture.save(out, "PNG", optimize=True)
        files.append(out.getvalue())
    return min(files, key=len)
