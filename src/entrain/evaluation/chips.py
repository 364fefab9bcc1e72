"""Networks on chips: what each chip answers, and how many of them answer well."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from entrain import kernels
from entrain.evaluation.measure import scores_of
from entrain.evaluation.metrics import top_k
from entrain.hardware import ChipDraws, Draws, Hardware, Realised, on_chips, realise
from entrain.models.network import KuramotoNetwork
from entrain.physics import Dynamics, Noise, Parameters, drift, readout
from entrain.utils.errors import InputError, positive_int, seed_number

VALIDATION_CHIPS = range(2**31, 2**31 + 20)  # seeds that nobody counts up to

_AT_A_TIME = 2**18  # rollouts: chips times samples
_ON_A_CPU = 2**16  # as fast there, and the progress is seen
_NUMBERS = 2**24  # of the networks on so many chips, each drawn with several words of 64 bits


@dataclass(frozen=True)
class Yield:
    """Accuracies in percent of chips of one kind, in the order of their seeds."""

    accuracies: tuple[float, ...]
    first_seed: int = 0

    @property
    def mean(self) -> float:
        """Over chips."""
        return float(np.mean(self.accuracies))

    @property
    def sd(self) -> float:
        """From chip to chip (n - 1); 0 for one chip."""
        return float(np.std(self.accuracies, ddof=1)) if len(self.accuracies) > 1 else 0.0

    @property
    def worst(self) -> float:
        """The lowest."""
        return min(self.accuracies)

    def percentile(self, share: float) -> float:
        """The accuracy below which `share` percent of the chips lie, between them linearly."""
        return float(np.percentile(self.accuracies, share))

    def above(self, threshold: float) -> float:
        """The percentage of chips with at least this accuracy."""
        return 100.0 * float(np.mean(np.array(self.accuracies) >= threshold))

    def summary(self) -> dict[str, float]:
        """What tables show, in percent."""
        return {
            "mean": self.mean,
            "sd": self.sd,
            "p1": self.percentile(1),
            "p5": self.percentile(5),
            "p50": self.percentile(50),
            "worst": self.worst,
        }


def accuracies_on_chips(
    parameters: Parameters,
    hardware: Hardware,
    seeds: Sequence[int],
    inputs: Tensor,
    labels: Tensor,
    dynamics: Dynamics,
    *,
    noise_seed: int = 0,
    on_chips_done: Callable[[list[list[float]]], None] | None = None,
) -> Tensor:
    """Top-1 in percent of networks (R, ...) on each chip: (R, C). A tie goes to the lower class.

    `on_chips_done` is given the accuracies [run][chip] of some more chips, now and then.
    """
    found = []
    for scores in _in_parts(parameters, hardware, seeds, inputs, dynamics, noise_seed):
        part = torch.stack([top_k(each, labels) for each in scores.unbind(1)], dim=1)
        found.append(part)
        if on_chips_done is not None:
            on_chips_done(part.tolist())
    return torch.cat(found, dim=1)


def scores_on_chips(
    parameters: Parameters,
    hardware: Hardware,
    seeds: Sequence[int],
    inputs: Tensor,
    dynamics: Dynamics,
    *,
    noise_seed: int = 0,
) -> Tensor:
    """Output activations of networks (R, ...) on chips of these seeds: (R, C, M, O), inputs (M, D).

    Thermal noise and the readout's depend on `noise_seed` and the sample alone, so that chips
    differ by what they are.
    """
    parts = _in_parts(parameters, hardware, seeds, inputs, dynamics, noise_seed)
    return torch.cat(list(parts), dim=1)


def scores_across_chips(
    parameters: Parameters,
    hardware: Hardware,
    seeds: Sequence[int],
    inputs: Tensor,
    dynamics: Dynamics,
    *,
    draws: Draws | None = None,
) -> Tensor:
    """Activations (R, M, O) of networks (R, ...) on inputs (M, D), which are dealt to the chips of
    these seeds in order: each answers one part of them. `draws` are the chips' numbers where they
    are kept, of as many seeds as there are inputs at most."""
    many, runs, chips = len(inputs), len(parameters.biases), min(len(seeds), len(inputs))
    if draws is None:
        draws = ChipDraws(seeds[:chips], parameters.biases, runs)
    lanes = parameters.map(lambda tensor: tensor.repeat_interleave(chips, dim=0))
    realised = realise(lanes, hardware, draws)
    each = -(-many // chips)
    places = torch.arange(chips * each, device=inputs.device) % many  # some twice, if uneven
    dealt = inputs[places].reshape(chips, each, -1).repeat(runs, 1, 1)
    scores = one_run(realised, hardware, seeds[:chips], dealt, dynamics, 0, 0)
    return scores.reshape(runs, chips * each, -1)[:, :many]


def scores_on_target(network: KuramotoNetwork, hardware: Hardware | None, inputs: Tensor) -> Tensor:
    """Activations (M, O) of inputs (M, D): of the ideal network, or, where it was trained for
    `hardware`, of chips that the inputs are dealt to."""
    if hardware is None or hardware.is_identity:
        return scores_of(network, inputs)
    one = network.as_parameters().map(lambda tensor: tensor.detach()[None])
    return scores_across_chips(one, hardware, VALIDATION_CHIPS, inputs, network.dynamics)[0]


def blocks(parameters: Parameters, seeds: Sequence[int], samples: int) -> list[Sequence[int]]:
    """The seeds of chips on which networks (R, ...) are measured at a time, on so many samples."""
    runs = len(parameters.biases)
    numbers = runs * (parameters.input_weights[0].numel() + parameters.couplings[0].numel())
    chips = max(1, min(_rollouts(parameters) // (runs * samples), _NUMBERS // numbers))
    return [seeds[first : first + chips] for first in range(0, len(seeds), chips)]


def _rollouts(parameters: Parameters) -> int:
    return _AT_A_TIME if parameters.biases.is_cuda else min(_AT_A_TIME, _ON_A_CPU)


def check_chips(chips: object, first_seed: object = 0) -> range:
    """The seeds of so many chips, from the first on."""
    count, first = positive_int("chips", chips), seed_number("first seed", first_seed)
    if first + count > 2**32:
        raise InputError(f"seeds end at {2**32 - 1}, got {count} chips from seed {first} on")
    return range(first, first + count)


def _in_parts(
    parameters: Parameters,
    hardware: Hardware,
    seeds: Sequence[int],
    inputs: Tensor,
    dynamics: Dynamics,
    noise_seed: int,
) -> Iterator[Tensor]:
    """Activations (R, C, M, O) of some chips at a time."""
    runs, many = len(parameters.biases), len(inputs)
    for some in blocks(parameters, seeds, many):
        samples = max(1, _rollouts(parameters) // (runs * len(some)))
        realised = on_chips(parameters, hardware, some)
        parts = [
            one_run(realised, hardware, some, inputs[row:][:samples], dynamics, noise_seed, row)
            for row in range(0, many, samples)
        ]
        together = torch.cat(parts, dim=1)
        yield together.reshape(runs, len(some), *together.shape[1:])


def one_run(
    realised: Realised,
    hardware: Hardware,
    seeds: Sequence[int],
    inputs: Tensor,
    dynamics: Dynamics,
    noise_seed: int,
    first_sample: int,
) -> Tensor:
    """Activations (L, B, O) of lanes on inputs (B, D), alike for all, or (L, B, D); the first
    sample of each has this number."""
    model = realised.phase_model(inputs)
    thermal = hardware.phase_noise
    if thermal is None or thermal.is_identity:
        phases = kernels.rollout(model, dynamics)
    else:
        samples = first_sample + torch.arange(inputs.shape[-2], device=inputs.device)
        noise = Noise(noise_seed, thermal.temperature, samples.new_zeros(1), samples)
        phases = kernels.rollout(model, dynamics, noise=noise)[:, 0]
    outputs = realised.parameters.outputs
    reading = hardware.readout
    if reading is None or reading.is_identity:
        return readout(phases, outputs)
    velocity = None
    if reading.timing:
        velocity = drift(phases, model, dynamics.mobility)[..., -outputs:]
    chips = ChipDraws(seeds, phases, len(phases) // len(seeds))
    run = ChipDraws([noise_seed], phases, 1, first_sample)
    time = dynamics.observation_time
    return reading.scores(phases[..., -outputs:], velocity, time, chips, run)
