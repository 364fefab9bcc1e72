"""The energy along autonomous rollouts of the main networks: a gradient flow never gains any."""

from __future__ import annotations

import copy

import torch
from torch import Tensor

from entrain.evaluation.measure import chunks
from entrain.models.network import KuramotoNetwork
from entrain_paper.experiments import shared_stages
from entrain_paper.experiments.comparison import Claim, Comparison
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values
from entrain_paper.experiments.setting import BOTH

ROUNDING = 1e-6  # of the total descent; float32 phases cannot resolve a smaller rise
_CHUNK = 128  # images at a time: all steps of all oscillators in float64


@torch.no_grad()
def descent(network: KuramotoNetwork, inputs: Tensor) -> Values:
    """Steps of the rollouts of inputs (M, D), steps that gain energy, and the largest gain.

    E(theta(t_k)) is evaluated in float64 at every step of the float32 rollout. A step gains energy
    if E rises by more than `ROUNDING` of the descent of its rollout. Gains are relative to that
    descent.
    """
    exact = copy.deepcopy(network).double()
    steps = rising = 0
    largest, drops = 0.0, list[Tensor]()
    for _, chunk in chunks(inputs, _CHUNK):
        phases = network.simulate(chunk, record=1).phases.double()
        energies = torch.stack([exact.energy(at, chunk.double()) for at in phases])
        total = energies[0] - energies[-1]
        gains = energies.diff(dim=0) / total.clamp_min(torch.finfo(torch.float64).tiny)
        steps += gains.numel()
        rising += int((gains > ROUNDING).sum())
        largest = max(largest, float(gains.max()))
        drops.append(total)
    return {
        "steps": steps,
        "rising": rising,
        "largest_gain": largest,
        "least_descent": float(torch.cat(drops).min()),
    }


def measure(context: ExperimentContext) -> Values:
    """Descent of every run of both methods, on all test images."""
    rows: list[Values] = []
    for name in BOTH:
        inputs, _ = context.examples(name)
        for method, stage in shared_stages.main_students(context.setting, name).items():
            runs = context.networks(stage)[: context.setting.few_runs]
            rows.append(
                {
                    "dataset": name,
                    "method": method,
                    "images": len(inputs),
                    "runs": [descent(network, inputs) for network in runs],
                }
            )
            context.on_progress(len(rows) / (2 * len(BOTH)))
    return {"rows": rows}


def compare(values: Values) -> Comparison:
    """The sentence that the deterministic network descends in energy."""
    claims = []
    for row in values["rows"]:
        steps, rising = (sum(run[key] for run in row["runs"]) for key in ("steps", "rising"))
        claims.append(
            Claim(
                f"{row['dataset']}: {row['method']} loses energy in every step of every rollout",
                rising == 0,
                f"{rising:,} of {steps:,} steps gain energy",
            )
        )
    return Comparison((), (), (), tuple(claims), notes=(_NOTE,))


_NOTE = (
    f"A step gains energy if it does so by more than {ROUNDING:.6f} of its rollout's descent: "
    "float32 phases cannot resolve less."
)


EXPERIMENT = Experiment(
    "energy-descent",
    "Thermodynamic Kuramoto Network",
    "kuratonet",
    shared_stages.main_stages,
    measure,
    compare,
)
