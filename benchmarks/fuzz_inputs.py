"""Inputs for `fuzz.py`: what people write by hand, and files that were damaged or made up.

Every function of `KINDS` draws one input and feeds it to the program. It returns if the input is
accepted, and raises `UserError` if it is refused; anything else is a finding. Damaged bytes may be
accepted only if what is read equals what was written.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from unittest import mock

import msgspec
import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1] / part) for part in ("tests/support", ".")]

import skillfocus as sf
from forging import open_file, pack
from skillfocus import runs
from skillfocus.cli import main
from skillfocus.errors import UserError
from skillfocus.files import unseal
from skillfocus.learners.problem import make_problem
from skillfocus.mdp import tabulate
from skillfocus.metrics import side_effects
from skillfocus.skills.files import from_bytes
from skillfocus.sweep import parse_axis
from skillfocus.worlds import explored as exploration_cache

MAP = """# every word that a map can hold
slip = 0.1
step limit = 9
goals = key, coin
K = pick-up key
C = counter coin up to 2
V = fragile vase
L = switch lamp
M = sets muddy
W = clears muddy
D = door needs no lamp
tracks prints while muddy up to 2

map:
#######
#@K.CV#
#.#D###
#LM.W.#
#######
"""
DRAWING = "######\n#...T#\n######"
WORDS = (
    "", " ", "\t", "\n", "\r\n", "\0", "#", "=", ",", ":", "..", ".", "-", "+", "@", "nan", "inf",
    "-1", "0", "1", "2", "3.5", "1e400", "-0.0", "9" * 30, "٣", "ß", "\ufeff", "\u202e", "😀", "'",
    '"', "[b]", "%s", "{}", "null", "true", "slip", "position", "strength", "gamma", "tool_1",
    "up to", "needs", "no", "a" * 300, "../x", "/dev/null", "--", "--help",
)  # fmt: skip
VALUES = (
    None, True, False, -1, 0, 1, 2, 7, 2**31, 2**63, 2**70, -0.5, 0.5, 1e308, float("nan"),
    float("inf"), "", "x", "\0", "position", "tool_1", "FourRooms-v0", "map:x", "my.py:World",
    "1" * 300, [], [[]], {}, [None], [1, 2], ["position"], [["position"]], {"a": 1},
    {"text": MAP}, {"text": ""}, DRAWING,
)  # fmt: skip


def damage_text(rng: Random, text: str) -> str:
    """Change a text in one to three places."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randint(0, len(text))
        match rng.randrange(10):
            case 0 | 1 | 2:
                text = text[:at] + rng.choice(WORDS) + text[at:]
            case 3 | 4 | 5:
                text = text[:at] + text[at + rng.randint(1, 8) :]
            case 6 | 7:
                letter = rng.choice(text or " ") if rng.random() < 0.7 else rng.choice("\u2028\a~;")
                text = text[:at] + letter + text[at + 1 :]
            case 8:
                lines = text.split("\n")
                lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
                text = "\n".join(lines)
            case _:
                lines = text.split("\n")
                rng.shuffle(lines)
                text = "\n".join(lines)
    return text


def damage_bytes(rng: Random, content: bytes) -> bytes:
    """Cut a file, or change some of its bytes."""
    changed = bytearray(content)
    if rng.random() < 0.3:
        return bytes(changed[: rng.randrange(len(changed))])
    for _ in range(rng.randint(1, 8)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def damage_json(rng: Random, value: object) -> object:
    """Replace, remove or add something within JSON data."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        if rng.random() < 0.05:
            return {**value, rng.choice(WORDS): rng.choice(VALUES)}
        return {**value, key: damage_json(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.7:
        at = rng.randrange(len(value))
        if rng.random() < 0.2:
            return value[:at] + value[at + 1 :]
        return [*value[:at], damage_json(rng, value[at]), *value[at + 1 :]]
    return rng.choice(VALUES)


RUN = sf.Discovery(
    "four-rooms", "focused-vic", 1000, sf.Planning(rounds=1), skills=4,
    world_settings=json.dumps({"drawing": DRAWING, "step_limit": 6}),
)  # fmt: skip


@dataclass(frozen=True)
class Material:
    """Valid files, to be damaged.

    Attributes:
        store: A folder with one finished and one failed run.
        skills: Skills files of a table, of networks and of an actor.
        cache: A folder with one explored world.
        checkpoint: A checkpoint of `TRAINING`.
    """

    store: Path
    skills: tuple[Path, ...]
    cache: Path
    checkpoint: Path


def material_in(folder: Path) -> Material:
    """Return where the valid files lie."""
    skills = tuple(folder / f"{kind}.skills" for kind in ("table", "network", "actor"))
    return Material(folder / "store", skills, folder / "cache", folder / "a.checkpoint")


def make_material(folder: Path) -> None:
    """Write the valid files, always the same ones."""
    from neural_skills import neural_skills, small_room, untrained_actor

    made = material_in(folder)
    store = sf.Store(made.store)
    sf.run_all([RUN], store)
    store.fail(RUN.with_settings({"seed": 1001}), "ValueError: no", "a traceback")
    table = sf.discover(
        sf.make("four-rooms", drawing=DRAWING), sf.scattered(sf.focused(sf.vic())), seed=0,
        learner=sf.Planning(rounds=2), targets={"tool_1": 2, "position": 2},
    )  # fmt: skip
    every = (table, neural_skills(small_room()), untrained_actor())
    for skills, path in zip(every, made.skills, strict=True):
        skills.save(path)
    with mock.patch.dict(os.environ, {exploration_cache.VARIABLE: str(made.cache)}):
        explore()
    checkpoint = _checkpoint(made.checkpoint)
    with mock.patch("skillfocus.learners.network_training.SECONDS_BETWEEN_CHECKPOINTS", -1.0):
        checkpoint.write(_training(), 7)
    checkpoint.path.rename(made.checkpoint)


# ------------------------------------------------------------------ kinds of input


def fuzz_map(rng: Random, _: Material) -> None:
    """A map file."""
    text = damage_text(rng, MAP)
    Path("map.txt").write_bytes(text.encode(errors="replace"))
    tabulate(sf.make("map.txt"))


def fuzz_skills(rng: Random, material: Material) -> None:
    """A skills file with damaged bytes."""
    valid = rng.choice(material.skills)
    content = damage_bytes(rng, valid.read_bytes())
    same(from_bytes(content, "a.skills"), from_bytes(valid.read_bytes(), "valid"))


def fuzz_signed_skills(rng: Random, material: Material) -> None:
    """A skills file with another header or other arrays, and a digest that fits."""
    Path("a.skills").write_bytes(_forged(rng, *open_file(rng.choice(material.skills))))
    use_skills(Path("a.skills"))


def _forged(rng: Random, header: Any, arrays: dict[str, np.ndarray]) -> bytes:
    if rng.random() < 0.7:
        return pack(damage_json(rng, header), arrays)  # pyright: ignore[reportArgumentType]
    name = rng.choice(sorted(arrays))
    match rng.randrange(3):
        case 0:
            arrays[name] = np.frombuffer(damage_bytes(rng, arrays[name].tobytes()), np.uint8)
        case 1:
            arrays[name] = arrays[name].astype(rng.choice(["float64", "int8", "bool"]))
        case _:
            del arrays[name]
    return pack(header, arrays)


def use_skills(path: Path) -> None:
    """Load skills, and do what people do with them."""
    skills = from_bytes(path.read_bytes(), str(path))
    rng = np.random.default_rng(0)
    repr(skills)
    skills.to_bytes()
    if skills.has_table:
        skills.run(np.arange(len(skills)), np.zeros(len(skills), int), rng)
        side_effects(skills)
    else:
        side_effects(skills, sample=2, rng=rng)


def same(found: object, expected: object) -> None:
    """Raise unless damaged bytes gave what was written."""
    if found != expected:
        raise AssertionError("damaged bytes were read as something else")


def fuzz_store(rng: Random, material: Material) -> None:
    """A folder of runs with a damaged file."""
    shutil.copytree(material.store, "store")
    files = sorted(path for path in Path("store").rglob("*") if path.is_file())
    path = rng.choice([path for path in files if path.stat().st_size])
    path.write_bytes(damage_bytes(rng, path.read_bytes()))
    before = sf.Store(material.store).frame()
    after = _use_store(sf.Store("store"))
    if len(after):
        same(after.equals(before), True)


def fuzz_signed_store(rng: Random, material: Material) -> None:
    """A folder with a run whose header or rows are others, and a digest that fits."""
    shutil.copytree(material.store, "store")
    store = sf.Store("store")
    path = store.path(RUN)
    body = path.read_bytes().rstrip(b"\n").rpartition(b"\n")[0] + b"\n"
    if rng.random() < 0.5:
        first, _, rest = body.partition(b"\n")
        header = json.dumps(damage_json(rng, json.loads(first)))
        body = header.encode(errors="replace") + b"\n" + rest
    else:
        body = damage_bytes(rng, body)
    path.write_bytes(body + json.dumps({"sha256": runs.digest(body)}).encode() + b"\n")
    _use_store(store)


def _use_store(store: sf.Store) -> Any:
    store.records()
    frame = store.frame()
    store.frame([RUN])
    store.failure(RUN)
    if RUN in store:
        sf.Skills.load(store.skills_path(RUN))
    return frame


def explore() -> Any:
    """Explore a small world, or find it in the cache."""
    from skillfocus.worlds.explored import ExploredWorld, ModelOutcome

    def walk(values: tuple, action: int) -> list:
        x, lamp = values
        if action:
            return [ModelOutcome(1.0, (x, not lamp))]
        return [ModelOutcome(0.75, (min(x + 1, 4), lamp), x == 3), ModelOutcome(0.25, (x, lamp))]

    return ExploredWorld(
        "minigrid:Fuzz", names=("x", "lamp"), actions=("go", "press"), starts=[(0, False)],
        model=walk, packages=("numpy",), settings={"seed": 3},
    )  # fmt: skip


def fuzz_cache(rng: Random, material: Material) -> None:
    """An explored world on disk, damaged or made up: explored again, or the same world."""
    shutil.copytree(material.cache, "cache")
    (path,) = Path("cache").iterdir()
    if rng.random() < 0.5:
        path.write_bytes(damage_bytes(rng, path.read_bytes()))
    else:
        header, arrays = unseal(path.read_bytes(), exploration_cache.Header)
        path.write_bytes(_forged(rng, {"n_starts": header.n_starts}, arrays))
    with mock.patch.dict(os.environ, {exploration_cache.VARIABLE: "cache"}):
        tabulate(explore())


class Training(NamedTuple):
    """A stand-in for the state of a training."""

    key: Any
    nets: dict[str, Any]
    rounds: Any


def _training() -> Training:
    import jax
    import jax.numpy as jnp

    nets = {"w": jnp.arange(12.0).reshape(3, 4), "b": jnp.zeros(4)}
    return Training(jax.random.key(3), nets, jnp.int32(7))


def _checkpoint(path: Path) -> Any:
    from skillfocus.learners.network_training import Checkpoint

    problem = make_problem(sf.make("four-rooms", drawing=DRAWING), sf.focused(sf.vic()))
    return Checkpoint(sf.Neural(checkpoint=path), problem, np.random.default_rng(0))


def fuzz_checkpoint(rng: Random, material: Material) -> None:
    """A checkpoint of a training, damaged or made up."""
    from skillfocus.learners import network_training

    ours = _checkpoint(Path("a.checkpoint").absolute())
    valid = material.checkpoint.read_bytes()
    damaged = rng.random() < 0.6
    if damaged:
        ours.path.write_bytes(damage_bytes(rng, valid))
    else:
        header, arrays = unseal(valid, network_training.Header)
        ours.path.write_bytes(_forged(rng, msgspec.to_builtins(header), arrays))
    state, done = ours.read(_training())
    if damaged:
        same((done, state.nets["w"].tolist()), (7, _training().nets["w"].tolist()))


def fuzz_settings(rng: Random, _: Material) -> None:
    """The settings of a world, and the fields of a discovery."""
    text = RUN.world_settings
    if rng.random() < 0.6:
        text = json.dumps(damage_json(rng, json.loads(text) | {"slip": 0.1}))
    elif rng.random() < 0.5:
        text = damage_text(rng, text)
    numbers = (0, -1, 1, 0.5, 4, 1e-300, 1e308, float("nan"), float("inf"))
    fields: dict[str, Any] = {
        "skills": rng.choice((0, -1, 1, 2, 4, 5, 16)), "rate": rng.choice(numbers),
        "strength": rng.choice(numbers), "weight": rng.choice(numbers),
        "prior": rng.choice(numbers), "step_limit": rng.choice((0, -1, 1, 6)),
        "targets": damage_text(rng, "tool_1=2,position=4"),
    }  # fmt: skip
    fields = {name: fields[name] for name in rng.sample(sorted(fields), rng.randint(0, 2))}
    objective = rng.choice(("focused-vic", "focused-lsd", "dusdi-diayn", "vic", "vic-"))
    run = sf.Discovery("four-rooms", objective, 0, world_settings=text, **fields)
    run.make_objective()
    run.make_world()
    assert run.problem.skills
    assert run.id


def fuzz_sweep(rng: Random, _: Material) -> None:
    """What is swept over."""
    texts = [
        "strength=1,2,4", "gamma=0.9..0.99", "rate=0.1..1:log", "skills=4,8", "rounds=1,2",
        "targets=tool_1=2", "objective=focused-vic,focused-lsd", "gamma=0.9,1.0",
        "sees_start=false",
    ]  # fmt: skip
    text = rng.choice(texts)
    axis = parse_axis(damage_text(rng, text) if rng.random() < 0.7 else text)
    for value in axis.values or (axis.low, axis.high):
        RUN.with_settings({axis.setting: value}).make_objective()


class _Inline(Executor):
    """Stands in for worker processes, which a child with a memory limit had better not start."""

    def submit(self, fn, /, *args, **kwargs) -> Future:
        future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


_DISCOVER = [
    "four-rooms", "focused-vic", "--rounds", "1", "--skills", "4", "--world-settings",
    RUN.world_settings,
]  # fmt: skip
COMMANDS = [
    ["list"], ["describe", "map.txt"], ["describe", "four-rooms", "--json"],
    ["evaluate", "a.skills", "--json"], ["evaluate", "a.skills", "--coverage"],
    ["solve", "a.skills", "--episodes", "5", "--decay", "0.1"],
    ["view", "a.skills", "--no-open", "--out", "page.html"],
    ["view", "a.skills", "--export", "a.svg", "--skill", "1", "--start", "position=(1, 2)"],
    ["discover", *_DISCOVER, "--seeds", "1"],
    ["sweep", *_DISCOVER, "--over", "strength=1,2", "--seeds", "1"],
]  # fmt: skip
"""Valid commands, to be damaged."""


def run_commands(material: Material) -> None:
    """Run the valid commands, so that all kernels are compiled, and kept on disk."""
    _bring_files(material)
    for arguments in COMMANDS:
        _run_command(arguments)


def _bring_files(material: Material) -> None:
    Path("map.txt").write_text(MAP)
    shutil.copy(material.skills[0], "a.skills")


def fuzz_command(rng: Random, material: Material) -> None:
    """The arguments of a command."""
    _bring_files(material)
    arguments = rng.choice(COMMANDS)
    for _ in range(rng.randint(1, 2)):
        at = rng.randrange(len(arguments) + 1)
        match rng.randrange(4):
            case 0:
                arguments = [*arguments[:at], rng.choice(WORDS), *arguments[at:]]
            case 1:
                arguments = arguments[:at] + arguments[at + 1 :]
            case 2:
                arguments = [*arguments[:at], rng.choice(WORDS), *arguments[at + 1 :]]
            case _ if at < len(arguments) and at:
                arguments = [*arguments[:at], damage_text(rng, arguments[at]), *arguments[at + 1 :]]
    _run_command(arguments)


@contextlib.contextmanager
def _inline(workers: int) -> Iterator[Executor]:
    del workers
    yield _Inline()


def _run_command(arguments: list[str]) -> None:
    arguments = [argument.replace("\0", "") for argument in arguments]  # no shell passes these on
    stdout, stderr, status = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr),
        mock.patch.object(sys, "argv", ["skillfocus", *arguments]),
        mock.patch.object(runs, "_processes", _inline),
        mock.patch("webbrowser.open"), warnings.catch_warnings(),
    ):  # fmt: skip
        try:
            main()
        except SystemExit as ended:
            status = ended.code
    if status == 2:
        raise UserError(stderr.getvalue().strip().partition("\n")[0])
    failed = [json.loads(path.read_bytes())["error"] for path in Path().rglob("failed/*.json")]
    if status != 0 and not all(error.startswith("UserError") for error in failed):
        raise AssertionError(f"exit status {status}, failed runs: {failed}")


KINDS = {
    "map": fuzz_map,
    "skills": fuzz_skills,
    "signed skills": fuzz_signed_skills,
    "store": fuzz_store,
    "signed store": fuzz_signed_store,
    "cache": fuzz_cache,
    "checkpoint": fuzz_checkpoint,
    "settings": fuzz_settings,
    "sweep": fuzz_sweep,
    "command": fuzz_command,
}
"""All kinds of input by name."""
