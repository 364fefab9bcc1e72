"""Metrics of the paper: errors along paths, paired effects over runs, near misses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # submodules load at first use
import torch
from torch import Tensor

from entrain.evaluation.measure import CHUNK, chunks
from entrain.models.network import KuramotoNetwork
from entrain.models.teacher import layer_sizes
from entrain.physics import Dynamics, Guide
from entrain.utils.errors import InputError, positive_float

BOOTSTRAP_RESAMPLES = 10_000  # the paper does not state its number


@dataclass(frozen=True)
class PairedEffect:
    """Differences a - b of matched runs: mean, sample SD, 95 % intervals and sign counts."""

    mean: float
    sd: float
    t_interval: tuple[float, float]
    bootstrap_interval: tuple[float, float]
    positive: int
    zero: int
    negative: int


@torch.no_grad()
def trajectory_errors(
    network: KuramotoNetwork, inputs: Tensor, coefficients: Tensor
) -> dict[str, Tensor]:
    r"""Time-resolved RMSE of cos(theta) against the teacher path: (K + 1,) for each node set.

        e(t_k)^2 = 1 / (M |I|) sum_{n, i in I} ( cos theta_student(t_k) - cos theta_teacher(t_k) )^2

    `coefficients` (M, N) are the artanh targets. The trajectory RMSE of a set is the root mean
    square of its e(t_k) over all K + 1 times (`trajectory_rmse`).
    """
    steps, hidden = network.dynamics.steps, network.hidden
    time = torch.arange(steps + 1, dtype=torch.float64, device=inputs.device) / steps
    squares = torch.zeros(steps + 1, network.oscillators, dtype=torch.float64, device=inputs.device)
    for rows, chunk in chunks(inputs, CHUNK // 4):
        student = network.simulate(chunk, record=1).phases.cos()
        teacher = Guide.at(coefficients[rows], time, steps).cos.movedim(-2, 0)
        squares += (student - teacher).square().sum(1)
    squares /= len(inputs)
    return {
        "hidden": squares[:, :hidden].mean(1).sqrt(),
        "output": squares[:, hidden:].mean(1).sqrt(),
        "all": squares.mean(1).sqrt(),
    }


def trajectory_rmse(errors: Tensor) -> float:
    """The root mean square over time of a time-resolved error (K + 1,)."""
    return float(errors.square().mean().sqrt())


def paired_effect(
    a: Sequence[float], b: Sequence[float], *, level: float = 0.95, seed: int = 0
) -> PairedEffect:
    """The effect of a over b, run by run: mean(d) -+ t_{R-1} sd(d) / sqrt(R), d = a - b.

    The bootstrap interval has percentiles of the mean over resampled runs.
    """
    if len(a) != len(b) or len(a) < 2:
        raise InputError(f"paired runs must match, at least two; got {len(a)} and {len(b)}")
    d = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    mean, sd = float(d.mean()), float(d.std(ddof=1))
    half = float(scipy.stats.t.ppf(0.5 + level / 2, len(d) - 1)) * sd / math.sqrt(len(d))
    if sd == 0.0:  # scipy would warn and return NaN
        bootstrap = (mean, mean)
    else:
        interval = scipy.stats.bootstrap(
            (d,),
            np.mean,
            n_resamples=BOOTSTRAP_RESAMPLES,
            confidence_level=level,
            method="percentile",
            rng=np.random.default_rng(seed),
        ).confidence_interval
        bootstrap = (float(interval.low), float(interval.high))
    return PairedEffect(
        mean=mean,
        sd=sd,
        t_interval=(mean - half, mean + half),
        bootstrap_interval=bootstrap,
        positive=int((d > 0).sum()),
        zero=int((d == 0).sum()),
        negative=int((d < 0).sum()),
    )


def near_misses(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Indices of misclassified examples whose true class comes second, one per true class.

    Within each class it is the example whose lead of the predicted over the true class is nearest
    to the class's median.
    """
    order = np.argsort(-scores, axis=1, kind="stable")
    rows = np.arange(len(labels))
    lead = scores[rows, order[:, 0]] - scores[rows, labels]
    second = order[:, 1] == labels
    selected = []
    for label in np.unique(labels):
        members = np.flatnonzero(second & (labels == label))
        if len(members):
            distance = np.abs(lead[members] - np.median(lead[members]))
            selected.append(members[distance.argmin()])
    return np.array(selected, dtype=np.int64)


def teacher_parameter_count(inputs: int, widths: Sequence[int], outputs: int) -> int:
    """Number of weights and biases of an inputs-widths-outputs network."""
    return sum((fan_in + 1) * fan_out for fan_in, fan_out in layer_sizes(inputs, widths, outputs))


def negative_log_likelihood(path_loss: Tensor, dynamics: Dynamics, temperature: float) -> Tensor:
    r"""Local Euler-Maruyama NLL of the teacher path, per example, time interval and oscillator.

    NLL = L_path / (4 mu kT dt) + 1/2 ln(4 pi mu kT dt), at temperature kT > 0.
    """
    positive_float("temperature", temperature)
    variance = 2.0 * dynamics.mobility * temperature * dynamics.time_step
    return path_loss / (2.0 * variance) + 0.5 * math.log(2.0 * math.pi * variance)
