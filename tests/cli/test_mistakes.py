"""Mistakes on the command line: each is one sentence on standard error and status 2."""

from __future__ import annotations

import json
import os
import re

import pytest

from commands import command

LONG = "a" * 300
DISCOVER = ("discover", "four-rooms", "focused-vic")
SWEEP = ("sweep", "four-rooms", "focused-vic", "--over", "strength=1,2")
WORLD = ("describe", "four-rooms", "--world-settings")
OWN_WORLD = """
import skillfocus as sf

class Raises:
    def __init__(self): raise RuntimeError("first line\\nsecond line")

class Lamp(sf.World):
    id = "Lamp-v0"
    actions = ("press", "wait")
    space = sf.Space((sf.Variable("on", (0, 1)), sf.Variable("bulb", ("ok", "broken"))))
    chance = (1.0,)
    def states(self): return [(0, 0)]
    def transition(self, state, action):
        after = (1 - state[0], state[1]) if action == 0 else (state[0], 1 - state[1])
        return [sf.Outcome(chance, after) for chance in self.chance]

class Short(Lamp):
    chance = (0.5,)

class Negative(Lamp):
    chance = (1.5, -0.5)

class Text(Lamp):
    chance = ("1",)

class Unhashable(Lamp):
    def states(self): return [([0], 0)]

class Labels(Lamp):
    def states(self): return [("off", "ok")]

class NoSpace(Lamp):
    space = None

class Fails(Lamp):
    def transition(self, state, action): return 1 / 0

def number(component, start, value): return 1.0
def nothing(component, start, value): return 0.0 / value if value else float("nan")
nan = sf.Objective("nan", sf.Reward("nan", nothing, uses_start=False))
"""
OWN = ("discover", "own.py:Lamp")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mistakes")
    (folder / "own.py").write_text(OWN_WORLD)
    (folder / "map.txt").write_text("T = pick-up tool\n\nmap:\n#####\n#.T.#\n#####\n")
    (folder / "text.skills").write_text("no skills")
    (folder / "folder.html").mkdir()
    (folder / "folder.png").mkdir()
    return folder


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        # settings of worlds
        ([*WORLD, '{"slip": "x"}'], "slip of four-rooms is 'x'; it must be a number"),
        ([*WORLD, '{"slip": NaN}'], "slip is nan"),
        ([*WORLD, '{"drawing": null}'], "drawing of four-rooms is None; it must be text"),
        ([*WORLD, '{"step_limit": 1e400}'], "step_limit of four-rooms is inf"),
        ([*WORLD, "[1]"], "it must be a JSON object"),
        ([*WORLD, "{slip: 0.1}"], """it must be a JSON object, such as '{"step_limit": 30}'"""),
        (["discover", "two-rooms", "focused-vic"], "learn its skills with learner='neural'"),
        (["discover", "focused-vic", "four-rooms"], "the world comes first: four-rooms focused-vic"),
        ([*DISCOVER, "--out", "map.txt"], "map.txt is a file; name a folder for the runs (--out)"),
        ([*WORLD, "9" * 5000], "it must be a JSON object"),
        (["describe", "map.txt", "--world-settings", '{"text": 1}'], "does not take these settings"),
        (["describe", "map:m", "--world-settings", '{"text": 1}'], "takes one setting, text"),
        (["describe", "minigrid:Empty-5x5", "--world-settings", '{"seed": "x"}'], "seed of minigrid"),
        (["describe", "minigrid:Empty-5x5", "--world-settings", '{"seed": -1}'], "0 or more"),
        (["describe", "minigrid:Empty-5x5", "--world-settings", '{"samples": 10000000}'], "1 to 10,000"),
        (["describe", "own.py:Raises"], "RuntimeError: first line second line"),
        # worlds, objectives and tasks of your own
        (["describe", "own.py"], "own.py may hold several worlds: say which class"),
        (["describe", "own.py:lamp"], "unknown name in own.py 'lamp': did you mean 'Lamp'"),
        (["describe", "own.py:number"], "does not take these settings"),
        (["describe", "own.py:Short"], "have probabilities [0.5], which must be 0 or more and sum to 1"),
        (["describe", "own.py:Negative"], "have probabilities [1.5, -0.5]"),
        (["describe", "own.py:Text"], "transition must return a list such as [sf.Outcome(1.0, state)]"),
        (["describe", "own.py:Unhashable"], "([0], 0) cannot be a state: it cannot be hashed"),
        (["describe", "own.py:Labels"], "('off', 'ok') is not a state"),
        (["describe", "own.py:NoSpace"], "NoSpace needs space, a Space"),
        (["describe", "own.py:Fails"], "transition fails for 'press' in state {'on': 0, 'bulb': 'ok'}: ZeroDiv"),
        ([*OWN, "own.py:nna"], "unknown name in own.py 'nna': did you mean 'nan'"),
        ([*OWN, "other.py:nan"], "there is no file other.py"),
        ([*OWN, "own.py"], "unknown objective 'own.py'"),
        ([*OWN, "own.py:number"], "must be an Objective, or a function that returns one"),
        ([*OWN, "focused-own.py:nan", "--rate", "0.5"], "takes no rate"),
        ([*OWN, "own.py:nan", "--strength", "2"], "has no penalty, so it takes no strength"),
        (["sweep", "own.py:Lamp", "own.py:number", "--over", "strength=1,2"], "must be an Objective"),
        # names of objectives and settings
        (["discover", "four-rooms", "focus-vic"], "unknown objective 'focus-vic': did you mean 'focused-vic'"),
        (["discover", "for-rooms", "vic"], "unknown world 'for-rooms': did you mean 'four-rooms'"),
        (["discover", "four-rooms", "vic", "--strength", "2"], "vic takes no strength; try focused-vic"),
        (["discover", "four-rooms", "vic", "--weight", "2"], "takes no weight; try dusdi-vic"),
        (["discover", "four-rooms", "dusdi-lsd"], "with a discriminator"),
        ([*DISCOVER, "--targets", "tool1=2"], "unknown variable 'tool1': did you mean 'tool_1'"),
        ([*DISCOVER, "--targets", "tool_1"], "how many skills target tool_1? write NAME=COUNT, as in tool_1=2"),
        ([*DISCOVER, "--targets", "tool_1=x"], "cannot read 'tool_1=x' in the targets"),
        ([*DISCOVER, "--targets", "tool_1=1"], "only one skill targets tool_1"),
        ([*DISCOVER, "--skills", "3"], "3 skills are too few"),
        ([*DISCOVER, "--skills", "9"], "only one skill targets"),
        ([*DISCOVER, "--skills", "10000000"], "up to 10,000"),
        (["discover", "four-rooms", "vic", "--skills", "10000"], "discriminators of 10,000"),
        (["discover", "four-rooms", "vic", "--targets", "tool_1=2"], "have no targets"),
        ([*DISCOVER, "--skills", "16", "--targets", "tool_1=2"], "the targets given make 2"),
        ([*DISCOVER, "--rounds", "0"], "rounds"),
        ([*DISCOVER, "--episodes", "10"], "--episodes belongs to --learner q-learning"),
        ([*DISCOVER, "--learner", "evolution"], "known: planning, q-learning, literal, neural, neural-large"),
        ([*DISCOVER, "--gamma", "2"], "gamma is 2.0; it must be above 0 and at most 1"),
        ([*DISCOVER, "--strength", "-1"], "strength must be 0 to"),
        ([*SWEEP, "--metric", "focsu"], "focsu"),
        ([*SWEEP[:-2]], "name what to sweep over"),
        (["sweep", "four-rooms", "vic", "--over", "gamma=0.9"], "vic skills have no targets"),
        ([*SWEEP[:-1], "gama=0.9"], "unknown setting 'gama': did you mean 'gamma'"),
        ([*SWEEP[:-1], "gamma=0.9..0.99"], "or --trials to search the range"),
        ([*SWEEP[:-1], "gamma=0.9", "--gamma", "0.5"], "gamma is swept over, so --gamma has no"),
        ([*SWEEP[:-1], "rounds=1,2", "--rounds", "3"], "rounds is swept over, so --rounds has no"),
        ([*SWEEP, "--strength", "3"], "strength=3.0 has no effect"),
        ([*SWEEP, "--workers", "1", "--cluster", "tcp://a:1"], "a --cluster has its own"),
        ([*SWEEP, "--seed", "5"], "seed 5 is a reporting seed"),
        ([*SWEEP, "--report", "2000"], "is a tuning seed"),
        (["solve", "text.skills", "--max-steps", "0"], "is not a file of skills"),
        (["solve", "text.skills", "--episodes", "-3"], "episodes is -3; it must be at least 1"),
        # names of files
        (["describe", ""], "unknown world ''"),
        (["describe", LONG], "unknown world"),
        (["describe", f"{LONG}.txt"], "too long"),
        (["describe", f"{LONG}.py:X"], "there is no file"),
        (["describe", os.fsdecode(b"\xff.txt")], "there is no map file"),
        (["evaluate", ""], "is a folder"),
        (["evaluate", "missing.skills"], "there is no file missing.skills"),
        (["evaluate", LONG], "too long"),
        (["evaluate", os.fsdecode(b"\xff.skills")], "there is no file"),
        (["evaluate", "text.skills"], "is not a file of skills"),
        (["solve", "."], "is a folder"),
        (["solve", "four-rooms"], "there is no file four-rooms: name a file of skills"),
        (["view", ""], "is a folder"),
        (["view", "text.skills", "--out", ""], "ends in .html"),
        (["view", "text.skills", "--out", f"{LONG}.html"], "too long"),
        (["view", "text.skills", "--out", "folder.html"], "is a folder"),
        (["view", "text.skills", "--export", ""], "is not a file of skills"),
        ([*DISCOVER, "--out", LONG], "too long"),
        ([*DISCOVER, "--out", "text.skills"], "is a file; name a folder for the runs (--out)"),
        ([*DISCOVER, "--draw", ""], "must end in .png"),
        ([*DISCOVER, "--draw", "a.gif"], "must end in .png"),
        ([*DISCOVER, "--out", "/proc/nothing"], "cannot create the folder /proc/nothing"),
        ([*DISCOVER, "--draw", f"{LONG}.png"], "too long"),
        ([*DISCOVER, "--draw", "folder.png"], "is a folder"),
        ([*SWEEP, "--plot", f"{LONG}.png"], "too long"),
        # numbers
        ([*DISCOVER, "--seed", "-1"], "seed must be a non-negative integer, got -1"),
        ([*DISCOVER, "--seeds", "0"], "seeds is 0; it must be 1 to 10,000"),
        ([*DISCOVER, "--seeds", "1000000000"], "it must be 1 to 10,000"),
        ([*DISCOVER, "--workers", "0"], "workers is 0"),
        ([*DISCOVER, "--workers", "1000000"], "workers is 1000000"),
        ([*DISCOVER, "--gamma", "nan"], "--gamma must be a finite number, got nan"),
        ([*DISCOVER, "--strength", "inf"], "--strength must be a finite number"),
        ([*DISCOVER, "--rate=-inf"], "--rate must be a finite"),
        ([*DISCOVER, "--step-limit", "0"], "step limit is 0"),
        ([*DISCOVER, "--step-limit", "9" * 30], "step limit is 9"),
        (["solve", "text.skills", "--decay", "nan"], "--decay must be a finite"),
        (["solve", "text.skills", "--seed", "-1"], "non-negative integer, got -1"),
        (["evaluate", "text.skills", "--seed", "-1"], "non-negative integer, got -1"),
        (["evaluate", "text.skills", "--sample", "-1"], "sample is -1"),
        (["evaluate", "missing.skills", "--sample", "1"], "sample is 1; it must be at least 2"),
        (["solve", "missing.skills", "--seeds", "0"], "seeds is 0"),
        (["solve", "missing.skills", "--episodes", "0"], "must be at least 1"),
        ([*SWEEP[:-1], "gamma=nan"], "gamma cannot be 'nan'"),
        ([*SWEEP[:-1], f"strength=1{'0' * 400}"], "strength cannot be"),
        ([*SWEEP, "--seed", "-1"], "reporting seed"),
        (["discovr", "four-rooms"], "unknown command 'discovr': did you mean 'discover'?"),
        ([*DISCOVER, "--learner", "nueral"], "unknown --learner 'nueral': did you mean 'neural'?"),
        ([*DISCOVER, "--penalty=path"], "unknown penalty 'path': did you mean 'path-norm'?"),
        ([*DISCOVER, "--baseline", "strat"], "unknown baseline 'strat': did you mean 'start'?"),
        ([*SWEEP, "--trials", "0", "--workers", "1"], "trials must be at least 1"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_status_2(folder, arguments, message):
    before = sorted(folder.rglob("*"))
    done = command(*arguments, cwd=folder)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("skillfocus: ")
    assert re.search(re.escape(message), line), line
    assert len(line) < 1000
    made = {path for path in folder.rglob("*") if path.suffix != ".pyc"} - set(before)
    assert not [path for path in made if path.is_file() and path.name != ".lock"]


def test_an_error_of_the_system_is_one_line_and_status_2(folder, monkeypatch):
    def run(self):
        raise PermissionError(13, "Permission denied", "/private/secret")

    monkeypatch.setattr("skillfocus.cli.commands.Doctor.run", run)
    done = command("doctor", cwd=folder)
    assert done.returncode == 2
    assert done.stderr == "skillfocus: cannot read or write /private/secret: Permission denied\n"


def test_json_can_be_printed_whatever_its_names(folder):
    (folder / "odd.txt").write_bytes((folder / "map.txt").read_bytes())
    odd = os.fsdecode(b"\xff.txt")
    try:
        (folder / odd).write_bytes((folder / "map.txt").read_bytes())
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    done = command("describe", odd, "--json", cwd=folder)
    (folder / odd).unlink()
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["world"] == "map:\udcff"


@pytest.mark.slow
def test_rewards_that_are_no_numbers_fail_before_anything_is_learned(folder):
    done = command(*OWN, "focused-own.py:nan", "--targets", "on=2", "--out", "nan", cwd=folder)
    assert done.returncode == 2
    assert "the reward of nan for component 0 of on is nan where {'on': 0}" in done.stderr
    assert "Traceback" not in done.stderr
