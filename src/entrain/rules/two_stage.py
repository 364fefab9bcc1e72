"""The training protocols of the paper: SGD on the path and endpoint losses of a teacher."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch
from torch import Tensor

from entrain import kernels
from entrain.evaluation.measure import chunks
from entrain.physics import Dynamics, NetworkSpec, PhaseModel, readout_with_pullback
from entrain.rules.adamw import per_tensor
from entrain.rules.chip_training import ChipTraining
from entrain.rules.exact_path import solve_path
from entrain.rules.interface import (
    Assignment,
    PerRun,
    Rule,
    Task,
    Tensors,
    check_chips,
    check_per_run,
    per_run,
    shuffled,
    values_per_run,
)
from entrain.rules.on_chips import OnChips
from entrain.rules.repeated_step import RepeatedSteps
from entrain.rules.training_data import TeacherData
from entrain.rules.validation import validation_scores
from entrain.tasks import metrics
from entrain.utils.errors import InputError, check_ranges, one_of, store_plain_numbers

Start = Literal["zero", "PATH"]
Selection = Literal["endpoint-rmse", "joint"]
Solver = Literal["sgd", "exact"]

PATH_NODES = 32  # give the sum of 200 terms to 1e-6 where artanh targets reach 18.7


@dataclass(frozen=True)
class TwoStage(Rule):
    """Plain SGD on path_weight L_path + endpoint_weight L_end.

    Args:
        name: Name of the protocol.
        start: Exact "zero", or the selected PATH network of the same run.
        path_weight: Weight of the path loss.
        endpoint_weight: Weight of the endpoint loss; one number or one per run.
        learning_rate: One number or one per run.
        epochs: Passes over the training examples.
        selection: Selects the epoch of the smallest validation endpoint RMSE, or of the largest
            "joint" score (top-1 + teacher agreement) / 2 and then the smaller RMSE.
        batch_size: Examples of a step.
        solver: "exact" computes the minimiser of the path loss instead of SGD; for training from
            zero with the path loss alone.
        path_nodes: Weighted times of the path loss; None sums all K times.
        ridge: Penalty of the exact solver on the input weights.
        chips: Imperfect chips to train for.

    Examples:
        >>> entrain.PROTOCOLS["TWO-STAGE-END"].start
        'PATH'
    """

    kind: ClassVar[str] = "two-stage"
    uses_teacher = True  # in both losses

    name: str
    start: Start
    path_weight: float
    endpoint_weight: PerRun
    learning_rate: PerRun
    epochs: int
    selection: Selection = "joint"
    batch_size: int = 256
    solver: Solver = "sgd"
    path_nodes: int | None = None
    ridge: float = 0.0
    chips: ChipTraining | None = None

    def __post_init__(self) -> None:
        store_plain_numbers(self)
        one_of("start", self.start, Start)
        one_of("selection", self.selection, Selection)
        one_of("solver", self.solver, Solver)
        check_ranges(
            self,
            whole=("epochs", "batch_size", "path_nodes"),
            positive=("learning_rate",),
            non_negative=("path_weight", "endpoint_weight", "ridge"),
        )
        if self.path_weight == 0 and not any(values_per_run(self.endpoint_weight)):
            raise InputError(f"protocol {self.name} has no loss: both weights are 0")
        if self.ridge and self.solver != "exact":
            raise InputError(f"protocol {self.name}: a ridge belongs to the exact solver")
        if self.solver == "exact" and (self.start != "zero" or self.has_endpoint):
            raise InputError(f"protocol {self.name} cannot be solved exactly: only PATH can")
        check_chips(self.chips)
        if self.chips is not None and self.solver == "exact":
            raise InputError(
                f"protocol {self.name} is solved exactly for the ideal network; to train it for "
                "chips choose path_solver='sgd'"
            )

    @property
    def has_endpoint(self) -> bool:
        """True if any run has an endpoint loss."""
        return any(values_per_run(self.endpoint_weight))

    @property
    def is_prerequisite(self) -> bool:
        """True for PATH, from which continuations start."""
        return self.name == "PATH"

    @property
    def cost(self) -> float:
        """An epoch through time takes about four times as long as one along the path."""
        return 4.0 if self.has_endpoint else 1.0

    def tuned_for(self, dataset: str, examples: int) -> TwoStage:
        if dataset != "digits":
            return self
        if self.name == "PATH" and self.solver == "sgd":
            # Inputs of a fifth of MNIST's norm make the path loss flatter in the input weights, so
            # that a larger rate is stable.
            return replace(self, batch_size=32, learning_rate=60_000.0, epochs=40)
        return replace(self, batch_size=32)

    def with_solver(self, solver: str) -> TwoStage:
        if solver == "sgd":
            return self
        if self.name == "PATH":
            return replace(self, solver="exact", epochs=1, path_nodes=PATH_NODES)
        return replace(self, path_nodes=PATH_NODES)

    def check(self, network: NetworkSpec, runs: int, teachers: Sequence[Rule]) -> None:
        if len(teachers) not in (1, runs):
            raise InputError(
                f"{self.name} of {runs} runs must have one teacher, or one for each; "
                f"got {len(teachers)}"
            )
        for teacher in teachers:
            hidden = sum(getattr(teacher, "widths", ()))
            if hidden != network.hidden:
                raise InputError(
                    f"{self.name}: {network.hidden} hidden oscillators need a teacher of as many "
                    f"hidden units, got {hidden}"
                )
        check_per_run(self, runs)
        if self.path_weight and network.start_phases is not None:
            raise InputError(
                f"{self.name}: the teacher path assumes theta(0) = pi/2; use DIRECT with start "
                "phases of your own"
            )
        if self.solver == "exact":
            if len(teachers) > 1:
                raise InputError(f"{self.name} solved exactly must have one teacher for all runs")
            if not network.is_plain:
                raise InputError(
                    f"{self.name}: the exact solver supports only fields and couplings; use "
                    "path_solver='sgd' for networks with frequencies, injection, lag or harmonic"
                )

    def task(self, assignment: Assignment) -> Task:
        train, validation = assignment.data.teacher_targets(assignment.teachers)
        return (ExactPathTask if self.solver == "exact" else TwoStageTask)(
            self,
            train,
            validation,
            assignment.network,
            seed=assignment.seed,
            runs=assignment.runs,
            start=assignment.start,
            on_progress=assignment.on_progress,
        )


# Name, start, path weight, endpoint weight, learning rate, epochs. The three branches that the
# paper runs only in its ablation have the learning rate of the ablation, 30.
PAPER_PROTOCOLS: dict[str, TwoStage] = {
    p.name: p
    for p in (
        TwoStage("PATH", "zero", 1.0, 0.0, 3000.0, 300, "endpoint-rmse"),
        TwoStage("PATH-CONT", "PATH", 1.0, 0.0, 10.0, 20),
        TwoStage("TWO-STAGE-END", "PATH", 1.0, 1.0, 10.0, 20),
        TwoStage("PRETRAIN-END-ONLY", "PATH", 0.0, 1.0, 30.0, 20),
        TwoStage("Z-END", "zero", 1.0, 1.0, 30.0, 20),
        TwoStage("ZERO-END-ONLY", "zero", 0.0, 1.0, 30.0, 20),
    )
}


class TwoStageTask:
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
    ) -> None:
        """`start` are networks to continue; `on_progress` gets the share done of a long epoch."""
        self.protocol, self.epochs = protocol, protocol.epochs
        self.train, self._validation = train, validation
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
            "input_weights": inputs.new_zeros(runs, h, inputs.shape[1]),
            "biases": inputs.new_zeros(runs, n),
            "couplings": inputs.new_zeros(runs, n, n),
        }
        return self._spec.initial_tensors(zero, self._start)

    def run_epoch(self, tensors: Tensors, epoch: int) -> Tensors:
        count = len(self.train.labels)
        rows = shuffled("student", self._seed, self.runs, epoch, count).to(self._totals.device)
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

    def _gradient_on_chips(self, tensors: Tensors, rows: Tensor) -> tuple[Tensor, Tensors]:
        """`_gradient` with every example on one of the chips."""
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


class ExactPathTask(TwoStageTask):
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
