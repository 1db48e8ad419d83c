from __future__ import annotations

import io

from rich.console import Console

from skillfocus.cli.printing import effects_tables, table


def text_of(made):
    console = Console(file=io.StringIO(), width=200)
    console.print(made)
    return console.file.getvalue()


def skill(number, targets, changes, effects, steps, starts=9, **others):
    summary = {
        "changes_target": changes, "side_effects": effects, "changes_alone": None,
        "best_possible": None,
    }  # fmt: skip
    return {
        "skill": number, "targets": targets, **summary, "steps": steps, "starts": starts,
        "exact": True, "side_effects_interval": None,
        "side_effects_by_variable": {"position": effects, "tool_2": None},
        "all_starts": summary, **others,
    }  # fmt: skip


def run_of(seed, *skills, **others):
    return {
        "world": "FourRooms-v0", "objective": "focused-vic", "learner": "planning", "seed": seed,
        "strength": 4.0, "skills": list(skills), **others,
    }  # fmt: skip


def test_cells_are_text_not_markup():
    shown = text_of(table("A [title]", ["a [b]"], [["[red]x[/red]"]]))
    assert "A [title]" in shown
    assert "a [b]" in shown
    assert "[red]x[/red]" in shown


def test_one_run_is_shown_skill_by_skill():
    first = skill(0, ["tool_1"], 0.5, 0.25, 12.0, changes_alone=0.375, best_possible=0.75)
    run = run_of(3, first, skill(1, [], None, 0.0, 1.0))
    (made,) = effects_tables([run])
    lines = [line.split() for line in text_of(made).splitlines()]
    assert "seed 3" in text_of(made)
    assert [
        "0", "tool_1", "0.500", "0.375", "0.750", "0.250", "12.0", "9", "position", "0.250",
        "0.500", "0.250",
    ] in lines  # fmt: skip
    assert ["1", "–", "–", "–", "–", "0.000", "1.0", "9", "none", "–", "0.000"] in lines


def test_sampled_effects_have_their_interval():
    sampled = skill(0, ["tool_1"], 1.0, 0.5, 3.0, exact=False, side_effects_interval=[0.4, 0.6])
    shown = text_of(next(effects_tables([run_of(0, sampled)])))
    assert "0.500 ±0.100" in shown
    assert "sampled rollouts, 90 % intervals" in " ".join(shown.split())


def test_several_seeds_are_shown_target_by_target():
    """By hand: the better skill changes the tool in 0.8 and 0.6 of its starts, 0.7 in the mean."""
    runs = [
        run_of(0, skill(0, ["tool_1"], 0.8, 0.1, 10.0), skill(1, ["tool_1"], 0.2, 0.3, 20.0)),
        run_of(1, skill(0, ["tool_1"], 0.6, 0.1, 10.0), skill(1, ["tool_1"], 0.2, 0.5, 20.0)),
    ]
    for run, alone in zip(runs, (0.75, 0.5), strict=True):
        run["skills"][0] |= {"changes_alone": alone, "best_possible": 0.9, "starts": 1200}
    (made,) = effects_tables(runs)
    shown = text_of(made)
    assert "focused-vic planning, strength 4, 2 seeds" in shown
    row = next(line for line in shown.splitlines() if line.strip().startswith("tool_1"))
    assert row.split() == [
        "tool_1", "0.700", "(0.600)", "0.625", "0.900", "0.250", "0.500", "15.0", "9", "to", "1,200",
    ]  # fmt: skip


def test_settings_that_differ_have_tables_of_their_own():
    first = skill(0, ["tool_1"], 0.8, 0.1, 10.0)
    runs = [run_of(0, first), run_of(0, first, strength=10.0), run_of(1, first)]
    titles = [text_of(made).splitlines()[0] for made in effects_tables(runs)]
    assert len(titles) == 2
    assert "strength 4, 2 seeds" in titles[0]
    assert "strength 10, 1 seed," in titles[1]


def test_a_target_without_starts_says_so():
    runs = [run_of(seed, skill(0, ["tool_1"], None, None, None, starts=0)) for seed in (0, 1)]
    assert "no start within reach" in text_of(next(effects_tables(runs)))
