r"""Couplings that store patterns: complex C (N, N), Hermitian, of zero diagonal.

With z_i = xi_i of spins, or exp(i xi_i) of phases, the energy of oscillators is

    E = -1/2 sum_ij Re(conj(w_i) C_ij w_j) = -1/2 sum_ij |C_ij| cos(theta_i - theta_j + A_ij),

where w_i = exp(i theta_i) and A = -arg C: couplings |C|, and a lag A of each, A_ij = -A_ji. Real
couplings J_ij = 1/N sum cos(xi_i - xi_j) alone would store the mirror image -xi of phases xi, too.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from entrain.utils.errors import InputError

StorageRule = Literal["hebbian", "pseudo-inverse", "trained"]


def waves(patterns: Tensor, phases: bool) -> Tensor:
    """z (P, N): the patterns themselves, or exp(i xi) of phases."""
    return torch.polar(torch.ones_like(patterns), patterns) if phases else patterns


def stored_couplings(patterns: Tensor, rule: StorageRule, *, phases: bool = False) -> Tensor:
    r"""C (N, N), real for spins, that stores patterns by one formula.

        hebbian:         C = 1/N sum_mu z^mu (z^mu)^H
        pseudo-inverse:  C = Q / (1 - r / N), Q the projector onto the r dimensions of the patterns

    without the diagonal. The local field sum_j C_ij z_j of a stored pattern is about z_i by the
    first rule. By the second it is (1 - Q_ii) / (1 - r / N) z_i: every pattern is a fixed point,
    and of least energy.

    Args:
        patterns: Spins or phases (P, N), float64.
        rule: "hebbian" or "pseudo-inverse".
        phases: True for phases.

    Examples:
        >>> patterns = entrain.memory.random_patterns(2, 60)
        >>> entrain.memory.stored_couplings(patterns, "hebbian").shape
        torch.Size([60, 60])
    """
    z, n = waves(patterns, phases), patterns.shape[1]
    if rule == "hebbian":
        couplings = z.mT @ z.conj() / n
    else:
        _, sizes, axes = torch.linalg.svd(z, full_matrices=False)
        axes = axes[sizes > sizes[0] * n * torch.finfo(sizes.dtype).eps]
        if len(axes) == n:
            raise InputError(
                f"pseudo-inverse couplings of {len(z)} patterns are zero, as the patterns span all "
                f"{n} dimensions: store at most {n - 1}, or choose another rule"
            )
        couplings = axes.mT @ axes.conj() / (1 - len(axes) / n)
    couplings = (couplings + couplings.mH) / 2  # exactly Hermitian
    return couplings - torch.diag(couplings.diagonal())


def strengths_and_lags(couplings: Tensor) -> tuple[Tensor, Tensor | None]:
    """J (N, N) and the lags A (N, N), None for real C.

    Args:
        couplings: C (N, N).
    """
    if not couplings.is_complex():
        return couplings, None
    lags = -couplings.angle().triu(1)
    return couplings.abs(), lags - lags.mT
