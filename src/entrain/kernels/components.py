"""The coupling function of a model as compiled kernels take it, and the way back to its terms."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from entrain.physics import PhaseModel
from entrain.physics.couplings import Couplings, SparseCouplings, values_of, with_values
from entrain.physics.terms import PAIR, Component

_DENSITY = 1 / 16  # of a graph from which products with a matrix are faster than sums over edges


def is_sparse(model: PhaseModel) -> bool:
    """True for couplings on a graph of few edges."""
    if not isinstance(model.couplings, SparseCouplings):
        return False
    graph = model.couplings.graph
    return graph.edges < _DENSITY * graph.oscillators**2


class Components:
    """The components of a model's coupling function.

    Args:
        model: The phase model.
        sparse: True for values on the edges in place of matrices.

    Attributes:
        is_sparse: `sparse`.
        matrices: Their different matrices (R, N, N), or values (R, M) on the edges.
        matrix_of: Index of the matrix of each component.
        multiples: m of each component.
        factored: True for components with factors c and d.
        factors: c and d (R, components, 2); None if no component has them.
    """

    def __init__(self, model: PhaseModel, *, sparse: bool = False) -> None:
        self._couplings, self.is_sparse = model.couplings, sparse
        leaves = {name: value for name, value in model.terms.items() if name in PAIR}
        leaves["couplings"] = values_of(model.couplings)
        # J alone needs no autograd, which costs more time than a short rollout.
        self._is_plain = len(leaves) == 1 and (sparse or isinstance(model.couplings, Tensor))
        with torch.set_grad_enabled(not self._is_plain):
            if not self._is_plain:
                leaves = {name: t.detach().requires_grad_() for name, t in leaves.items()}
                model = model.with_tensors(leaves)
            parts = model.components()
            different, matrix_of = list[Couplings](), list[int]()
            for part in parts:
                values = values_of(part.couplings)
                known = [index for index, m in enumerate(different) if values_of(m) is values]
                matrix_of.append(known[0] if known else len(different))
                if not known:
                    different.append(part.couplings)
            self._matrices = [_tensor_of(couplings, sparse) for couplings in different]
            self._factors = _factors_of(parts)
        self._leaves = leaves
        self.matrix_of = tuple(matrix_of)
        self.multiples = tuple(part.multiple for part in parts)
        self.factored = tuple(part.factors is not None for part in parts)
        self.matrices = [matrix.detach().contiguous() for matrix in self._matrices]
        self.factors = None if self._factors is None else self._factors.detach().contiguous()

    def gradients(
        self, by_matrices: list[Tensor], by_factors: Tensor | None
    ) -> tuple[dict[str, Tensor], Couplings]:
        """The gradients by the terms that pair oscillators, and by J.

        Args:
            by_matrices: Those by each of the different matrices.
            by_factors: That by c and d (R, components, 2).
        """
        if self._is_plain:
            return {}, with_values(self._couplings, by_matrices[0])
        outputs, slopes = list(self._matrices), list(by_matrices)
        if self._factors is not None and by_factors is not None:
            outputs.append(self._factors)
            slopes.append(by_factors)
        pairs = [(o, s) for o, s in zip(outputs, slopes, strict=True) if o.requires_grad]
        gradients = torch.autograd.grad(
            [output for output, _ in pairs],
            list(self._leaves.values()),
            [slope for _, slope in pairs],
            retain_graph=True,  # a pullback may be called again
            materialize_grads=True,
            allow_unused=True,
        )
        by_name = dict(zip(self._leaves, gradients, strict=True))
        return by_name, with_values(self._couplings, by_name.pop("couplings"))


def _factors_of(parts: Sequence[Component]) -> Tensor | None:
    """c and d of all components (R, components, 2); None if none has factors."""
    some = next((part.factors[0] for part in parts if part.factors), None)
    if some is None:
        return None
    default = (torch.ones_like(some), torch.zeros_like(some))
    return torch.stack([torch.stack(part.factors or default, -1) for part in parts], 1)


def _tensor_of(couplings: Couplings, sparse: bool) -> Tensor:
    """The matrix (R, N, N), or the values (R, M) on a sparse graph."""
    if isinstance(couplings, SparseCouplings):
        return couplings.values if sparse else couplings.dense()
    return couplings
