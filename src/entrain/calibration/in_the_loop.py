"""Training with the forward pass on a device, and the gradient through its calibrated twin.

The device gives the phases; the twin, which is only nearly the device, gives the direction in which
its numbers should move. Errors of the twin bend the gradient, and do not move its zero: where the
device's own loss is least the gradient at its phases vanishes.
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

_NAMES = ("input_weights", "biases", "couplings")
_GAIN = 6.0  # of the softmax, where the model has none


class Device(Protocol):
    """Something that runs oscillators: a chip on a bench, a circuit in a simulator."""

    def __call__(self, couplings: np.ndarray, fields: np.ndarray) -> np.ndarray:
        """The phases (B, N) at the observation time, in rad, of a device that is programmed with
        `couplings` (N, N), under each of the fields (B, N)."""


def train_in_the_loop(
    model: Model,
    device: Device,
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
    """`model` after `steps` of Adam on the device's own cross-entropy.

    `hardware` is the twin, that of a calibrated model unless told. Each step takes `batch_size` of
    the training examples (features as `model.inputs` takes them). `on_step` is told the step, the
    loss and the share of right answers of its batch, as the device gave them.
    """
    twin = model.hardware if hardware is None else hardware
    if twin is None:
        raise InputError("the model has no twin of the device: calibrate it, or give hardware")
    for name, count in (("steps", steps), ("batch_size", batch_size)):
        positive_int(name, count)
    rates = {
        name: positive_float("rate", input_rate if name == "input_weights" else coupling_rate)
        for name in _NAMES
    }
    order = np.random.default_rng(seed_number("seed", seed))
    inputs = model.inputs(features, unseen=False)
    answers = torch.from_numpy(np.asarray(labels)).long()
    parameters = model.batched_parameters()
    used = (parameters.couplings != 0) & parameters.graph
    leaves = {name: getattr(parameters, name).clone().requires_grad_() for name in _NAMES}
    groups = [{"params": [leaves[name]], "lr": rate} for name, rate in rates.items()]
    adam = torch.optim.Adam(groups)
    for step in range(steps):
        rows = torch.from_numpy(order.choice(len(inputs), min(batch_size, len(inputs)), False))
        loss, right = _step(
            replace(parameters, **leaves), twin, model, device, inputs[rows], answers[rows]
        )
        slope = leaves["couplings"].grad
        assert slope is not None
        leaves["couplings"].grad = (slope + slope.mT) * used
        adam.step()
        adam.zero_grad()
        if on_step is not None:
            on_step(step, loss, right)
    trained = replace(parameters, **{name: leaf.detach() for name, leaf in leaves.items()}).run(0)
    network = KuramotoNetwork.from_parameters(trained, model.network.dynamics)
    return replace(model, network=network, hardware=twin, reject=None)


def _step(
    parameters: Parameters,
    twin: Hardware,
    model: Model,
    device: Device,
    inputs: Tensor,
    labels: Tensor,
) -> tuple[float, float]:
    """Adds the gradient to the leaves; the batch's loss and share of right answers."""
    dynamics, outputs = model.network.dynamics, model.network.outputs
    draws = ChipDraws([0], parameters.biases.detach())
    told = realise(parameters, replace(twin, measured=None), draws)
    given = told.phase_model(inputs)
    phases = device(
        given.couplings[0].detach().double().numpy(), given.fields[0].detach().double().numpy()
    )
    ends = torch.from_numpy(np.asarray(phases)).to(inputs)
    if ends.shape != given.fields.shape[1:] or not bool(ends.isfinite().all()):
        raise InputError(
            f"the device gave phases of shape {tuple(ends.shape)}, or some that are no numbers; "
            f"expected {tuple(given.fields.shape[1:])}"
        )
    acting = realise(parameters, twin, draws).phase_model(inputs)
    _, pullback = kernels.rollout_with_pullback(acting.map(Tensor.detach), dynamics)
    read = ends[:, -outputs:].requires_grad_()
    scores = read.cos()
    loss = torch.nn.functional.cross_entropy((model.gain or _GAIN) * scores, labels)
    (by_read,) = torch.autograd.grad(loss, read)
    by_phases = torch.zeros_like(ends)
    by_phases[:, -outputs:] = by_read
    slopes = pullback(by_phases[None]).tensors()
    tensors = {name: tensor for name, tensor in acting.tensors().items() if tensor.requires_grad}
    torch.autograd.backward(
        list(tensors.values()), [slopes[n].reshape(t.shape) for n, t in tensors.items()]
    )
    return float(loss.detach()), float((scores.argmax(-1) == labels).float().mean())
