"""A spiking network: leaky integrate-and-fire neurons that count their spikes.

F. Bacho and D. Chu, "Exploring trade-offs in spiking neural networks", Neural Computation 35
(2023): event by event, with exact gradients of spike times. Here the same neurons, the same sizes
and the same code of the input (one spike a pixel) run on a grid of times, and the gradient passes
a spike by the surrogate of F. Zenke and S. Ganguli, Neural Computation 30, 1514 (2018).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from entrain.rules import Tensors
from entrain_paper.peers.interface import Peer


@dataclass(frozen=True)
class Spiking(Peer):
    r"""A pixel of grey level g > 0 spikes once, at the time (1 - g) T. A spike of a neuron j opens
    its synapses, z_j <- z_j + 1; currents and membranes follow

        tau_s dz/dt = -z,   tau dv/dt = -v + W z + b,   v <- v - theta at v >= theta: a spike,

    on a grid of `steps` times. The score of a class is what its neuron has been charged with by
    T: its spikes times theta, and the rest v that is left; `gain` is the softmax's.

    Shapes: inputs (R, B, D), spikes and currents of a layer (R, B, steps, H).
    """

    title: ClassVar[str] = "Bacho and Chu 2023, spiking network"
    cited: ClassVar[dict[str, float]] = {"MNIST": 98.88, "Fashion-MNIST": 90.19}
    why: ClassVar[str] = (
        "trained for a quarter of the epochs or fewer, in large batches, with a surrogate gradient "
        "on a grid of times instead of exact spike times"
    )

    name: str = "snn"
    epochs: int = 25
    batch_size: int = 128
    rate: float = 5e-3
    hidden: tuple[int, ...] = (800,)
    steps: int = 6
    observation_time: float = 1.0
    tau: float = 0.65  # of membranes and
    tau_synapse: float = 0.325  # of synapses: the cited ratios to the observation time
    threshold: float = 1.0
    gain: float = 2.0
    sharpness: float = 4.0  # of the surrogate

    def for_dataset(self, dataset: str) -> Peer:
        """The cited layers of each; for two layers a rate and epochs that were better on
        validation: with more epochs they overfit."""
        two = replace(self, hidden=(400, 400), rate=2e-3, epochs=8)
        return two if dataset == "Fashion-MNIST" else self

    def search_space(self) -> dict[str, tuple[float, float]]:
        """Also the softmax's gain and the surrogate."""
        return super().search_space() | {"gain": (0.5, 8.0), "sharpness": (1.0, 16.0)}

    def quick(self) -> Peer:
        """Fewer neurons, times and epochs."""
        return replace(self, epochs=5, steps=5, hidden=(100,), rate=1e-2)

    def drawn(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        widths = (inputs, *self.hidden, classes)
        drawn: Tensors = {}
        for layer, (before, width) in enumerate(itertools.pairwise(widths)):
            # One pixel in six spikes at all: a neuron is charged by about theta.
            scale = (1.0 if layer else 2.0) * self.threshold / math.sqrt(before)
            drawn[f"W{layer}"] = scale * torch.randn(width, before, generator=generator)
            drawn[f"b{layer}"] = torch.full((width,), 0.5 * self.threshold)
        return drawn

    @property
    def variables(self) -> int:
        return sum(self.hidden) + 10

    def scores(self, numbers: Tensors, inputs: Tensor) -> Tensor:
        spikes = input_spikes(inputs, self.steps)
        for layer in range(len(self.hidden)):
            spikes, _ = self._layer(numbers, layer, spikes)
        counted, left = self._layer(numbers, len(self.hidden), spikes)
        return self.gain * (self.threshold * counted.sum(-2) + left)

    def spikes(self, currents: Tensor) -> tuple[Tensor, Tensor]:
        """Spikes (..., steps, H) of neurons that begin at rest, and the membrane (..., H) left at
        the end, under currents (..., steps, H), each constant over an interval T / steps: v is
        exact on the grid, and a spike stands at the end of its interval."""
        decay = math.exp(-self.observation_time / self.steps / self.tau)
        v = torch.zeros_like(currents[..., 0, :])
        fired = []
        for current in currents.unbind(-2):
            v = torch.lerp(current, v, decay)
            spike = _spike(v - self.threshold, self.sharpness)
            v = v - self.threshold * spike
            fired.append(spike)
        return torch.stack(fired, dim=-2), v

    def _layer(self, numbers: Tensors, layer: int, before: Tensor) -> tuple[Tensor, Tensor]:
        weights, bias = numbers[f"W{layer}"], numbers[f"b{layer}"]
        opened = (self._synapses(before) @ before).flatten(1, 2)
        currents = torch.baddbmm(bias[:, None], opened, weights.mT)  # (R, B * steps, H)
        return self.spikes(currents.reshape(*before.shape[:3], -1))

    def _synapses(self, like: Tensor) -> Tensor:
        """(steps, steps): what is left at a time (row) of the opening by a spike (column)."""
        times = torch.arange(self.steps, device=like.device, dtype=like.dtype)
        past = times[:, None] - times
        interval = self.observation_time / self.steps
        return torch.exp(-past * interval / self.tau_synapse).tril()


def input_spikes(inputs: Tensor, steps: int) -> Tensor:
    """Spikes (..., steps, D) of grey levels (..., D) from 0 to 1: one for each pixel that is not
    black, the brighter the sooner."""
    times = ((1.0 - inputs) * steps).floor()
    grid = torch.arange(steps, device=inputs.device)
    return (times[..., None, :] == grid[:, None]).to(inputs.dtype)


class _Spike(torch.autograd.Function):
    """1 where the excess over the threshold is not negative; slope 1 / (1 + sharpness |excess|)^2
    backwards."""

    @staticmethod
    def forward(ctx: Any, excess: Tensor, sharpness: float) -> Tensor:
        ctx.save_for_backward(excess)
        ctx.sharpness = sharpness
        return (excess >= 0).to(excess.dtype)

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, None]:
        (excess,) = ctx.saved_tensors
        return slopes[0] / (1.0 + ctx.sharpness * excess.abs()).square(), None


def _spike(excess: Tensor, sharpness: float) -> Tensor:
    spike: Tensor = _Spike.apply(excess, sharpness)  # type: ignore[no-untyped-call]
    return spike
