from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import skillfocus as sf
from paths import ROOT

PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


def run(code: list[str], cwd: Path) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}  # where the folder paper is
    done = subprocess.run(
        [sys.executable, *code], cwd=cwd, env=env, capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_readme_s_example_runs(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    assert len(code.strip().splitlines()) <= 12
    output = run(["-c", code], tmp_path)
    assert len(output.splitlines()) == 16
    assert "tool_1: changed 1.00, side effects 0.02" in output
    assert (tmp_path / "four-rooms.skills").is_file()


EXAMPLES = [p for p in sorted((ROOT / "examples").glob("*.py")) if p.stem != "sb3_ppo"]
"""Its minute of learning is shortened in test_envs."""
EXPECTED = {
    "quickstart": "skill 15 for position",
    "own_object": "0 drawer_1 changes",
    "own_objective": "tool_1: fetched 1.00, position changed 0.02",
    "own_penalty": "refused: only-plants is 0 from",
    "own_run": "2 steps: home 0.5",
    "own_world": "skill 4 for on",
    "skill_env": "success: False after 320 steps",
}


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_examples_run(example, tmp_path):
    assert EXPECTED[example.stem] in run([str(example)], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "blocks", "shown"),
    [
        ("gymnasium", 1, "passenger 1.00, side effects 0.000"),
        ("minigrid", 1, "yellow_door 1.00, side effects 0.000"),
        ("rddl", 1, "elevator-closed(e0) 0.51, side effects 0.02"),
        ("notebooks", None, "changed: treasure muddy_cells | side effects: muddy_cells"),
        ("focused", None, "✓ Focused: it changed tool_1"),
        ("own-learner", 1, "tool_1 changed 1.00, side effects 0.00"),
        ("own-learner", None, "counted: [0.0, 1.0,"),
        ("own-world", 1, ""),
        ("coverage", None, "1.22 "),
        ("reach", None, "passenger=in taxi"),
        ("readings", None, ""),
        ("side-effects", None, "[0.99"),
        ("planning", None, "0 [1, 2]\n1 [1, 0]"),
        ("safety", None, "relative reachability: completed 1, box stuck 0, 7 steps"),
        ("skill-env", None, ""),
        ("skills-files", None, "8 6 3 2"),
        ("downstream", None, ""),
    ],
)
def test_the_code_of_a_page_runs(page, blocks, shown, tmp_path):
    for package in {"minigrid": ["minigrid"], "rddl": ["pyRDDLGym"]}.get(page, []):
        pytest.importorskip(package)
    text = (ROOT / "docs" / f"{page}.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.S)[:blocks])
    (tmp_path / "example.py").write_text(code)
    assert shown in run(["example.py"], tmp_path)


@pytest.mark.slow
def test_the_example_of_the_runs_page_runs(tmp_path):
    text = (ROOT / "docs" / "runs.md").read_text()
    first = re.findall(r"```python\n(.*?)```", text, flags=re.S)[0]
    quick = first.replace("range(2)", "range(1)").replace(
        "seed)", "seed, sf.Planning(rounds=1), skills=8)"
    )
    assert quick.count("rounds=1") == 1
    (tmp_path / "example.py").write_text(quick)
    output = run(["example.py"], tmp_path)
    assert re.search("focused-vic.*0\\.", output)


MADE_WITH_THE_SITE = ("api/", "live/", "commands.md")
REPORT_PAGES = [*(ROOT / "docs" / "report").glob("*.md")]


@pytest.mark.parametrize("page", [*PAGES, *REPORT_PAGES], ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    assert len(page.read_text()) > 300, f"{page.name} is a stub"
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        if not link.startswith(MADE_WITH_THE_SITE):  # the site is built strictly
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


WRITTEN = [page for page in PAGES if page.stem not in ("CHANGELOG", "report")]
"""Pages that name the present code: no history, nothing generated."""
PATH = re.compile(
    r"(?:src|paper|tests|docs|examples|benchmarks)/[\w./-]*|\w[\w./-]*/[\w.-]+\.(?:py|js)"
)
"""A path in the repository, or below `src/skillfocus/`."""


@pytest.mark.parametrize("page", WRITTEN, ids=lambda p: p.name)
def test_paths_exist(page):
    for path in re.findall(r"`([^`\n]+)`", page.read_text()):
        if PATH.fullmatch(path):
            places = [ROOT / path, ROOT / "src" / "skillfocus" / path]
            assert any(place.exists() for place in places), f"{page.name} names {path}"


@pytest.mark.parametrize("page", WRITTEN, ids=lambda p: p.name)
def test_names_exist(page):
    """`sf.name` and `skillfocus.module.name`."""
    for name in re.findall(r"`(?:sf|skillfocus)\.([\w.]*\w)", page.read_text()):
        found: object = sf
        for place, part in enumerate(name.split("."), start=1):
            if not hasattr(found, part):
                module = ".".join(["skillfocus", *name.split(".")[:place]])
                found = import_module(module)
                continue
            found = getattr(found, part)


def test_deviations_are_numbered_without_gaps_and_cited_ones_exist():
    text = (ROOT / "docs" / "deviations.md").read_text()
    numbers = [int(n) for n in re.findall(r"^(\d+)\. ", text, flags=re.M)]
    assert numbers == list(range(1, len(numbers) + 1))
    for page in PAGES:
        for cited in re.findall(r"[Dd]eviations? ([\d, to]+)", page.read_text()):
            assert all(int(n) in numbers for n in re.findall(r"\d+", cited))


def test_constraints_pin_exactly_and_name_no_address():
    lines = (ROOT / "constraints.txt").read_text().split()
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][0-9a-z.]*", line) for line in lines)


def test_public_names_are_there():
    assert 20 <= len(sf.__all__) <= 65
    for name in sf.__all__:
        assert getattr(sf, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sf.nothing


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert sf.__version__ == project
    assert f"version: {project}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"version = {{{project}}}," in (ROOT / "docs" / "citing.md").read_text()
    assert f"## {project}\n" in (ROOT / "CHANGELOG.md").read_text()
