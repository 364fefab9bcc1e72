"""SGD on the path and endpoint losses of a teacher."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from entrain import kernels
from entrain.evaluation.measure import chunks
from entrain.physics import Dynamics, NetworkSpec, PhaseModel, readout_with_pullback
from entrain.rules.adamw import per_tensor
from entrain.rules.distorted_data import DistortedData
from entrain.rules.exact_path import solve_path
from entrain.rules.interface import Tensors, per_run, shuffled
from entrain.rules.on_chips import OnChips
from entrain.rules.repeated_step import RepeatedSteps
from entrain.rules.training_data import TeacherData
from entrain.rules.validation import validation_scores
from entrain.tasks import metrics

if TYPE_CHECKING:
    from entrain.rules.two_stage import TwoStage


class TwoStageTraining:
    """Plain SGD on path_weight L_path + endpoint_weight L_end.

    Tensors, for R runs: `input_weights` (R, H, D), `biases` (R, N), the symmetric `couplings`
    (R, N, N), and the terms of the network that are trained.
    """

    def __init__(
        self,
        protocol: TwoStage,
        train: TeacherData,
        validation: TeacherData,
        network: NetworkSpec,
        *,
        seed: int,
        runs: tuple[int, ...] = (0,),
        start: Tensors | None = None,
        on_progress: Callable[[float], None] | None = None,
        distorted: DistortedData | None = None,
    ) -> None:
        """`start` are networks to continue; `on_progress` gets the share done of a long epoch;
        `distorted` replaces the training examples in every epoch."""
        self.protocol, self.epochs = protocol, protocol.epochs
        self.train, self._validation, self._distorted = train, validation, distorted
        self.network, self.dynamics = network, network.dynamics
        self._seed, self.runs, self._start, self._on_progress = seed, runs, start, on_progress
        self._outputs = train.targets.shape[-1]
        self._spec = network.on(train.inputs, len(runs), self._outputs)
        rates = per_run("learning_rate", protocol.learning_rate, len(runs))
        weights = per_run("endpoint_weight", protocol.endpoint_weight, len(runs))
        self._learning_rate = train.inputs.new_tensor(rates)
        self._endpoint_weight = train.inputs.new_tensor(weights)
        self._uses_endpoint = any(weights)
        self._totals = train.inputs.new_zeros(2, len(runs))  # path and endpoint loss
        self._steps = RepeatedSteps()
        self._chips = OnChips.of(protocol.chips, self._spec, runs, seed)

    def initial(self) -> Tensors:
        runs, h, inputs = len(self.runs), self.network.hidden, self.train.inputs
        n = h + self._outputs
        zero = {
            "input_weights": inputs.new_zeros(runs, h, inputs.shape[-1]),
            "biases": inputs.new_zeros(runs, n),
            "couplings": inputs.new_zeros(runs, n, n),
        }
        return self._spec.initial_tensors(zero, self._start)

    def run_epoch(self, tensors: Tensors, epoch: int) -> Tensors:
        count = len(self.train.labels)
        rows = shuffled("student", self._seed, self.runs, epoch, count).to(self._totals.device)
        if self._distorted is not None:
            self.train = self._distorted.renewed(epoch)
        step = self._steps.get(tensors, self._step, self._totals)
        self._totals.zero_()
        if self._chips is not None:
            self._chips.begin_epoch(tensors, epoch, self.epochs)
        for batch in torch.split(rows, self.protocol.batch_size, dim=1):
            if self._chips is not None:
                self._chips.renew(tensors, batch, self.dynamics)
            step(batch)
        path, endpoint = self._totals / count
        loss = self.protocol.path_weight * path + self._endpoint_weight * endpoint
        return {"loss": loss, "path_loss": path, "endpoint_loss": endpoint}

    def _step(self, tensors: Tensors, rows: Tensor) -> None:
        """One SGD step on the examples `rows` (R, B); adds B times the losses to the totals."""
        ideal = self._chips is None
        losses, gradients = (self._gradient if ideal else self._gradient_on_chips)(tensors, rows)
        for name, gradient in gradients.items():
            if name in tensors:
                tensors[name] -= per_tensor(self._learning_rate, gradient) * gradient
        self._totals += losses * rows.shape[1]

    def _gradient(self, tensors: Tensors, rows: Tensor) -> tuple[Tensor, Tensors]:
        """Path and endpoint loss (2, R) of the examples `rows`, and the gradient of their sum."""
        parameters = self._spec.parameters(tensors)
        inputs = self.train.at(self.train.inputs, rows)
        model = parameters.phase_model(inputs)
        losses = inputs.new_zeros(2, len(self.runs))
        gradients: list[PhaseModel] = []
        if self.protocol.path_weight:
            losses[0], by_model = kernels.path_loss(
                model,
                self.train.at(self.train.coefficients, rows),
                self.dynamics,
                nodes=self.protocol.path_nodes,
            )
            weight = self.protocol.path_weight
            gradients.append(by_model.map(lambda tensor: weight * tensor))
        if self._uses_endpoint:
            targets = self.train.at(self.train.targets, rows)
            losses[1], by_model = endpoint_loss(model, targets, self.dynamics)
            gradients.append(by_model.scaled(self._endpoint_weight))
        total = gradients[0] if len(gradients) == 1 else gradients[0].plus(gradients[1])
        return losses, parameters.pullback(total, inputs)

    def _gradient_on_chips(self, tensors: Tensors, rows: Tensor) -> tuple[Tensor, Tensors]:
        """`_gradient` with every example on one of the chips."""
        assert self._chips is not None
        inputs = self.train.at(self.train.inputs, rows)
        raw = {name: tensors[name] for name in self.network.names}
        losses = inputs.new_zeros(2, len(self.runs))
        total = {name: torch.zeros_like(tensor) for name, tensor in raw.items()}
        if self.protocol.path_weight:
            losses[0], gradients = self._chips.path_loss(
                raw,
                inputs,
                self.train.at(self.train.coefficients, rows),
                self.dynamics,
                self.protocol.path_nodes,
            )
            for name, gradient in gradients.items():
                total[name] += self.protocol.path_weight * gradient
        if self._uses_endpoint:
            activations, back = self._chips.forward(raw, inputs, self.dynamics, self._outputs)
            error = activations - self.train.at(self.train.targets, rows)
            losses[1] = error.square().mean((1, 2))
            weight = self._endpoint_weight[:, None, None]
            for name, gradient in back(2.0 * weight * error, error[0].numel()).items():
                total[name] += gradient
        return losses, total

    def validate(self, tensors: Tensors) -> Tensors:
        data, parameters = self._validation, self._spec.parameters(tensors)
        scores = validation_scores(parameters, data.inputs, self.dynamics, self._chips)
        return {
            "top1": metrics.top_k(scores, data.labels),
            "agreement": metrics.agreement(scores, data.targets),
            "endpoint_rmse": metrics.rmse(scores, data.targets),
        }

    def merit(self, metrics: Tensors) -> Tensor:
        error = -metrics["endpoint_rmse"].nan_to_num(math.inf, math.inf)
        merit = error[:, None]
        if self.protocol.selection != "endpoint-rmse":
            merit = torch.stack([(metrics["top1"] + metrics["agreement"]) / 2, error], dim=1)
        return merit if self._chips is None else self._chips.complete_first(merit)


class ExactPathTraining(TwoStageTraining):
    """PATH with the exact minimiser of the path loss instead of SGD, the same for all runs."""

    def run_epoch(self, tensors: Tensors, epoch: int) -> Tensors:
        solution = solve_path(
            self.train,
            self.dynamics,
            graph=self._spec.graph,
            nodes=self.protocol.path_nodes,
            ridge=self.protocol.ridge,
            on_progress=self._on_progress,
        )
        for name, tensor in tensors.items():
            tensor.copy_(solution[name].expand_as(tensor))
        first = self._spec.parameters({name: tensor[:1] for name, tensor in tensors.items()})
        total = 0.0
        for rows, inputs in chunks(self.train.inputs):
            mean, _ = kernels.path_loss(
                first.phase_model(inputs[None]),
                self.train.coefficients[rows][None],
                self.dynamics,
                nodes=self.protocol.path_nodes,
            )
            total += float(mean) * len(inputs)
        loss = tensors["biases"].new_full((len(self.runs),), total / len(self.train.labels))
        return {"loss": loss, "path_loss": loss, "endpoint_loss": torch.zeros_like(loss)}


def endpoint_loss(
    model: PhaseModel, targets: Tensor, dynamics: Dynamics
) -> tuple[Tensor, PhaseModel]:
    r"""L_end (R,), and its gradient with respect to the model.

    L_end = 1 / (B O) sum_{n,o} ( cos theta_o(t_f) - a_o )^2 for targets a (R, B, O), through the
    exact discrete adjoint of the autonomous rollout.
    """
    phases, pullback = kernels.rollout_with_pullback(model, dynamics)
    outputs = targets.shape[-1]
    activations, readout_pullback = readout_with_pullback(phases, outputs)
    error = activations - targets
    count = error.shape[1] * outputs
    gradient = pullback(readout_pullback(2.0 / count * error))
    return error.square().sum((1, 2)) / count, gradient
