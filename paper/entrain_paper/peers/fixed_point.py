r"""Fixed points z = f(z) of many samples side by side, and gradients at them.

The number of iterations is fixed, so that no control flow depends on data. They are damped,

    z <- z + damping (f(z) - z),

or Anderson's (D. G. Anderson, J. ACM 12, 547 (1965)): for each sample, the combination of the last
`memory` iterates whose residuals f(z) - z cancel best.

At a fixed point, the gradient g of a loss with respect to z reaches the parameters of f as the
gradient u, which is a fixed point too, so that only the last iterate is stored:

    u = g + J^T u,        J = df/dz.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from entrain.utils.errors import positive_float, positive_int

Map = Callable[[Tensor], Tensor]  # (R, B, n) -> (R, B, n), every sample independent


@dataclass(frozen=True)
class FixedPointSolver:
    """Fixed-point iteration: Anderson's with `memory` 2 or more, otherwise damped."""

    steps: int = 30
    memory: int = 5
    damping: float = 1.0
    ridge: float = 1e-6  # relative to the squared residuals

    def __post_init__(self) -> None:
        positive_int("steps", self.steps)
        positive_float("damping", self.damping)

    def __call__(self, step: Map, start: Tensor) -> Tensor:
        """The iterate (R, B, n) after all steps from `start`."""
        states: list[Tensor] = []
        images: list[Tensor] = []
        state = start
        for _ in range(self.steps):
            image = step(state)
            if self.memory <= 1:
                state = state + self.damping * (image - state)
                continue
            states, images = [*states, state][-self.memory :], [*images, image][-self.memory :]
            state = self._anderson_step(torch.stack(states, -2), torch.stack(images, -2))
        return state

    def _anderson_step(self, states: Tensor, images: Tensor) -> Tensor:
        """Next iterate (R, B, n) from the last m iterates and their images, both (R, B, m, n)."""
        residuals = images - states
        # Normalised first: residuals of a fast iteration differ by orders of magnitude.
        lengths = residuals.square().sum(-1).sqrt() + torch.finfo(states.dtype).tiny ** 0.5
        units = residuals / lengths[..., None]
        inverse = lengths.amin(-1, keepdim=True) / lengths
        shares = inverse * solve_positive(units @ units.mT, inverse, self.ridge)
        shares = shares / shares.sum(-1, keepdim=True)
        mixture = states + self.damping * residuals
        combination: Tensor = shares[..., None, :] @ mixture
        return combination.squeeze(-2)


def solve_positive(matrix: Tensor, right: Tensor, ridge: float) -> Tensor:
    """x of (A + ridge) x = b for small positive semidefinite A (..., m, m) and b (..., m).

    Elimination without pivots, which positive matrices do not need: not every device can capture
    torch's batched solvers in a graph.
    """
    size = matrix.shape[-1]
    eye = torch.eye(size, dtype=matrix.dtype, device=matrix.device)
    rest = torch.cat([matrix + ridge * eye, right[..., None]], dim=-1)
    for k in range(size):
        row = rest[..., k : k + 1, :] / rest[..., k : k + 1, k : k + 1]
        rest = rest - (rest[..., :, k : k + 1] - eye[:, k : k + 1]) * row
    return rest[..., -1]


def equilibrium(
    step: Map, pullback: Callable[[Tensor], Map], start: Tensor, solver: FixedPointSolver
) -> Tensor:
    """The fixed point of `step` from `start`, differentiable in the parameters of `step`.

    `pullback(z)` is the map u -> J^T u at z.
    """
    with torch.no_grad():
        state = solver(step, start)
        pull = pullback(state)
    fixed_point: Tensor = _Implicit.apply(step(state), pull, solver)  # type: ignore[no-untyped-call]
    return fixed_point


class _Implicit(torch.autograd.Function):
    """The identity, whose gradient g becomes the fixed point of u = g + J^T u."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, pull: Map, solver: FixedPointSolver) -> Tensor:
        ctx.pull, ctx.solver = pull, solver
        return value.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        pull: Map = ctx.pull
        return ctx.solver(lambda u: gradient + pull(u), gradient), None, None
