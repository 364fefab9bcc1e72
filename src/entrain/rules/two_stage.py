"""The training protocols of the paper: SGD on the path and endpoint losses of a teacher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from entrain.physics import NetworkSpec
from entrain.rules.augmentation import Augmentation
from entrain.rules.chip_training import ChipTraining
from entrain.rules.distillation import signed_outputs, signed_validation
from entrain.rules.distorted_data import DistortedData
from entrain.rules.interface import (
    Assignment,
    PerRun,
    Rule,
    Training,
    check_chips,
    check_per_run,
    values_per_run,
)
from entrain.rules.two_stage_training import ExactPathTraining, TwoStageTraining
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
        augmentation: Distortions of training images, for SGD; the teachers see them too.
        teacher: Digest of a teacher from outside, whose signed probabilities are the targets of
            the endpoint loss, see `entrain.train`; None for those of the `TeacherSpec`.

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
    augmentation: Augmentation | None = None
    teacher: str | None = None

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
        if not isinstance(self.augmentation, Augmentation | None):
            raise InputError(f"augmentation must be an Augmentation, got {self.augmentation!r}")
        if self.augmentation is not None and self.solver == "exact":
            raise InputError(
                f"protocol {self.name} is solved exactly for undistorted images; to distort them "
                "choose path_solver='sgd'"
            )
        if not isinstance(self.teacher, str | None):
            raise InputError(f"teacher must be the digest of one, got {self.teacher!r}")
        if self.chips is not None and self.solver == "exact":
            raise InputError(
                f"protocol {self.name} is solved exactly for the ideal network; to train it for "
                "chips choose path_solver='sgd'"
            )

    @classmethod
    def from_settings(cls, values: dict[str, Any]) -> TwoStage:
        """The rule of the fields that `settings` returns.

        Args:
            values: The fields as JSON values.
        """
        distortions = values.get("augmentation")
        if distortions is not None:
            values = values | {"augmentation": Augmentation(**distortions)}
        return super().from_settings(values)

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

    def training(self, assignment: Assignment) -> Training:
        train, validation = assignment.data.teacher_targets(assignment.teachers)
        if assignment.external is not None:
            of_train, of_validation = signed_outputs(assignment), signed_validation(assignment)
            train, validation = (
                replace(train, targets=of_train.to(train.targets)),
                replace(validation, targets=of_validation.to(validation.targets)),
            )
        distorted = None
        if self.augmentation is not None and not self.augmentation.is_identity:
            distorted = DistortedData(self.augmentation, assignment)
        return (ExactPathTraining if self.solver == "exact" else TwoStageTraining)(
            self,
            train,
            validation,
            assignment.network,
            seed=assignment.seed,
            runs=assignment.runs,
            start=assignment.start,
            on_progress=assignment.on_progress,
            distorted=distorted,
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
