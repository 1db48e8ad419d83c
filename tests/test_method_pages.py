"""The pages of the methods quote docs/results.md, which is generated from stored results."""

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


@pytest.mark.parametrize("method", METHODS)
def test_a_method_s_page_names_its_command(method):
    assert f"focused-{method}" in (page := (ROOT / "docs" / f"{method}.md").read_text()) or (
        "dusdi-vic" in page
    )
