"""Training a teacher: several initialisations side by side."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from entrain.evaluation import metrics
from entrain.learning.protocols import TeacherSpec
from entrain.learning.trainer import Parameters, shuffled
from entrain.teacher import Teacher, layer_sizes


class TeacherTask:
    """SGD on the mean cross-entropy of the logits, with weight decay on every parameter.

    Parameters: `weight0` (R, out, in), `bias0` (R, out), ... for R initialisations, each drawn
    uniformly from +-1 / sqrt(fan in).
    """

    def __init__(
        self,
        spec: TeacherSpec,
        train: tuple[Tensor, Tensor],
        validation: tuple[Tensor, Tensor],
        outputs: int,
        seed: int,
    ) -> None:
        """`train` and `validation` are inputs (M, D) and labels (M,)."""
        self.spec = spec
        self.epochs = spec.epochs
        self._inputs, self._labels = train
        self._validation = validation
        self._sizes = layer_sizes(self._inputs.shape[1], spec.widths, outputs)
        self._seed = seed

    def initial(self) -> Parameters:
        parameters: Parameters = {}
        for layer, (fan_in, fan_out) in enumerate(self._sizes):
            bound = 1.0 / math.sqrt(fan_in)
            for name, shape in (("weight", (fan_out, fan_in)), ("bias", (fan_out,))):
                drawn = []
                for lane in range(self.spec.initialisations):
                    # Drawn on the CPU, so that every device starts from the same numbers.
                    generator = torch.Generator().manual_seed(
                        (self._seed * 1000 + lane) * 1000 + 2 * layer + (name == "bias")
                    )
                    drawn.append((2 * torch.rand(shape, generator=generator) - 1) * bound)
                parameters[f"{name}{layer}"] = torch.stack(drawn).to(self._inputs.device)
        return parameters

    def run_epoch(self, parameters: Parameters, epoch: int) -> dict[str, Tensor]:
        spec, count = self.spec, len(self._labels)
        lanes = tuple(range(spec.initialisations))
        order = shuffled("teacher", self._seed, lanes, epoch, count).to(self._inputs.device)
        leaves = {name: tensor.requires_grad_() for name, tensor in parameters.items()}
        total = torch.zeros(len(lanes), device=self._inputs.device)
        for rows in torch.split(order, spec.batch_size, dim=1):
            loss = _cross_entropy(_logits(leaves, self._inputs[rows]), self._labels[rows])
            gradients = torch.autograd.grad(loss.sum(), list(leaves.values()))
            with torch.no_grad():
                for tensor, gradient in zip(leaves.values(), gradients, strict=True):
                    tensor -= spec.learning_rate * (gradient + spec.weight_decay * tensor)
                total += loss * rows.shape[1]
        for tensor in parameters.values():
            tensor.requires_grad_(False)
        return {"loss": total / count}

    def validate(self, parameters: Parameters) -> dict[str, Tensor]:
        inputs, labels = self._validation
        lanes = len(parameters["bias0"])
        logits = _logits(parameters, inputs.expand(lanes, -1, -1))
        return {
            "top1": metrics.top_k(logits, labels),
            "cross_entropy": _cross_entropy(logits, labels.expand(lanes, -1)).double(),
        }

    def merit(self, metrics: dict[str, Tensor]) -> Tensor:
        entropy = -metrics["cross_entropy"].nan_to_num(math.inf, math.inf)
        if self.spec.selection == "cross-entropy":
            return entropy[:, None]
        return torch.stack([metrics["top1"], entropy], dim=1)


def teacher_of(parameters: Parameters, lane: int) -> Teacher:
    """The frozen teacher of one initialisation."""
    layers = range(len(parameters) // 2)
    return Teacher(
        weights=tuple(parameters[f"weight{layer}"][lane].cpu().clone() for layer in layers),
        biases=tuple(parameters[f"bias{layer}"][lane].cpu().clone() for layer in layers),
    )


def _logits(parameters: Parameters, inputs: Tensor) -> Tensor:
    """Logits (R, B, O) of inputs (R, B, D)."""
    state, last = inputs, len(parameters) // 2 - 1
    for layer in range(last + 1):
        weight, bias = parameters[f"weight{layer}"], parameters[f"bias{layer}"]
        state = torch.baddbmm(bias[:, None, :], state, weight.transpose(1, 2))
        if layer < last:
            state = state.tanh()
    return state


def _cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy of each lane: logits (R, B, O), labels (R, B) -> (R,)."""
    return functional.cross_entropy(logits.movedim(-1, 1), labels, reduction="none").mean(1)
