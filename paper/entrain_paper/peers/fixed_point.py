r"""Fixed points z = f(z) of many samples side by side, and the gradient at them.

A fixed number of iterations, so that a step has no control flow that depends on data: damped,

    z <- z + damping (f(z) - z),

or Anderson's (D. G. Anderson, J. ACM 12, 547 (1965)), which takes the combination of the last
`memory` iterates whose residuals f(z) - z cancel best, for each sample on its own.

At a fixed point the gradient g of a loss with respect to z reaches f's parameters as that of

    u = g + J^T u,        J = df/dz,

which is a fixed point too: no iterate but the last is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from entrain.utils.errors import positive_float, positive_int

Map = Callable[[Tensor], Tensor]  # (R, B, n) -> (R, B, n), each sample on its own


@dataclass(frozen=True)
class FixedPointSolver:
    """How a fixed point is found: `memory` 0 is the damped iteration."""

    steps: int = 30
    memory: int = 5
    damping: float = 1.0
    ridge: float = 1e-6  # relative to the squared residuals that are combined

    def __post_init__(self) -> None:
        positive_int("steps", self.steps)
        positive_float("damping", self.damping)

    def __call__(self, step: Map, start: Tensor) -> Tensor:
        """The iterate after all steps from `start` (R, B, n)."""
        states: list[Tensor] = []
        images: list[Tensor] = []
        state = start
        for _ in range(self.steps):
            image = step(state)
            if self.memory <= 1:
                state = state + self.damping * (image - state)
                continue
            states, images = [*states, state][-self.memory :], [*images, image][-self.memory :]
            state = self._combined(torch.stack(states, -2), torch.stack(images, -2))
        return state

    def _combined(self, states: Tensor, images: Tensor) -> Tensor:
        """The next iterate from the last m and their images, both (R, B, m, n)."""
        residuals = images - states
        # Of unit length first: residuals of a fast iteration differ by orders of magnitude.
        lengths = residuals.square().sum(-1).sqrt() + torch.finfo(states.dtype).tiny ** 0.5
        units = residuals / lengths[..., None]
        inverse = lengths.amin(-1, keepdim=True) / lengths
        shares = inverse * solve_positive(units @ units.mT, inverse, self.ridge)
        shares = shares / shares.sum(-1, keepdim=True)
        mixed = states + self.damping * residuals
        found: Tensor = shares[..., None, :] @ mixed
        return found.squeeze(-2)


def solve_positive(matrix: Tensor, right: Tensor, ridge: float) -> Tensor:
    """x of (A + ridge) x = b for small positive semidefinite A (..., m, m) and b (..., m).

    By elimination without pivots, which positive matrices do not need: the library's solvers of
    many small systems cannot be part of a captured step on every device.
    """
    size = matrix.shape[-1]
    eye = torch.eye(size, dtype=matrix.dtype, device=matrix.device)
    rest = torch.cat([matrix + ridge * eye, right[..., None]], dim=-1)
    for k in range(size):
        row = rest[..., k : k + 1, :] / rest[..., k : k + 1, k : k + 1]
        rest = rest - (rest[..., :, k : k + 1] - eye[:, k : k + 1]) * row
    return rest[..., -1]


def equilibrium(
    step: Map,
    pullback: Callable[[Tensor], Map],
    start: Tensor,
    solver: FixedPointSolver,
    back: FixedPointSolver | None = None,
) -> Tensor:
    """The fixed point of `step` from `start`, differentiable in what `step` depends on.

    `pullback(z)` gives u -> J^T u at z; `back` finds the fixed point of the gradient, `solver`
    if None.
    """
    with torch.no_grad():
        state = solver(step, start)
        pull = pullback(state)
    found: Tensor = _Implicit.apply(step(state), pull, back or solver)  # type: ignore[no-untyped-call]
    return found


def unrolled(step: Map, start: Tensor, solver: FixedPointSolver, last: int) -> Tensor:
    """The same with the gradient through the `last` damped steps alone: cheap, not exact."""
    with torch.no_grad():
        state = solver(step, start)
    for _ in range(last):
        state = state + solver.damping * (step(state) - state)
    return state


class _Implicit(torch.autograd.Function):
    """The identity, whose gradient g becomes the fixed point of u = g + J^T u."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, pull: Map, solver: FixedPointSolver) -> Tensor:
        ctx.pull, ctx.solver = pull, solver
        return value.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        pull: Map = ctx.pull

        def step(u: Tensor) -> Tensor:
            return gradient + pull(u)

        return ctx.solver(step, gradient), None, None
