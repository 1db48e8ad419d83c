"""Reference pages: the API, from docstrings, and the commands, from what their `--help` prints.

A line `::: sf.discover` in `docs/api/*.md` shows that name with its docstring. An anchor is the
public name, `skillfocus.discover`, and stays when the definition moves to another module.
"""

from __future__ import annotations

import io
import os
import re
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import get_args
from unittest import mock

import griffe

from skillfocus.cli.commands import Command, parse_command

ROOT = Path(__file__).resolve().parents[1]
API_PAGES = {
    page: (ROOT / "docs" / "api" / f"{page}.md").read_text("utf-8")
    for page in (
        "worlds", "objectives", "learners", "skills", "metrics", "tasks", "envs", "runs", "testing",
    )
}  # fmt: skip
"""The pages in the order of their overview, and their Markdown."""
_NAME_LINE = re.compile(r"^::: (\S+)$", flags=re.M)
API_NAMES = {page: _NAME_LINE.findall(text) for page, text in API_PAGES.items()}
"""The names on each page, as users write them: `{"learners": ["sf.discover", …]}`."""
_PUBLIC = "|".join(re.escape(name) for names in API_NAMES.values() for name in names)
_NAME = re.compile(rf"(?<!<span></span>)<code>({_PUBLIC})\b[^<]*</code>(?!</a)")
"""A name in running text: no link, and not all of a block of code."""
_SOURCES = griffe.load("skillfocus", search_paths=[ROOT / "src"]).modules_collection
"""What stands in the modules; nothing is imported."""
_ROW = re.compile(r"^│ (?P<option>\S+(?: \S+)*) *(?P<text>.*?) *│$", flags=re.M)
_OBVIOUS = re.compile(r"\s*\((?:required|default: (?:False|None|))\)")
"""What a table of options need not say: an option is off, or absent, until it is given."""


# -------------------------------------------------------------------- the API


def anchor(name: str) -> str:
    """Return a name's full path, which is its anchor: `skillfocus.discover` for `sf.discover`.

    Raises:
        KeyError: If there is no such name.
    """
    path = re.sub(r"^sf\.", "skillfocus.", name)
    # `metrics.coverage` is both a module and the function in it
    return f"{path}.{path.split('.')[-1]}" if _SOURCES[path].is_module else path


def with_docstrings(markdown: str) -> str:
    """Return a page of the API with its names as mkdocstrings reads them."""
    entry = "::: {}\n    options: {{heading: {}}}\n"
    return _NAME_LINE.sub(lambda line: entry.format(anchor(line[1]), line[1]), markdown)


def with_api_links(html: str) -> str:
    """Return HTML whose `sf.name` in running text leads to its entry in the reference."""
    link = '<autoref class="api" identifier="{}">{}</autoref>'
    return _NAME.sub(lambda code: link.format(anchor(code[1]), code[0]), html)


def api_overview() -> str:
    """Return the page that lists all names with the first sentences of their docstrings."""
    parts = [
        "# API",
        "`import skillfocus as sf` gives every name that begins with `sf.`. The others "
        "are imported from the module that is shown. "
        "What is not listed here may change in any release.",
    ]
    for page, names in API_NAMES.items():
        title = API_PAGES[page].splitlines()[0].removeprefix("# ")
        table = ["| name | |", "|---|---|"]
        for path, name in ((anchor(name), name) for name in names):
            docstring = _SOURCES[path].docstring
            sentence = _first_sentence(docstring.value) if docstring else ""
            table.append(f"| [`{name}`]({page}.md#{path}) | {sentence} |")
        parts += [f"## [{title}]({page}.md)", "\n".join(table)]
    return "\n\n".join(parts) + "\n"


# -------------------------------------------------------------------- the commands


def commands_page() -> str:
    """Return the page of all commands as Markdown."""
    table, sections = ["| command | what it does |", "|---|---|"], []
    for command in get_args(Command):
        name = get_args(command)[1].name
        usage, _, text = printed_help(name).partition("\n\n")
        table.append(f"| [`{name}`](#{name}) | {_first_sentence(text)} |")
        sections.append(command_section(name, usage, text))
    head = (
        "# Commands\n\n"
        "Generated from `skillfocus COMMAND --help`. Every command takes `--json`, and calls the "
        "function of the library that has its name. Exit status: 0 done, 1 a run failed, "
        "2 usage error, 130 interrupted, 143 terminated."
    )
    return "\n\n".join([head, "\n".join(table), *sections]) + "\n"


def printed_help(name: str) -> str:
    """Return what a command prints with --help."""
    output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")  # boxes depend on the encoding
    # boxes so wide that no description is broken
    with (
        mock.patch.dict(os.environ, {"COLUMNS": "1000", "NO_COLOR": "1"}),
        mock.patch.object(sys, "argv", ["skillfocus", name, "--help"]),
        redirect_stdout(output),
        suppress(SystemExit),
    ):
        parse_command()
    output.seek(0)
    return output.read()


def command_section(name: str, usage: str, text: str) -> str:
    """Return the section of one command, made of the two parts of its help."""
    description, boxes = text.split("╭", 1)
    first, *others = map(_paragraph, description.strip().split("\n\n"))
    usage = " ".join(usage.removeprefix("usage: ").split())
    parts = [f"## {name}", first, f"```text\n{usage}\n```", *others]
    rows = _ROW.findall(
        re.sub(r" *│\n│ {2,}", "  ", boxes)
    )  # a row that begins with spaces goes on
    for title, is_option in (("argument", False), ("option", True)):
        table = [
            "| `{}` | {} |".format(option.replace("|", r"\|"), _cell(text))
            for option, text in rows
            if option.startswith("-") == is_option and option != "-h, --help"
        ]
        if table:
            parts.append("\n".join([f"| {title} | |", "|---|---|", *table]))
    return "\n\n".join(parts)


def _paragraph(text: str) -> str:
    """Return a paragraph of a command's description; examples become code."""
    if not (examples := re.match(r"Examples?: (.*)", text, flags=re.S)):
        return _escape(" ".join(text.split()))
    lines = re.split(r",?\s+(?=skillfocus )", examples[1].strip())
    return "```text\n" + "\n".join(lines) + "\n```"


def _cell(text: str) -> str:
    """Return text for the cell of a table, the pages that it names as links."""
    plain = _escape(_OBVIOUS.sub("", " ".join(text.split())))
    return re.sub(r"docs/([\w-]+)\.md", r"[\1](\1.md)", plain)


def _first_sentence(text: str) -> str:
    """Return the first sentence of a docstring or a help, for the cell of a table."""
    paragraph = " ".join(text.split("\n\n")[0].split())
    return _escape(re.split(r"(?<=\.)\s", paragraph, maxsplit=1)[0])


def _escape(text: str) -> str:
    """Keep Markdown from reading its marks in plain text."""
    return re.sub(r"([|<*\[])", r"\\\1", text)
