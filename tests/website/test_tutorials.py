"""Tutorials run, and the numbers that their text quotes are those that they compute."""

from __future__ import annotations

import re

import pytest

from paths import ROOT
from website.tutorials import NEEDS, TUTORIALS, cells, render


@pytest.fixture
def rendered(tutorial):
    """A function that returns a tutorial's page, and skips the test where its packages are missing."""

    def read(name: str) -> str:
        for package in NEEDS.findall(TUTORIALS[name].read_text()):
            pytest.importorskip(package)
        return tutorial(name).read_text("utf-8")

    return read


def prose(page: str) -> str:
    """Return the text of a page without code, outputs and line breaks."""
    return " ".join(re.sub(r"```.*?```|<div.*?</div>", "", page, flags=re.S).split())


def outputs(page: str) -> str:
    """Return what the cells printed."""
    return "\n".join(re.findall(r"```text\n(.*?)```", page, flags=re.S))


# -------------------------------------------------------------------- the renderer


TOY = """# needs: json
# %% [markdown]
# # Title
#
# Text with `code` and a [link](other.py).

# %%
x = 2
print("printed", x)
x + 1

# %% A picture of nothing
class Picture:
    def savefig(self, path, dpi):
        path.write_bytes(b"png")


Picture()

# %%
class Row:
    def _repr_html_(self):
        return "<b>one\\n\\ntwo</b>"


Row()
"""
PAGE = """# Title

Text with `code` and a [link](other.py).

```python
x = 2
print("printed", x)
x + 1
```

```text
printed 2
```

```text
3
```
"""


def test_cells_are_rendered_with_their_outputs(tmp_path):
    (tmp_path / "toy.py").write_text(TOY)
    (tmp_path / "out").mkdir()
    text = render(tmp_path / "toy.py", tmp_path / "out")
    assert text.startswith(PAGE)
    assert "![A picture of nothing](toy-1.png)" in text
    assert '<div class="tutorial-output"><b>one two</b></div>' in text  # one line: one HTML block
    assert '<a href="toy.py">notebook in Python</a>' in text
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["toy-1.png"]


def test_a_tutorial_whose_package_is_missing_says_so(tmp_path):
    (tmp_path / "toy.py").write_text(TOY.replace("json", "no_such_package"))
    text = render(tmp_path / "toy.py", tmp_path)
    assert "Built without no_such_package" in text
    assert "```text" not in text


def test_an_error_in_a_tutorial_is_raised(tmp_path):
    (tmp_path / "toy.py").write_text("# %%\n1 / 0\n")
    with pytest.raises(ZeroDivisionError):
        render(tmp_path / "toy.py", tmp_path)


@pytest.mark.parametrize("path", TUTORIALS.values(), ids=lambda p: p.stem)
def test_links_of_tutorials_lead_somewhere(path):
    texts = [text for title, text in cells(path.read_text()) if title == "[markdown]"]
    assert texts[0].startswith("# # ")
    text = "\n".join(texts)
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (path.parent / link).exists(), f"{path.name} links to {link}"


# -------------------------------------------------------------------- the tutorials


@pytest.mark.slow
def test_own_map(rendered, parts):
    page = rendered("own-map")
    text, shown = prose(page), outputs(page)
    assert "skill 1 takes the key: 1.00; changes position 0.96, vase 0.23, lamp 0.21" in shown
    assert "a quarter of the starts (0.23)" in text
    assert "skill 1 takes the key: 1.00; changes position 0.02, vase 0.00, lamp 0.00" in shown
    assert "✗ It changed key, and as side effects position and vase." in page
    assert "✓ Focused: it changed key, and everything else is as it was." in page
    assert "0.023 on average over 96 starts" in shown
    assert "Side effects of 0.023 remain" in text
    worst = re.findall(r"(\d\.\d\d) from .*'position': '?(\(\d+, \d+\))", shown)
    assert {cell for _, cell in worst[:2]} == {"(2, 4)"}  # the vase
    assert [price for price, _ in worst[2:]] == ["0.02", "0.02"]
    assert "The skill now takes the key from 0.98 of the starts" in text
    assert "skill 1 takes the key: 0.98;" in shown
    assert (parts / "tutorials" / "own-map-1.html").stat().st_size > 100_000


@pytest.mark.slow
def test_gymnasium_taxi(rendered):
    page = rendered("gymnasium-taxi")
    text, shown = prose(page), outputs(page)
    effects = re.findall(r"side effects (\d\.\d\d) \(", shown)
    assert effects[:2] == ["1.44", "1.57"]
    assert "side effects of 1.44 and 1.57" in text
    assert effects[2:6] == ["0.15", "0.06", "0.00", "0.00"]
    assert "skill 0 still has side effects of 0.15 and skill 1 of 0.06" in text
    assert effects[6:] == ["0.00"] * 7
    assert re.findall(r"passenger (\d\.\d\d),", shown)[8:] == [
        "0.57",
        "0.57",
        "0.75",
        "0.57",
        "0.57",
    ]
    assert "(0.57 and 0.75 are less than 1" in text
    assert shown.rstrip().endswith("2 2 in taxi")
    guide = " ".join((ROOT / "docs" / "choosing-targets-and-strength.md").read_text().split())
    assert "four skills for the passenger have side effects of up to 0.15" in guide


@pytest.mark.slow
def test_one_figure(rendered, parts):
    page = rendered("one-figure")
    ratios = re.findall(r"(\d\.\d\d) times", outputs(page))
    assert f"{ratios[0]}, {ratios[1]} and {ratios[2]} times as much" in prose(page)
    assert outputs(page).count(", 50 seeds\n") == 8
    assert (parts / "tutorials" / "one-figure-1.png").stat().st_size > 10_000


@pytest.mark.slow
def test_skills_for_sb3(rendered):
    page = rendered("skills-for-sb3")
    shown = outputs(page)
    assert "random moves succeed with probability 0.0004" in shown
    assert "random skills and moves succeed in 20% of episodes" in shown
    assert "the difference between 0.0004 and 0.20" in prose(page)
    (share,) = re.findall(r"after learning: success (\d+)%", shown)
    assert int(share) >= 80  # "nine in ten", on any version of PyTorch


@pytest.mark.slow
def test_large_world(rendered):
    """Bounds, because networks differ by the version of JAX and the machine."""
    page = rendered("large-world")
    shown = outputs(page)
    assert "16,777,216 states" in shown
    assert "would need 16,777,216 states" in prose(page)
    rows = re.findall(r"(lamp_\d+): changed (\S+), side effects (\S+) \(", shown)
    best = {name: max((float(c), float(e)) for n, c, e in rows if n == name) for name, *_ in rows}
    for lamp in ("lamp_23", "lamp_22"):
        assert best[lamp][0] > 0.8  # "nearly all starts"
        assert best[lamp][1] < 0.1  # "almost no side effects"; about 1 without the penalty
    assert best["lamp_10"][0] < 0.05  # "left alone"
