"""Training with the forward pass on a physical chip, and the gradient through its calibration.

The physical chip gives the phases; the calibrated chip, which approximates it, gives the gradient.
Errors of the calibration bend the gradient and do not move its zero: at a minimum of the physical
chip's loss the gradient at its phases vanishes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from entrain import kernels
from entrain.hardware import Hardware, realise
from entrain.hardware.draws import ChipDraws
from entrain.models.model import Model
from entrain.models.network import KuramotoNetwork
from entrain.physics import Parameters
from entrain.utils.errors import InputError, positive_float, positive_int, seed_number

_GAIN = 6.0  # of the softmax, if the model has none


class PhysicalChip(Protocol):
    """A function that runs oscillators: a chip on a bench, or a circuit in a simulator."""

    def __call__(self, couplings: np.ndarray, fields: np.ndarray) -> np.ndarray:
        """The phases (B, N) at the observation time, in rad, of the chip programmed with
        `couplings` (N, N), under each of the fields (B, N)."""


def train_in_the_loop(
    model: Model,
    chip: PhysicalChip,
    features: np.ndarray,
    labels: np.ndarray,
    *,
    hardware: Hardware | None = None,
    steps: int = 50,
    batch_size: int = 32,
    input_rate: float = 1e-3,
    coupling_rate: float = 1e-2,
    seed: int = 0,
    on_step: Callable[[int, float, float], None] | None = None,
) -> Model:
    """A model trained by Adam on the cross-entropy of a physical chip.

    Args:
        model: The model to continue from, as `Calibration.model` returns it.
        chip: Called with couplings (N, N) and fields (B, N); returns phases (B, N) in rad.
        features: Training examples as `model.inputs` takes them.
        labels: Of the training examples.
        hardware: The calibrated chip. Default: `model.hardware`.
        steps: Optimiser steps, each with one call of `chip`.
        batch_size: Examples per step.
        input_rate: Learning rate of the input weights.
        coupling_rate: Learning rate of couplings and biases.
        seed: Of the order of the examples.
        on_step: Called with the step, and the loss and accuracy of its batch on the chip.
    """
    calibrated = model.hardware if hardware is None else hardware
    if calibrated is None:
        raise InputError("the model has no calibrated chip: calibrate it, or pass hardware")
    positive_int("steps", steps)
    positive_int("batch_size", batch_size)
    rates = {"input_weights": input_rate, "biases": coupling_rate, "couplings": coupling_rate}
    generator = np.random.default_rng(seed_number("seed", seed))
    inputs = model.inputs(features, unseen=False)
    classes = torch.from_numpy(np.asarray(labels)).long()
    parameters = model.batched_parameters()
    used = (parameters.couplings != 0) & parameters.graph
    leaves = {name: getattr(parameters, name).clone().requires_grad_() for name in rates}
    adam = torch.optim.Adam(
        {"params": [leaves[name]], "lr": positive_float("rate", rate)}
        for name, rate in rates.items()
    )
    for step in range(steps):
        rows = torch.from_numpy(generator.choice(len(inputs), min(batch_size, len(inputs)), False))
        loss, accuracy = _backward(
            replace(parameters, **leaves), calibrated, model, chip, inputs[rows], classes[rows]
        )
        gradient = leaves["couplings"].grad
        assert gradient is not None
        leaves["couplings"].grad = (gradient + gradient.mT) * used
        adam.step()
        adam.zero_grad()
        if on_step is not None:
            on_step(step, loss, accuracy)
    trained = replace(parameters, **{name: leaf.detach() for name, leaf in leaves.items()}).run(0)
    network = KuramotoNetwork.from_parameters(trained, model.network.dynamics)
    return replace(model, network=network, hardware=calibrated, reject=None)


def _backward(
    parameters: Parameters,
    calibrated: Hardware,
    model: Model,
    chip: PhysicalChip,
    inputs: Tensor,
    labels: Tensor,
) -> tuple[float, float]:
    """Loss and accuracy of a batch; its gradient is added to the leaves."""
    dynamics, outputs = model.network.dynamics, model.network.outputs
    draws = ChipDraws([0], parameters.biases.detach())
    programmed = realise(parameters, replace(calibrated, measured=None), draws).phase_model(inputs)
    couplings, fields = (
        tensor[0].detach().double().numpy() for tensor in (programmed.matrix, programmed.fields)
    )
    phases = torch.from_numpy(np.asarray(chip(couplings, fields))).to(inputs)
    if phases.shape != fields.shape or not bool(phases.isfinite().all()):
        raise InputError(
            f"the chip returned phases of shape {tuple(phases.shape)}, or not finite; expected "
            f"finite phases of shape {fields.shape}"
        )
    phase_model = realise(parameters, calibrated, draws).phase_model(inputs)
    _, pullback = kernels.rollout_with_pullback(phase_model.map(Tensor.detach), dynamics)
    scores = phases.requires_grad_()[:, -outputs:].cos()
    loss = torch.nn.functional.cross_entropy((model.gain or _GAIN) * scores, labels)
    (by_phases,) = torch.autograd.grad(loss, phases)
    gradients = pullback(by_phases[None]).tensors()
    tensors = {n: tensor for n, tensor in phase_model.tensors().items() if tensor.requires_grad}
    torch.autograd.backward(
        list(tensors.values()), [gradients[n].reshape(t.shape) for n, t in tensors.items()]
    )
    return float(loss.detach()), float((scores.argmax(-1) == labels).float().mean())
