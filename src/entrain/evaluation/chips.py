"""Scores and accuracies of networks on sampled chips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from entrain import kernels
from entrain.evaluation.activations import batched, frames_read
from entrain.evaluation.measure import scores_of
from entrain.hardware import (
    ChipDraws,
    Draws,
    Hardware,
    Readout,
    Realised,
    noise_seeds,
    on_chips,
    realise,
)
from entrain.models.network import KuramotoNetwork
from entrain.physics import Dynamics, Noise, Parameters, PhaseModel, drift, readout
from entrain.tasks import Task
from entrain.tasks.metrics import hits, percent
from entrain.utils.errors import InputError, positive_int, seed_number

VALIDATION_CHIPS = range(2**31, 2**31 + 20)  # seeds far above those of counted chips

_AT_A_TIME = 2**18  # rollouts: chips times samples
_ON_A_CPU = 2**16  # as fast there, with more frequent progress
_NUMBERS = 2**24  # parameters of the chips at a time, each drawn from several 64-bit words


def accuracies_on_chips(
    parameters: Parameters,
    hardware: Hardware,
    seeds: Sequence[int],
    inputs: Tensor,
    labels: Tensor,
    dynamics: Dynamics,
    *,
    task: Task | None = None,
    noise_seed: int = 0,
) -> Tensor:
    """Top-1 in percent of networks (R, ...) on each chip: (R, C). A tie goes to the lower class."""
    return percent(
        correct_on_chips(
            parameters, hardware, seeds, inputs, labels, dynamics, task=task, noise_seed=noise_seed
        )
    )


def correct_on_chips(
    parameters: Parameters,
    hardware: Hardware,
    seeds: Sequence[int],
    inputs: Tensor,
    labels: Tensor,
    dynamics: Dynamics,
    *,
    task: Task | None = None,
    noise_seed: int = 0,
) -> Tensor:
    """True (R, C, M) for each example that a network (R, ...) predicts correctly on a chip."""
    parts = _by_block(parameters, hardware, seeds, inputs, dynamics, task, noise_seed)
    return torch.cat([hits(scores, labels) for scores in parts], dim=1)


def scores_on_chips(
    parameters: Parameters,
    hardware: Hardware,
    seeds: Sequence[int],
    inputs: Tensor,
    dynamics: Dynamics,
    *,
    task: Task | None = None,
    noise_seed: int = 0,
) -> Tensor:
    """Output activations of networks (R, ...) on chips of these seeds: (R, C, M, O), inputs (M, D)
    or in time (M, T, D), of which the `task` reads a part.

    Thermal noise and readout noise depend on `noise_seed`, the seed of the chip and the sample, so
    that a chip has the same noise alone and beside others, and no two chips share theirs.
    """
    parts = _by_block(parameters, hardware, seeds, inputs, dynamics, task, noise_seed)
    return torch.cat(list(parts), dim=1)


def scores_across_chips(
    parameters: Parameters,
    hardware: Hardware,
    seeds: Sequence[int],
    inputs: Tensor,
    dynamics: Dynamics,
    *,
    task: Task | None = None,
    draws: Draws | None = None,
) -> Tensor:
    """Activations (R, M, O) of networks (R, ...) on inputs (M, D) divided among chips in order.

    Each chip of these seeds gets one part of the inputs. `draws` are random numbers drawn earlier
    for the chips, at most as many as inputs. Chips share the noise of the n-th input of their part:
    their inputs differ, and the epochs of trained networks were selected so.
    """
    samples, runs, chips = len(inputs), len(parameters.biases), min(len(seeds), len(inputs))
    if draws is None:
        draws = ChipDraws(seeds[:chips], parameters.biases, runs)
    realised = realise(
        parameters.map(lambda tensor: tensor.repeat_interleave(chips, dim=0)), hardware, draws
    )
    share = -(-samples // chips)
    rows = torch.arange(chips * share, device=inputs.device) % samples  # wraps round if uneven
    parts = inputs[rows].reshape(chips, share, *inputs.shape[1:]).repeat(runs, *[1] * inputs.dim())
    noise = [0] * chips
    scores = scores_of_realised(
        realised, hardware, seeds[:chips], parts, dynamics, noise, task=task
    )
    return scores.reshape(runs, chips * share, -1)[:, :samples]


def scores_on_target(
    network: KuramotoNetwork, hardware: Hardware | None, inputs: Tensor, task: Task | None = None
) -> Tensor:
    """Activations (M, O) of inputs (M, D) on the ideal network or, for a network trained for
    `hardware`, on twenty chips that share the inputs."""
    if hardware is None or hardware.is_identity:
        return scores_of(network, inputs, task=task)
    parameters = network.as_parameters().map(lambda tensor: tensor.detach()[None])
    dynamics = network.dynamics
    return scores_across_chips(parameters, hardware, VALIDATION_CHIPS, inputs, dynamics, task=task)[
        0
    ]


def blocks(parameters: Parameters, seeds: Sequence[int], samples: int) -> list[Sequence[int]]:
    """Seeds in blocks of chips that fit into memory with networks (R, ...) and so many samples."""
    runs = len(parameters.biases)
    numbers = runs * (parameters.input_weights[0].numel() + parameters.couplings[0].numel())
    chips = max(1, min(_rollouts(parameters) // (runs * samples), _NUMBERS // numbers))
    return [seeds[first : first + chips] for first in range(0, len(seeds), chips)]


def _rollouts(parameters: Parameters) -> int:
    return _AT_A_TIME if parameters.biases.is_cuda else min(_AT_A_TIME, _ON_A_CPU)


def check_chips(chips: object, first_seed: object = 0) -> range:
    """Seeds of `chips` chips, beginning with `first_seed`."""
    count, first = positive_int("chips", chips), seed_number("first seed", first_seed)
    if first + count > 2**32:
        raise InputError(f"seeds end at {2**32 - 1}, got {count} chips from seed {first} on")
    return range(first, first + count)


def _by_block(
    parameters: Parameters,
    hardware: Hardware,
    seeds: Sequence[int],
    inputs: Tensor,
    dynamics: Dynamics,
    task: Task | None,
    noise_seed: int,
) -> Iterator[Tensor]:
    """Activations (R, C, M, O), block by block."""
    runs = len(parameters.biases)
    noise_of = dict(zip(seeds, noise_seeds(noise_seed, seeds), strict=True))
    for block in blocks(parameters, seeds, len(inputs)):
        samples = max(1, _rollouts(parameters) // (runs * len(block)))
        realised = on_chips(parameters, hardware, block)
        noise = [noise_of[seed] for seed in block]
        parts = [
            scores_of_realised(
                realised,
                hardware,
                block,
                batched(inputs[row:][:samples]),
                dynamics,
                noise,
                row,
                task,
            )
            for row in range(0, len(inputs), samples)
        ]
        scores = torch.cat(parts, dim=1)
        yield scores.reshape(runs, len(block), *scores.shape[1:])


def scores_of_realised(
    realised: Realised,
    hardware: Hardware,
    seeds: Sequence[int],
    inputs: Tensor,
    dynamics: Dynamics,
    noise: Sequence[int],
    first_sample: int = 0,
    task: Task | None = None,
) -> Tensor:
    """Activations (L, B, O) of L networks on chips, inputs (B, D) shared, (L, B, D), or in time
    (L or 1, B, T, D).

    `noise` has the seed of the noise of each chip, which also depends on the number of a row;
    `first_sample` is that of the first row.
    """
    model = realised.phase_model(inputs, dynamics.steps)
    frames, record = frames_read(model, task)
    phases = _phases(model, hardware, dynamics, noise, first_sample, record)
    outputs = realised.parameters.outputs
    reading = hardware.readout
    if reading is None or reading.is_identity:
        return readout(phases[-frames:], outputs).mean(0) if record else readout(phases, outputs)
    chips = ChipDraws(seeds, model.fields, len(model.fields) // len(seeds))
    runs = ChipDraws(noise, model.fields, len(model.fields) // len(seeds), first_sample)
    return read_on_chips(
        phases[-frames:] if record else phases[None], model, dynamics, reading, outputs, chips, runs
    )


def read_on_chips(
    phases: Tensor,
    model: PhaseModel,
    dynamics: Dynamics,
    reading: Readout,
    outputs: int,
    chips: Draws,
    runs: Draws,
    read: Tensor | None = None,
) -> Tensor:
    """Activations (L, B, O) as chips read them, averaged over the F last inputs in time.

    The noise of a run is drawn once for all readings of an example.

    Args:
        phases: theta (F, L, B, N) after these inputs.
        model: The phase model that they obey.
        dynamics: Its steps.
        reading: How the chips read phases.
        outputs: O.
        chips: Random variates of the chips.
        runs: Random variates of their runs.
        read: Phases of the outputs (F, L, B, O), if gradients are to flow to them.
    """
    values, total = phases[..., -outputs:] if read is None else read, None
    for frame, ends in enumerate(phases):
        velocity = None
        if reading.timing:
            hold = 1 if model.schedule is None else model.schedule.hold
            step = dynamics.steps - 1 - hold * (len(phases) - 1 - frame)
            velocity = drift(ends, model.at(step), dynamics.mobility)[..., -outputs:]
        time = dynamics.observation_time
        scores = reading.scores(values[frame], velocity, time, chips, runs)
        total = scores if total is None else total + scores
    assert total is not None
    return total if len(phases) == 1 else total / len(phases)


def _phases(
    model: PhaseModel,
    hardware: Hardware,
    dynamics: Dynamics,
    noise: Sequence[int],
    first_sample: int,
    record: int,
) -> Tensor:
    """Phases (L, B, N) at t_f, or every `record` steps; network r C + c has the thermal noise of
    chip c."""
    thermal = hardware.phase_noise
    if thermal is None or thermal.is_identity:
        return kernels.rollout(model, dynamics, record=record)
    samples = first_sample + torch.arange(model.fields.shape[1], device=model.fields.device)

    def rollout(networks: PhaseModel, seed: int) -> Tensor:
        forcing = Noise(seed, thermal.temperature, samples.new_zeros(1), samples)
        return kernels.rollout(networks, dynamics, noise=forcing, record=record).squeeze(-3)

    if len(set(noise)) == 1:
        return rollout(model, noise[0])
    # A rollout has one draw of noise for all its networks: one rollout for each chip.
    parts = [rollout(_every(model, chip, len(noise)), seed) for chip, seed in enumerate(noise)]
    return torch.stack(parts, dim=-3).flatten(-4, -3)


def _every(model: PhaseModel, first: int, step: int) -> PhaseModel:
    """The networks first, first + step, ... of a phase model."""
    return model.with_tensors(
        {
            name: (tensor[:, first::step] if name == "drive" else tensor[first::step]).contiguous()
            for name, tensor in model.tensors().items()
            if not name.startswith("factor of")
        }
    )
