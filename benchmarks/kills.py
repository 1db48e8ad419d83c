"""Kill commands at random moments, run them again, and compare what they leave.

python benchmarks/kills.py --kills 20 [--kind training] [--seed 0]

Three kinds: the training of a network with checkpoints, a sweep, and the paper's experiments. Each
command is first run undisturbed; then it is killed (SIGKILL, so that it cannot clean up) and run
again until it was killed so many times, and at last run to its end. The results must be equal to
the undisturbed ones, no process may outlive its command, and no temporary file may be left.
The exit status is 1 if there are findings.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECONDS_TO_DIE = 10
"""What a killed command's processes have to notice it."""

TRAINING = """
import sys
import skillfocus as sf
from skillfocus.learners import network_training
network_training.SECONDS_BETWEEN_CHECKPOINTS = 0.0
learner = sf.Neural(steps=200_000, hidden=32, updates_per_jit=5, checkpoint=sys.argv[1] + "/state")
skills = sf.discover("four-rooms", "focused-vic", seed=0, learner=learner, progress=sf.no_progress)
skills.save(sys.argv[1] + "/done.skills")
"""


@dataclass(frozen=True)
class Kind:
    """A command that takes a folder, and what of that folder must not depend on kills."""

    command: Callable[[Path], list[str]]
    result: Callable[[Path], object]


def _training_result(folder: Path) -> object:
    import skillfocus as sf

    skills = sf.Skills.load(folder / "done.skills")
    return sorted(p.name for p in folder.iterdir()), skills.fingerprint


def _runs_result(folder: Path) -> object:
    """Return the rows of all runs, and the skills files, without versions and times."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".skills":
            found[path.name] = path.read_bytes()
        elif path.suffix == ".jsonl":
            found[path.name] = path.read_text().splitlines()[1:-1]  # no header, no digest
        elif path.name == "report.json":
            found[path.name] = json.loads(path.read_text())["claims"]
    return found


def _skillfocus(*words: str) -> Callable[[Path], list[str]]:
    return lambda folder: [sys.executable, "-m", *words, "--out", str(folder)]


KINDS = {
    "training": Kind(
        lambda folder: [sys.executable, "-c", TRAINING, str(folder)], _training_result
    ),
    "sweep": Kind(
        _skillfocus(
            "skillfocus.cli", "sweep", "four-rooms", "focused-vic", "--over", "strength=1,2,4,8",
            "--rounds", "10", "--workers", "2",
        ),
        _runs_result,
    ),
    "reproduce": Kind(
        _skillfocus("paper", "trajectories", "--learner", "planning", "--seeds", "1"),
        _runs_result,
    ),
}  # fmt: skip


def processes_with(mark: str) -> list[int]:
    """Return the processes whose environment has a mark."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and mark.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:  # it has ended, or is another user's
            continue
    return found


def start(kind: Kind, folder: Path, mark: str) -> subprocess.Popen[bytes]:
    """Start the command; all of its processes carry the mark in their environment."""
    environment = {**os.environ, "KILLS_MARK": mark}
    with (folder.parent / f"{folder.name}.log").open("ab") as log:
        return subprocess.Popen(
            kind.command(folder), cwd=ROOT, env=environment, stdout=log, stderr=log
        )


def try_kind(name: str, kills: int, rng: random.Random, folder: Path) -> list[str]:
    """Kill the command of a kind so often; return the findings."""
    kind, findings = KINDS[name], []
    calm = folder / f"{name}-calm"
    calm.mkdir()
    began = time.monotonic()
    if start(kind, calm, f"{name}-calm").wait():
        return [f"{name}: fails undisturbed, see {calm}.log"]
    seconds, expected = time.monotonic() - began, kind.result(calm)
    print(f"{name}: {seconds:.0f} s undisturbed", file=sys.stderr)
    done, attempt = 0, 0
    while done < kills:
        attempt += 1
        killed = folder / f"{name}-{attempt}"
        killed.mkdir()
        while done < kills:
            mark = f"{killed.name}-{done}"
            process = start(kind, killed, mark)
            try:
                status = process.wait(rng.uniform(0.2, 1.0) * seconds)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                done += 1
            else:
                if status:
                    findings.append(f"{name}: exit status {status} after {done} kills")
                break  # it has finished
            deadline = time.monotonic() + SECONDS_TO_DIE
            while processes_with(mark) and time.monotonic() < deadline:
                time.sleep(0.1)
            for orphan in processes_with(mark):
                findings.append(f"{name}: a process outlived kill {done}")
                os.kill(orphan, signal.SIGKILL)
        if start(kind, killed, "last").wait():
            findings.append(f"{name}: fails when rerun, see {killed}.log")
            continue
        if kind.result(killed) != expected:
            findings.append(f"{name}: results of attempt {attempt} differ")
        left = [path.name for path in killed.rglob(".*@*~*")]
        findings += [f"{name}: {each} is left" for each in left]
    print(f"{name}: {done} kills, {attempt} attempts, {len(findings)} findings", flush=True)
    return findings


def main() -> None:
    """Read the options, kill, print the findings."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=20, help="kills of each kind")
    parser.add_argument("--kind", choices=list(KINDS), help="kill this kind alone")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    names = [options.kind] if options.kind else list(KINDS)
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    rng = random.Random(options.seed)
    findings = [each for name in names for each in try_kind(name, options.kills, rng, folder)]
    print("\n".join(findings) or f"no findings; what the commands printed is in {folder}")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
