"""Small networks to be exported as circuits, for the tests of exports and of simulators."""

from __future__ import annotations

import torch

from entrain.export import Design
from entrain.hardware import Components
from entrain.physics import Dynamics, PhaseModel


def small(n: int = 6, images: int = 3, outputs: int = 2, seed: int = 0, **terms) -> Design:
    """A random network that moves by about a radian."""
    draw = torch.Generator().manual_seed(seed)
    couplings = torch.randn(1, n, n, generator=draw, dtype=torch.float64) * 2.0
    couplings = (couplings + couplings.mT) * (1.0 - torch.eye(n, dtype=torch.float64))
    fields = torch.randn(1, images, n, generator=draw, dtype=torch.float64) * 4.0
    return Design(
        PhaseModel(fields, couplings, **terms),
        Dynamics(steps=100),
        outputs,
        tuple(i % outputs for i in range(images)),
        tuple("abcdef"[:outputs]),
        "small",
    )


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)[None, None]


def every_term() -> dict[str, torch.Tensor]:
    """What may act beside fields and couplings, for `small`."""
    return {
        "frequencies": column(1, -2, 0, 3, 0, 0),
        "injection": column(0.5, 0, -1, 0, 0, 0.2),
        "start": column(0.1, 1, 2, -1, 0, 3),
        "lag": torch.tensor([0.3], dtype=torch.float64),
        "harmonic": torch.tensor([[0.2, -0.4]], dtype=torch.float64),
    }


SPREAD = Components(0.02, 0.01, None, 0.05, 0.04, 0.03)
"""Tolerances of components, of which each kind has its own."""
