"""Couplings learnt by gradients through recall."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from entrain.memory.patterns import complex_overlaps
from entrain.memory.recall import start_phases
from entrain.models.oscillators import Oscillators
from entrain.rules.interface import generators
from entrain.utils.errors import check_ranges, seed_number

Simulate = Callable[[Oscillators, Tensor, float, int], Tensor]


@dataclass(frozen=True)
class RecallTraining:
    """Settings of the rule "trained".

    Every iteration corrupts some of the patterns, recalls for a short time, and follows the
    gradient of the mean of 1 - overlap by Adam, with a cosine schedule. The couplings start from
    the pseudo-inverse if there are fewer patterns than oscillators, else from Hebb's rule. They
    stay symmetric, and in the unit of a mean local field of 1.

    Args:
        corruption: The largest share of corrupted spins or phases; the share is uniform from 0.
        iterations: Number of iterations.
        batch: Cues of an iteration.
        learning_rate: Of Adam, falling to zero.
        time: Time of a recall.
        steps: Euler steps of a recall.
        seed: Seed of cues and starts.
    """

    corruption: float = 0.1
    iterations: int = 200
    batch: int = 128
    learning_rate: float = 3e-3
    time: float = 6.0
    steps: int = 30
    seed: int = 0

    def __post_init__(self) -> None:
        check_ranges(
            self,
            whole=("iterations", "batch", "steps"),
            positive=("learning_rate", "time"),
            shares=("corruption",),
        )
        seed_number("seed", self.seed)


def train_couplings(
    oscillators: Oscillators,
    patterns: Tensor,
    settings: RecallTraining,
    *,
    phases: bool,
    spread: float,
    simulate: Simulate,
) -> None:
    """Train the couplings of oscillators, in place, to recall patterns.

    Args:
        oscillators: Oscillators, whose couplings are parameters.
        patterns: Spins or phases (P, N).
        settings: Settings.
        phases: True for phases.
        spread: See `Memory.recall`.
        simulate: Phases (B, N) at the end, of oscillators, starts, a time and steps.
    """
    optimiser = torch.optim.Adam(oscillators.parameters(), settings.learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, settings.iterations)
    cpu = torch.device("cpu")
    weights = _field_weights(oscillators, patterns, phases)
    for iteration in range(settings.iterations):
        generator = generators("memory training", settings.seed, (0,), iteration, cpu)[0]
        targets = patterns[_sample(len(patterns), settings.batch, generator)]
        starts = _starts(targets, settings.corruption, phases, spread, generator)
        final = simulate(oscillators, starts, settings.time, settings.steps)
        loss = 1 - _matches(final, targets, phases).mean()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        schedule.step()
        with torch.no_grad():
            oscillators.coupler_strengths /= oscillators.coupler_strengths @ weights


def _field_weights(oscillators: Oscillators, patterns: Tensor, phases: bool) -> Tensor:
    """Weights (E,) of the couplers in the mean local field of stored patterns.

    The field is 1/(P N) sum_mu sum_ij J_ij cos(xi_i - xi_j + A_ij).
    """
    angles = patterns if phases else torch.where(patterns < 0, math.pi, 0.0)
    edges, lags = oscillators.graph_edges, oscillators.phase_model().terms.get("edge_lag", 0.0)
    differences = angles[:, edges.rows] - angles[:, edges.columns]
    if isinstance(lags, Tensor):
        differences = differences + lags[edges.rows, edges.columns]
    weights = differences.new_zeros(oscillators.couplers)
    weights.index_add_(0, edges.pairs, differences.cos().mean(0) / patterns.shape[1])
    return weights.to(oscillators.coupler_strengths)


def _sample(patterns: int, batch: int, generator: torch.Generator) -> Tensor:
    """Indices (batch,), every pattern once before any is taken again."""
    rounds = -(-batch // patterns)
    orders = [torch.randperm(patterns, generator=generator) for _ in range(rounds)]
    return torch.cat(orders)[:batch]


def _starts(
    targets: Tensor, corruption: float, phases: bool, spread: float, generator: torch.Generator
) -> Tensor:
    shares = corruption * torch.rand(len(targets), 1, generator=generator)
    wrong = torch.rand(targets.shape, generator=generator) < shares
    if phases:
        uniform = torch.rand(targets.shape, generator=generator, dtype=targets.dtype)
        return torch.where(wrong, (2 * uniform - 1) * math.pi, targets)
    seed = int(torch.randint(2**32, (), generator=generator))
    return start_phases(torch.where(wrong, -targets, targets), spread, seed)


def _matches(final: Tensor, targets: Tensor, phases: bool) -> Tensor:
    """Overlap (B,) of each state with its target; of spins with cos(theta)."""
    if phases:
        return complex_overlaps(final, targets).diagonal().abs()
    return (final.cos() * targets.to(final)).mean(1)
