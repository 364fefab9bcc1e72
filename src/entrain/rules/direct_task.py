"""Training oscillator networks by protocol DIRECT."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from entrain import kernels
from entrain.evaluation import metrics
from entrain.hardware import FreshDraws
from entrain.physics import Dynamics, NetworkSpec, PhaseModel, readout_with_pullback, small_random
from entrain.rules.direct import Direct
from entrain.rules.interface import Tensors, per_run, shuffled
from entrain.rules.on_chips import Back, OnChips
from entrain.rules.repeated_step import RepeatedSteps
from entrain.rules.training_data import Examples
from entrain.rules.two_stage_task import validation_scores
from entrain.utils.errors import InputError

_MOMENTS = (0.9, 0.999)
_EPSILON = 1e-8


class DirectTask:
    """AdamW on the cross-entropy, several runs side by side.

    Tensors: `input_weights`, `biases`, `couplings` and trained terms are the averaged network;
    `raw.*` the numbers that are stepped, `first.*` and `second.*` their moments, `adam.count` the
    steps.
    """

    def __init__(
        self,
        protocol: Direct,
        train: Examples,
        validation: Examples,
        network: NetworkSpec,
        outputs: int,
        *,
        seed: int,
        runs: tuple[int, ...] = (0,),
        start: Tensors | None = None,
        teacher_outputs: Tensor | None = None,
    ) -> None:
        """`start` where the protocol goes on; `teacher_outputs` (M, O) where it distils."""
        self.protocol, self.epochs = protocol, protocol.epochs
        self.train, self._validation, self._teacher = train, validation, teacher_outputs
        self.network, self._dynamics = network, network.dynamics
        self._outputs, self._seed, self.runs, self._start = outputs, seed, runs, start
        device = train.labels.device
        self._targets = torch.nn.functional.one_hot(train.labels, outputs).float()
        weights = self._weights_of(train.labels)
        self._weights = None if weights is None else weights.float()

        def lanes(name: str) -> Tensor:
            values = per_run(name, getattr(protocol, name), len(runs))
            return torch.tensor(values, dtype=torch.float32, device=device)[:, None, None]

        self._input_rate, self._coupling_rate = lanes("input_rate"), lanes("coupling_rate")
        self._decay, self._gain = lanes("weight_decay"), lanes("gain")
        self._smoothing = lanes("smoothing")
        self._schedule = torch.zeros((), device=device)
        self._strength = torch.ones((), device=device)
        self._total = torch.zeros(len(runs), device=device)
        self._spec = network.on(self._total, len(runs), outputs)
        self._drawn: Tensor | None = None
        self._steps = RepeatedSteps()
        self._chips = OnChips.of(protocol.chips, self._spec, runs, seed)
        self._drawn_by_batch: dict[int, FreshDraws] = {}

    def _weights_of(self, labels: Tensor) -> Tensor | None:
        """The weights (M,) of examples with these labels, of mean 1, in float64; None where all are
        alike."""
        given = self.protocol.class_weights
        if given is None:
            return None
        if len(given) != self._outputs:
            raise InputError(
                f"class_weights must be {self._outputs} numbers, one for each class, got "
                f"{len(given)}"
            )
        weights = torch.tensor(given, dtype=torch.float64, device=labels.device)[labels]
        return weights / weights.mean().clamp(min=1e-300)  # 0 where all are 0

    def initial(self) -> Tensors:
        drawn = [self._random(lane) for lane in range(len(self.runs))]
        first = {
            name: torch.stack([each[name] for each in drawn]).to(self._total.device)
            for name in drawn[0]
        }
        raw = self._spec.initial_tensors(first, self._start)
        tensors = {name: tensor.clone() for name, tensor in raw.items()}
        for name, tensor in raw.items():
            tensors[f"raw.{name}"] = tensor
            tensors[f"first.{name}"] = torch.zeros_like(tensor)
            tensors[f"second.{name}"] = torch.zeros_like(tensor)
        tensors["adam.count"] = torch.zeros(len(self.runs), 1, device=self._total.device)
        return tensors

    def _random(self, lane: int) -> Tensors:
        """The first network of one run, on the CPU: every device starts from the same numbers."""
        hidden, n = self.network.hidden, self.network.hidden + self._outputs
        inputs = self.train.inputs_per_example
        if self.protocol.start == "zero":
            return {
                "input_weights": torch.zeros(hidden, inputs),
                "biases": torch.zeros(n),
                "couplings": torch.zeros(n, n),
            }
        lanes = len(self.runs)
        return small_random(
            inputs,
            hidden,
            self._spec.graph,
            seed=self._seed,
            run=self.runs[lane],
            weights=per_run("initial_weights", self.protocol.initial_weights, lanes)[lane],
            couplings=per_run("initial_couplings", self.protocol.initial_couplings, lanes)[lane],
        )

    def run_epoch(self, tensors: Tensors, epoch: int) -> Tensors:
        protocol, count = self.protocol, len(self.train.labels)
        order = shuffled("direct", self._seed, self.runs, epoch, count).to(self._total.device)
        self._prepare(epoch, count)
        steps = self._dynamics.steps
        if epoch < protocol.epochs - protocol.fine_epochs:
            steps = min(protocol.coarse_steps, steps)
        dynamics = Dynamics(self._dynamics.mobility, self._dynamics.observation_time, steps)

        def take(tensors: Tensors, rows: Tensor) -> None:
            self._step(tensors, dynamics, rows)

        step = self._steps.get(tensors, take, self._total, key=steps)
        self._total.zero_()
        if self._chips is not None:
            self._chips.begin_epoch(tensors, epoch, protocol.epochs)
        generators = self._generators(epoch)
        batches = torch.split(order, protocol.batch_size, dim=1)
        for index, rows in enumerate(batches):
            self._schedule.fill_(self._factor(epoch + index / len(batches)))
            if self._chips is not None:
                self._chips.renew(tensors, rows, dynamics)
            if self._needs_numbers:
                self._numbers(rows.shape[1]).renew(generators)
            step(rows)
        return {"loss": self._total / count}

    def _prepare(self, epoch: int, count: int) -> None:
        """New random numbers for the images of this epoch, a function of seed, runs and epoch."""
        protocol = self.protocol
        if self.train.images is None or protocol.augmentation.is_identity:
            return
        last = epoch >= protocol.epochs - protocol.unaugmented_epochs
        self._strength.fill_(0.0 if last else 1.0)
        device = self._total.device
        drawn = torch.stack(
            [
                protocol.augmentation.draw(
                    (count,),
                    torch.Generator(device).manual_seed(
                        (self._seed * 1009 + run) * 100_003 + epoch
                    ),
                )
                for run in self.runs
            ]
        )
        if self._drawn is None:
            self._drawn = drawn
        else:
            self._drawn.copy_(drawn)

    _needs_numbers = False  # whether a step takes random numbers of its own

    def _numbers(self, batch: int) -> FreshDraws:
        """Random numbers of a step on batches of this size, by run, new before every step."""
        if batch not in self._drawn_by_batch:
            draws = self._drawn_by_batch[batch] = FreshDraws(len(self.runs), self._total)
            self._ask(draws, batch)
        return self._drawn_by_batch[batch]

    def _ask(self, draws: FreshDraws, batch: int) -> None:
        """Ask once for every number that a step will take."""

    def _generators(self, epoch: int) -> list[torch.Generator]:
        """One for each run, a function of seed, run and epoch."""
        device = self._total.device
        return [
            torch.Generator(device).manual_seed(((self._seed * 1019 + run) * 7907 + epoch) % 2**63)
            for run in self.runs
        ]

    def _factor(self, epoch: float) -> float:
        """What the rates are multiplied with: a linear rise, then a cosine to zero."""
        done = epoch / self.protocol.epochs
        if done < self.protocol.warm_up:
            return (done + 1e-3) / (self.protocol.warm_up + 1e-3)
        rest = (done - self.protocol.warm_up) / (1.0 - self.protocol.warm_up)
        return 0.5 * (1.0 + math.cos(math.pi * rest))

    def _inputs(self, rows: Tensor) -> Tensor:
        """Inputs (R, B, D) of the examples `rows` (R, B), distorted where asked."""
        train = self.train
        if train.images is None:
            assert train.inputs is not None
            return train.inputs[rows]
        images = train.images[rows].flatten(0, 1)
        if self._drawn is not None:
            lanes = torch.arange(len(rows), device=rows.device)[:, None]
            drawn = self._drawn[lanes, rows].flatten(0, 1)
            images = self.protocol.augmentation(images, drawn, self._strength)
        return train.inputs_of(images).reshape(*rows.shape, -1)

    def _step(self, tensors: Tensors, dynamics: Dynamics, rows: Tensor) -> None:
        """One step on the examples `rows` (R, B); adds B times the loss to the total."""
        raw = {name: tensors[f"raw.{name}"] for name in self.network.names}
        loss, found = self._slope(raw, dynamics, rows)
        learnt = [name for name in self.network.names if name not in self.protocol.frozen]
        self._update(tensors, {name: found[name] for name in learnt})
        self._total += loss

    def gradient(self, networks: Tensors, dynamics: Dynamics, rows: Tensor) -> Tensors:
        """What this rule takes for the gradient of the loss of the examples `rows` (R, B), at
        networks (R, ...) that stay as they are: to look at the rule, not to train."""
        if self._chips is not None:
            self._chips.begin_epoch(networks, self.epochs - 1, self.epochs)
            self._chips.renew(networks, rows, dynamics)
        if self._needs_numbers:
            self._numbers(rows.shape[1]).renew(self._generators(0))
        return self._slope(networks, dynamics, rows)[1]

    def _slope(self, raw: Tensors, dynamics: Dynamics, rows: Tensor) -> tuple[Tensor, Tensors]:
        """B times the loss (R,) of the examples `rows`, and the gradient of the loss."""
        outputs = self._outputs
        activations, back = self._forward(raw, self._inputs(rows), dynamics)
        likely = log_softmax(self._gain * activations)
        target = self._target(rows)
        by_outputs = self._gain * (likely.exp() - target)  # times B
        loss = -self._weighted(target * likely, rows).sum((1, 2))
        if share := self.protocol.distillation:
            assert self._teacher is not None
            apart = activations - self._teacher[rows]
            by_outputs = (1.0 - share) * by_outputs + share * (2.0 / outputs) * apart
            apart_squared = self._weighted(apart.square(), rows).mean(2).sum(1)
            loss = (1.0 - share) * loss + share * apart_squared
        return loss, back(self._weighted(by_outputs, rows), rows.shape[1])

    def _target(self, rows: Tensor) -> Tensor:
        """Probabilities (R, B, O) of the classes of the examples `rows`, smoothed where asked."""
        return self._targets[rows] * (1.0 - self._smoothing) + self._smoothing / self._outputs

    def _forward(self, raw: Tensors, inputs: Tensor, dynamics: Dynamics) -> tuple[Tensor, Back]:
        """Activations (R, B, O) of inputs (R, B, D), and what turns their gradient, over a count,
        into gradients of the trained tensors."""
        if self._chips is not None:
            return self._chips.forward(raw, inputs, dynamics, self._outputs)
        parameters = self._spec.parameters(raw)
        phases, pullback = kernels.rollout_with_pullback(parameters.phase_model(inputs), dynamics)
        activations, readout_pullback = readout_with_pullback(phases, self._outputs)

        def back(gradient: Tensor, count: int) -> Tensors:
            return parameters.pullback(pullback(readout_pullback(gradient, count)), inputs)

        return activations, back

    def _model(
        self, raw: Tensors, inputs: Tensor
    ) -> tuple[PhaseModel, Callable[[PhaseModel], Tensors]]:
        """What acts on the phases under inputs (R, B, D), on chips where there are some, and what
        turns its gradient into gradients of the tensors in `raw`; for rules that know no more of a
        network than what it does."""
        if self._chips is not None:
            return self._chips.measured(raw, inputs)
        parameters = self._spec.parameters(raw)

        def back(gradient: PhaseModel) -> Tensors:
            return parameters.pullback(gradient, inputs)

        return parameters.phase_model(inputs), back

    def _weighted(self, values: Tensor, rows: Tensor) -> Tensor:
        """`values` (R, B, O) of the examples `rows` (R, B), times the weights of their classes."""
        return values if self._weights is None else values * self._weights[rows][..., None]

    def _update(self, tensors: Tensors, gradients: Tensors) -> None:
        """AdamW with clipped gradients, then the running mean."""
        squares = sum(g.square().reshape(len(g), -1).sum(1) for g in gradients.values())
        assert isinstance(squares, Tensor)
        scale = (self.protocol.clip / (squares.sqrt() + 1e-12)).clamp(max=1.0)
        count = tensors["adam.count"]
        count += 1.0
        first_bias = 1.0 - _MOMENTS[0] ** count
        second_bias = 1.0 - _MOMENTS[1] ** count
        decay = self.protocol.averaging
        mixing = 1.0 - torch.clamp((1.0 + count) / (10.0 + count), max=decay)
        for name, gradient in gradients.items():
            raw, first, second = (tensors[f"{k}.{name}"] for k in ("raw", "first", "second"))
            shape = (-1,) + (1,) * (gradient.dim() - 1)
            clipped = gradient * scale.reshape(shape)
            first.lerp_(clipped, 1.0 - _MOMENTS[0])
            second.lerp_(clipped.square(), 1.0 - _MOMENTS[1])
            step = (first / first_bias.reshape(shape)) / (
                (second / second_bias.reshape(shape)).sqrt() + _EPSILON
            )
            rates = self._input_rate if name == "input_weights" else self._coupling_rate
            rate = rates.reshape(shape) * self._schedule
            if name == "input_weights":
                raw.mul_(1.0 - rate * self._decay)
            raw.sub_(rate * step)
            mean = tensors[name]
            mean.add_((raw - mean) * mixing.reshape(shape))

    def validate(self, tensors: Tensors) -> Tensors:
        data, parameters = self._validation, self._spec.parameters(tensors)
        scores_of = validation_scores if self._chips is None else self._chips.validation_scores
        scores = scores_of(parameters, data.all_inputs(), self._dynamics)
        likely = log_softmax(self._gain * scores)
        labels = data.labels.expand(len(self.runs), -1)[..., None]
        entropy = -likely.gather(-1, labels)[..., 0].double()
        found = {
            "top1": metrics.top_k(scores, data.labels),
            "cross_entropy": entropy.mean(1),
        }
        weights = self._weights_of(data.labels)
        if weights is not None:
            found["cross_entropy"] = (weights * entropy).mean(1)
            hits = (scores.argmax(-1) == data.labels) & ~scores.isnan().any(-1)
            found["weighted_top1"] = 100.0 * (weights * hits).mean(1)
        return found

    def merit(self, metrics: Tensors) -> Tensor:
        entropy = -metrics["cross_entropy"].nan_to_num(math.inf, math.inf)
        found = torch.stack([metrics.get("weighted_top1", metrics["top1"]), entropy], dim=1)
        return found if self._chips is None else self._chips.settled_first(found)


def log_softmax(values: Tensor) -> Tensor:
    """In operations that take one thread for so few numbers: PyTorch's own starts a team whose
    spinning would go on into the adjoint."""
    shifted = values - values.amax(-1, keepdim=True)
    return shifted - shifted.exp().sum(-1, keepdim=True).log()
