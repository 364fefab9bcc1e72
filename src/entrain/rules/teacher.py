"""The neural teacher: SGD on the cross-entropy, several initialisations side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor
from torch.nn import functional

from entrain.data import Dataset
from entrain.models.teacher import Teacher, layer_sizes
from entrain.physics import NetworkSpec
from entrain.rules.interface import Assignment, Rule, Tensors, shuffled
from entrain.rules.repeated_step import RepeatedSteps
from entrain.rules.training_data import Examples
from entrain.tasks import metrics
from entrain.utils.errors import InputError, check_ranges, one_of, positive_int, store_plain_numbers

TeacherSelection = Literal["top1", "cross-entropy"]


@dataclass(frozen=True)
class TeacherSpec(Rule):
    """A teacher network of tanh layers, trained by SGD on the cross-entropy of its logits.

    Args:
        widths: Units of the hidden layers; their sum is the number of hidden oscillators.
        initialisations: Random initialisations, each with its own order of examples; validation
            selects one.
        selection: Selects epoch and initialisation by validation "top1" and then cross-entropy, or
            by "cross-entropy" alone.
        learning_rate: Of SGD.
        weight_decay: Of every parameter.
        batch_size: Examples of a step.
        epochs: Passes over the training examples.

    Examples:
        >>> entrain.TeacherSpec(epochs=20).epochs
        20
    """

    kind: ClassVar[str] = "teacher"
    name: ClassVar[str] = "teacher"  # type: ignore[misc]
    start: ClassVar[str] = "random"  # type: ignore[misc]
    is_prerequisite = True  # of students
    cost = 0.3  # affine layers

    widths: tuple[int, ...] = (32, 16, 16)
    initialisations: int = 5
    selection: TeacherSelection = "top1"
    learning_rate: float = 0.2
    weight_decay: float = 1e-4
    batch_size: int = 256
    epochs: int = 300

    def __post_init__(self) -> None:
        if isinstance(self.widths, str) or not isinstance(self.widths, Iterable):
            raise InputError(f"teacher widths must be such as (32, 16, 16), got {self.widths!r}")
        object.__setattr__(self, "widths", tuple(self.widths))
        store_plain_numbers(self)
        if not self.widths:
            raise InputError("teacher widths must name at least one hidden layer, got none")
        for width in self.widths:
            positive_int("teacher widths", width)
        one_of("teacher selection", self.selection, TeacherSelection)
        check_ranges(
            self,
            whole=("initialisations", "batch_size", "epochs"),
            positive=("learning_rate",),
            non_negative=("weight_decay",),
            prefix="teacher ",
        )

    @property
    def hidden(self) -> int:
        """Number of hidden units, one for each hidden oscillator of a student."""
        return sum(self.widths)

    def parallel_runs(self, runs: int) -> int:
        return self.initialisations

    def check(self, network: NetworkSpec, runs: int, teachers: Sequence[Rule]) -> None:
        super().check(network, runs, teachers)
        if network.hidden != self.hidden:
            raise InputError(
                f"a teacher of {self.hidden} hidden units is for {self.hidden} hidden "
                f"oscillators, got {network.hidden}"
            )

    def check_data(self, data: Dataset) -> None:
        super().check_data(data)
        if not data.task.has_classes:
            raise InputError(
                f"a teacher learns classes, but the data have {data.task.description}; use DIRECT"
            )

    def training(self, assignment: Assignment) -> TeacherTraining:
        data = assignment.data
        return TeacherTraining(self, data.train, data.validation, data.outputs, assignment.seed)


class TeacherTraining:
    """SGD on the mean cross-entropy of the logits, with weight decay on every parameter.

    Tensors: `weight0` (R, out, in), `bias0` (R, out), ... for R initialisations, each drawn
    uniformly from +-1 / sqrt(fan in).
    """

    def __init__(
        self, spec: TeacherSpec, train: Examples, validation: Examples, outputs: int, seed: int
    ) -> None:
        self.spec = spec
        self.epochs = spec.epochs
        self._inputs, self._labels = train.all_inputs(), train.targets
        self._validation = validation
        self._sizes = layer_sizes(self._inputs.shape[1], spec.widths, outputs)
        self._seed = seed
        self._total = self._inputs.new_zeros(spec.initialisations)
        self._steps = RepeatedSteps()

    def initial(self) -> Tensors:
        tensors: Tensors = {}
        for layer, (fan_in, fan_out) in enumerate(self._sizes):
            bound = 1.0 / math.sqrt(fan_in)
            for name, shape in (("weight", (fan_out, fan_in)), ("bias", (fan_out,))):
                starts = []
                for run in range(self.spec.initialisations):
                    # Drawn on the CPU, so that every device starts from the same numbers.
                    generator = torch.Generator().manual_seed(
                        (self._seed * 1000 + run) * 1000 + 2 * layer + (name == "bias")
                    )
                    starts.append((2 * torch.rand(shape, generator=generator) - 1) * bound)
                tensors[f"{name}{layer}"] = torch.stack(starts).to(self._inputs.device)
        return tensors

    def run_epoch(self, tensors: Tensors, epoch: int) -> Tensors:
        count, runs = len(self._labels), tuple(range(self.spec.initialisations))
        examples = shuffled("teacher", self._seed, runs, epoch, count).to(self._total.device)
        step = self._steps.get(tensors, self._step, self._total)
        self._total.zero_()
        for rows in torch.split(examples, self.spec.batch_size, dim=1):
            step(rows)
        return {"loss": self._total / count}

    def _step(self, tensors: Tensors, rows: Tensor) -> None:
        """One SGD step on the examples `rows` (R, B); adds B times the loss to the total."""
        leaves = {name: tensor.detach().requires_grad_() for name, tensor in tensors.items()}
        loss = _cross_entropy(_logits(leaves, self._inputs[rows]), self._labels[rows])
        gradients = torch.autograd.grad(loss.sum(), list(leaves.values()))
        for tensor, gradient in zip(tensors.values(), gradients, strict=True):
            tensor.mul_(1.0 - self.spec.learning_rate * self.spec.weight_decay)
            tensor.sub_(gradient, alpha=self.spec.learning_rate)
        self._total += loss.detach() * rows.shape[1]

    def validate(self, tensors: Tensors) -> Tensors:
        inputs, labels = self._validation.all_inputs(), self._validation.targets
        runs = len(tensors["bias0"])
        logits = _logits(tensors, inputs.expand(runs, -1, -1))
        return {
            "top1": metrics.top_k(logits, labels),
            "cross_entropy": _cross_entropy(logits, labels.expand(runs, -1)).double(),
        }

    def merit(self, metrics: Tensors) -> Tensor:
        entropy = -metrics["cross_entropy"].nan_to_num(math.inf, math.inf)
        if self.spec.selection == "cross-entropy":
            return entropy[:, None]
        return torch.stack([metrics["top1"], entropy], dim=1)


def teacher_of(tensors: Tensors, run: int) -> Teacher:
    """The frozen teacher of one initialisation."""
    layers = range(len(tensors) // 2)
    return Teacher(
        weights=tuple(tensors[f"weight{layer}"][run].cpu().clone() for layer in layers),
        biases=tuple(tensors[f"bias{layer}"][run].cpu().clone() for layer in layers),
    )


def _logits(tensors: Tensors, inputs: Tensor) -> Tensor:
    """Logits (R, B, O) of inputs (R, B, D)."""
    state, last = inputs, len(tensors) // 2 - 1
    for layer in range(last + 1):
        weight, bias = tensors[f"weight{layer}"], tensors[f"bias{layer}"]
        state = torch.baddbmm(bias[:, None, :], state, weight.transpose(1, 2))
        if layer < last:
            state = state.tanh()
    return state


def _cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy of each run: logits (R, B, O), labels (R, B) -> (R,)."""
    return functional.cross_entropy(logits.movedim(-1, 1), labels, reduction="none").mean(1)
