"""The distributions: what is in them, and that the wheel works where nothing else of this is."""

from __future__ import annotations

import email
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import textwrap
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import skillfocus as sf
from paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WHEEL, SDIST = (
    f"skillfocus-{PROJECT['version']}-py3-none-any.whl", f"skillfocus-{PROJECT['version']}.tar.gz",
)  # fmt: skip
USE = """
import json, sys
import skillfocus as sf

world = sf.make("FourRooms-v0", drawing="#####\\n#..T#\\n#####", slip=0.0, step_limit=8)
learner = sf.Planning(rounds=3, rollouts=20)
skills = sf.discover(world, sf.focused(sf.vic()), seed=0, targets={"tool_1": 2}, learner=learner)
skills.save("a.skills")
page = sf.Skills.load("a.skills").view("a.html")
print(json.dumps([sf.__file__, sf.__version__, page.stat().st_size]))
"""


@pytest.fixture(scope="module")
def distributions(tmp_path_factory) -> Path:
    """The folder of the source distribution and the wheel, built from what git tracks."""
    pytest.importorskip("build", reason="distributions are built where '.[dev]' is installed")
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in listing.stdout.decode().split("\0"):
        if name.startswith(("src/", "pyproject", "README", "LICENSE", "MANIFEST")):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, source / name)
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(source)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.mark.slow
def test_distributions_hold_every_file_of_the_package(distributions):
    assert sorted(path.name for path in distributions.iterdir()) == sorted([WHEEL, SDIST])
    package = ROOT / "src" / "skillfocus"
    files = [p for p in package.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    expected = {f"skillfocus/{p.relative_to(package).as_posix()}" for p in files}
    assert "skillfocus/viewer/assets/modes/mode.js" in expected
    wheel = zipfile.ZipFile(distributions / WHEEL)
    assert {name for name in wheel.namelist() if name.startswith("skillfocus/")} == expected
    with tarfile.open(distributions / SDIST) as sdist:
        inside = {name.split("/", 1)[-1] for name in sdist.getnames()}
    assert {f"src/{name}" for name in expected} | {"LICENSE", "README.md"} <= inside


@pytest.mark.slow
def test_the_metadata_is_the_project_s(distributions):
    wheel = zipfile.ZipFile(distributions / WHEEL)
    folder = f"skillfocus-{PROJECT['version']}.dist-info"
    metadata = email.message_from_bytes(wheel.read(f"{folder}/METADATA"))
    assert metadata["Version"] == PROJECT["version"] == sf.__version__
    assert set(metadata.get_all("Provides-Extra") or []) == set(PROJECT["optional-dependencies"])
    assert metadata["License-Expression"] == "MIT"
    assert metadata.get_payload().startswith("# skillfocus")
    assert f"{folder}/licenses/LICENSE" in wheel.namelist()
    assert "skillfocus = skillfocus.cli:main" in wheel.read(f"{folder}/entry_points.txt").decode()


@pytest.mark.slow
def test_the_wheel_works_in_an_environment_of_its_own(distributions, tmp_path):
    """Dependencies are those of this environment, on the path after the new one's packages."""
    folder = tmp_path / "venv"
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    commands = folder / ("Scripts" if os.name == "nt" else "bin")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    wheel = str(distributions / WHEEL)
    pip = [sys.executable, "-m", "pip", "--python", str(commands / "python"), "install", "--quiet"]
    subprocess.run(
        [*pip, "--no-index", "--no-deps", "--no-compile", wheel], env=environment, check=True
    )
    (home,) = folder.rglob("site-packages")
    (home / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    environment["NUMBA_DISABLE_JIT"] = "1"  # three cells are planned faster than compiled for

    def run(program: str, *arguments: str) -> str:
        done = subprocess.run(
            [str(commands / program), *arguments], cwd=tmp_path, capture_output=True, text=True,
            env=environment, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    file, version, size = json.loads(run("python", "-c", USE))
    assert Path(file).is_relative_to(folder)
    assert version == PROJECT["version"]
    assert size > 50_000  # the viewer's style and scripts are in the page
    assert run("skillfocus", "--version") == f"skillfocus {version}\n"


def test_the_release_check_resolves_every_extra():
    (line,) = re.findall(r"^EXTRAS = (.+)$", (ROOT / "Makefile").read_text(), flags=re.M)
    assert {*line.split(","), "test", "dev"} == set(PROJECT["optional-dependencies"])


def test_extras_name_packages_that_constraints_pin():
    pinned = {re.split("==", line)[0].lower().replace("_", "-")
              for line in (ROOT / "constraints.txt").read_text().split()}  # fmt: skip
    extras = PROJECT["optional-dependencies"].values()
    wanted = [*PROJECT["dependencies"], *(each for extra in extras for each in extra)]
    names = {re.match(r"[\w.-]+", each)[0].lower().replace("_", "-") for each in wanted}
    assert names - {"skillfocus"} <= pinned


WORKFLOWS = sorted((ROOT / ".github").rglob("*.y*ml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_and_templates_can_be_read_and_name_no_address(path):
    yaml = pytest.importorskip("yaml")
    assert yaml.safe_load(path.read_text())
    assert "://" not in path.read_text()


def test_a_release_has_the_notes_of_its_version(tmp_path):
    text = (ROOT / ".github/workflows/release.yml").read_text()
    (script,) = re.findall(r"python - <<'END'\n(.*?)\n +END\n", text, flags=re.S)
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    for tag, is_right in ((f"v{PROJECT['version']}", True), ("v0.0.0", False)):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script)], cwd=tmp_path, check=False,
            env={**os.environ, "GITHUB_REF_NAME": tag}, capture_output=True, text=True,
        )  # fmt: skip
        assert (done.returncode == 0) is is_right, done.stderr
    notes = (tmp_path / "notes.md").read_text()
    assert len(notes) > 500
    assert "\n## " not in notes
    (called,) = re.findall(r"uses: (\./\S+)", text)
    assert "\n  workflow_call:\n" in (ROOT / called).read_text()


def test_workflows_test_three_pythons_and_call_targets_that_exist():
    workflows = {path.stem: path.read_text() for path in WORKFLOWS}
    assert all(f'"3.{minor}"' in workflows["tests"] for minor in (11, 12, 13))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    called = re.findall(
        r"run: make (?:EXTRA=\S+ )?([a-z]+)$", "\n".join(workflows.values()), flags=re.M
    )
    assert set(called) == {"docs", "release"} <= targets


def test_the_citation_file_can_be_read():
    yaml = pytest.importorskip("yaml")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    needed = {"cff-version", "message", "title", "authors", "version", "license", "references"}
    assert needed <= set(citation)
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    (paper,) = citation["references"]
    assert paper["title"].startswith("Focused Skill Discovery")
    assert [author["family-names"] for author in paper["authors"]] == [
        "Colaço Carr",
        "Sun",
        "Allen",
    ]
