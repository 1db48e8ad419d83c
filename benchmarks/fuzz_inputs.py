"""Inputs for `fuzz.py`: what people write by hand, and files that were damaged or made up.

Every function of `KINDS` draws one input and feeds it to the program. It returns if the input is
accepted, and raises `UserError` if it is refused; anything else is a finding.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import shutil
import sys
import warnings
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
from fuzz_damage import DRAWING, MAP, WORDS, damage_bytes, damage_json, damage_text

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

import skillfocus as sf
from old_run_files import encode_old, sign
from skillfocus.cli import main
from skillfocus.core.progress import no_progress
from skillfocus.core.tabulation import tabulate
from skillfocus.errors import UserError
from skillfocus.experiments.results import COSTS, RESULTS, load_results, save_results
from skillfocus.metrics import side_effects
from skillfocus.runs.discovery_run import Discovery
from skillfocus.runs.folder_store import Store
from skillfocus.runs.run import settings_of
from skillfocus.runs.run_file import Header, decode, encode
from skillfocus.skills.serialization import pack, read
from skillfocus.sweeps.grid import grid_points
from skillfocus.sweeps.running import sweep_axes

RUN = Discovery(
    "four-rooms", "focused-vic", 1000, sf.Planning(rounds=1), skills=4,
    world_settings=json.dumps({"drawing": DRAWING, "step_limit": 6}),
)  # fmt: skip


@dataclass(frozen=True)
class Material:
    """Valid files, to be damaged.

    Attributes:
        folder: A store with one finished and one failed run.
        skills: A skills file.
    """

    folder: Path
    skills: Path


def make_material(folder: Path) -> Material:
    """Write the valid files, always the same ones, or find those that were written before."""
    material = Material(folder / "store", folder / "valid.skills")
    if not material.skills.exists():
        store = Store(material.folder)
        store.prepare()
        result = RUN.execute(no_progress)
        digest = hashlib.sha256(result.skills or b"").hexdigest()
        record: dict[str, object] = {"host": "here", "wall_seconds": 0.5, "peak_memory_mb": None}
        header = Header(RUN.id, "Discovery", RUN.version, settings_of(RUN), record, digest)
        store.add(RUN, encode(header, result.rows), result.skills)
        store.fail(RUN, "ValueError: no", "a traceback")
        store.close()
        skills = sf.discover(
            sf.make("four-rooms", drawing=DRAWING), sf.scattered(sf.focused(sf.vic())), seed=0,
            learner=sf.Planning(rounds=2), targets={"tool_1": 2, "position": 2},
        )  # fmt: skip
        skills.save(material.skills)
    return material


# ------------------------------------------------------------------ kinds of input


def fuzz_map(rng: Random, _: Material) -> None:
    """A map file."""
    text = damage_text(rng, MAP)
    Path("map.txt").write_bytes(text.encode(errors="replace"))
    world = sf.make("map.txt")
    tabulate(world)


def fuzz_skills(rng: Random, material: Material) -> None:
    """A skills file with damaged bytes."""
    Path("a.skills").write_bytes(damage_bytes(rng, material.skills.read_bytes()))
    use_skills(Path("a.skills"))


def fuzz_signed_skills(rng: Random, material: Material) -> None:
    """A skills file with another header or other arrays, and a digest that fits."""
    arrays, header = read(material.skills)
    if rng.random() < 0.8:
        header = damage_json(rng, header)
    else:
        name = rng.choice(sorted(arrays))
        match rng.randrange(3):
            case 0:
                arrays[name] = np.frombuffer(damage_bytes(rng, arrays[name].tobytes()), np.uint8)
            case 1:
                arrays[name] = arrays[name].astype(rng.choice(["float64", "int8", "bool"]))
            case _:
                del arrays[name]
    Path("a.skills").write_bytes(pack(header, arrays))  # pyright: ignore[reportArgumentType]
    use_skills(Path("a.skills"))


def use_skills(path: Path) -> None:
    """Load skills, and do what people do with them."""
    skills = sf.Skills.load(path)
    rng = np.random.default_rng(0)
    skills.run(np.arange(len(skills)), np.zeros(len(skills), int), rng)
    side_effects(skills)
    repr(skills)
    skills.to_bytes()


def fuzz_store(rng: Random, material: Material) -> None:
    """A folder of runs with a damaged file."""
    shutil.copytree(material.folder, "store")
    files = sorted(path for path in Path("store").rglob("*") if path.is_file())
    path = rng.choice([path for path in files if path.stat().st_size])
    path.write_bytes(damage_bytes(rng, path.read_bytes()))
    _use_store(Store("store"))


def fuzz_signed_store(rng: Random, material: Material) -> None:
    """A folder with a run whose header or table is another, and a digest that fits."""
    shutil.copytree(material.folder, "store")
    store = Store("store")
    path, content = store.path(RUN), store.path(RUN).read_bytes()
    if rng.random() < 0.5:
        rows = [("focus", None, 0.5), (rng.choice(WORDS), 1, float("nan"))]
        values = damage_json(rng, vars(decode(content)))
        values = values if isinstance(values, dict) else {}
        header: Any = SimpleNamespace(**{**values, "id": str(values.get("id"))})
        path.write_bytes(encode(header, rows))
    else:
        path.write_bytes(sign(damage_bytes(rng, content)))
    _use_store(store)


def fuzz_parquet(rng: Random, material: Material) -> None:
    """Files that polars wrote, and has to read: a run of version 1, saved results."""
    if rng.random() < 0.5:
        shutil.copytree(material.folder, "store")
        store = Store("store")
        path = store.path(RUN)
        content = encode_old(decode(path.read_bytes()), [("focus", n, 0.5) for n in range(99)])
        path.write_bytes(sign(damage_bytes(rng, content)))
        _use_store(store)
    else:
        labels = ["paper", "planning", "four-rooms", "focused-vic", "base", 0]
        results = pl.DataFrame([(*labels, "focus", None, 0.5)], schema=RESULTS, orient="row")
        costs = pl.DataFrame([(*labels, *"abcdef", 1.0, 2.0)], schema=COSTS, orient="row")
        save_results(Path("results"), results, costs)
        path = rng.choice([Path("results/results.parquet"), Path("results/costs.parquet")])
        path.write_bytes(damage_bytes(rng, path.read_bytes()))
        load_results(Path("results"))


def _use_store(store: Store) -> None:
    store.frame()
    store.records()
    store.frame([RUN])
    store.failure(RUN)
    if store.has_skills(RUN):
        store.skills(RUN)


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
    run = Discovery("four-rooms", objective, 0, world_settings=text, **fields)
    run.check_size()
    assert run.id


def fuzz_sweep(rng: Random, _: Material) -> None:
    """What is swept over."""
    texts = [
        "strength=1,2,4", "gamma=0.9..0.99", "rate=0.1..1:log", "skills=4,8", "rounds=1,2",
        "targets=tool_1=2", "objective=focused-vic,focused-lsd", "gamma=0.9,1.0", "memory=none",
    ]  # fmt: skip
    over = rng.sample(texts, rng.randint(1, 2))
    over = [damage_text(rng, text) if rng.random() < 0.7 else text for text in over]
    paper = rng.sample(["gamma", "lambda", "skills", "ewma", "x"], int(rng.random() < 0.2))
    for point in grid_points(sweep_axes(over, paper, "focused-vic", "planning"))[:20]:
        RUN.with_settings(point).check_size()


class _Inline(Executor):
    """Stands in for worker processes, which a child with a memory limit had better not start."""

    def __init__(self, workers: int) -> None:
        self.width = workers

    def submit(self, fn, /, *args, **kwargs) -> Future:
        future = Future()
        future.set_result(fn(*args, **kwargs))
        return future

    def kill(self) -> None:
        pass


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
    ["reproduce", "coverage", "--from", "."],
]  # fmt: skip
"""Commands to be damaged; all but the last are valid."""


def run_commands(material: Material) -> None:
    """Run the valid commands, so that all kernels are compiled, and kept on disk."""
    _bring_files(material)
    for arguments in COMMANDS[:-1]:
        _run_command(arguments)


def _bring_files(material: Material) -> None:
    Path("map.txt").write_text(MAP)
    shutil.copy(material.skills, "a.skills")


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


def _run_command(arguments: list[str]) -> None:
    arguments = [argument.replace("\0", "") for argument in arguments]  # no shell passes these on
    stdout, stderr, status = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr),
        mock.patch.object(sys, "argv", ["skillfocus", *arguments]),
        mock.patch("skillfocus.runs.scheduler.Processes", _Inline),
        mock.patch("webbrowser.open"), warnings.catch_warnings(),
    ):  # fmt: skip
        try:
            main()
        except SystemExit as ended:
            status = ended.code
    if status == 2:
        raise UserError(stderr.getvalue().strip().partition("\n")[0])
    failed = [json.loads(path.read_bytes())["error"] for path in Path().rglob("failed/*.json")]
    if status != 0 and not all(error.startswith("skillfocus.errors.UserError") for error in failed):
        raise AssertionError(f"exit status {status}, failed runs: {failed}")


KINDS = {
    "map": fuzz_map,
    "skills": fuzz_skills,
    "signed skills": fuzz_signed_skills,
    "store": fuzz_store,
    "signed store": fuzz_signed_store,
    "settings": fuzz_settings,
    "sweep": fuzz_sweep,
    "command": fuzz_command,
    "parquet": fuzz_parquet,
}
"""All kinds of input by name."""
