"""Cosines of EP's gradients to the exact ones at rest, on 64 images; writes
results/ep-gradients.json (two minutes on two cores)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

import entrain
from entrain.physics import Dynamics, NetworkSpec
from entrain.rules import Direct, EquilibriumPropagation, GradientRule
from entrain.rules.equilibrium import EquilibriumTraining
from entrain.rules.training_data import Examples

RESULT = Path(__file__).parents[1] / "results" / "ep-gradients.json"
PARTS = ("input_weights", "couplings")
TASK = entrain.Classification(tuple("0123456789"))
SETTINGS = {  # time, steps, beta, nudged steps
    "up to 0.2": (15.0, 60, 0.3, 15),
    "default": (60.0, 600, 0.1, 200),
    "fine": (60.0, 12000, 0.1, 4000),
}


def cosines(
    tensors: dict[str, Tensor], examples: Examples, rest: Dynamics
) -> dict[str, list[float]]:
    """Cosines (input weights, couplings) by settings."""
    hidden = tensors["input_weights"].shape[1]

    def gradient(rule: GradientRule, dynamics: Dynamics) -> dict[str, Tensor]:
        ours = rule.training_class(
            rule, examples, examples, NetworkSpec(hidden, dynamics), TASK, seed=0
        )
        networks = {name: tensor.clone() for name, tensor in tensors.items()}
        return ours.gradient(networks, dynamics, torch.arange(64)[None])

    exact = gradient(Direct(gain=4.0), rest)
    rows = {}
    for name, (time, steps, beta, nudged) in SETTINGS.items():
        rule = EquilibriumPropagation(beta=beta, nudged_steps=nudged)
        estimate = gradient(rule, Dynamics(1.0, time, steps))
        rows[name] = [
            float(torch.cosine_similarity(estimate[p].flatten(), exact[p].flatten(), dim=0))
            for p in PARTS
        ]
    return rows


def main() -> None:
    """Measure networks that EP trains on digits, and shipped networks on MNIST."""
    result = {}
    digits = entrain.load_dataset("digits")
    inputs = digits.preprocessing(digits.train.features, unseen=False)
    examples = Examples(torch.from_numpy(digits.train.labels), inputs)
    rule = replace(EquilibriumPropagation(), batch_size=32, epochs=4)
    training = EquilibriumTraining(
        rule, examples, examples, NetworkSpec(64, rule.dynamics), TASK, seed=0
    )
    tensors = training.initial()
    for epochs in (0, 2):
        for epoch in range(max(0, epochs - 2), epochs):
            training.run_epoch(tensors, epoch)
        networks = {name: tensors[name].clone() for name in training.network.names}
        result[f"digits, {epochs} epochs of EP"] = cosines(
            networks, examples, Dynamics(1.0, 480.0, 9600)
        )
    split = entrain.load_test_split("mnist")
    for name in ("mnist-74", "mnist-74-direct", "mnist-48-chip"):
        model = entrain.load(name)
        parameters = model.batched_parameters()
        networks = {part: getattr(parameters, part) for part in (*PARTS, "biases")}
        examples = Examples(torch.from_numpy(split.labels[:64]), model.inputs(split.features[:64]))
        result[name] = cosines(networks, examples, Dynamics(1.0, 60.0, 12000))
    values = {"settings": SETTINGS, "parts": PARTS, "cosines": result}
    RESULT.write_text(json.dumps(values, indent=1) + "\n")


if __name__ == "__main__":
    main()
