"""Couplers that a network may use."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from entrain.hardware.effect import Draws, Effect, Realised, probability
from entrain.utils.errors import InputError

_COUPLERS_OF_AN_OUTPUT = 8  # that remain, if its share is as large


@dataclass(frozen=True)
class Sparsity(Effect):
    """J_ij -> 0 except for the share `kept` of couplers with the largest |J_ij|.

    A network that was trained with the same share has zeros elsewhere already, and does not change.

    Args:
        kept: Share of the couplers that is used.

    Examples:
        >>> from entrain.hardware import Hardware, Sparsity
        >>> Hardware(sparsity=Sparsity(kept=0.5)).to_json()
        {'sparsity': {'kept': 0.5}}
    """

    kept: float = 1.0

    def __post_init__(self) -> None:
        if probability("kept", self.kept) == 0.0:
            raise InputError("kept must be above 0: without couplers the outputs feel nothing")

    @property
    def is_identity(self) -> bool:
        return self.kept == 1.0

    def change(self, network: Realised, draws: Draws) -> Realised:
        parameters = network.parameters
        mask = largest(parameters.couplings, parameters.graph, self.kept)
        return network.with_parameters(couplings=parameters.couplings * mask)

    def times(self, factor: float) -> Sparsity:
        return Sparsity(self.kept**factor)  # twice as strong, half becomes a quarter


def largest(couplings: Tensor, graph: Tensor, kept: float, outputs: int = 0) -> Tensor:
    """(L, N, N) booleans: the share `kept` of the graph's couplers with the largest |J_ij|.

    With `outputs`, each of the last oscillators keeps at least that share of its couplers, or
    eight: couplings to outputs are the smaller ones, and an output without any loses its class.
    """
    upper = graph.triu(1)
    strengths = couplings.detach().abs()
    if outputs and kept < 1.0:
        strengths = _outputs_first(strengths * graph, graph, kept, outputs)
    sizes = strengths[:, upper]  # (L, E)
    count = min(sizes.shape[1], max(1, round(kept * sizes.shape[1])))
    chosen = torch.zeros_like(sizes, dtype=torch.bool)
    chosen.scatter_(1, first_largest(sizes, count), True)
    mask = torch.zeros_like(couplings, dtype=torch.bool)
    mask[:, upper] = chosen
    return mask | mask.mT


def _outputs_first(strengths: Tensor, graph: Tensor, share: float, outputs: int) -> Tensor:
    """`strengths` (L, N, N), infinite for the largest couplers of each output: `share` of them, at
    most eight."""
    first = torch.zeros_like(strengths, dtype=torch.bool)
    for output in range(len(graph) - outputs, len(graph)):
        count = min(_COUPLERS_OF_AN_OUTPUT, math.ceil(share * int(graph[output].sum())))
        first[:, output].scatter_(1, first_largest(strengths[:, output], count), True)
    return strengths.masked_fill((first | first.mT) & graph, math.inf)


def first_largest(sizes: Tensor, count: int) -> Tensor:
    """Indices of the `count` largest values on the last axis; of equal ones the first, on every
    device."""
    return sizes.argsort(dim=-1, descending=True, stable=True)[..., :count]
