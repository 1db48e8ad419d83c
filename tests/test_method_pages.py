"""Pages quote docs/results.md, which is generated from stored results, README and the program."""

from __future__ import annotations

import re

import pytest

from paths import ROOT

METHODS = {
    "vic": ("focused VIC", "DUSDi VIC", "VIC"),
    "diayn": ("focused DIAYN", "DUSDi DIAYN", "DIAYN"),
    "lsd": ("focused LSD", "LSD"),
    "dusdi": ("DUSDi VIC", "DUSDi DIAYN"),
}
MEASURES = {
    "State coverage: area under the curve": "Figure 2: coverage in {} (AUC)",
    "Steps after 20,000 episodes of the task": "Figure 3: steps in {}",
    "True return after 20,000 episodes of the proxy": "Figure 4: true return in {}",
}
COLUMNS = ("paper", "Q-learning", "planning", "best")


def numbers_table(agents: tuple[str, ...]) -> str:
    """Return the rows of docs/results.md about some agents, as one table without seed counts."""
    text = (ROOT / "docs" / "results.md").read_text()
    lines = [f"| | agent | {' | '.join(COLUMNS)} |", "|---" * (2 + len(COLUMNS)) + "|"]
    for world, measure, table in re.findall(
        r"\*\*Figure \d, (\w+)\. (.*?)\*\*\n\n((?:\|.*\n)+)", text
    ):
        if measure not in MEASURES:
            continue
        header, _, *rows = [[c.strip() for c in row.split("|")[1:-1]] for row in table.splitlines()]
        for row in rows:
            named = dict(zip(header, row, strict=True))
            if named["agent"] in agents:
                cells = [re.sub(r" \(\d+\)", "", named[column]) for column in COLUMNS]
                label = MEASURES[measure].format(world)
                lines.append(f"| {label} | {named['agent']} | {' | '.join(cells)} |")
    return "\n".join(lines)


@pytest.mark.parametrize("method", METHODS)
def test_a_method_s_numbers_are_those_of_the_results(method):
    table = numbers_table(METHODS[method])
    assert len(table.splitlines()) == 2 + 6 * len(METHODS[method])
    assert table in (ROOT / "docs" / f"{method}.md").read_text(), f"the table is now\n{table}"


def words(name: str) -> str:
    return " ".join((ROOT / name).read_text().split())


def result(title: str, agent: str, column: str) -> str:
    """Return one number of docs/results.md."""
    text = (ROOT / "docs" / "results.md").read_text()
    ((table,),) = [re.findall(rf"\*\*{re.escape(title)}\*\*\n\n((?:\|.*\n)+)", text)]
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()]
    (row,) = [row for row in rows if row[0] == agent]
    return re.sub(r" \(\d+\)", "", row[rows[0].index(column)])


def test_the_first_page_quotes_the_results():
    title = "Figure 4, MudWorld. True return after 20,000 episodes of the proxy"
    focused, plain = (
        [result(title, f"{kind}{base}", "planning") for base in ("VIC", "DIAYN", "LSD")]
        for kind in ("focused ", "")
    )
    page = words("docs/what-is-a-focused-skill.md")
    assert "a true return of {}, {} and {},".format(*focused) in page
    assert "plain skills of {}, {} and {} (".format(*plain) in page
    env = words("docs/skill-env.md")  # test_quoted_numbers computes these
    assert "with probability 0.0004" in env
    assert "with probability 0.0004" in page
    assert "succeed in 22 to 27 % of 1,000 episodes" in env
    assert "in 22 to 27 % of episodes" in page


def test_the_comparison_quotes_the_results():
    page, title = (
        words("docs/comparison.md"),
        "Figure 2, FourRooms. State coverage: area under the curve",
    )
    areas = [result(title, f"{kind} VIC", "planning") for kind in ("DUSDi", "focused")]
    assert f"an area of {areas[0]} compared with {areas[1]}," in page
    assert "side effects of 1.48 (VIC) and 1.49 (DIAYN), focused ones of 0.01" in page


def test_the_guide_quotes_the_note_of_discover(capsys):
    """The note of docs/choosing-targets-and-strength.md is what the command prints."""
    from skillfocus.cli.commands import Discover

    fine = {"skill": 0, "targets": ["position"], "starts": 9, "avoidable": 0.0,
            "best_possible": 1.0, "changes_target": 1.0}  # fmt: skip
    key = {**fine, "skill": 1, "targets": ["key"], "avoidable": 0.09}
    record = {
        "objective": "focused-vic", "seed": 0, "settings": {"rate": 0.7, "baseline": "start"},
        "skills": [key, {**key, "skill": 2, "avoidable": 0.02}, *[fine] * 14],
    }  # fmt: skip
    Discover(world="my-map.txt", objective="focused-vic")._advise([record])
    note = " ".join(capsys.readouterr().err.split())
    assert note.startswith("note: 2 of 16 skills")
    assert note in words("docs/choosing-targets-and-strength.md").replace("> ", "")
