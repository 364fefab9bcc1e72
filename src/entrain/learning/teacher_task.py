"""Training a teacher: several initialisations side by side."""

from __future__ import annotations

import functools
import math

import torch
from torch import Tensor
from torch.nn import functional

from entrain.evaluation import metrics
from entrain.learning.graphs import RepeatedStep
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
        self._total = self._inputs.new_zeros(spec.initialisations)
        self._repeated: tuple[Parameters, RepeatedStep] | None = None

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
        count, lanes = len(self._labels), tuple(range(self.spec.initialisations))
        order = shuffled("teacher", self._seed, lanes, epoch, count)
        if self._repeated is None or self._repeated[0] is not parameters:
            changed = [*parameters.values(), self._total]
            step = RepeatedStep(functools.partial(self._step, parameters), changed)
            self._repeated = (parameters, step)
        self._total.zero_()
        for rows in torch.split(order.to(self._total.device), self.spec.batch_size, dim=1):
            self._repeated[1](rows)
        return {"loss": self._total / count}

    def _step(self, parameters: Parameters, rows: Tensor) -> None:
        """One SGD step on the examples `rows` (R, B); adds B times the loss to the total."""
        leaves = {name: tensor.detach().requires_grad_() for name, tensor in parameters.items()}
        loss = _cross_entropy(_logits(leaves, self._inputs[rows]), self._labels[rows])
        gradients = torch.autograd.grad(loss.sum(), list(leaves.values()))
        for tensor, gradient in zip(parameters.values(), gradients, strict=True):
            tensor.mul_(1.0 - self.spec.learning_rate * self.spec.weight_decay)
            tensor.sub_(gradient, alpha=self.spec.learning_rate)
        self._total += loss.detach() * rows.shape[1]

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
