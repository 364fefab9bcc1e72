"""Scores and metrics of a network on many examples, computed in chunks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from entrain.evaluation import metrics
from entrain.models.network import KuramotoNetwork
from entrain.utils.errors import InputError, positive_int

CHUNK = 1024  # examples at a time; affects results by rounding only


@torch.no_grad()
def scores_of(network: KuramotoNetwork, inputs: Tensor, *, steps: int | None = None) -> Tensor:
    """Output activations cos(theta_out(t_f)) of inputs (M, D): (M, O)."""
    return torch.cat([network.simulate(chunk, steps=steps).readout for _, chunk in chunks(inputs)])


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


def evaluate(scores: Tensor, labels: Tensor, targets: Tensor | None = None) -> dict[str, float]:
    """top1 and top2 in percent and, with teacher targets (M, O), agreement in percent, endpoint
    RMSE and endpoint correlation."""
    result = {
        "top1": float(metrics.top_k(scores, labels)),
        "top2": float(metrics.top_k(scores, labels, 2)),
    }
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
