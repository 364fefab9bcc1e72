"""Training oscillator networks with a teacher: several training orders side by side."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from entrain import kernels
from entrain.evaluation import metrics
from entrain.evaluation.measure import chunks
from entrain.physics import (
    Dynamics,
    NetworkSpec,
    Parameters,
    PhaseModel,
    readout,
    readout_with_pullback,
)
from entrain.rules.interface import Tensors, per_run, shuffled
from entrain.rules.on_chips import OnChips
from entrain.rules.repeated_step import RepeatedSteps
from entrain.rules.training_data import TeacherData
from entrain.rules.two_stage import TwoStage


class TwoStageTask:
    """Plain SGD on path_weight L_path + endpoint_weight L_end.

    Tensors, for R runs: `input_weights` (R, H, D), `biases` (R, N), the symmetric `couplings`
    (R, N, N), and the terms of the network that are trained.
    """

    on_progress: Callable[[float], None] | None = None

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
    ) -> None:
        """`runs` are the training orders; `start` the networks the protocol goes on from."""
        self.protocol, self.epochs = protocol, protocol.epochs
        self.train, self._validation = train, validation
        self.network, self.dynamics = network, network.dynamics
        self._seed, self.runs, self._start = seed, runs, start
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
            "input_weights": inputs.new_zeros(runs, h, inputs.shape[1]),
            "biases": inputs.new_zeros(runs, n),
            "couplings": inputs.new_zeros(runs, n, n),
        }
        return self._spec.initial_tensors(zero, self._start)

    def run_epoch(self, tensors: Tensors, epoch: int) -> Tensors:
        count = len(self.train.labels)
        order = shuffled("student", self._seed, self.runs, epoch, count)
        step = self._steps.get(tensors, self._step, self._totals)
        self._totals.zero_()
        if self._chips is not None:
            self._chips.begin_epoch(tensors, epoch, self.epochs)
        for rows in torch.split(order.to(self._totals.device), self.protocol.batch_size, dim=1):
            if self._chips is not None:
                self._chips.renew(tensors, rows, self.dynamics)
            step(rows)
        path, endpoint = self._totals / count
        loss = self.protocol.path_weight * path + self._endpoint_weight * endpoint
        return {"loss": loss, "path_loss": path, "endpoint_loss": endpoint}

    def _step(self, tensors: Tensors, rows: Tensor) -> None:
        """One SGD step on the examples `rows` (R, B); adds B times the losses to the totals."""
        slope = self._slope if self._chips is None else self._slope_on_chips
        losses, gradients = slope(tensors, rows)
        for name, gradient in gradients.items():
            if name in tensors:
                rate = self._learning_rate.reshape(-1, *[1] * (gradient.dim() - 1))
                tensors[name] -= rate * gradient
        self._totals += losses * rows.shape[1]

    def _slope(self, tensors: Tensors, rows: Tensor) -> tuple[Tensor, Tensors]:
        """Path and endpoint loss (2, R) of the examples `rows`, and the gradient of their sum."""
        parameters = self._spec.parameters(tensors)
        inputs = self.train.inputs[rows]
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

    def _slope_on_chips(self, tensors: Tensors, rows: Tensor) -> tuple[Tensor, Tensors]:
        """The same with every example on one of the chips."""
        assert self._chips is not None
        inputs = self.train.inputs[rows]
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
        data = self._validation
        scores_of = validation_scores if self._chips is None else self._chips.validation_scores
        scores = scores_of(self._spec.parameters(tensors), data.inputs, self.dynamics)
        return {
            "top1": metrics.top_k(scores, data.labels),
            "agreement": metrics.agreement(scores, data.targets),
            "endpoint_rmse": metrics.rmse(scores, data.targets),
        }

    def merit(self, metrics: Tensors) -> Tensor:
        error = -metrics["endpoint_rmse"].nan_to_num(math.inf, math.inf)
        found = error[:, None]
        if self.protocol.selection != "endpoint-rmse":
            found = torch.stack([(metrics["top1"] + metrics["agreement"]) / 2, error], dim=1)
        return found if self._chips is None else self._chips.settled_first(found)


def validation_scores(parameters: Parameters, inputs: Tensor, dynamics: Dynamics) -> Tensor:
    """Output activations of every run on inputs (M, D): (R, M, O)."""
    found = [
        readout(kernels.rollout(parameters.phase_model(chunk), dynamics), parameters.outputs)
        for _, chunk in chunks(inputs)
    ]
    return torch.cat(found, dim=1)


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
