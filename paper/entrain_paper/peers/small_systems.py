"""Compared systems with 74 dynamical variables, as many as the network of the paper.

SubDEQ (87), the analog optical computer (16) and the Langevin computer (74) have about as many or
fewer as published.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from entrain_paper.peers.nmode import NeuralMemory
from entrain_paper.peers.rageau import Rageau
from entrain_paper.peers.scellier import Scellier

_WHY = "The published system has {} dynamical variables, and no result of this size is published."


@dataclass(frozen=True)
class SmallRageau(Rageau):
    """64 hidden oscillators, all coupled, and 10 outputs, as in the network of the paper."""

    title: ClassVar[str] = "Kuramoto equilibrium propagation with 74 oscillators"
    cited: ClassVar[dict[str, float]] = {}
    why: ClassVar[str] = (
        "The published system has 510 oscillators, and no result of this size is published."
    )

    name: str = "rageau-74"
    hidden: int = 64
    coupled_within: bool = True


@dataclass(frozen=True)
class SmallScellier(Scellier):
    """784 inputs, 64 hidden units, 10 outputs."""

    title: ClassVar[str] = "Equilibrium propagation with 74 units"
    cited: ClassVar[dict[str, float]] = {}
    why: ClassVar[str] = _WHY.format(522)

    name: str = "scellier-74"
    hidden: int = 64


@dataclass(frozen=True)
class SmallMemory(NeuralMemory):
    """74 units with a linear readout."""

    title: ClassVar[str] = "Neural-memory ODE with 74 units"
    cited: ClassVar[dict[str, float]] = {}
    why: ClassVar[str] = _WHY.format("2,048")

    name: str = "nmode-74"
    hidden: int = 74


SMALL_SYSTEMS = (SmallRageau(), SmallScellier(), SmallMemory())
