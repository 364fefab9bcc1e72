"""Greedy descent: single changes of state as long as one lowers the energy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from entrain.kernels.compiled import compiled

_TOLERANCE = 1e-9  # of the unit of couplings: rounding is not an improvement


def descend(
    choices: NDArray[np.int8],
    couplings: scipy.sparse.csr_array,
    fields: NDArray[np.float64],
    k: int,
) -> NDArray[np.int8]:
    """Choices (M, N) that no change of a single one improves, by changes in the order of nodes.

    The energy is - sum_{i<j} J_ij x [c_i = c_j] - sum_i b_i s_i, with x = 2 for spins (s = +1 for
    c = 0, else -1) and x = 1 for k > 2 states, which have no fields.

    Args:
        choices: c (M, N), from 0 to k - 1.
        couplings: J in the unit of couplings (N, N), symmetric.
        fields: b (N,).
        k: Number of states.
    """
    result = np.array(choices, dtype=np.int8, order="C")
    costs = np.zeros((len(fields), k))
    if k == 2:
        costs[:, 0], costs[:, 1] = -fields, fields
    values = -couplings.data.astype(np.float64) * (2 if k == 2 else 1)
    starts, columns = (a.astype(np.int64) for a in (couplings.indptr, couplings.indices))
    _descend(starts, columns, values, costs, result, _TOLERANCE)
    return result


@compiled  # type: ignore[untyped-decorator]
def _descend(
    starts: Any, columns: Any, values: Any, constant: Any, choices: Any, least: Any
) -> None:
    """In place; `constant` (N, k) is the cost of every choice without neighbours."""
    runs, nodes = choices.shape
    costs = np.empty_like(constant)
    for run in range(runs):
        costs[:] = constant
        state = choices[run]
        for i in range(nodes):
            for edge in range(starts[i], starts[i + 1]):
                costs[i, state[columns[edge]]] += values[edge]
        changed = True
        while changed:
            changed = False
            for i in range(nodes):
                before, after = state[i], np.argmin(costs[i])
                if costs[i, after] >= costs[i, before] - least:
                    continue
                state[i], changed = after, True
                for edge in range(starts[i], starts[i + 1]):
                    costs[columns[edge], before] -= values[edge]
                    costs[columns[edge], after] += values[edge]
