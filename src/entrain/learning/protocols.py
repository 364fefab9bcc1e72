"""The training protocols of the paper, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from entrain.errors import InputError, positive_float, positive_int, unknown_name

PerRun = float | tuple[float, ...]
Start = Literal["zero", "PATH"]
Selection = Literal["endpoint-rmse", "joint"]
Solver = Literal["sgd", "exact"]
TeacherSelection = Literal["top1", "cross-entropy"]


def each_value(value: PerRun) -> list[float]:
    """One number for all runs, or one for each."""
    return list(value) if isinstance(value, tuple) else [value]


def _one_of(name: str, value: str, allowed: object) -> None:
    if value not in get_args(allowed):
        raise unknown_name(name, value, get_args(allowed))


@dataclass(frozen=True)
class Protocol:
    """How a student is trained: plain SGD on path_weight L_path + endpoint_weight L_end.

    `start` is exact zero or the selected PATH checkpoint of the same run. `selection` takes the
    epoch with the smallest validation endpoint RMSE, or with the largest joint score (top-1 +
    teacher agreement) / 2, ties going to the smaller RMSE. `learning_rate` and `endpoint_weight`
    may differ per run. The path loss sums all K times, or `path_nodes` weighted ones; its exact
    minimiser (`solver`), with a `ridge` on the input weights if wanted, takes the place of SGD
    where only the path is trained, from zero.
    """

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

    def __post_init__(self) -> None:
        _one_of("start", self.start, Start)
        _one_of("selection", self.selection, Selection)
        positive_float("path_weight", self.path_weight, zero=True)
        for value in each_value(self.endpoint_weight):
            positive_float("endpoint_weight", value, zero=True)
        for value in each_value(self.learning_rate):
            positive_float("learning_rate", value)
        positive_int("epochs", self.epochs)
        positive_int("batch_size", self.batch_size)
        if self.path_weight == 0 and not any(each_value(self.endpoint_weight)):
            raise InputError(f"protocol {self.name} has no loss: both weights are 0")
        _one_of("solver", self.solver, Solver)
        if positive_float("ridge", self.ridge, zero=True) and self.solver != "exact":
            raise InputError(f"protocol {self.name}: a ridge belongs to the exact solver")
        if self.path_nodes is not None:
            positive_int("path_nodes", self.path_nodes)
        if self.solver == "exact" and (
            self.start != "zero" or any(each_value(self.endpoint_weight))
        ):
            raise InputError(f"protocol {self.name} cannot be solved exactly: only PATH can")


def per_run(name: str, value: PerRun, runs: int) -> list[float]:
    """`value` for each of `runs` runs; a tuple must have exactly that many."""
    values = each_value(value)
    if isinstance(value, tuple) and len(values) != runs:
        raise InputError(f"{name} must be one number or {runs}, one per run; got {len(values)}")
    return values * runs if len(values) == 1 else values


@dataclass(frozen=True)
class TeacherSpec:
    """How a teacher is trained: SGD on the cross-entropy of its logits.

    Each of `initialisations` starts has its own order; epoch and start are selected by validation
    top-1 and then cross-entropy ("top1"), or by cross-entropy alone.
    """

    widths: tuple[int, ...] = (32, 16, 16)
    initialisations: int = 5
    selection: TeacherSelection = "top1"
    learning_rate: float = 0.2
    weight_decay: float = 1e-4
    batch_size: int = 256
    epochs: int = 300

    def __post_init__(self) -> None:
        if not self.widths:
            raise InputError("teacher widths must name at least one hidden layer, got none")
        for width in self.widths:
            positive_int("teacher widths", width)
        _one_of("teacher selection", self.selection, TeacherSelection)
        for name in ("initialisations", "batch_size", "epochs"):
            positive_int(f"teacher {name}", getattr(self, name))
        positive_float("teacher learning_rate", self.learning_rate)
        positive_float("teacher weight_decay", self.weight_decay, zero=True)


# Name, start, path weight, endpoint weight, learning rate, epochs. The three branches that the
# paper runs in its ablation alone carry the ablation's learning rate, 30.
PROTOCOLS: dict[str, Protocol] = {
    p.name: p
    for p in (
        Protocol("PATH", "zero", 1.0, 0.0, 3000.0, 300, "endpoint-rmse"),
        Protocol("PATH-CONT", "PATH", 1.0, 0.0, 10.0, 20),
        Protocol("TWO-STAGE-END", "PATH", 1.0, 1.0, 10.0, 20),
        Protocol("PRETRAIN-END-ONLY", "PATH", 0.0, 1.0, 30.0, 20),
        Protocol("Z-END", "zero", 1.0, 1.0, 30.0, 20),
        Protocol("ZERO-END-ONLY", "zero", 0.0, 1.0, 30.0, 20),
    )
}
