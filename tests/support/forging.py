"""Forged skills files: every number of a header changed, and everything that takes a file.

As a program, `python forging.py FOLDER` forges the `.skills` files of a folder and uses them all;
what crashes the interpreter fails that process, not the tests.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np

import skillfocus as sf
from skillfocus.cli.printing import effects_tables
from skillfocus.envs import SkillEnv
from skillfocus.errors import UserError
from skillfocus.files import seal
from skillfocus.metrics.summary import evaluate
from skillfocus.skills.files import read
from skillfocus.tasks.solving import solve_all
from skillfocus.viewer.page import export_rollout, view

WRONG = (0, -1, 2**31, 2**62, 2**63 - 1, 10**30, float("nan"), "text", [], None)
"""What a number in a header is forged to."""


def open_file(file: Path) -> tuple[dict, dict[str, np.ndarray]]:
    """Return the header of a file as plain JSON, and its arrays."""
    header, arrays = read(file.read_bytes(), str(file))
    return json.loads(msgspec.json.encode(header)), arrays


def pack(header: dict, arrays: dict[str, np.ndarray]) -> bytes:
    """Seal a header of any form, as a tamperer would."""
    return seal(header, arrays, compress=1)  # pyright: ignore[reportArgumentType]


def rewrite(file: Path, change: Callable[[dict, dict], object]) -> None:
    """Change the header and the arrays of a file, and mend its digest, as a tamperer would."""
    header, arrays = open_file(file)
    change(header, arrays)
    file.write_bytes(pack(header, arrays))


def leaves(tree: object, path: tuple = ()) -> Iterator[tuple[tuple, object]]:
    """Yield the place and the value of everything in a header that is no list and no object."""
    if isinstance(tree, dict | list):
        for key, part in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from leaves(part, (*path, key))
    else:
        yield path, tree


def put(tree, path: tuple, value: object) -> None:
    for key in path[:-1]:
        tree = tree[key]
    tree[path[-1]] = value


def uses(file: Path, folder: Path) -> list[Callable[[], object]]:
    """Return all that can be done with a file, each for the shortest time."""

    def roll_out():
        skills, rng = sf.Skills.load(file), np.random.default_rng(0)
        for skill in range(len(skills)):
            skills.rollout(skill, skills.mdp.state(0), rng)
            skills.likely_path(skill, skills.mdp.state(0), int(skills.n_modes[skill]) - 1)

    def show():
        records = evaluate(file)
        return list(effects_tables(records)), list(effects_tables(records * 2))

    def step():
        env = SkillEnv(file)
        env.reset(seed=0)
        env.step(0)

    return [
        roll_out, show, step,
        lambda: evaluate(file, sample=50, coverage=True),
        lambda: export_rollout(file, folder / "rollout.svg"),
        lambda: solve_all(file, episodes=50),
    ]  # fmt: skip


def use(file: Path, folder: Path, page: bool = False) -> str | None:
    """Do all that can be done with a file; return the sentence that refuses it, if one does."""
    todo = uses(file, folder)
    if page:
        todo.append(lambda: view(file, folder / "page.html"))
    try:
        for each in todo:
            each()
    except UserError as error:
        assert "\n" not in str(error)
        return str(error)
    return None


def main(folder: Path) -> None:
    """Forge the numbers of all files one by one, and print how many files there were and what
    was made of each number."""
    outcomes = {}
    for original in sorted(folder.glob("*.skills")):
        header, arrays = open_file(original)
        numbers = [(place, was) for place, was in leaves(header) if type(was) in (int, float)]
        forged = original.with_suffix(".forged")
        for place, was in numbers:
            for wrong in (*WRONG, was + 2**62):  # the last is as `was` to 64 bits
                other = copy.deepcopy(header)
                put(other, place, wrong)
                forged.write_bytes(pack(other, arrays))
                outcomes[f"{original.stem} {place} {wrong}"] = use(forged, folder)
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
