"""Equilibrium propagation on layered Kuramoto oscillators.

T. Rageau and J. Grollier, Neuromorphic Computing and Engineering 5, 034008 (2025).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from entrain_paper.peers.phase_layers import PhaseLayers


@dataclass(frozen=True)
class Rageau(PhaseLayers):
    r"""784-500-10 phases with the energy of `PhaseLayers`, three relaxations per update.

    A coupling changes by the difference of cos(theta_i - theta_j) between the two nudged states.
    """

    title: ClassVar[str] = "Rageau and Grollier 2025, Kuramoto equilibrium propagation"
    cited: ClassVar[dict[str, float]] = {"MNIST": 97.77}
    why: ClassVar[str] = (
        "Inputs are fields instead of phases of further oscillators; the cost is the cross-entropy."
    )
    standardised: ClassVar[bool] = True
    rates: ClassVar[dict[str, float]] = {"V": 4.0, "J": 4.0, "c": 4.0}

    name: str = "rageau"
    rate: float = 5e-4
    initial_weights: float = 0.02
    initial_couplings: float = 0.02
