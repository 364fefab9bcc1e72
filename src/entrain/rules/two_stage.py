"""The training protocols of the paper, as values: SGD on the path and endpoint losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from entrain.hardware import Hardware
from entrain.physics import NetworkSpec
from entrain.rules.chip_training import ChipTraining, chips_of, settings_with_chips
from entrain.rules.interface import (
    Assignment,
    PerRun,
    Rule,
    Task,
    check_per_run,
    one_of,
    values_per_run,
)
from entrain.utils.errors import InputError, positive_float, positive_int, store_plain_numbers

Start = Literal["zero", "PATH"]
Selection = Literal["endpoint-rmse", "joint"]
Solver = Literal["sgd", "exact"]

PATH_NODES = 32  # give the sum of 200 terms to 1e-6 where artanh targets reach 18.7


@dataclass(frozen=True)
class TwoStage(Rule):
    """How a student is trained: plain SGD on path_weight L_path + endpoint_weight L_end.

    `start` is exact zero or the selected PATH checkpoint of the same run. `selection` takes the
    epoch with the smallest validation endpoint RMSE, or with the largest joint score (top-1 +
    teacher agreement) / 2, ties going to the smaller RMSE. `learning_rate` and `endpoint_weight`
    may differ per run. The path loss sums all K times, or `path_nodes` weighted ones; its exact
    minimiser (`solver`), with a `ridge` on the input weights if wanted, takes the place of SGD
    where only the path is trained, from zero. With `chips` the network is trained for imperfect
    hardware (`ChipTraining`).
    """

    kind: ClassVar[str] = "two-stage"

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
        positive_float("path_weight", self.path_weight, zero=True)
        for value in values_per_run(self.endpoint_weight):
            positive_float("endpoint_weight", value, zero=True)
        for value in values_per_run(self.learning_rate):
            positive_float("learning_rate", value)
        positive_int("epochs", self.epochs)
        positive_int("batch_size", self.batch_size)
        if self.path_weight == 0 and not any(values_per_run(self.endpoint_weight)):
            raise InputError(f"protocol {self.name} has no loss: both weights are 0")
        one_of("solver", self.solver, Solver)
        if positive_float("ridge", self.ridge, zero=True) and self.solver != "exact":
            raise InputError(f"protocol {self.name}: a ridge belongs to the exact solver")
        if self.path_nodes is not None:
            positive_int("path_nodes", self.path_nodes)
        if self.solver == "exact" and (self.start != "zero" or self.has_endpoint):
            raise InputError(f"protocol {self.name} cannot be solved exactly: only PATH can")
        if self.chips is not None:
            if not isinstance(self.chips, ChipTraining):
                raise InputError(f"chips must be a ChipTraining, got {self.chips!r}")
            if self.solver == "exact":
                raise InputError(
                    f"protocol {self.name} is solved exactly for the ideal network; to train it "
                    "for chips choose path_solver='sgd'"
                )

    @classmethod
    def from_settings(cls, values: dict[str, Any]) -> TwoStage:
        """The protocol with these fields; those of its chips are a dictionary of their own."""
        return cls(**values | chips_of(values))

    def settings(self) -> dict[str, Any]:
        """Its fields as JSON values, without chips that are not there: files are as they were."""
        return settings_with_chips(self)

    @property
    def hardware(self) -> Hardware | None:
        """That of its chips."""
        return None if self.chips is None else self.chips.hardware

    @property
    def uses_teacher(self) -> bool:
        """Always: both losses compare with a teacher."""
        return True

    @property
    def has_endpoint(self) -> bool:
        """Whether any run has an endpoint loss."""
        return any(values_per_run(self.endpoint_weight))

    @property
    def is_prerequisite(self) -> bool:
        """Continuations start from PATH."""
        return self.name == "PATH"

    @property
    def cost(self) -> float:
        """An epoch through time takes about four times as long as one along the path."""
        return 4.0 if self.has_endpoint else 1.0

    def tuned_for(self, dataset: str, examples: int) -> TwoStage:
        """The paper's settings, and what suits the small digits: small batches.

        Inputs of a fifth of MNIST's norm make the path loss flatter in the input weights, so that
        a larger rate is stable.
        """
        if dataset != "digits":
            return self
        if self.name == "PATH" and self.solver == "sgd":
            return replace(self, batch_size=32, learning_rate=60_000.0, epochs=40)
        return replace(self, batch_size=32)

    def with_solver(self, solver: str) -> TwoStage:
        """With the exact Stage I and its few weighted times, or as the paper has it."""
        if solver == "sgd":
            return self
        if self.name == "PATH":
            return replace(self, solver="exact", epochs=1, path_nodes=PATH_NODES)
        return replace(self, path_nodes=PATH_NODES)

    def check(self, network: NetworkSpec, runs: int, teachers: Sequence[Rule]) -> None:
        """Refuse what has no teacher path or no exact minimiser."""
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
        """SGD, or the exact solver in its place."""
        from entrain.rules.exact_task import ExactPathTask
        from entrain.rules.two_stage_task import TwoStageTask

        task = ExactPathTask if self.solver == "exact" else TwoStageTask
        train, validation = assignment.data.teacher_targets(assignment.teachers)
        found = task(
            self,
            train,
            validation,
            assignment.network,
            seed=assignment.seed,
            runs=assignment.runs,
            start=assignment.start,
        )
        found.on_progress = assignment.on_progress
        return found


# Name, start, path weight, endpoint weight, learning rate, epochs. The three branches that the
# paper runs in its ablation alone carry the ablation's learning rate, 30.
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
