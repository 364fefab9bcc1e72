"""Small networks and examples with random parameters, for the tests."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from entrain import KuramotoNetwork
from entrain.physics import PhaseModel, layered_graph


def random_network(
    inputs: int = 6,
    hidden: int = 5,
    outputs: int = 3,
    *,
    seed: int = 0,
    scale: float = 1.0,
    dtype: torch.dtype = torch.float64,
    **dynamics: float,
) -> KuramotoNetwork:
    """A network with normal parameters of standard deviation `scale`."""
    generator = torch.Generator().manual_seed(seed)
    network = KuramotoNetwork(inputs, hidden, outputs, **dynamics).to(dtype)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(scale * torch.randn(parameter.shape, generator=generator, dtype=dtype))
    return network


def random_couplings(runs: int, hidden: int, outputs: int, seed: int = 0) -> Tensor:
    """Symmetric, masked couplings (R, N, N), float64."""
    n = hidden + outputs
    matrix = torch.randn(runs, n, n, generator=torch.Generator().manual_seed(seed)).double()
    return (matrix + matrix.transpose(1, 2)) * layered_graph(hidden, outputs)


def random_tensor(*shape: int, seed: int = 0) -> Tensor:
    """Standard normal float64 numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


TERMS = ("frequencies", "injection", "lag", "start", "harmonic")
"""What a phase model may have besides fields and couplings."""


def random_model(
    runs: int,
    batch: int,
    oscillators: int,
    terms: Iterable[str] = (),
    *,
    shared: bool = False,
    size: float = 1.0,
    seed: int = 0,
) -> PhaseModel:
    """A model with normal numbers of standard deviation `size`, float64.

    Its couplings are not symmetric. Its terms are those of each sample, or `shared` (R, 1, N).
    """
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return size * torch.randn(*shape, generator=generator, dtype=torch.float64)

    shape = (runs, 1 if shared else batch, oscillators)
    of_run = {"lag": (runs,), "harmonic": (runs, 2)}
    return PhaseModel(
        normal(runs, batch, oscillators),
        normal(runs, oscillators, oscillators),
        **{term: normal(*of_run.get(term, shape)) for term in terms},
    )
