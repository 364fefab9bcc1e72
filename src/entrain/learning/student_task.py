"""Training an oscillator network by a protocol: several training orders side by side."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import torch
from torch import Tensor

from entrain import kernels
from entrain.evaluation import metrics
from entrain.evaluation.measure import chunks
from entrain.learning.graphs import RepeatedStep
from entrain.learning.protocols import Protocol, per_run
from entrain.learning.trainer import Parameters, shuffled
from entrain.network import KuramotoNetwork
from entrain.physics import Dynamics, coupling_mask, local_fields

PARAMETER_NAMES = ("input_weights", "biases", "couplings")


@dataclass(frozen=True)
class TeacherData:
    """Inputs (M, D) with what the teacher says of them.

    `coefficients` (M, N) are the artanh of all transferred activations, `targets` (M, O) the
    signed softmax outputs, `labels` (M,) the true classes. Where every run has its own teacher,
    the first two have a leading axis of runs.
    """

    inputs: Tensor
    coefficients: Tensor
    targets: Tensor
    labels: Tensor

    def said(self, words: Tensor, rows: Tensor) -> Tensor:
        """What was said (`coefficients` or `targets`) of the examples `rows` (R, B): (R, B, .)."""
        if words.dim() == 2:
            return words[rows]
        return words[torch.arange(len(rows), device=rows.device)[:, None], rows]


class StudentTask:
    """Plain SGD on path_weight L_path + endpoint_weight L_end.

    Parameters, for R runs: `input_weights` (R, H, D), `biases` (R, N) and the symmetric
    `couplings` (R, N, N). J_ij and J_ji are one number, so its gradient adds both triangles.
    """

    def __init__(
        self,
        protocol: Protocol,
        train: TeacherData,
        validation: TeacherData,
        dynamics: Dynamics,
        *,
        seed: int,
        runs: tuple[int, ...] = (0,),
        start: Parameters | None = None,
    ) -> None:
        """`runs` are the training orders; `start` the PATH checkpoints the protocol asks for."""
        self.protocol = protocol
        self.epochs = protocol.epochs
        self.train, self._validation = train, validation
        self.dynamics = dynamics
        self._seed, self.runs, self._start = seed, runs, start
        self._outputs = train.targets.shape[-1]
        self._hidden = train.coefficients.shape[-1] - self._outputs
        device = train.inputs.device
        self._mask = coupling_mask(self._hidden, self._outputs, device)
        rates = per_run("learning_rate", protocol.learning_rate, len(runs))
        weights = per_run("endpoint_weight", protocol.endpoint_weight, len(runs))
        self._learning_rate = train.inputs.new_tensor(rates)
        self._endpoint_weight = train.inputs.new_tensor(weights)
        self._uses_endpoint = any(weights)
        self._totals = train.inputs.new_zeros(2, len(runs))  # path and endpoint loss
        self._repeated: tuple[Parameters, RepeatedStep] | None = None

    def initial(self) -> Parameters:
        if self._start is not None:
            return {name: tensor.clone() for name, tensor in self._start.items()}
        runs, h, n = len(self.runs), self._hidden, self._hidden + self._outputs
        inputs = self.train.inputs
        return {
            "input_weights": inputs.new_zeros(runs, h, inputs.shape[1]),
            "biases": inputs.new_zeros(runs, n),
            "couplings": inputs.new_zeros(runs, n, n),
        }

    def run_epoch(self, parameters: Parameters, epoch: int) -> dict[str, Tensor]:
        count = len(self.train.labels)
        order = shuffled("student", self._seed, self.runs, epoch, count)
        if self._repeated is None or self._repeated[0] is not parameters:
            changed = [*parameters.values(), self._totals]
            step = RepeatedStep(functools.partial(self._step, parameters), changed)
            self._repeated = (parameters, step)
        self._totals.zero_()
        for rows in torch.split(order.to(self._totals.device), self.protocol.batch_size, dim=1):
            self._repeated[1](rows)
        path, endpoint = self._totals / count
        loss = self.protocol.path_weight * path + self._endpoint_weight * endpoint
        return {"loss": loss, "path_loss": path, "endpoint_loss": endpoint}

    def _step(self, parameters: Parameters, rows: Tensor) -> None:
        """One SGD step on the examples `rows` (R, B); adds B times the losses to the totals."""
        weights, biases, couplings = (parameters[name] for name in PARAMETER_NAMES)
        inputs = self.train.inputs[rows]
        fields = local_fields(weights, biases, inputs)
        fields_gradient = torch.zeros_like(fields)
        couplings_gradient = torch.zeros_like(couplings)
        losses = fields.new_zeros(2, len(self.runs))
        if self.protocol.path_weight:
            losses[0], by_fields, by_couplings = kernels.path_loss(
                fields,
                couplings,
                self.train.said(self.train.coefficients, rows),
                self.dynamics,
                nodes=self.protocol.path_nodes,
            )
            fields_gradient += self.protocol.path_weight * by_fields
            couplings_gradient += self.protocol.path_weight * by_couplings
        if self._uses_endpoint:
            losses[1], by_fields, by_couplings = endpoint_loss(
                fields,
                couplings,
                self.train.said(self.train.targets, rows),
                self.dynamics,
            )
            scale = self._endpoint_weight[:, None, None]
            fields_gradient += scale * by_fields
            couplings_gradient += scale * by_couplings
        rate = self._learning_rate[:, None, None]
        weights -= rate * (fields_gradient[..., : self._hidden].transpose(1, 2) @ inputs)
        biases -= rate[:, 0] * fields_gradient.sum(1)
        couplings -= rate * self._mask * (couplings_gradient + couplings_gradient.transpose(1, 2))
        self._totals += losses * rows.shape[1]

    def validate(self, parameters: Parameters) -> dict[str, Tensor]:
        weights, biases, couplings = (parameters[name] for name in PARAMETER_NAMES)
        data = self._validation
        scores = torch.cat(
            [
                kernels.rollout(local_fields(weights, biases, inputs), couplings, self.dynamics)[
                    ..., self._hidden :
                ].cos()
                for _, inputs in chunks(data.inputs)
            ],
            dim=1,
        )
        return {
            "top1": metrics.top_k(scores, data.labels),
            "agreement": metrics.agreement(scores, data.targets),
            "endpoint_rmse": metrics.rmse(scores, data.targets),
        }

    def merit(self, metrics: dict[str, Tensor]) -> Tensor:
        error = -metrics["endpoint_rmse"].nan_to_num(math.inf, math.inf)
        if self.protocol.selection == "endpoint-rmse":
            return error[:, None]
        return torch.stack([(metrics["top1"] + metrics["agreement"]) / 2, error], dim=1)


def endpoint_loss(
    fields: Tensor, couplings: Tensor, targets: Tensor, dynamics: Dynamics
) -> tuple[Tensor, Tensor, Tensor]:
    r"""L_end (R,), and its gradients with respect to fields (R, B, N) and couplings (R, N, N).

    L_end = 1 / (B O) sum_{n,o} ( cos theta_o(t_f) - a_o )^2 for targets a (R, B, O), through the
    exact discrete adjoint of the autonomous rollout.
    """
    phases, pullback = kernels.rollout_with_pullback(fields, couplings, dynamics)
    outputs = targets.shape[-1]
    final = phases[..., -outputs:]
    # cos + i sin in one operation, which takes one thread for so few numbers: a team of OpenMP
    # threads would go on spinning into the adjoint.
    readout = torch.polar(torch.ones_like(final), final)
    error = readout.real - targets
    gradient = torch.zeros_like(phases)
    count = error.shape[1] * outputs
    gradient[..., -outputs:] = -2.0 / count * error * readout.imag
    return error.square().sum((1, 2)) / count, *pullback(gradient)


def network_of(parameters: Parameters, lane: int, dynamics: Dynamics) -> KuramotoNetwork:
    """The network of one run."""
    return KuramotoNetwork.from_arrays(
        *(parameters[name][lane] for name in PARAMETER_NAMES),
        mobility=dynamics.mobility,
        observation_time=dynamics.observation_time,
        steps=dynamics.steps,
    )
