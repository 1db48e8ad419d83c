"""Feed damaged and made-up input to everything that reads input, and report what goes wrong.

python benchmarks/fuzz.py --inputs 50000 --seed 0 [--kind map] [--out fuzz.md]
python benchmarks/fuzz.py --seed 0 --kind map --only 1234         one input, with its traceback

An input must be accepted or refused with one sentence (`UserError`, exit status 2). Anything else
is a finding: a traceback, a crash, more than 60 s, more than 2 GB. Equal seeds draw equal inputs.
Inputs are processed one after another in a forked child with a memory limit, which is replaced when
it dies or hangs. The exit status is 1 if there are findings.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

from fuzz_inputs import KINDS, Material, make_material, material_in, run_commands, use_skills

from skillfocus.errors import UserError

SECONDS = 60
"""An input that takes longer twice counts as a hang."""
MEMORY = 2 * 1024**3
"""Bytes that a child may allocate."""
RARE = {"command": 40}
"""One in so many inputs is of this kind: they take the longest."""


@dataclass
class Report:
    """What happened so far.

    Attributes:
        outcomes: How many inputs had each outcome, by kind and outcome.
        findings: The numbers of inputs with each finding.
    """

    seed: int
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: dict[str, list[int]] = field(default_factory=dict)

    def add(self, number: int, kind: str, outcome: str, line: str) -> None:
        """Count the outcome of an input."""
        self.outcomes[kind, outcome] += 1
        if outcome in ("accepted", "refused"):
            return
        text = f"{kind}: {outcome}: {line}"
        group = re.sub(r"0x[0-9a-f]+|\d+", "N", text)
        self.findings.setdefault(group, []).append(number)

    def text(self) -> str:
        """Return the report as Markdown."""
        names = sorted({outcome for _, outcome in self.outcomes})
        kinds = [kind for kind in KINDS if any((kind, name) in self.outcomes for name in names)]
        rows = [[kind, *(str(self.outcomes[kind, name]) for name in names)] for kind in kinds]
        total = sum(self.outcomes.values())
        lines = [f"# {total} inputs, seed {self.seed}", ""]
        table = [["kind", *names], ["---"] * (len(names) + 1), *rows]
        lines += [f"| {' | '.join(row)} |" for row in table]
        lines += ["", f"## Findings: {len(self.findings)}", ""]
        for group, numbers in sorted(self.findings.items(), key=lambda item: -len(item[1])):
            which = f"--kind '{group.partition(':')[0]}' --only {numbers[0]}"
            repeat = f"python benchmarks/fuzz.py --seed {self.seed} {which}"
            lines.append(f"- {len(numbers)} x {group}  \n  `{repeat}`")
        return "\n".join(lines) + "\n"


def kind_of(number: int, only: str | None = None) -> str:
    """Return the kind of an input."""
    if only is not None:
        return only
    for kind, every in RARE.items():
        if number % every == 0:
            return kind
    others = [kind for kind in KINDS if kind not in RARE]
    return others[number % len(others)]


def process(kind: str, seed: int, number: int, material: Material) -> tuple[str, str, str]:
    """Process one input in a folder of its own: outcome, last line and traceback."""
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            KINDS[kind](Random(f"{seed}/{kind}/{number}"), material)
    except UserError as error:
        return "refused", str(error), ""
    except MemoryError as error:
        return "memory", repr(error), traceback.format_exc()
    except BaseException as error:  # panics of compiled libraries are no Exceptions
        lines = traceback.format_exception_only(error)[-1].strip().splitlines() or [repr(error)]
        return "traceback", f"{lines[0][:200]} ({_place(error)})", traceback.format_exc()
    finally:
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)
    return "accepted", "", ""


def _place(error: BaseException) -> str:
    """Return the last line of our own code that an error went through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "skillfocus" in frame.filename] or frames
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}"


def work(
    parents: Connection,
    pipe: Connection,
    numbers: range,
    seed: int,
    only: str | None,
    material: Material,
) -> None:
    """Process inputs in a child, and send the outcome of each."""
    parents.close()  # else a child would not notice that its parent was killed
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    for number in numbers:
        kind = kind_of(number, only)
        pipe.send((number, *process(kind, seed, number, material)[:2]))
    pipe.close()
    os._exit(0)


def fuzz(numbers: range, seed: int, only: str | None, material: Material) -> Report:
    """Process inputs in children; one that dies or hangs is replaced."""
    context = multiprocessing.get_context("fork")
    report, done, slow = Report(seed), 0, set()
    while done < len(numbers):
        ours, theirs = context.Pipe(duplex=False)
        child = context.Process(
            target=work, args=(ours, theirs, numbers[done:], seed, only, material)
        )
        child.start()
        theirs.close()
        try:
            while done < len(numbers):
                kind = kind_of(numbers[done], only)
                if not ours.poll(SECONDS):
                    if numbers[done] not in slow:  # a busy machine may be to blame: once more
                        slow.add(numbers[done])
                        break
                    report.add(numbers[done], kind, "hang", f"more than {SECONDS} s")
                    done += 1
                    break
                try:
                    number, outcome, line = ours.recv()
                    report.add(number, kind, outcome, line)
                except EOFError:
                    child.join()
                    code = child.exitcode or 0
                    name = signal.Signals(-code).name if code < 0 else f"exit status {code}"
                    report.add(numbers[done], kind, "crash", name)
                    done += 1
                    break
                done += 1
        finally:
            child.kill()
            child.join()
            ours.close()
    return report


def _prepare(folder: Path) -> None:
    make_material(folder)
    os.chdir(folder)
    run_commands(material_in(folder))


def _warm_up(folder: Path) -> Material:
    """Write valid files and compile what is needed in a child, as forking after polars or JAX have
    started threads may deadlock, then load most kernels here, so that children have them."""
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_prepare, args=(folder,))
    child.start()
    child.join()
    if child.exitcode:
        sys.exit("valid input is not accepted; see the traceback above")
    material = material_in(folder)
    use_skills(material.skills[0])
    return material


def main() -> None:
    """Read the options, process the inputs, print the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=list(KINDS), help="draw inputs of this kind alone")
    parser.add_argument("--only", type=int, help="process the input of this number alone")
    parser.add_argument("--out", type=Path, help="also write the report to this file")
    options = parser.parse_args()
    out = options.out and options.out.absolute()
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        material = _warm_up(Path(folder))
        if options.only is not None:
            kind = kind_of(options.only, options.kind)
            print(kind, *process(kind, options.seed, options.only, material), sep="\n")
            return
        start = time.perf_counter()
        report = fuzz(range(options.inputs), options.seed, options.kind, material)
    text = report.text()
    print(text)
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    if out:
        out.write_text(text)
    sys.exit(1 if report.findings else 0)


if __name__ == "__main__":
    main()
