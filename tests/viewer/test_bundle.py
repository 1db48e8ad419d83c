"""The bundler: modules in, one script out."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import NoReturn

import pytest

import skillfocus.viewer
from skillfocus.viewer import continuous
from skillfocus.viewer.page import ENTRY, BundleError, bundle, parse_module, read_asset

ROOT = Path(__file__).parents[2]
ASSETS = Path(skillfocus.viewer.__file__).parent / "assets"
TYPES_ONLY = {"data.js", "continuous/data.js"}
TYPESCRIPT = "typescript@5.9.3"
NEED_NODE = "SKILLFOCUS_NEED_NODE"
"""Set, it makes a missing npx an error instead of a skipped test."""


def bundled(entry="main.js", **modules):
    """Bundle modules given by name without suffix; `modes__chain` is modes/chain.js."""
    sources = {f"{name.replace('__', '/')}.js": text for name, text in modules.items()}

    def read(path):
        if path not in sources:
            raise FileNotFoundError(path)
        return sources[path]

    return bundle(entry, read)


def order_of(script):
    return re.findall(r'^modules\["(.*?)"\] =', script, re.M)


def run_in_node(script):
    node = shutil.which("node")
    if node is None:
        _missing("node is not on the path")
    done = subprocess.run(
        [node, "-e", f'"use strict";\n{script}'], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _missing(what) -> NoReturn:
    if os.environ.get(NEED_NODE):
        pytest.fail(f"{what} ({NEED_NODE} is set)", pytrace=False)
    pytest.skip(what)


def test_modules_run_once_and_after_what_they_import():
    script = bundled(
        main='import { a } from "./a.js";\nimport { b } from "./b.js";\na(b);\n',
        a='import { b } from "./b.js";\nexport function a() {\n  return b;\n}\n',
        b="export const b = 1;\n",
    )
    assert order_of(script) == ["b.js", "a.js", "main.js"]
    assert "import" not in script
    assert "export" not in script


def test_the_bundle_does_what_the_modules_do():
    """Every supported form, with names that would clash in one scope."""
    script = bundled(
        main=(
            'import "./first.js";\n'
            'import {\n  add,\n  secret as other,\n} from "./lib/math.js";\n'
            'import * as text from "./text.js";\n'
            "const secret = 5;\n"
            "console.log(add(secret, other), text.shout(`a`), new text.Box().content);\n"
            "text.later().then((value) => console.log(value));\n"
        ),
        first='console.log("first");\n',
        lib__math=(
            'import { shout } from "../text.js";\n'
            "export const secret = 37;\nconst hidden = shout;\n"
            "export function add(x, y) {\n  return x + y + (hidden ? 0 : 1);\n}\n"
        ),
        text=(
            "const hidden = '!';\nexport const shout = (word) => word + hidden;\n"
            "export class Box {\n  content = 'full';\n}\n"
            "export async function later() {\n  return 'later';\n}\n"
        ),
    )
    assert run_in_node(script).splitlines() == ["first", "42 a! full", "later"]


def test_paths_are_relative_to_the_importing_module():
    script = bundled(
        main='import { chain } from "./modes/chain.js";\nchain;\n',
        modes__chain='import { dom } from "../dom.js";\nexport const chain = dom;\n',
        dom="export const dom = 1;\n",
    )
    assert order_of(script) == ["dom.js", "modes/chain.js", "main.js"]


@pytest.mark.parametrize(
    ("modules", "said"),
    [
        (
            {"main": 'import { a } from "./a.js";\n', "a": 'import { b } from "./b.js";\nexport const a = 1;\n', "b": 'import { a } from "./a.js";\nexport const b = 1;\n'},
            "cycle: a.js → b.js → a.js",
        ),
        ({"main": 'import "./main.js";\n'}, "cycle: main.js → main.js"),
        ({"main": 'import { a } from "./a.js";\n'}, "no module a.js, imported by main.js"),
        ({}, "there is no module main.js"),
        (
            {"main": 'import { c } from "./a.js";\n', "a": "export const a = 1;\nconst c = 2;\n"},
            "main.js imports c from a.js, which exports a",
        ),
        ({"main": 'import { a } from "a";\n'}, "only relative paths"),
        ({"main": 'import { a } from "../a.js";\n'}, "outside the assets folder"),
        ({"main": 'import a from "./a.js";\n'}, "cannot bundle 'import a from"),
        ({"main": "export default 1;\n"}, "cannot bundle 'export default 1;'"),
        ({"main": "const a = 1;\nexport { a };\n"}, "cannot bundle 'export { a };'"),
        ({"main": "export let a = 1;\n"}, "cannot bundle 'export let a = 1;'"),
        ({"main": 'const a = "</script>";\n'}, "main.js contains </script"),
        ({"main": 'import { a b } from "./a.js";\n'}, "cannot read the import of 'a b'"),
    ],
)  # fmt: skip
def test_what_cannot_be_bundled_is_named(modules, said):
    with pytest.raises(BundleError, match=re.escape(said)):
        bundled(**modules)


def test_a_parsed_module_has_its_imports_exports_and_code():
    module = parse_module(
        "modes/a.js",
        'import { x, y as z } from "../b.js";\nexport const a = x;\nexport class B {}\n',
    )
    assert module.imports == (("b.js", {"x": "x", "y": "z"}),)
    assert module.exports == ("a", "B")
    assert module.code == "const a = x;\nclass B {}"


def test_the_pages_are_made_of_all_modules():
    """A file that nothing imports would be forgotten."""
    files = {path.relative_to(ASSETS).as_posix() for path in ASSETS.rglob("*.js")}
    orders = [order_of(bundle(entry, read_asset)) for entry in (ENTRY, continuous.ENTRY)]
    assert {module for order in orders for module in order} == files - TYPES_ONLY
    assert [order[-1] for order in orders] == [ENTRY, continuous.ENTRY]
    assert {each for each in orders[0] if each.startswith("continuous/")} == set()


def test_every_asset_is_part_of_the_package():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = settings["tool"]["setuptools"]["package-data"]["skillfocus"]
    package = ASSETS.parents[1]
    packaged = {path for pattern in patterns for path in package.glob(pattern) if path.is_file()}
    assert {path for path in ASSETS.rglob("*") if path.is_file()} <= packaged


def test_every_mode_is_in_the_list_and_only_there():
    """Adding a mode is one file and one line: no other module asks for one."""
    listed = re.search(r"MODES = \[(.*?)\]", read_asset("modes/index.js"))[1].split(", ")
    names = {path.stem for path in (ASSETS / "modes").glob("*.js")} - {"index", "mode"}
    assert {name.removesuffix("Mode") for name in listed} == names
    for path in ASSETS.glob("*.js"):
        text = path.read_text("utf-8")
        assert not re.findall(r"modes/(?!index|mode\b)|mode [!=]== \S+", text), path.name


@pytest.mark.slow
def test_the_modules_have_no_type_errors():
    npx = shutil.which("npx")
    if npx is None:
        _missing("npx is not on the path: install Node.js")
    command = [npx, "-y", "-p", TYPESCRIPT, "tsc", "-p", str(ROOT / "jsconfig.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if "npm error" in done.stderr:
        _missing(f"npx cannot install {TYPESCRIPT}: {done.stderr}")
    assert done.stdout == ""
    assert done.returncode == 0
