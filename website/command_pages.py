"""The reference of the command line, from the commands' own help."""

from __future__ import annotations

import io
import os
import re
import sys
from contextlib import redirect_stdout, suppress
from typing import NamedTuple, get_args
from unittest import mock

from skillfocus.cli.commands import Command, parse_command

WIDTH = 1000
"""Columns of the help's box, so wide that no description is broken."""
_BOX = re.compile(r"^╭─ (?P<title>[\w ]+?) ─+╮\n(?P<rows>.*?)^╰─+╯$", flags=re.S | re.M)
_OBVIOUS = re.compile(r"\s*\((?:required|default: (?:False|None|))\)")
"""What a table of options need not say: an option is off, or absent, until it is given."""
_OPTION = re.compile(r"^ ?(?P<name>\S.*?)(?:  +(?P<text>\S.*))?$")


class Option(NamedTuple):
    """An option or argument: `--seeds INT`, and what it does."""

    name: str
    text: str


class Help(NamedTuple):
    """What `skillfocus NAME --help` prints, taken apart."""

    usage: str
    text: str
    arguments: list[Option]
    options: list[Option]


def command_names() -> list[str]:
    """Return the names of all commands, in the order of `skillfocus --help`."""
    return [get_args(command)[1].name for command in get_args(Command)]


def commands_page() -> str:
    """Return the page of all commands as Markdown."""
    helps = {name: parse(printed(name)) for name in command_names()}
    parts = [
        "# Commands",
        "Generated from `skillfocus COMMAND --help`. Every command takes `--json`, and calls the "
        "function of the library that has its name. Exit status: 0 done, 1 a run failed, "
        "2 usage error, 130 interrupted, 143 terminated.",
        "| command | what it does |\n|---|---|\n"
        + "\n".join(
            f"| [`{name}`](#{name}) | {first_sentence(help.text)} |" for name, help in helps.items()
        ),
        *(section(name, help) for name, help in helps.items()),
    ]
    return "\n\n".join(parts) + "\n"


def printed(name: str) -> str:
    """Return what the command prints with --help."""
    output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")  # boxes depend on the encoding
    environment = {"COLUMNS": str(WIDTH), "NO_COLOR": "1"}
    with (
        mock.patch.dict(os.environ, environment),
        mock.patch.object(sys, "argv", ["skillfocus", name, "--help"]),
        redirect_stdout(output),
        suppress(SystemExit),
    ):
        parse_command()
    output.seek(0)
    return output.read()


def parse(printed: str) -> Help:
    """Take the text of --help apart.

    Raises:
        ValueError: If the help has a box that this does not know.
    """
    boxes = {box["title"]: options(box["rows"]) for box in _BOX.finditer(printed)}
    unknown = set(boxes) - {"positional arguments", "options"}
    if unknown or "options" not in boxes:
        raise ValueError(f"the help has the boxes {sorted(boxes)}, and this page shows two kinds")
    before = printed[: printed.index("╭")]
    usage, _, text = before.partition("\n\n")
    return Help(
        re.sub(r"\s+", " ", usage.removeprefix("usage: ")).strip(),
        text.strip(),
        boxes.get("positional arguments", []),
        [option for option in boxes["options"] if not option.name.startswith("-h")],
    )


def options(rows: str) -> list[Option]:
    """Return the options in the rows of a box; a row that begins with spaces goes on."""
    found: list[Option] = []
    for row in (line.strip("│").rstrip() for line in rows.splitlines()):
        going_on = row.startswith("  ")
        if going_on and found:
            name, text = found.pop()
            found.append(Option(name, f"{text} {row.strip()}".strip()))
        elif row.strip() and (match := _OPTION.match(row)):
            found.append(Option(match["name"], match["text"] or ""))
    return found


def section(name: str, help: Help) -> str:
    """Return the section of one command."""
    first, *others = paragraphs(help.text)
    parts = [f"## {name}", first, f"```text\n{help.usage}\n```", *others]
    for title, several in (("argument", help.arguments), ("option", help.options)):
        if several:
            rows = "\n".join(f"| `{code(o.name)}` | {cell(o.text)} |" for o in several)
            parts.append(f"| {title} | |\n|---|---|\n{rows}")
    return "\n\n".join(parts)


def paragraphs(text: str) -> list[str]:
    """Return a command's description, its examples as code."""
    found = []
    for paragraph in text.split("\n\n"):
        head, colon, examples = paragraph.partition(": ")
        if colon and head.strip() in ("Example", "Examples"):
            lines = re.split(r"(?:,\s+|\s*\n\s*|\s{2,})(?=skillfocus )", examples.strip())
            found.append("```text\n" + "\n".join(line.strip() for line in lines) + "\n```")
        else:
            found.append(escape(" ".join(paragraph.split())))
    return found


def first_sentence(text: str) -> str:
    """Return the first sentence of a description."""
    return cell(re.split(r"(?<=\.)\s", text.strip(), maxsplit=1)[0])


def cell(text: str) -> str:
    """Return text for the cell of a table, the pages that it names as links."""
    linked = re.sub(r"docs/([\w-]+)\.md", r"[\1](\1.md)", escape(_OBVIOUS.sub("", text)))
    return linked.replace("|", "\\|")


def code(text: str) -> str:
    """Return text for code in the cell of a table."""
    return text.replace("|", "\\|")


def escape(text: str) -> str:
    """Keep Markdown from reading `*` and `<` in plain text."""
    return re.sub(r"([*<])", r"\\\1", text)
