"""Path distances between the values of one variable.

The distance from v to w is the fewest changes of the variable that lead from v to w, where a change
from one value to another counts as possible if some action in some state can make it, with whatever
values of the other variables. For a position these are steps around walls, with all doors open.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from skillfocus.core.mdp import TabularMDP
from skillfocus.machine import require_memory

_known: WeakKeyDictionary[TabularMDP, dict[int, np.ndarray]] = WeakKeyDictionary()
"""Distances that were computed, by variable."""


def path_distances(mdp: TabularMDP, variable: int) -> np.ndarray:
    """Return the path distances between a variable's values.

    Returns:
        float64 [n_values, n_values], from the first index to the second; infinite where no way
        leads.
    """
    known = _known.setdefault(mdp, {})
    if variable not in known:
        name, size = mdp.space.names[variable], mdp.space.sizes[variable]
        require_memory(
            8 * size**2, f"path distances between the {size:,} values of {name}",
            "use a variable with fewer values, or weighted_norm()",
        )  # fmt: skip
        known[variable] = dijkstra(csr_array(mdp.value_changes[variable]), unweighted=True)
    return known[variable]


def relative_path_distances(mdp: TabularMDP, variable: int) -> np.ndarray:
    """Return the path distances as shares of the largest finite one; 1 where no way leads.

    Returns:
        float64 [n_values, n_values]
    """
    steps = path_distances(mdp, variable)
    finite = np.isfinite(steps)
    largest = max(steps[finite].max(), 1.0)
    return np.where(finite, steps, largest) / largest
