r"""Formulas as MathML, converted when the site is built: pages need no script for them.

`pymdownx.arithmatex` marks formulas in the HTML as `\(…\)` and `\[…\]`; `with_mathml` replaces
them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from importlib.resources import as_file, files
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from latex2mathml.converter import convert

FORMULA = re.compile(
    r'<(div|span) class="arithmatex">\s*\\[\[(](?P<latex>.*?)\\[\])]\s*</\1>', flags=re.S
)


def with_mathml(page: str) -> str:
    """Return a page's HTML with every formula as MathML.

    Raises:
        ValueError: If a formula has a command that the converter does not know.
    """
    return FORMULA.sub(_replacement, page)


def _replacement(formula: re.Match[str]) -> str:
    latex = html.unescape(formula["latex"]).strip()
    display = formula[1] == "div"
    math = to_mathml(latex, display)
    if display:  # scrolls by itself where the screen is narrow
        return f'<div class="formula" tabindex="0" role="group" aria-label="Formula">{math}</div>'
    return math


def to_mathml(latex: str, display: bool = False) -> str:
    r"""Return one formula as a `math` element.

    Args:
        latex: The formula without its dollar signs.
        display: Whether it stands on a line of its own.

    Raises:
        ValueError: If it has a command that the converter does not know; it would print its name.
    """
    try:
        math = convert(latex, display="block" if display else "inline")
    except Exception as error:  # the converter raises a dozen kinds
        raise ValueError(f"the formula {latex} cannot be converted: {error!r}") from error
    unknown = re.search(r"\\[A-Za-z]+", html.unescape(math))
    if unknown:
        raise ValueError(f"the formula {latex} has the unknown command {unknown[0]}")
    return math


def write_font(math: Iterable[str], path: Path) -> None:
    """Write the part of a math font that some formulas need.

    Browsers stretch roots and brackets with a font that has a MATH table, and not every system has
    one. This is STIX Two Math (SIL Open Font License 1.1, which the font's own name table states),
    as the package `ziamath` brings it, less the characters that no formula has.

    Args:
        math: The formulas as MathML.
        path: The font, in the WOFF format.
    """
    source = files("ziamath").joinpath("fonts", "STIXTwoMath-Regular.ttf")
    with as_file(source) as file:
        font = TTFont(file)
    subsetter = Subsetter(Options(name_IDs=["*"]))  # the names hold the licence
    subsetter.populate(unicodes=sorted({ord(c) for c in characters(math)}))
    subsetter.subset(font)
    font.flavor = "woff"
    font.save(path)


def characters(math: Iterable[str]) -> set[str]:
    """Return the characters that formulas are drawn with; letters are drawn in italics, too."""
    plain = set(html.unescape(re.sub(r"<[^>]*>", "", "".join(math)))) - {"\n"}
    root = {"√"}  # of `msqrt`, which has no text of its own
    return plain | root | {italic for c in plain for italic in _italic(c)}


def _italic(letter: str) -> list[str]:
    """Return the mathematical italic letter that browsers draw for a letter in `mi`."""
    if letter == "h":  # Unicode has it elsewhere
        return ["\N{PLANCK CONSTANT}"]
    for first, last, target in (("A", "Z", 0x1D434), ("a", "z", 0x1D44E), ("α", "ω", 0x1D6FC)):
        if first <= letter <= last:
            return [chr(target + ord(letter) - ord(first))]
    return [chr(0x1D719)] if letter == "ϕ" else []
