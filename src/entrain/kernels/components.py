"""The coupling function of a model as the CUDA kernels take it, and the way back to its terms."""

from __future__ import annotations

import torch
from torch import Tensor

from entrain.physics import PhaseModel
from entrain.physics.couplings import Couplings, values_of, with_values
from entrain.physics.terms import PAIR


class Components:
    """The components of a model's coupling function.

    Attributes:
        matrices: Their different matrices, (R, N, N) or values (R, M) of a sparse graph.
        matrix_of: Index of the matrix of each component.
        multiples: m of each component.
        factored: True for components with factors c and d.
        factors: c and d (R, components, 2); None if no component has them.
    """

    def __init__(self, model: PhaseModel) -> None:
        self._couplings = model.couplings
        leaves = {name: value for name, value in model.terms.items() if name in PAIR}
        leaves["couplings"] = values_of(model.couplings)
        with torch.enable_grad():
            self._leaves = {n: t.detach().requires_grad_() for n, t in leaves.items()}
            parts = model.with_tensors(self._leaves).components()
            ones = self._leaves["couplings"].new_ones(len(model.fields))
            self._factors = (
                torch.stack(
                    [
                        torch.stack(part.factors or (ones, torch.zeros_like(ones)), -1)
                        for part in parts
                    ],
                    1,
                )
                if any(part.factors for part in parts)
                else None
            )
        self._matrices = list[Tensor]()
        matrix_of = list[int]()
        for part in parts:
            values = values_of(part.couplings)
            known = [index for index, m in enumerate(self._matrices) if m is values]
            matrix_of.append(known[0] if known else len(self._matrices))
            if not known:
                self._matrices.append(values)
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
        if len(self._leaves) == 1:
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
