"""Parse map files: `read_map("museum.txt")`.

A map file is text. Above the line `map:` stand, one per line and in any order: comments (`# …`),
settings (`slip = 0.1`, `step limit = 40`, `goals = NAME, …`, `stay = yes`), the legend (`V =
fragile vase`: a glyph and the features of its cells, separated by commas), and at most one line
`tracks NAME while NAME up to N`. Below it stands the map: `#` wall, `.` free, `@` free and the
start of figures, and the legend's glyphs. `maps/world.py` says what the features do.

Every error names its line and column, counted from 1.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from skillfocus.errors import UserError
from skillfocus.worlds.grid import FREE, MAX_VARIABLES, WALL, Cell, MapError
from skillfocus.worlds.maps.grammar import SourceText
from skillfocus.worlds.maps.header import START, Header
from skillfocus.worlds.maps.world import MapSpec, MapWorld


def read_map(path: str | Path) -> MapWorld:
    """Return the world of a map file; its id is `map:` and the file's name without suffix.

    Raises:
        UserError: If the file cannot be read, or names the line and column of a mistake.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"there is no map file {path}") from None
    except (OSError, ValueError) as error:
        raise UserError(f"the map file {path} cannot be read: {error}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode(errors="replace").split("\n")
        raise UserError(
            f"{path}, line {len(before)}, column {len(before[-1]) + 1}: the byte "
            f"{error.object[error.start]:#04x} is not UTF-8; save the file as UTF-8 text"
        ) from None
    return _parse(SourceText(str(path), text), path.stem, text)


def make_map(name: str, **settings: object) -> MapWorld:
    """Return the world `map:NAME` from its settings, for skills files.

    Args:
        name: The name.
        **settings: `text`, the whole text of the map file.
    """
    text = settings.get("text")
    if set(settings) != {"text"} or not isinstance(text, str):
        raise UserError(f"map:{name} takes one setting, text: the whole text of its map file")
    return _parse(SourceText(f"map:{name}", text), name, text)


def _parse(source: SourceText, name: str, text: str) -> MapWorld:
    """Parse the whole file into a world."""
    lines = source.lines
    if not any(lines):
        raise UserError(f"{source.name} is empty; write a legend, map: and a drawing")
    if "map:" not in map(str.strip, lines):
        raise UserError(f"{source.name} has no map; write map: and below it the drawing")
    header = Header(source)
    map_line = [line.strip() for line in lines].index("map:")
    for number, line in enumerate(lines[:map_line], 1):
        content = f" {line}".partition(" #")[0][1:]
        if content.strip():
            header.parse_line(content, number)
    rows, first_line = _parse_rows(source, map_line)
    spec = MapSpec(
        rows=tuple(row.replace(START, FREE) for row in rows),
        legend=header.legend,
        slip=header.slip,
        step_limit=header.step_limit,
        goals=None,
        start=_find_start(source, rows, first_line),
        tracks=header.tracks,
        stay=header.stay,
    )
    variables = _check_names(header, spec)
    spec = replace(spec, goals=_parse_goals(header, spec, variables))
    try:
        return MapWorld(name, text, spec)
    except MapError as error:
        row, column = error.cell
        source.fail(first_line + row, column + 1, error.problem)


def _parse_rows(source: SourceText, map_line: int) -> tuple[list[str], int]:
    """Return the map's rows, and the number of the line with the first one."""
    below = source.lines[map_line + 1 :]
    if not any(below):
        source.fail(map_line + 1, 1, "no map follows; draw it below this line")
    first = [bool(row) for row in below].index(True)
    rows = list(takewhile(bool, below[first:]))
    end = first + len(rows)
    for number, line in enumerate(below[end:], map_line + 2 + end):
        if line:
            source.fail(number, 1, "the map has already ended; everything else belongs above map:")
    return rows, map_line + 2 + first


def _find_start(source: SourceText, rows: list[str], first_line: int) -> Cell:
    """Return the cell of `@`; without one, the first free cell, or else the first cell."""
    cells = [(r, c) for r, row in enumerate(rows) for c in range(len(row))]
    glyph = {(r, c): rows[r][c] for r, c in cells}
    inside = [cell for cell in cells if glyph[cell] != WALL]
    if len(inside) < 2:
        source.fail(first_line, 1, "the map has fewer than two cells to walk on")
    starts = [cell for cell in inside if glyph[cell] == START]
    if len(starts) > 1:
        row, column = starts[1]
        source.fail(first_line + row, column + 1, "there is a second '@'; remove one")
    free = [cell for cell in inside if glyph[cell] == FREE]
    return (starts or free or inside)[0]


def _check_names(header: Header, spec: MapSpec) -> list[str]:
    """Return the names of all variables except position.

    They must be distinct and include what doors and tracks need.
    """
    drawn = set("".join(spec.rows))
    for glyph, word in header.glyphs.items():
        if glyph not in drawn:
            header.source.fail_at(word, f"{glyph!r} is not in the map")
    words = {name: word for name, (_, word) in header.definitions.items()}
    named = [(v, words[name]) for name in spec.cells for v in spec.variables(name)]
    variables = [variable for variable, _ in named]
    for required in header.required:
        if required.text in variables:
            continue
        if required.text in spec.cells:
            several = ", ".join(spec.variables(required.text))
            header.source.fail_at(required, f"{required.text!r} is {several}; name one of them")
        header.source.fail_unknown(required, "variable", variables)
    if header.tracks:
        if FREE not in drawn:
            header.source.fail_at(header.tracks_name, "the map has no free cell for tracks")
        named.append((header.tracks.name, header.tracks_name))
    names = {"position"}
    for variable, word in named:
        if variable in names:
            header.source.fail_at(
                word, f"two variables would be named {variable!r}; choose another name"
            )
        names.add(variable)
        if len(names) > MAX_VARIABLES:
            header.source.fail_at(
                word, f"there are more than {MAX_VARIABLES} variables; draw fewer such cells"
            )
    return [variable for variable, _ in named]


def _parse_goals(header: Header, spec: MapSpec, variables: list[str]) -> tuple[str, ...] | None:
    """Return the variables that the goals name; a name may stand for several."""
    if "goals" not in header.settings:
        return None
    text, line, column = header.settings["goals"]
    goals: list[str] = []
    for words in header.source.split_phrases(text, line, column):
        (name,), _ = header.source.match_form("NAME", words)
        if name.text not in spec.cells and name.text not in variables:
            header.source.fail_unknown(name, "goal", variables)
        goals += spec.variables(name.text) if name.text in spec.cells else [name.text]
    return tuple(dict.fromkeys(goals))
