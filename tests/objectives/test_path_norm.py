"""The penalty that knows walls."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import skillfocus as sf
from skillfocus.errors import UserError
from skillfocus.objectives.registry import make_objective

ROOT = Path(__file__).parents[2]
WIDTH = 40
HAIRPIN = "\n".join(
    ["#" * (WIDTH + 2), "#T" + "." * (WIDTH - 1) + "#", "#" * WIDTH + ".#",
     "#" + "." * WIDTH + "#", "#" * (WIDTH + 2)]
)  # fmt: skip
"""Two corridors that meet at the far end. From the tool, the cell across the wall is two cells and
80 steps away."""


@pytest.fixture(scope="module")
def hairpin():
    world = sf.make("four-rooms", drawing=HAIRPIN, slip=0.0, step_limit=200)
    return world, sf.tabulate(world)


def test_the_measure_by_hand(hairpin):
    """The longest way is 80 steps. Home is across the wall; two cells of 39 and 2 as the crow
    flies, 80 of 80 steps on foot. A taken tool counts 1."""
    world, mdp = hairpin
    home = mdp.number(world.state(position=(3, 1)))
    away = mdp.number(world.state(position=(1, 1), tool_1=1))
    near = mdp.number(world.state(position=(3, 2)))
    start, end = np.array([home, home, home]), np.array([away, near, home])
    position, both = np.array([True, False]), np.array([True, True])
    penalty = sf.path_norm(3.0)
    assert penalty.between(mdp, start, end, position) == pytest.approx([3.0, 3 / 80, 0.0])
    assert penalty.between(mdp, start, end, both)[0] == pytest.approx(3 * 2**0.5)
    crow = sf.weighted_norm(3.0).between(mdp, start, end, position)
    assert crow[0] == pytest.approx(3 * 2 / (39**2 + 2**2) ** 0.5)
    sf.check_penalty(penalty, mdp)


def test_a_skill_does_not_stop_behind_the_wall(hairpin):
    """With the same strength: as the crow flies it pays the two cells, on foot it goes home."""
    world, mdp = hairpin
    home = world.state(position=(3, 1))

    def fetch(penalty):
        objective = sf.focused(sf.reach(), penalty=penalty)
        skills = sf.discover(world, objective, seed=0, targets=[{"tool_1": 1}], mdp=mdp)
        return skills.likely_path(0, home), sf.metrics.side_effects(skills)[0]

    lazy, effects = fetch(sf.weighted_norm())
    assert lazy[-1] == world.state(position=(1, 1), tool_1=1)
    assert effects.avoidable > 0.1
    diligent, effects = fetch(sf.path_norm())
    assert diligent[-1] == world.state(position=(3, 1), tool_1=1)
    assert len(diligent) == 161
    assert effects.avoidable == effects.side_effects == 0.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base", "penalty", "strength", "effects"),
    [
        ("reach", "weighted-norm", 4.0, 0.25),
        ("reach", "weighted-norm", 16.0, 0.0),
        ("reach", "path-norm", 4.0, 0.0),
        ("vic", "weighted-norm", 4.0, 0.12),
        ("vic", "weighted-norm", 16.0, 0.0),
        ("vic", "path-norm", 4.0, 0.0),
    ],
)
def test_the_maze_of_the_docs(base, penalty, strength, effects):
    """The table of docs/focused.md: side effects of the skill that takes the tool."""
    world = sf.make(str(ROOT / "examples/maps/maze.txt"))
    objective = make_objective(f"focused-{base}", penalty=penalty, strength=strength)
    skills = sf.discover(world, objective, seed=0, targets={"tool": 2})
    taking = max(sf.metrics.side_effects(skills), key=lambda e: e.controlled.mean())
    assert taking.changes_target == 1.0
    assert taking.side_effects == pytest.approx(effects, abs=0.005)
    assert taking.best_possible == 1.0
    row = f"| `focused-{base}` | {penalty} | {strength:g} | {effects:.2f} |"
    assert row in (ROOT / "docs/focused.md").read_text()


def test_policies_remember_no_more_than_before(hairpin):
    world, mdp = hairpin
    skills = [
        sf.discover(
            world, sf.focused(sf.reach(), penalty=penalty), seed=0, targets={"tool_1": 2}, mdp=mdp
        )
        for penalty in (sf.path_norm(), sf.weighted_norm())
    ]
    assert len({s.tabular.flat_actions.size for s in skills}) == 1


def test_penalties_by_name():
    assert make_objective("focused-vic", penalty="path-norm").penalty == sf.path_norm(4.0)
    assert make_objective("focused-lsd", penalty="path-norm").penalty == sf.path_norm(2.0)
    made = make_objective("focused-vic", penalty="changed-variables", strength=7.0)
    assert made.penalty == sf.changed_variables(7.0)
    with pytest.raises(UserError, match="unknown penalty 'path'"):
        make_objective("focused-vic", penalty="path")
    with pytest.raises(UserError, match="vic takes no penalty; try focused-vic"):
        make_objective("vic", penalty="path-norm")


def test_a_penalty_is_part_of_a_run(hairpin):
    """Stored only if it is not the default, so that earlier runs keep their ids."""
    run = sf.Discovery("four-rooms", "focused-vic", 0)
    assert run.with_settings({"penalty": "weighted-norm"}).id == run.id
    path = run.with_settings({"penalty": "path-norm"})
    assert path.id != run.id
    assert path.non_default_settings() == {"penalty": "path-norm"}


def test_values_alone_do_not_say_where_walls_are(hairpin):
    world, mdp = hairpin
    values = np.zeros((1, 2), dtype=int)
    with pytest.raises(UserError, match="path-norm needs the MDP"):
        sf.path_norm()(world.space, values, values, np.array([True, True]))
    pytest.importorskip("jax")
    objective = sf.focused(sf.vic(), penalty=sf.path_norm())
    with pytest.raises(UserError, match="path-norm needs a table of states"):
        sf.discover(world, objective, seed=0, learner=sf.Neural(), mdp=mdp)
