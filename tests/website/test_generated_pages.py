"""Pages of the site that are made of code: the references, formulas, files of the repository."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

import pytest

import skillfocus as sf
from paths import ROOT
from skillfocus.cli.commands import Command

pytest.importorskip("griffe", reason="the site is built where '.[docs]' is installed")
pytest.importorskip("latex2mathml")

from website.api_pages import PAGES, api_pages, entries, find
from website.command_pages import Option, command_names, commands_page, parse, printed
from website.mathml import characters, to_mathml, with_mathml
from website.picture import picture
from website.repository_files import citing_page, listings, source_of, with_site_links


@pytest.fixture(scope="module")
def commands():
    return commands_page()


def test_every_public_name_is_on_one_page():
    shown = [entry.shown for page in PAGES for entry in entries(page)]
    assert len(shown) == len(set(shown))
    modules = {"adapters", "executors", "metrics", "testing"}
    assert {f"sf.{name}" for name in sf.__all__ if name not in modules} <= set(shown)
    assert {f"sf.metrics.{name}" for name in sf.metrics.__all__} <= set(shown)
    assert {f"sf.adapters.{name}" for name in sf.adapters.__all__} <= set(shown)


def test_entries_are_where_the_name_is_defined():
    found = {entry.shown: entry.path for page in PAGES for entry in entries(page)}
    for name in ("discover", "Skills", "SkillEnv", "UserError"):
        thing = getattr(sf, name)
        assert found[f"sf.{name}"] == f"{thing.__module__}.{thing.__qualname__}"
    assert found["sf.metrics.coverage"] == "skillfocus.metrics.coverage.coverage"  # a module, too
    with pytest.raises(KeyError):
        find("skillfocus.nothing")


def test_the_overview_has_the_first_sentence_of_each_docstring():
    row = "| [`sf.focused`](objectives.md#skillfocus.objectives.variants.focused.focused) | {} |"
    sentence = sf.focused.__doc__.split("\n")[0]
    assert row.format(sentence) in api_pages()["api/index.md"]


def test_every_option_of_every_command_is_on_the_page(commands):
    assert command_names()[:3] == ["list", "describe", "discover"]
    for command in get_args(Command):
        cls, name = get_args(command)[0], get_args(command)[1].name
        section = commands.split(f"\n## {name}\n")[1].split("\n## ")[0]
        assert section.count("\n| `") == len(fields(cls)), name
    assert "| `--gamma FLOAT` | Discount factor. (default: 0.99) |" in commands
    assert "(required)" not in commands
    assert "[focused](focused.md)" in commands


def test_help_is_taken_apart():
    taken = parse(printed("describe"))
    assert taken.usage == "skillfocus describe [-h] WORLD [--world-settings STR] [--check] [--json]"
    assert taken.text.startswith("Describe a world: its variables")
    assert [option.name for option in taken.arguments] == ["WORLD"]
    assert Option("--json", "Print one JSON document. (default: False)") in taken.options
    with pytest.raises(ValueError, match="two kinds"):
        parse("usage: x\n\nText.\n\n╭─ other ─╮\n│ a  b │\n╰─╯\n")


def test_formulas_become_mathml():
    half = to_mathml(r"\frac{1}{2}")
    assert "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>" in half
    page = with_mathml(r'<p>a <span class="arithmatex">\(x &lt; 1\)</span></p>')
    assert page.startswith("<p>a <math")
    assert "<mi>x</mi><mo>&#x0003C;</mo><mn>1</mn>" in page
    assert 'class="formula"' in with_mathml('<div class="arithmatex">\\[x\\]</div>')
    with pytest.raises(ValueError, match=r"unknown command \\nothing"):
        to_mathml(r"\nothing{x}")


def test_the_font_has_what_formulas_are_drawn_with():
    needed = characters([to_mathml(r"h + \lambda x")])
    assert {"√", "+", "x", "𝑥", "λ", "𝜆", "ℎ"} <= needed
    assert "<" not in needed


@pytest.mark.parametrize(
    ("page", "link", "expected"),
    [
        ("maps.md", "../examples/own_world.py", "examples/own_world.md"),
        ("maps.md", "worlds.md#mud", "worlds.md#mud"),
        ("report/figure-1.md", "../report.md", "../report.md"),
        ("contributing.md", "docs/runs.md#tls", "runs.md#tls"),
        ("contributing.md", "SECURITY.md", "security.md"),
        ("maps.md", "tutorials/own-map.py", "tutorials/own-map.md"),
        ("tutorials/large-world.md", "own-map.py", "own-map.md"),
        ("tutorials/own-map.md", "own-map.py", "own-map.py"),  # to download
        ("citing.md", "https://a.example/b.md", "https://a.example/b.md"),
        ("maps.md", "../src/nothing.py", "../src/nothing.py"),  # MkDocs then says so
    ],
)
def test_links_to_files_lead_to_pages(page, link, expected):
    code = f"```\n[a]({link})\n```"
    assert with_site_links(f"[a]({link})\n\n{code}", page) == f"[a]({expected})\n\n{code}"


def test_pages_know_their_files():
    assert source_of("contributing.md") == "CONTRIBUTING.md"
    assert source_of("examples/maps/vase.md") == "examples/maps/vase.txt"
    assert source_of("maps.md") == "docs/maps.md"
    assert all((ROOT / path).is_file() for path in listings())


@pytest.mark.slow
def test_the_first_page_s_picture_and_numbers_are_what_skills_do(four_rooms):
    assert picture() == (ROOT / "docs" / "images" / "two-skills.svg").read_text("utf-8")
    effects = sf.metrics.side_effects(
        sf.discover(four_rooms, sf.focused(sf.vic(), strength=4.0), seed=0)
    )[1]
    text = " ".join((ROOT / "docs" / "index.md").read_text("utf-8").split())
    assert f"on average {effects.side_effects:.3f} other variables" in text
    assert f"Most of that ({effects.by_variable['position']:.3f}) is its own position" in text


def test_the_citation_is_that_of_the_file():
    text = citing_page((ROOT / "CITATION.cff").read_text())
    assert "author  = {Colaço Carr, Jonathan and Sun, Qinyi and Allen, Cameron}" in text
    assert f"version = {{{sf.__version__}}}" in text
