"""Networks on chips: what each chip answers, many chips at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from entrain import kernels
from entrain.hardware import ChipDraws, Hardware, Realised, on_chips
from entrain.physics import Dynamics, Noise, Parameters, drift, readout

_AT_A_TIME = 2**18  # rollouts: chips times samples


def scores_on_chips(
    parameters: Parameters,
    hardware: Hardware,
    seeds: Sequence[int],
    inputs: Tensor,
    dynamics: Dynamics,
    *,
    noise_seed: int = 0,
    on_progress: Callable[[float], None] | None = None,
) -> Tensor:
    """Output activations of networks (R, ...) on chips of these seeds: (R, C, M, O), inputs (M, D).

    Thermal noise and the readout's depend on `noise_seed` and the sample alone, so that chips
    differ by what they are.
    """
    runs, many = len(parameters.biases), len(inputs)
    chips = max(1, _AT_A_TIME // (runs * many))
    samples = max(1, _AT_A_TIME // (runs * chips))
    found = []
    for first in range(0, len(seeds), chips):
        some = seeds[first : first + chips]
        realised = on_chips(parameters, hardware, some)
        parts = [
            one_run(
                realised, hardware, some, inputs[row : row + samples], dynamics, noise_seed, row
            )
            for row in range(0, many, samples)
        ]
        together = torch.cat(parts, dim=1)
        found.append(together.reshape(runs, len(some), *together.shape[1:]))
        if on_progress is not None:
            on_progress(min(1.0, (first + chips) / len(seeds)))
    return torch.cat(found, dim=1)


def one_run(
    realised: Realised,
    hardware: Hardware,
    seeds: Sequence[int],
    inputs: Tensor,
    dynamics: Dynamics,
    noise_seed: int,
    first_sample: int,
) -> Tensor:
    """Activations (L, B, O) of lanes on inputs (B, D), the first of which has this number."""
    model = realised.phase_model(inputs)
    thermal = hardware.phase_noise
    if thermal is None or thermal.is_nothing:
        phases = kernels.rollout(model, dynamics)
    else:
        samples = first_sample + torch.arange(len(inputs), device=inputs.device)
        noise = Noise(noise_seed, thermal.temperature, samples.new_zeros(1), samples)
        phases = kernels.rollout(model, dynamics, noise=noise)[:, 0]
    outputs = realised.parameters.outputs
    reading = hardware.readout
    if reading is None or reading.is_nothing:
        return readout(phases, outputs)
    velocity = None
    if reading.timing:
        velocity = drift(phases, model, dynamics.mobility)[..., -outputs:]
    runs = len(phases) // len(seeds)
    chips = ChipDraws(seeds, phases, runs)
    run = ChipDraws([noise_seed], phases, 1, first_sample)
    return reading.scores(phases[..., -outputs:], velocity, dynamics.observation_time, chips, run)
