"""Models without dynamics, trained like the oscillators: a perceptron and a linear model."""

from __future__ import annotations

import math
from functools import cached_property

import torch
from torch import Tensor

from entrain.evaluation.measure import chunks
from entrain.rules import GradientRule, Tensors, adamw
from entrain.rules.class_weights import example_weights
from entrain.rules.interface import shuffled
from entrain.rules.training_data import TrainingData

RATES, DECAYS = (1e-3, 3e-3, 1e-2, 3e-2), (0.0, 0.1, 1.0, 5.0)
Settings = tuple[tuple[float, float], ...]  # learning rate and weight decay of each run
CANDIDATES: Settings = tuple((rate, decay) for rate in RATES for decay in DECAYS)


class StaticTraining:
    r"""AdamW on V relu(W u + b) + c, or without hidden units on V u + c, several runs side by side.

    Examples, their order and distortions, loss, batches, epochs, clipping, averaging and the
    selection of an epoch are those of a rule. Inputs u are all numbers of an example, less their
    mean and over their deviation, one of each for all inputs.

    Args:
        data: The dataset on a device.
        rule: The rule of the oscillators.
        hidden: H hidden units; 0 is the linear model.
        seed: Seed of initialisations and of the order of examples.
        runs: Training runs.
        settings: Learning rate and weight decay of each run.
    """

    def __init__(
        self,
        data: TrainingData,
        rule: GradientRule,
        hidden: int,
        *,
        seed: int,
        runs: tuple[int, ...],
        settings: Settings,
    ) -> None:
        self.rule, self.epochs, self.hidden = rule, rule.epochs, hidden
        self._data, self._seed, self._runs, self.task = data, seed, runs, data.task
        plain = rule.augmentation.is_identity
        self._train, self._validation = (data.train, data.validation) if plain else data.images
        self._targets = self.task.targets(self._train.targets)
        if self.task.has_classes:
            self._targets = self._targets * (1.0 - _number(rule.smoothing))
            self._targets += _number(rule.smoothing) / self.task.outputs
        self._weights = self._weights_of(self._train.targets, self._train.weights)
        self._rates = torch.tensor([rate for rate, _ in settings], device=data.device)
        self._decays = torch.tensor([decay for _, decay in settings], device=data.device)
        self._gain = torch.ones(len(runs), 1, 1, device=data.device)

    @cached_property
    def _moments(self) -> tuple[float, float]:
        """Mean and deviation of the training inputs."""
        inputs = self._data.train.all_inputs()
        return float(inputs.mean()), float(inputs.std()) or 1.0

    @property
    def _width(self) -> int:
        """Numbers of an example."""
        return self._train.inputs_per_example * self._train.frames

    def initial(self) -> Tensors:
        networks = [self._random(run) for run in self._runs]
        return adamw.with_moments(
            {
                name: torch.stack([network[name] for network in networks]).to(self._data.device)
                for name in networks[0]
            }
        )

    def _random(self, run: int) -> Tensors:
        """The first model of a run: normal weights of variance 2 / fan-in, a linear one is zero."""
        outputs, width = self.task.outputs, self._width
        if not self.hidden:
            return {"V": torch.zeros(outputs, width), "c": torch.zeros(outputs)}
        generator = torch.Generator().manual_seed(self._seed * 1_000_003 + run)

        def normal(rows: int, columns: int) -> Tensor:
            return torch.randn(rows, columns, generator=generator) * math.sqrt(2.0 / columns)

        first = {"W": normal(self.hidden, width), "b": torch.zeros(self.hidden)}
        return first | {"V": normal(outputs, self.hidden), "c": torch.zeros(outputs)}

    def run_epoch(self, tensors: Tensors, epoch: int) -> Tensors:
        rule, count = self.rule, len(self._train.targets)
        rows = shuffled("direct", self._seed, self._runs, epoch, count).to(self._data.device)
        draws = None
        if not rule.augmentation.is_identity:
            draws = rule.augmentation.draw_epoch(
                count, self._seed, self._runs, epoch, self._data.device
            )
        strength = 0.0 if epoch >= rule.epochs - rule.unaugmented_epochs else 1.0
        batches = torch.split(rows, rule.batch_size, dim=1)
        total = torch.zeros(len(self._runs), device=self._data.device)
        for index, batch in enumerate(batches):
            done = (epoch + index / len(batches)) / rule.epochs
            inputs = self._inputs(batch, draws, strength)
            total += self._step(tensors, inputs, batch, adamw.cosine_schedule(done, rule.warm_up))
        return {"loss": total / count}

    def _inputs(self, rows: Tensor, draws: Tensor | None, strength: float) -> Tensor:
        """Inputs (R, B, D) of the examples `rows` (R, B), distorted by `draws`."""
        if self._train.images is None:
            assert self._train.inputs is not None
            return self._train.inputs[rows]
        images = self._train.images[rows].flatten(0, 1)
        if draws is not None:
            runs = torch.arange(len(rows), device=rows.device)[:, None]
            images = self.rule.augmentation(images, draws[runs, rows].flatten(0, 1), strength)
        return self._train.inputs_of(images).reshape(*rows.shape, -1)

    def _step(self, tensors: Tensors, inputs: Tensor, rows: Tensor, schedule: float) -> Tensor:
        """One step on the examples `rows` (R, B); B times the loss (R,)."""
        raw = {
            name.removeprefix("raw."): tensor.detach().requires_grad_()
            for name, tensor in tensors.items()
            if name.startswith("raw.")
        }
        scores = self.scores(raw, inputs)
        losses, by_scores = self.task.loss(scores.detach(), self._targets[rows], self._gain)
        if self._weights is not None:
            weights = self._weights[rows][..., None]
            losses, by_scores = losses * weights, by_scores * weights
        slopes = torch.autograd.grad(scores, list(raw.values()), by_scores / rows.shape[1])
        self._update(tensors, dict(zip(raw, slopes, strict=True)), schedule)
        return losses.sum((1, 2))

    @torch.no_grad()
    def _update(self, tensors: Tensors, gradients: Tensors, schedule: float) -> None:
        """AdamW with clipped gradients, then the running mean."""

        def rates(_: str, gradient: Tensor) -> tuple[Tensor, Tensor | None]:
            rate = adamw.per_tensor(self._rates * schedule, gradient)
            weights = gradient.dim() == 3
            return rate, adamw.per_tensor(self._decays, gradient) if weights else None

        rule = self.rule
        adamw.step(tensors, gradients, rates, clip=rule.clip, averaging=rule.averaging)

    def scores(self, parameters: Tensors, inputs: Tensor) -> Tensor:
        """Scores (R, B, O) of inputs (R, B, D), in time (R, B, T, D).

        Args:
            parameters: The parameters (R, ...).
            inputs: The inputs of every run.
        """
        mean, deviation = self._moments
        values = ((inputs - mean) / deviation).flatten(2)
        if self.hidden:
            values = (values @ parameters["W"].mT + parameters["b"][:, None]).relu()
        return values @ parameters["V"].mT + parameters["c"][:, None]

    @torch.no_grad()
    def scores_of(self, parameters: Tensors, inputs: Tensor) -> Tensor:
        """Scores (R, M, O) of inputs (M, D) or (M, T, D) that all runs share.

        Args:
            parameters: The parameters (R, ...).
            inputs: The inputs.
        """
        runs = len(parameters["c"])
        parts = [
            self.scores(parameters, chunk.expand(runs, *chunk.shape)) for _, chunk in chunks(inputs)
        ]
        return torch.cat(parts, dim=1)

    def validate(self, tensors: Tensors) -> Tensors:
        data = self._validation
        scores = self.scores_of(tensors, data.all_inputs())
        weights = self._weights_of(data.targets, data.weights)
        return self.task.validate(scores, data.targets, self._gain, weights)

    def merit(self, metrics: Tensors) -> Tensor:
        return self.task.merit(metrics)

    def _weights_of(self, targets: Tensor, weights: Tensor | None) -> Tensor | None:
        values = example_weights(self.rule.class_weights, targets, self.task.outputs, weights)
        return None if values is None else values.float()


def hidden_units(parameters: int, width: int, outputs: int) -> int:
    """Hidden units H of a perceptron with about so many parameters, H (D + 1) + O (H + 1).

    Args:
        parameters: Number of parameters to match.
        width: D, numbers of an example.
        outputs: O.
    """
    return max(1, round((parameters - outputs) / (width + 1 + outputs)))


def parameter_count(hidden: int, width: int, outputs: int) -> int:
    """Number of parameters of a `StaticTraining`.

    Args:
        hidden: H hidden units; 0 of the linear model.
        width: D, numbers of an example.
        outputs: O.
    """
    if not hidden:
        return outputs * (width + 1)
    return hidden * (width + 1) + outputs * (hidden + 1)


def _number(value: object) -> float:
    assert isinstance(value, int | float)
    return float(value)
