"""Matrix products of large networks: those of a step, and gradients by matrices for many steps."""

from __future__ import annotations

import torch
from torch import Tensor

from entrain.kernels.components import Components
from entrain.physics import PhaseModel

_LENGTH = 2048  # of the products that sum a gradient over steps and samples


class DenseProducts:
    """Products of sine and cosine, (R, N, 2, C), with the matrices of a model's components.

    Args:
        components: The coupling function.
        shape: (R, N, C).
        couplings_factors: Factors in time of the couplings (K,); None is constant.
    """

    def __init__(
        self,
        components: Components,
        shape: tuple[int, int, int],
        couplings_factors: Tensor | None,
    ) -> None:
        self._components, self._shape = components, shape
        self._couplings_factors = couplings_factors
        runs, oscillators, columns = shape
        self._pairs = (runs, oscillators, 2, columns)
        new = components.matrices[0].new_empty
        self._products = new(len(components.multiples), *self._pairs)
        self._twice = new(self._pairs) if 2 in components.multiples else None
        self.by_matrices = list[Tensor]()

    @classmethod
    def of(
        cls, components: Components, shape: tuple[int, int, int], model: PhaseModel
    ) -> DenseProducts | None:
        """The products of a model; None on a sparse graph."""
        if components.is_sparse:
            return None
        schedule = model.schedule
        return cls(components, shape, schedule.factors.get("couplings") if schedule else None)

    def doubled(self, state: Tensor) -> Tensor | None:
        """The buffer for twice the angles, filled from a state; None if no component has them."""
        if self._twice is not None:
            self._twice.copy_(_twice(state))
        return self._twice

    def forward(self, state: Tensor, twice: Tensor | None) -> Tensor:
        """M S and M C of every component (Q, R, N, 2, C)."""
        return self._multiply(state, twice, transposed=False)

    def start(self, steps: int, q: Tensor, states: Tensor) -> None:
        """Begin the adjoint.

        Args:
            steps: K.
            q: -mu dt lambda_K (R, N, C).
            states: The tape (K + 1, R, N, 2, C).
        """
        self._steps, self._states = steps, states
        runs, oscillators, columns = self._shape
        self._block = max(1, min(steps, _LENGTH // (2 * columns)))
        self._pulls = q.new_empty(self._block, *self._pairs)
        last = states[steps - 1]
        torch.mul(q[:, :, None], last, out=self._pulls[(steps - 1) % self._block])
        if self._twice is not None:
            torch.mul(q[:, :, None], _twice(last), out=self._twice)
        shape = (runs, oscillators, oscillators)
        self.by_matrices = [q.new_zeros(shape) for _ in self._components.matrices]

    def pulls(self, step: int) -> tuple[Tensor | None, Tensor | None]:
        """q S and q C of a step, and those of twice the angles: buffers (R, N, 2, C)."""
        return (self._pulls[step % self._block], self._twice) if step >= 0 else (None, None)

    def backward(self, step: int) -> Tensor:
        """M^T (q S) and M^T (q C) of every component; adds the gradients by matrices of a block of
        steps at its first one."""
        if step % self._block == 0:
            self._add(step, min(step + self._block, self._steps))
        pull = self._pulls[step % self._block]
        return self._multiply(pull, self._twice, transposed=True)

    def _multiply(self, pairs: Tensor, twice: Tensor | None, transposed: bool) -> Tensor:
        components = self._components
        for q, multiple in enumerate(components.multiples):
            matrix = components.matrices[components.matrix_of[q]]
            source = pairs if multiple == 1 or twice is None else twice
            out = self._products[q].flatten(2)
            torch.bmm(matrix.mT if transposed else matrix, source.flatten(2), out=out)
        return self._products

    def _add(self, first: int, end: int) -> None:
        """Add sum over steps and samples of (q_S)_i C_j - (q_C)_i S_j, one product for all."""
        states, pulls = self._states[first:end], self._pulls[: end - first]
        for q, multiple in enumerate(self._components.multiples):
            pull, state = pulls, states
            if multiple == 2:
                q_sin, q_cos = pulls.unbind(-2)
                sin, cos = states.unbind(-2)
                pull = torch.stack([2.0 * cos * q_sin, cos * q_cos - sin * q_sin], -2)
                state = _twice(states)
            q_sin, q_cos = pull.unbind(-2)
            if self._components.factored[q] and self._components.factors is not None:
                odd, even = self._components.factors[:, q, :, None, None].unbind(1)
                q_sin, q_cos = odd * q_sin + even * q_cos, odd * q_cos - even * q_sin
            left = torch.stack([q_cos, q_sin], -2)
            if self._couplings_factors is not None:
                left *= self._couplings_factors[first:end, None, None, None, None]
            left[..., 0, :].neg_()
            total = self.by_matrices[self._components.matrix_of[q]]
            total.baddbmm_(_side_by_side(left), _side_by_side(state).mT)


def _twice(state: Tensor) -> Tensor:
    """Sine and cosine of twice the angles (..., 2, C)."""
    sin, cos = state.unbind(-2)
    return torch.stack([2.0 * sin * cos, cos * cos - sin * sin], -2)


def _side_by_side(pairs: Tensor) -> Tensor:
    """Pairs of several steps (T, R, N, 2, C) as (R, N, 2 C T)."""
    return pairs.permute(1, 2, 0, 3, 4).flatten(2)
