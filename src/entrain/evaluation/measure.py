"""Scores and metrics of a network on many examples, computed in chunks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from entrain.models.network import KuramotoNetwork
from entrain.models.simulation import Simulation
from entrain.physics import check_frames
from entrain.tasks import Classification, Task, metrics
from entrain.utils.errors import InputError, positive_int

CHUNK = 1024  # examples at a time; affects results by rounding only


@torch.no_grad()
def scores_of(
    network: KuramotoNetwork,
    inputs: Tensor,
    *,
    steps: int | None = None,
    task: Task | None = None,
) -> Tensor:
    """Output activations cos(theta_out(t_f)) of inputs (M, D), or in time (M, T, D), of which the
    task reads a part: (M, O)."""
    parts = [simulated(network, chunk, steps=steps).readout for _, chunk in chunks(inputs)]
    together = torch.cat(parts)
    if inputs.dim() == 2:
        return together
    return together[:, -1] if task is None else task.reading(together)


def simulated(
    network: KuramotoNetwork, inputs: Tensor, *, steps: int | None = None, record: int = 0
) -> Simulation:
    """The simulation of a network from its start to its observation time.

    Args:
        network: The network.
        inputs: u (B, D), or in time (B, T, D), each held for its part of the observation time.
        steps: Steps in place of those of the network.
        record: Steps between recorded phases; 0 records those after each input in time, or the end.
    """
    if inputs.dim() == 2:
        return network.simulate(inputs, steps=steps, record=record)
    dynamics, frames = network.dynamics, inputs.shape[1]
    count = dynamics.steps if steps is None else steps
    hold, held = dynamics.observation_time / frames, count // check_frames(frames, count)
    return network.simulate(drive=inputs, hold=hold, steps_per_input=held, record=record)


def check_finite(scores: Tensor, inputs: Tensor) -> None:
    """Refuse scores (M, O) that are not finite, naming the first such example."""
    finite = scores.isfinite().all(-1)
    if bool(finite.all()):
        return
    row, count = int((~finite).nonzero()[0]), int((~finite).sum())
    raise InputError(
        f"example {row} (from 0) has no answer: a phase became infinite or NaN, its inputs reach "
        f"{float(inputs[row].abs().max()):.3g}"
        + (f"; so did {count - 1} others" if count > 1 else "")
        + "; leave it out, or use a network with smaller weights or more steps"
    )


def evaluate(
    scores: Tensor, values: Tensor, targets: Tensor | None = None, task: Task | None = None
) -> dict[str, float]:
    """The metrics of a task: top1 and top2 in percent, of classes (the default). With teacher
    targets (M, O) also agreement in percent, endpoint RMSE and endpoint correlation."""
    if task is None:
        task = Classification(tuple(map(str, range(scores.shape[-1]))))
    result = task.evaluate(scores, values)
    if targets is not None:
        result["agreement"] = float(metrics.agreement(scores, targets))
        result["endpoint_rmse"] = float(metrics.rmse(scores, targets))
        result["endpoint_correlation"] = float(metrics.correlation(scores, targets))
    return result


@torch.no_grad()
def noisy_scores(
    network: KuramotoNetwork,
    inputs: Tensor,
    *,
    temperature: float,
    replicates: int = 10,
    seed: int = 0,
    on_progress: Callable[[float], None] | None = None,
) -> Tensor:
    """Output activations under thermal noise (replicates, M, O).

    `on_progress` is called with the fraction done.
    """
    outputs = []
    for rows, chunk in chunks(inputs, max(1, CHUNK // positive_int("replicates", replicates))):
        run = network.simulate(
            chunk,
            temperature=temperature,
            seed=seed,
            restarts=replicates,
            first_sample=rows.start,
        )
        outputs.append(run.readout)
        if on_progress is not None:
            on_progress(rows.stop / len(inputs))
    return torch.cat(outputs, dim=1)


def stochastic(
    scores: Tensor, labels: Tensor, targets: Tensor | None = None
) -> dict[str, dict[str, float]]:
    """Metrics of noisy scores (replicates, M, O): `single` averages the metrics of the replicates,
    `ensemble` takes the metrics of their averaged outputs (no voting)."""
    single = [evaluate(replicate, labels, targets) for replicate in scores]
    return {
        "single": {name: math.fsum(m[name] for m in single) / len(single) for name in single[0]},
        "ensemble": evaluate(scores.mean(0), labels, targets),
    }


@dataclass(frozen=True)
class Refinement:
    """One network on two integration grids. Accuracies and disagreement in percent."""

    steps: tuple[int, int]
    top1: tuple[float, float]
    disagreement: float
    rms_output_change: float
    largest_output_change: float
    largest_phase_increment: tuple[float, float]

    @property
    def top1_change(self) -> float:
        """Top-1 on the second grid minus top-1 on the first, percentage points."""
        return self.top1[1] - self.top1[0]


@torch.no_grad()
def refine(
    network: KuramotoNetwork, inputs: Tensor, labels: Tensor, steps: tuple[int, int] = (200, 400)
) -> Refinement:
    """Rollouts with `steps[0]` and `steps[1]` Euler steps until the same t_f, compared."""
    scores, increments = [], []
    for count in steps:
        outputs, largest = [], 0.0
        for _, chunk in chunks(inputs, CHUNK // 4):
            path = network.simulate(chunk, steps=count, record=1).phases
            largest = max(largest, float(path.diff(dim=0).abs().max()))
            outputs.append(network.readout(path[-1]))
        scores.append(torch.cat(outputs))
        increments.append(largest)
    change = (scores[0].double() - scores[1].double()).abs()
    return Refinement(
        steps=steps,
        top1=(float(metrics.top_k(scores[0], labels)), float(metrics.top_k(scores[1], labels))),
        disagreement=100.0 * float((scores[0].argmax(-1) != scores[1].argmax(-1)).double().mean()),
        rms_output_change=float(change.square().mean().sqrt()),
        largest_output_change=float(change.max()),
        largest_phase_increment=(increments[0], increments[1]),
    )


def chunks(inputs: Tensor, size: int | None = None) -> Iterator[tuple[slice, Tensor]]:
    """Slices and rows of `inputs`, sized to fit a CPU cache or to fill an accelerator."""
    size = size or (CHUNK if inputs.device.type == "cpu" else 16 * CHUNK)
    for start in range(0, len(inputs), size):
        rows = slice(start, min(start + size, len(inputs)))
        yield rows, inputs[rows]
