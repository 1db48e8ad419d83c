"""Coverage of ideal skills in FourRooms: what single-target skills could reach at best.

Four skills fetch a tool each and return. Of the others, some do nothing and some end in another
cell than they began in:

    same      each always in one cell
    mapped    each in one cell per first cell
    region    each anywhere in a region of its own, at random
    anywhere  anywhere, at random
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skillfocus.core.progress import Progress
from skillfocus.errors import unknown
from skillfocus.metrics.coverage import area, chain_coverage
from skillfocus.metrics.reachability import fresh_starts, other_variables
from skillfocus.objectives.targets import N_SKILLS
from skillfocus.runs.run import Result, Run
from skillfocus.runs.world_cache import cached_mdp

WORLD = "four-rooms"
ENDS = {
    "same": "always in the same cell", "mapped": "in one cell per first cell",
    "region": "anywhere in a region of its own, at random", "anywhere": "anywhere, at random",
}  # fmt: skip
"""Where position skills end, with the report's wording."""
POSITION_SKILLS = (8, 12)


@dataclass(frozen=True)
class Ideal(Run):
    """The exact coverage of chains of ideal skills.

    With eight position skills, four skills do nothing; with twelve, none does.
    """

    ends: str
    position_skills: int = 8
    seed: int = 0

    def __post_init__(self) -> None:
        if self.ends not in ENDS:
            raise unknown("way to end", self.ends, ENDS)

    def execute(self, report: Progress) -> Result:
        """Compute `coverage` by chain length (step), and its area `auc`."""
        report(0.0, "counting")
        mdp = cached_mdp(WORLD, "{}")
        moves = ideal_moves(
            mdp.values, mdp.space.sizes, self.ends, self.position_skills,
            np.random.default_rng(self.seed),
        )  # fmt: skip
        starts = fresh_starts(mdp, other_variables(mdp, mdp.space.index("position")))
        curve = chain_coverage(moves, starts).mean(axis=1)
        rows = [("coverage", n + 1, float(c)) for n, c in enumerate(curve)]
        return Result([*rows, ("auc", None, area(curve))])


def ideal_moves(
    states: np.ndarray,
    sizes: Sequence[int],
    ends: str,
    position_skills: int,
    rng: np.random.Generator,
) -> list[np.ndarray]:
    """Return the transition matrix of every ideal skill.

    Args:
        states: All states [n_states, n_variables]: the cell, then a flag per tool.
        sizes: Number of values of each variable.
        ends: Where position skills end; a key of `ENDS`.
        position_skills: Number of position skills.
        rng: Draws the cells of position skills.

    Returns:
        Per skill, the probability of each last state by first state [n_states, n_states].
    """
    n, n_cells, n_tools = len(states), sizes[0], len(sizes) - 1
    index = {tuple(state): s for s, state in enumerate(states.tolist())}

    def skill(cells: np.ndarray, tool: int | None = None) -> np.ndarray:
        """A skill that goes from cell i to cell j with probability cells[i, j]."""
        move = np.zeros((n, n))
        for s, state in enumerate(states.tolist()):
            for cell in np.flatnonzero(cells[state[0]]):
                after = [int(cell), *state[1:]]
                if tool is not None:
                    after[1 + tool] = 1
                move[s, index[tuple(after)]] = cells[state[0], cell]
        return move

    stay = np.eye(n_cells)
    moves = [skill(stay, tool) for tool in range(n_tools)]
    if n_tools + position_skills < N_SKILLS:
        moves += [skill(stay)]  # several skills that do nothing cover as much as one
    from_anywhere = np.ones(n_cells)
    for z in range(position_skills):
        if ends == "same":
            cells = np.outer(from_anywhere, np.arange(n_cells) == rng.integers(n_cells))
        elif ends == "mapped":
            cells = stay[rng.integers(n_cells, size=n_cells)]
        elif ends == "region":
            region = np.arange(n_cells) * position_skills // n_cells == z
            cells = np.outer(from_anywhere, region / region.sum())
        else:
            cells = np.full((n_cells, n_cells), 1 / n_cells)
        moves.append(skill(cells.astype(float)))
    return moves
