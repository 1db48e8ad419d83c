"""Tables for the terminal."""

from __future__ import annotations

from rich.console import Console

from skillfocus.figures.tables import effects_tables, table


def printed(*tables):
    console = Console(width=200, record=True, file=None, quiet=True)
    with console.capture() as capture:
        console.quiet = False
        console.print(*tables)
    return capture.get()


def skill(z, targets=("tool_1",), changes=0.9, effects=0.25, steps=12.0, **more):
    return {
        "skill": z, "targets": list(targets), "changes_target": changes, "side_effects": effects,
        "side_effects_by_variable": {"position": effects, "tool_2": 0.0001}, "steps": steps,
        "starts": 10, "exact": True, "side_effects_interval": None,
        "all_starts": {"changes_target": 0.5, "side_effects": 0.125}, **more,
    }  # fmt: skip


def run(skills, seed=0, **more):
    return {
        "world": "W-v0", "objective": "focused-vic", "learner": "planning", "seed": seed,
        "strength": None, "skills": skills, **more,
    }  # fmt: skip


def rows_of(text):
    return [line.split() for line in text.splitlines() if line.strip()]


def test_markup_in_names_is_text():
    assert "[red]x[/]" in printed(table("[b]t[/]", ["[i]c[/]"], [["[red]x[/]"]]))


def test_one_run_is_shown_skill_by_skill():
    exact = skill(0)
    none = skill(1, targets=(), changes=None, effects=0.0, steps=3.0)
    text = printed(*effects_tables([run([exact, none])]))
    assert "focused-vic in W-v0 by planning, seed 0" in text
    assert "exact" in text
    rows = rows_of(text)
    assert ["0", "tool_1", "0.900", "0.250", "12.0", "position", "0.250", "0.500", "0.125"] in rows
    assert ["1", "–", "–", "0.000", "3.0", "none", "0.500", "0.125"] in rows


def test_sampled_side_effects_have_an_interval():
    sampled = skill(0, exact=False, side_effects_interval=(0.2, 0.3))
    text = printed(*effects_tables([run([sampled])]))
    assert "0.250 ±0.050" in text
    assert "sampled, 90 % intervals" in " ".join(text.split())


def test_several_seeds_are_shown_target_by_target():
    """The better skill's control and its worst seed; side effects and steps over all skills."""
    runs = [
        run([skill(0, changes=0.9, effects=0.1, steps=10), skill(1, changes=0.2, effects=0.3, steps=20)]),
        run([skill(0, changes=0.5, effects=0.0, steps=10), skill(1, changes=0.7, effects=0.4, steps=20)], seed=1),
    ]  # fmt: skip
    (shown,) = effects_tables(runs)
    text = printed(shown)
    assert "W-v0 focused-vic planning" in text
    assert "2 seeds" in text
    assert ["tool_1", "0.800", "(0.700)", "0.200", "0.400", "15.0"] in rows_of(text)


def test_runs_with_other_settings_have_a_table_of_their_own():
    runs = [run([skill(0)]), run([skill(0)], strength=2.0), run([skill(0)], unusual={"gamma": 0.9})]
    texts = [printed(one) for one in effects_tables(runs)]
    assert len(texts) == 3
    assert "strength 2" in texts[1]
    assert "gamma=0.9" in texts[2]


def test_a_target_that_no_start_allows_is_said():
    lost = skill(0, starts=0)
    assert "no start within reach" in printed(*effects_tables([run([lost]), run([lost], seed=1)]))
