"""Pages of the site that are made of code: the references, formulas, files of the repository."""

from __future__ import annotations

import re
from dataclasses import fields
from types import ModuleType
from typing import get_args

import pytest
import yaml

import skillfocus as sf
from paths import ROOT
from skillfocus.cli.commands import Command

pytest.importorskip("griffe", reason="the site is built where '.[docs]' is installed")
pytest.importorskip("latex2mathml")

from mkdocs.exceptions import PluginError

from website.hooks import on_page_content, repository_pages, to_mathml, with_site_links
from website.picture import picture
from website.reference import (
    API_NAMES,
    anchor,
    api_overview,
    commands_page,
    printed_help,
    with_api_links,
    with_docstrings,
)


def test_every_public_name_is_on_one_page():
    shown = [name for names in API_NAMES.values() for name in names]
    assert len(shown) == len(set(shown))
    modules = {name for name in sf.__all__ if isinstance(getattr(sf, name), ModuleType)}
    assert {f"sf.{name}" for name in sf.__all__ if name not in modules} <= set(shown)
    assert {f"sf.metrics.{name}" for name in sf.metrics.__all__} <= set(shown)
    assert {f"sf.adapters.{name}" for name in sf.adapters.__all__} <= set(shown)
    checks = {name for name in vars(sf.testing) if re.fullmatch("check_.*(world|objective)", name)}
    assert {f"sf.testing.{name}" for name in checks} <= set(shown)


def test_anchors_are_public_names():
    assert anchor("sf.discover") == "skillfocus.discover"
    assert anchor("sf.metrics.coverage") == "skillfocus.metrics.coverage.coverage"  # a module, too
    assert anchor("skillfocus.worlds.maps.read_map") == "skillfocus.worlds.maps.read_map"
    assert len({anchor(name) for names in API_NAMES.values() for name in names}) > 80
    with pytest.raises(KeyError):
        anchor("sf.nothing")


def test_pages_of_the_api_show_docstrings():
    entry = "::: skillfocus.sweep.sweep\n    options: {heading: sf.sweep}\n"
    assert with_docstrings("# Title\n\n::: sf.sweep\n") == f"# Title\n\n{entry}\n"


@pytest.mark.parametrize(
    ("html", "is_linked"),
    [
        ("<p><code>sf.discover</code></p>", True),
        ("<p><code>sf.discover(world, sf.vic())</code></p>", True),
        ("<p><code>sf.discover_nothing</code></p>", False),
        ("<p><code>sf.metrics</code></p>", False),
        ('<p><a href="#"><code>sf.discover</code></a></p>', False),
        ("<pre><span></span><code>sf.discover()</code></pre>", False),
    ],
)
def test_public_names_in_text_are_links(html, is_linked):
    link = '<autoref class="api" identifier="skillfocus.discover"><code>'
    assert with_api_links(html) == (
        html.replace("<code>", link).replace("</code>", "</code></autoref>") if is_linked else html
    )


def test_the_overview_has_the_first_sentence_of_each_docstring():
    row = "| [`sf.focused`](objectives.md#skillfocus.focused) | {} |"
    sentence = sf.focused.__doc__.split("\n")[0]
    assert row.format(sentence) in api_overview()
    assert api_overview().count("\n| [`") == sum(map(len, API_NAMES.values()))


def test_every_option_of_every_command_is_on_the_page():
    commands = commands_page()
    names = re.findall(r"^## (.*)$", commands, flags=re.M)
    assert names == [get_args(command)[1].name for command in get_args(Command)]
    for command in get_args(Command):
        cls, name = get_args(command)[0], get_args(command)[1].name
        section = commands.split(f"\n## {name}\n")[1].split("\n## ")[0]
        assert section.count("\n| `") == len(fields(cls)), name
    assert (
        "| `--decay FLOAT` | Decay of exploration: epsilon is exp(-decay n) after n episodes. (default: 0.001) |"
        in commands
    )
    assert (
        "| `--gamma FLOAT` | Discount factor (default 0.99; with real-valued actions 0.98). |"
        in commands
    )
    assert "(required)" not in commands
    assert "[focused](focused.md)" in commands


def test_the_section_of_a_command_is_made_of_its_help():
    section = commands_page().split("\n## describe\n")[1].split("\n## ")[0]
    usage = "skillfocus describe [-h] WORLD [--world-settings STR] [--check] [--json]"
    assert section.startswith("\nDescribe a world: its variables")
    assert f"```text\n{usage}\n```" in section
    assert "```text\nskillfocus describe four-rooms\nskillfocus describe minigrid:" in section
    assert "| argument | |\n|---|---|\n| `WORLD` | A world, such as" in section
    assert section.rstrip().endswith("| `--json` | Print one JSON document. |")
    assert "│ --json " in printed_help("describe")


def test_formulas_become_mathml():
    half = to_mathml(r"\frac{1}{2}")
    assert "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>" in half
    page = on_page_content(r'<p>a <span class="arithmatex">\(x &lt; 1\)</span></p>')
    assert page.startswith('<p>a <span class="arithmatex"><math')
    assert "<mi>x</mi><mo>&#x0003C;</mo><mn>1</mn>" in page
    assert 'display="block"' in on_page_content('<div class="arithmatex">\\[x\\]</div>')
    with pytest.raises(PluginError, match=r"unknown command \\nothing"):
        to_mathml(r"\nothing{x}")


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
        ("citing.md", "https://a.example/b.md", "https://a.example/b.md"),
        ("maps.md", "../src/nothing.py", "../src/nothing.py"),  # MkDocs then says so
    ],
)
def test_links_to_files_lead_to_pages(page, link, expected):
    code = f"```\n[a]({link})\n```"
    assert with_site_links(f"[a]({link})\n\n{code}", page) == f"[a]({expected})\n\n{code}"


def test_files_of_the_repository_are_pages():
    pages = repository_pages()
    assert pages["CODE_OF_CONDUCT.md"] == "code-of-conduct.md"
    assert pages["examples/maps/vase.txt"] == "examples/maps/vase.md"
    assert all((ROOT / path).is_file() for path in pages)
    assert len(set(pages.values())) == len(pages)


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
    text = (ROOT / "docs" / "citing.md").read_text("utf-8")
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    (paper,) = cff["references"]
    authors = " and ".join(f"{a['family-names']}, {a['given-names']}" for a in paper["authors"])
    assert f"author  = {{{authors}}}" in text
    for name in ("title", "journal", "year"):
        assert f"{name:<7} = {{{paper[name]}}}" in text
    assert cff["version"] == sf.__version__
    for name in ("title", "version", "license"):
        assert f"{name:<7} = {{{cff[name]}}}" in text
