"""A training by AdamW on the gradients that a rule estimates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from entrain import kernels
from entrain.evaluation.activations import activations_with_pullback
from entrain.hardware import FreshDraws
from entrain.physics import Dynamics, NetworkSpec, PhaseModel, small_random
from entrain.rules import adamw
from entrain.rules.class_weights import example_weights
from entrain.rules.interface import Tensors, per_run, shuffled
from entrain.rules.on_chips import Back, OnChips
from entrain.rules.repeated_step import RepeatedSteps
from entrain.rules.training_data import Examples, rows_of_runs
from entrain.rules.validation import validation_scores
from entrain.tasks import Task

if TYPE_CHECKING:
    from entrain.rules.gradient_rule import GradientRule

HIDDEN_COUPLINGS = "hidden_couplings"  # those between hidden oscillators, a part of `couplings`


class GradientTraining(ABC):
    """AdamW on the gradients of `loss_and_gradient`, several runs side by side.

    Tensors: `input_weights`, `biases`, `couplings` and trained terms, averaged, and those of
    `entrain.rules.adamw`.

    Args:
        protocol: The settings.
        train: Training examples.
        validation: Examples that select the epoch.
        network: The network to train.
        task: The loss, and the metrics of the validation.
        seed: Seed of initialisations and of the order of examples.
        runs: Training runs side by side.
        start: Networks to continue.
    """

    def __init__(
        self,
        protocol: GradientRule,
        train: Examples,
        validation: Examples,
        network: NetworkSpec,
        task: Task,
        *,
        seed: int,
        runs: tuple[int, ...] = (0,),
        start: Tensors | None = None,
    ) -> None:
        self.protocol, self.epochs = protocol, protocol.epochs
        self.validation_interval, self.patience = protocol.validation_interval, protocol.patience
        self.train, self._validation = train, validation
        self.network, self._dynamics = network, network.dynamics
        self.task, outputs = task, task.outputs
        self._outputs, self._seed, self.runs, self._start = outputs, seed, runs, start
        device = train.targets.device
        self._targets = task.targets(train.targets)
        weights = example_weights(protocol.class_weights, train.targets, outputs, train.weights)
        self._weights = None if weights is None else weights.float()

        def tensor(name: str) -> Tensor:
            values = torch.tensor(self.by_run(name), dtype=torch.float32, device=device)
            return values[:, None, None]

        self._input_rate, self._coupling_rate = tensor("input_rate"), tensor("coupling_rate")
        self._decay, self._gain = tensor("weight_decay"), tensor("gain")
        self._smoothing = tensor("smoothing")
        self._schedule = torch.zeros((), device=device)
        self._strength = torch.ones((), device=device)
        self._stopped: Sequence[int] = ()
        self._total = torch.zeros(len(runs), device=device)
        self._spec = network.on(self._total, len(runs), outputs)
        self._distortions: Tensor | None = None
        self._steps = RepeatedSteps()
        self._chips = OnChips.of(protocol.chips, self._spec, runs, seed, task)
        self._draws_by_batch: dict[int, FreshDraws] = {}

    @property
    def device(self) -> torch.device:
        """Where it trains."""
        return self._total.device

    @property
    def graph(self) -> Tensor:
        """(N, N) booleans, True where two oscillators are coupled."""
        return self._spec.graph

    def initial(self) -> Tensors:
        """See `Training`."""
        networks = [self._random(run) for run in range(len(self.runs))]
        first = {
            name: torch.stack([network[name] for network in networks]).to(self._total.device)
            for name in networks[0]
        }
        return adamw.with_moments(self._spec.initial_tensors(first, self._start))

    def _random(self, run: int) -> Tensors:
        """The first network of one run, on the CPU: every device starts from the same numbers."""
        hidden, n = self.network.hidden, self.network.hidden + self._outputs
        inputs = self.train.inputs_per_example
        if self.protocol.start == "zero":
            return {
                "input_weights": torch.zeros(hidden, inputs),
                "biases": torch.zeros(n),
                "couplings": torch.zeros(n, n),
            }
        return small_random(
            inputs,
            hidden,
            self._spec.graph,
            seed=self._seed,
            run=self.runs[run],
            weights=self.by_run("initial_weights")[run],
            couplings=self.by_run("initial_couplings")[run],
        )

    def by_run(self, name: str) -> list[float]:
        """A setting of each run.

        Args:
            name: A field of the rule.
        """
        return per_run(name, getattr(self.protocol, name), len(self.runs))

    def run_epoch(self, tensors: Tensors, epoch: int) -> Tensors:
        """Mean losses of one pass over the data; steps `tensors` in place.

        Args:
            tensors: The tensors of `initial`, as they are now.
            epoch: Counted from 0.
        """
        protocol = self.protocol
        batches, schedule = self._batches(epoch)
        dynamics = self._dynamics_of(epoch)
        self._renew_distortions(epoch)

        def take(tensors: Tensors, rows: Tensor) -> None:
            self._step(tensors, dynamics, rows)

        step = self._steps.get(tensors, take, self._total, key=dynamics.steps)
        self._total.zero_()
        if self._chips is not None:
            self._chips.begin_epoch(tensors, epoch, protocol.epochs)
        generators, stopped = self._generators(epoch), list(self._stopped)
        before = {name: tensor[stopped] for name, tensor in tensors.items()} if stopped else {}
        for batch, factor in zip(batches, schedule, strict=True):
            self._schedule.fill_(factor)
            self._renew_draws(tensors, batch, dynamics, generators)
            step(batch)
        for name, values in before.items():
            tensors[name][stopped] = values
        return {"loss": self._total / len(self.train.targets)}

    def stop(self, runs: Sequence[int]) -> None:
        """Leave the tensors of runs as they are in the epochs to come.

        Args:
            runs: Indices of runs that have converged.
        """
        self._stopped = runs

    def _batches(self, epoch: int) -> tuple[list[Tensor], list[float]]:
        """Examples (R, B) of the steps of an epoch, and the factors of their rates."""
        protocol, count = self.protocol, len(self.train.targets)
        rows = shuffled("direct", self._seed, self.runs, epoch, count).to(self._total.device)
        batches = list(torch.split(rows, protocol.batch_size, dim=1))
        return batches, [
            adamw.cosine_schedule((epoch + i / len(batches)) / protocol.epochs, protocol.warm_up)
            for i in range(len(batches))
        ]

    def _dynamics_of(self, epoch: int) -> Dynamics:
        """The dynamics of an epoch, with coarse or fine steps."""
        usual = self._dynamics
        steps = usual.steps
        if epoch < self.protocol.epochs - self.protocol.fine_epochs:
            frames = self.train.frames  # each is held for a whole number of steps
            steps = min(-(-self.protocol.coarse_steps // frames) * frames, steps)
        return Dynamics(usual.mobility, usual.observation_time, steps)

    def _renew_distortions(self, epoch: int) -> None:
        """New distortions of the images of this epoch."""
        protocol = self.protocol
        if self.train.images is None or protocol.augmentation.is_identity:
            return
        last = epoch >= protocol.epochs - protocol.unaugmented_epochs
        self._strength.fill_(0.0 if last else 1.0)
        draws = protocol.augmentation.draw_epoch(
            len(self.train.targets), self._seed, self.runs, epoch, self._total.device
        )
        self._distortions = draws if self._distortions is None else self._distortions.copy_(draws)

    def _renew_draws(
        self, tensors: Tensors, rows: Tensor, dynamics: Dynamics, generators: list[torch.Generator]
    ) -> None:
        """New chips and random numbers for the step on the examples `rows` (R, B)."""
        if self._chips is not None:
            self._chips.renew(tensors, rows, dynamics)
        self._draws(rows.shape[1]).renew(generators)

    def _draws(self, batch: int) -> FreshDraws:
        """Random numbers of a step on batches of this size, by run."""
        if batch not in self._draws_by_batch:
            draws = self._draws_by_batch[batch] = FreshDraws(len(self.runs), self._total)
            self._request_draws(draws, batch)
            self.protocol.input_distortions.request(draws, (batch, *self.train.input_shape))
        return self._draws_by_batch[batch]

    def _request_draws(self, draws: FreshDraws, batch: int) -> None:
        """Request once every random number that a step will use; here none."""
        return

    def _generators(self, epoch: int) -> list[torch.Generator]:
        """One for each run, a function of seed, run and epoch."""
        device = self._total.device
        return [
            torch.Generator(device).manual_seed(((self._seed * 1019 + run) * 7907 + epoch) % 2**63)
            for run in self.runs
        ]

    def _inputs(self, rows: Tensor) -> Tensor:
        """Inputs (R, B, D) of the examples `rows` (R, B), distorted if this epoch distorts."""
        inputs, distortions = self._clear_inputs(rows), self.protocol.input_distortions
        if distortions.is_identity:
            return inputs
        return distortions(inputs, self._draws(rows.shape[1]))

    def _clear_inputs(self, rows: Tensor) -> Tensor:
        """Inputs of examples without noise, of images that are distorted if this epoch distorts."""
        train = self.train
        if train.images is None:
            assert train.inputs is not None
            return train.inputs[rows]
        images = train.images[rows].flatten(0, 1)
        if self._distortions is not None:
            runs = torch.arange(len(rows), device=rows.device)[:, None]
            draws = self._distortions[runs, rows].flatten(0, 1)
            images = self.protocol.augmentation(images, draws, self._strength)
        return train.inputs_of(images).reshape(*rows.shape, -1)

    def _step(self, tensors: Tensors, dynamics: Dynamics, rows: Tensor) -> None:
        """One step on the examples `rows` (R, B); adds B times the loss to the total."""
        raw = {name: tensors[f"raw.{name}"] for name in self.network.names}
        loss, gradients = self.loss_and_gradient(raw, dynamics, rows)
        self._update(tensors, self._not_frozen(gradients))
        self._total += loss

    def _not_frozen(self, gradients: Tensors) -> Tensors:
        """The gradients of the tensors that are trained; Adam does not move where one is zero."""
        frozen, hidden = self.protocol.frozen, self.network.hidden
        trained = {name: gradients[name] for name in self.network.names if name not in frozen}
        if HIDDEN_COUPLINGS in frozen and "couplings" in trained:
            trained["couplings"] = trained["couplings"].clone()
            trained["couplings"][:, :hidden, :hidden] = 0.0
        return trained

    def gradient(self, networks: Tensors, dynamics: Dynamics, rows: Tensor) -> Tensors:
        """The estimate of the gradient by name, for comparisons of rules; nothing is trained.

        Args:
            networks: Networks (R, ...) by name.
            dynamics: Their dynamics.
            rows: Indices (R, B) of examples.
        """
        if self._chips is not None:
            self._chips.begin_epoch(networks, self.epochs - 1, self.epochs)
        self._renew_draws(networks, rows, dynamics, self._generators(0))
        return self.loss_and_gradient(networks, dynamics, rows)[1]

    @abstractmethod
    def loss_and_gradient(
        self, raw: Tensors, dynamics: Dynamics, rows: Tensor
    ) -> tuple[Tensor, Tensors]:
        """B times the loss (R,), and the estimate of the gradient of the loss by name.

        Args:
            raw: Networks (R, ...) by name.
            dynamics: Their dynamics.
            rows: Indices (R, B) of examples.
        """

    def exact_gradient(
        self, raw: Tensors, dynamics: Dynamics, rows: Tensor
    ) -> tuple[Tensor, Tensors]:
        """As `loss_and_gradient`, by the discrete adjoint of the dynamics.

        Args:
            raw: Networks (R, ...) by name.
            dynamics: Their dynamics.
            rows: Indices (R, B) of examples.
        """
        activations, back = self._forward(raw, self._inputs(rows), dynamics)
        losses, by_outputs = self.task.loss(activations, self._target(rows), self._gain)  # times B
        loss = self._weighted(losses, rows).sum((1, 2))
        return loss, back(self._weighted(by_outputs, rows), rows.shape[1])

    def _target(self, rows: Tensor) -> Tensor:
        """Targets (R, B, O) of the examples `rows`; of classes, smoothed probabilities."""
        targets = rows_of_runs(self._targets, rows)
        if not self.task.has_classes:
            return targets
        return targets * (1.0 - self._smoothing) + self._smoothing / self._outputs

    def _forward(self, raw: Tensors, inputs: Tensor, dynamics: Dynamics) -> tuple[Tensor, Back]:
        """Activations (R, B, O) of inputs (R, B, D), and the map from their gradient, over a
        count, to gradients of the trained tensors."""
        if self._chips is not None:
            return self._chips.forward(raw, inputs, dynamics, self._outputs)
        parameters = self._spec.parameters(raw)
        model = parameters.phase_model(inputs, dynamics.steps)
        activations, by_model = activations_with_pullback(model, dynamics, self.task)

        def back(gradient: Tensor, count: int) -> Tensors:
            return parameters.pullback(by_model(gradient, count), inputs)

        return activations, back

    def _model(
        self, raw: Tensors, inputs: Tensor
    ) -> tuple[PhaseModel, Callable[[PhaseModel], Tensors]]:
        """The phase model of inputs (R, B, D), on chips if it trains for them, and the map from
        its gradient to gradients of the tensors in `raw`; for rules without a model of the chip."""
        if self._chips is not None:
            return self._chips.measured(raw, inputs)
        parameters = self._spec.parameters(raw)
        return parameters.phase_model(inputs), lambda slope: parameters.pullback(slope, inputs)

    def _relax(self, model: PhaseModel, dynamics: Dynamics, relaxation: int) -> Tensor:
        """Final phases; each `relaxation` of a step has its own thermal noise, as on a chip."""
        noise = None
        if self._chips is not None:
            noise = self._chips.noise(model.fields.shape[1], relaxation)
        phases = kernels.rollout(model, dynamics, noise=noise)
        return phases if noise is None else phases[:, 0]

    def _weighted(self, values: Tensor, rows: Tensor) -> Tensor:
        """`values` (R, B, O) of the examples `rows` (R, B), times the weights of their classes."""
        return values if self._weights is None else values * self._weights[rows][..., None]

    def _update(self, tensors: Tensors, gradients: Tensors) -> None:
        """AdamW with clipped gradients, then the running mean."""

        def rates(name: str, gradient: Tensor) -> tuple[Tensor, Tensor | None]:
            is_input = name == "input_weights"
            rate = adamw.per_tensor(self._input_rate if is_input else self._coupling_rate, gradient)
            return rate * self._schedule, self._decay if is_input else None

        rule = self.protocol
        adamw.step(tensors, gradients, rates, clip=rule.clip, averaging=rule.averaging)

    def validate(self, tensors: Tensors) -> Tensors:
        """Metrics (R,) of the task on the validation examples; of stopped runs any.

        Args:
            tensors: The tensors of `initial`, as they are now.
        """
        data, gain = self._validation, self._gain
        runs = [run for run in range(len(gain)) if run not in self._stopped]
        if self._chips is None and len(runs) < len(gain):
            tensors, gain = {name: tensor[runs] for name, tensor in tensors.items()}, gain[runs]
        parameters = self._spec.parameters(tensors)
        inputs = data.all_inputs()
        scores = validation_scores(parameters, inputs, self._dynamics, self._chips, self.task)
        weights = example_weights(
            self.protocol.class_weights, data.targets, self._outputs, data.weights
        )
        metrics = self.task.validate(scores, data.targets, gain, weights)
        if len(gain) == len(self._gain):
            return metrics
        full = {name: values.new_zeros(len(self._gain)) for name, values in metrics.items()}
        for name, values in metrics.items():
            full[name][runs] = values
        return full

    def merit(self, metrics: Tensors) -> Tensor:
        """Numbers (R, n) by which an epoch is selected.

        Args:
            metrics: Those of `validate`.
        """
        merit = self.task.merit(metrics)
        return merit if self._chips is None else self._chips.complete_first(merit)
