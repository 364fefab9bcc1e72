"""A spiking network of leaky integrate-and-fire neurons, read by spike counts.

F. Bacho and D. Chu, "Exploring trade-offs in spiking neural networks", Neural Computation 35
(2023), simulate events and differentiate spike times exactly. Here neurons, layer sizes and input
code (one spike per pixel) are the same, but time is a grid, and spikes have the surrogate gradient
of F. Zenke and S. Ganguli, Neural Computation 30, 1514 (2018).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from entrain.hardware import Draws
from entrain.rules import Tensors
from entrain_paper.peers.interface import Peer


@dataclass(frozen=True)
class Spiking(Peer):
    r"""A pixel of grey level g > 0 spikes once, at the time (1 - g) T. A spike of neuron j opens
    its synapses, z_j <- z_j + 1; currents and membranes follow

        tau_s dz/dt = -z,   tau dv/dt = -v + W z + b,   v <- v - theta at v >= theta: a spike,

    on a grid of `steps` times. The score of a class is the charge of its neuron until T, its number
    of spikes times theta plus the remaining v, times `gain`.

    Shapes: inputs (R, B, D), spikes and currents of a layer (R, B, steps, H).
    """

    title: ClassVar[str] = "Bacho and Chu 2023, spiking network"
    cited: ClassVar[dict[str, float]] = {"MNIST": 98.88, "Fashion-MNIST": 90.19}
    why: ClassVar[str] = (
        "Trained for at most a quarter of the epochs, in large batches, with a surrogate gradient "
        "on a grid of times instead of exact spike times."
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
        """This system with the cited layers; rate and epochs of two layers by validation."""
        two_layers = replace(self, hidden=(400, 400), rate=2e-3, epochs=8)
        return two_layers if dataset == "Fashion-MNIST" else self

    def search_space(self) -> dict[str, tuple[float, float]]:
        """Adds the gain of the softmax and the sharpness of the surrogate."""
        return super().search_space() | {"gain": (0.5, 8.0), "sharpness": (1.0, 16.0)}

    def quick(self) -> Peer:
        """This system with few neurons, time steps and epochs."""
        return replace(self, epochs=5, steps=5, hidden=(100,), rate=1e-2)

    def init_parameters(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        widths = (inputs, *self.hidden, classes)
        parameters: Tensors = {}
        for layer, (before, width) in enumerate(itertools.pairwise(widths)):
            # One pixel in six spikes, so the charge of a neuron is about theta.
            scale = (1.0 if layer else 2.0) * self.threshold / math.sqrt(before)
            parameters[f"W{layer}"] = scale * torch.randn(width, before, generator=generator)
            parameters[f"b{layer}"] = torch.full((width,), 0.5 * self.threshold)
        return parameters

    @property
    def variables(self) -> int:
        return sum(self.hidden) + 10

    def scores(self, parameters: Tensors, inputs: Tensor, draws: Draws) -> Tensor:
        spikes = input_spikes(inputs, self.steps)
        for layer in range(len(self.hidden)):
            spikes, _ = self._layer(parameters, layer, spikes)
        spikes, membrane = self._layer(parameters, len(self.hidden), spikes)
        return self.gain * (self.threshold * spikes.sum(-2) + membrane)

    def spikes(self, currents: Tensor) -> tuple[Tensor, Tensor]:
        """Spikes (..., steps, H) of neurons initially at rest, and final membranes (..., H).

        Currents (..., steps, H) are constant over an interval T / steps. So v is exact on the grid,
        and a spike is recorded at the end of its interval.
        """
        decay = math.exp(-self.observation_time / self.steps / self.tau)
        v = torch.zeros_like(currents[..., 0, :])
        spikes = []
        for current in currents.unbind(-2):
            v = torch.lerp(current, v, decay)
            spike = _spike(v - self.threshold, self.sharpness)
            v = v - self.threshold * spike
            spikes.append(spike)
        return torch.stack(spikes, dim=-2), v

    def _layer(self, parameters: Tensors, layer: int, before: Tensor) -> tuple[Tensor, Tensor]:
        weights, bias = parameters[f"W{layer}"], parameters[f"b{layer}"]
        openings = (self._synapses(before) @ before).flatten(1, 2)
        currents = torch.baddbmm(bias[:, None], openings, weights.mT)  # (R, B * steps, H)
        return self.spikes(currents.reshape(*before.shape[:3], -1))

    def _synapses(self, like: Tensor) -> Tensor:
        """Opening (steps, steps) at a time (row) after a spike (column)."""
        times = torch.arange(self.steps, device=like.device, dtype=like.dtype)
        past = times[:, None] - times
        interval = self.observation_time / self.steps
        return torch.exp(-past * interval / self.tau_synapse).tril()


def input_spikes(inputs: Tensor, steps: int) -> Tensor:
    """Spikes (..., steps, D) of grey levels (..., D) from 0 to 1: one per pixel above 0, earlier
    for brighter pixels."""
    times = ((1.0 - inputs) * steps).floor()
    grid = torch.arange(steps, device=inputs.device)
    return (times[..., None, :] == grid[:, None]).to(inputs.dtype)


class _Spike(torch.autograd.Function):
    """1 where the excess over the threshold is non-negative, else 0; the surrogate slope is
    1 / (1 + sharpness |excess|)^2."""

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
