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
from skillfocus.viewer.page import ENTRY, EXPORT, IMPORT, bundle, read_asset

ROOT = Path(__file__).parents[2]
ASSETS = Path(skillfocus.viewer.__file__).parent / "assets"
TYPES_ONLY = {"data.js"}
TYPESCRIPT = "typescript@5.9.3"
NEED_NODE = "SKILLFOCUS_NEED_NODE"
"""Set, it makes a missing npx an error instead of a skipped test."""


def bundled(entry="main.js", **modules):
    """Bundle modules given by name without suffix; `modes__chain` is modes/chain.js."""
    sources = {f"{name.replace('__', '/')}.js": text for name, text in modules.items()}

    return bundle(entry, sources.__getitem__)


def order_of(script):
    return re.findall(r"^// (\S+\.js)$", script, re.M)


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
    """Every form that modules may use, in folders; nothing is left in the global scope."""
    script = bundled(
        main=(
            'import "./first.js";\n'
            'import {\n  add,\n  secret,\n} from "./lib/math.js";\n'
            'import { Box, later, shout } from "./text.js";\n'
            "console.log(add(5, secret), shout(`a`), new Box().content, typeof globalThis.add);\n"
            "later().then((value) => console.log(value));\n"
        ),
        first='console.log("first");\n',
        lib__math=(
            'import { shout } from "../text.js";\n'
            "export const secret = 37;\nconst hidden = shout;\n"
            "export function add(x, y) {\n  return x + y + (hidden ? 0 : 1);\n}\n"
        ),
        text=(
            "const mark = '!';\nexport const shout = (word) => word + mark;\n"
            "export class Box {\n  content = 'full';\n}\n"
            "export async function later() {\n  return 'later';\n}\n"
        ),
    )
    assert run_in_node(script).splitlines() == ["first", "42 a! full undefined", "later"]


def test_the_modules_use_only_what_the_bundler_knows():
    """What it does not know would be left in the script, or end it."""
    for path in ASSETS.rglob("*.js"):
        text = path.read_text("utf-8")
        assert not re.search("</script|<!--", text, re.I), path
        left = EXPORT.sub("", IMPORT.sub("", text)).replace("export {};", "")
        assert not re.search(r"^(import|export)\b", left, re.M), path
        assert " as " not in "".join(re.findall(r"^import \{[^}]*\}", text, re.M)), path


def test_the_modules_of_a_page_share_no_name():
    """They share a scope."""
    declared = re.compile(r"^(?:async )?(?:const|let|class|function\*?) ([\w$]+)", re.M)
    names = declared.findall(bundle(ENTRY, read_asset))
    assert len(names) > 10
    assert sorted(names) == sorted(set(names))


def test_the_page_is_made_of_all_modules():
    """A file that nothing imports would be forgotten."""
    files = {path.relative_to(ASSETS).as_posix() for path in ASSETS.rglob("*.js")}
    order = order_of(bundle(ENTRY, read_asset))
    assert set(order) == files - TYPES_ONLY
    assert order[-1] == ENTRY


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
