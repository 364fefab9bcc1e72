"""Write what the playground's training must reproduce, and the digits it learns.

    python tools/playground_training.py

Writes tests/vectors/training.json: points of the plane, and the losses and the weights of small
networks after 50 steps, by the exact adjoint, with thermal noise, on an imperfect chip, and by
equilibrium propagation. Float64, by the reference kernels and the package's own rules. Also writes
playground/public/digits.safetensors, scikit-learn's digits of 8 x 8 pixels.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from entrain import kernels
from entrain.data import load_dataset
from entrain.hardware import Chip, Hardware, Levels, Mismatch, realise
from entrain.hardware.draws import ChipDraws
from entrain.physics import Dynamics, Noise, Parameters, layered_graph
from entrain.physics.noise import philox
from entrain.rules import EquilibriumPropagation, adamw
from entrain.rules.equilibrium import contrast
from entrain.tasks import Classification
from entrain.utils.files import write_atomically
from entrain.utils.tensor_file import write_tensors

ROOT = Path(__file__).parents[1]
VECTORS = ROOT / "tests" / "vectors" / "training.json"
DIGITS = ROOT / "playground" / "public" / "digits.safetensors"

HIDDEN, STEPS, BATCH, SEED, GAIN = 6, 50, 8, 5, 4.0
RATE, INPUT_SHARE, INITIAL = 0.03, 0.5, 0.3
TRAINED, TESTED = 900, 300  # digits

WAYS: dict[str, Dynamics] = {
    "gradient": Dynamics(1.0, 1.0, 40),
    "equilibrium": Dynamics(1.0, 10.0, 200),
}


class Case(NamedTuple):
    """A training; `chip` as the page has it."""

    rule: str = "gradient"
    temperature: float = 0.0
    bits: int | None = None
    mismatch: float = 0.0
    seed: int = 0

    @property
    def chip(self) -> Chip:
        """The package's."""
        levels = None if self.bits is None else Levels(bits=self.bits, range=1.0, rule="max")
        spread = Mismatch(couplings=self.mismatch) if self.mismatch else None
        return Chip(Hardware(coupling_levels=levels, mismatch=spread), self.seed)


CASES = {
    "exact": Case(),
    "noise": Case(temperature=0.1),
    "chip": Case(bits=4, mismatch=0.1, seed=3),
    "equilibrium": Case(rule="equilibrium"),
}


def main() -> None:
    torch.set_num_threads(1)  # products this small are slower on several
    text = json.dumps(vectors(), separators=(",", ":"), allow_nan=False)
    write_atomically(VECTORS, f"{text}\n".encode())
    write_tensors(DIGITS, "gallery", digits(), {})
    for path in (VECTORS, DIGITS):
        print(f"{path.name}: {path.stat().st_size:,} bytes")  # noqa: T201


def digits() -> dict[str, Tensor]:
    """Images uint8 (1200, 8, 8) from 0 to 255, labels and indices: first those to learn."""
    data = load_dataset("digits")
    parts = ((data.train, TRAINED), (data.test, TESTED))
    pixels = torch.cat([torch.as_tensor(split.features[:count]) for split, count in parts])
    labels = torch.cat([torch.as_tensor(split.labels[:count]) for split, count in parts])
    images = (pixels.double() * 255 / 16).round().to(torch.uint8).reshape(-1, 8, 8)
    return {
        "digits.images": images,
        "digits.labels": labels.to(torch.uint8),
        "digits.indices": torch.arange(len(labels)),
    }


def vectors() -> dict[str, Any]:
    """The content of tests/vectors/training.json."""
    random = np.random.default_rng(0)
    labels = np.arange(32) % 3
    angle = 2 * np.pi * labels / 3
    centres = np.stack([np.cos(angle), np.sin(angle)], 1)
    rows = np.round(2 * centres + random.normal(0, 0.8, (32, 2)), 4)
    with kernels.use("reference"):
        cases = {
            name: {"rule": case.rule, "temperature": case.temperature}
            | {"bits": case.bits, "mismatch": case.mismatch, "chip": case.seed}
            | trained(case, torch.from_numpy(rows), torch.from_numpy(labels))
            for name, case in CASES.items()
        }
    sizes = {"hidden": HIDDEN, "steps": STEPS, "batch": BATCH, "seed": SEED, "rate": RATE}
    return {**sizes, "rows": rows.tolist(), "labels": labels.tolist(), "cases": cases}


def trained(case: Case, rows: Tensor, labels: Tensor) -> dict[str, Any]:
    """Losses of the steps, and the tensors after the last."""
    tensors = adamw.with_moments(
        {name: tensor[None] for name, tensor in initial(rows.shape[1]).items()}
    )
    tensors["adam.count"] = tensors["adam.count"].double()
    losses = []
    for step in range(STEPS):
        epoch, place = divmod(step, len(labels) // BATCH)
        batch = order(len(labels), epoch)[place * BATCH : (place + 1) * BATCH]
        raw = {name: tensors[f"raw.{name}"] for name in ("input_weights", "biases", "couplings")}
        loss, gradients = loss_and_gradient(case, raw, rows[batch], labels[batch], step)
        losses.append(loss)
        update(tensors, gradients)
    ends = {name: tensors[f"raw.{name}"].flatten().tolist() for name in gradients}
    return {"losses": losses[:: STEPS // 5], **ends}


def initial(inputs: int) -> dict[str, Tensor]:
    """Normal variates of the seed, as chips have them."""
    n = HIDDEN + 3
    draws = ChipDraws([SEED], torch.zeros(1, dtype=torch.float64))
    upper = INITIAL * draws.normal("lrnj", n, n)[0].triu(1)
    weights = draws.normal("lrnw", HIDDEN, inputs)[0]
    return {
        "input_weights": INITIAL / math.sqrt(inputs) * weights,
        "biases": torch.zeros(n, dtype=torch.float64),
        "couplings": (upper + upper.T) * layered_graph(HIDDEN, 3),
    }


def order(count: int, epoch: int) -> Tensor:
    """Order of the examples in an epoch: by the first word of Philox at (index, epoch)."""
    index, zero = torch.arange(count), torch.zeros(count, dtype=torch.int64)
    key = (SEED, int.from_bytes(b"lrno", "big"))
    return philox((index, zero + epoch, zero, zero), key)[0].argsort()


def loss_and_gradient(
    case: Case, raw: dict[str, Tensor], rows: Tensor, labels: Tensor, step: int
) -> tuple[float, dict[str, Tensor]]:
    """Mean loss of a batch, and the rule's gradient by name."""
    leaves = {name: tensor.clone().requires_grad_() for name, tensor in raw.items()}
    graph, dynamics = layered_graph(HIDDEN, 3), WAYS[case.rule]
    realised = realise(Parameters(**leaves, graph=graph), case.chip)
    model = realised.phase_model(rows[None])
    fixed = model.map(Tensor.detach)
    task, gain = Classification(("a", "b", "c")), torch.full((1, 1, 1), GAIN, dtype=rows.dtype)
    target = torch.nn.functional.one_hot(labels, 3).to(rows)[None]
    if case.rule == "equilibrium":
        phases = kernels.rollout(fixed, dynamics)
        rule = EquilibriumPropagation(beta=0.1, nudged_steps=dynamics.steps // 2)
        loss, _ = task.loss(phases[..., HIDDEN:].cos(), target, gain)

        def relax(model: Any, part: Dynamics, relaxation: int) -> Tensor:
            return kernels.rollout(model, part)

        gradient = contrast(fixed, phases, target, gain, dynamics, rule, relax, task)
    else:
        noise = None
        if case.temperature:
            samples = step * BATCH + torch.arange(BATCH)
            noise = Noise(SEED, case.temperature, torch.zeros(1, dtype=torch.int64), samples)
        phases, pullback = kernels.rollout_with_pullback(fixed, dynamics, noise=noise)
        ends = phases if noise is None else phases[:, 0]
        loss, slope = task.loss(ends[..., HIDDEN:].cos(), target, gain)
        by_phases = torch.zeros_like(ends)
        by_phases[..., HIDDEN:] = -slope * ends[..., HIDDEN:].sin()
        gradient = pullback(by_phases if noise is None else by_phases[:, None])
    outputs, slopes = model.tensors(), gradient.tensors()
    names = [name for name in outputs if outputs[name].requires_grad]
    found = torch.autograd.grad(
        [outputs[name] for name in names],
        list(leaves.values()),
        [slopes[name].reshape(outputs[name].shape) / len(labels) for name in names],
    )
    by_leaf = dict(zip(leaves, found, strict=True))
    both = by_leaf["couplings"] + by_leaf["couplings"].mT
    return float(loss.sum() / len(labels)), by_leaf | {"couplings": graph * both}


def update(tensors: dict[str, Tensor], gradients: dict[str, Tensor]) -> None:
    """One step of the package's Adam, in place."""
    clip = adamw.clip_factor(gradients, 1.0)
    tensors["adam.count"] += 1.0
    biases = adamw.moment_biases(tensors["adam.count"])
    for name, gradient in gradients.items():
        raw, first, second = (tensors[f"{kind}.{name}"] for kind in ("raw", "first", "second"))
        clipped = gradient * adamw.per_tensor(clip, gradient)
        rate = RATE * (INPUT_SHARE if name == "input_weights" else 1.0)
        raw.sub_(rate * adamw.adam_direction(clipped, first, second, biases))


if __name__ == "__main__":
    main()
