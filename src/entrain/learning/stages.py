"""The stages of a training as values: a teacher, or students of teachers.

A stage holds everything that decides its outcome, the stages it starts from included, so that
equal stages are trained once, wherever they are asked for.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property

from entrain.errors import InputError
from entrain.learning.direct import DirectProtocol
from entrain.learning.protocols import Protocol, TeacherSpec
from entrain.physics import Dynamics


@dataclass(frozen=True)
class TeacherStage:
    """A teacher trained on a dataset, all its initialisations side by side."""

    dataset: str
    spec: TeacherSpec = field(default_factory=TeacherSpec)
    seed: int = 0

    @property
    def needs(self) -> tuple[Stage, ...]:
        """The stages whose outcome this one uses: none."""
        return ()

    @property
    def lanes(self) -> int:
        """How many are trained side by side."""
        return self.spec.initialisations

    @property
    def epochs(self) -> int:
        """How long it is trained."""
        return self.spec.epochs

    @property
    def title(self) -> str:
        """What to call it in a list."""
        return f"{self.dataset} teacher {'-'.join(map(str, self.spec.widths))}"

    @cached_property
    def key(self) -> str:
        """What tells this stage from every other."""
        return _key(self)


class _SideBySide:
    """What stages that train networks in several runs have in common."""

    protocol: Protocol | DirectProtocol
    runs: tuple[int, ...]

    @property
    def lanes(self) -> int:
        """How many are trained side by side."""
        return len(self.runs)

    @property
    def epochs(self) -> int:
        """How long it is trained."""
        return self.protocol.epochs

    @property
    def title(self) -> str:
        """What to call it in a list."""
        assert isinstance(self, StudentStage | DirectStage)
        several = f" x {self.lanes}" if self.lanes > 1 else ""
        return f"{self.dataset} {self.protocol.name} H={self.hidden}{several}"

    @property
    def start_lanes(self) -> list[int]:
        """Where in `start` each run begins: at the one of its own order."""
        assert isinstance(self, StudentStage | DirectStage)
        assert self.start is not None
        if self.runs == self.start.runs:
            return list(range(self.lanes))
        return [self.start.runs.index(run) for run in self.runs]

    @cached_property
    def key(self) -> str:
        """What tells this stage from every other."""
        assert isinstance(self, StudentStage | DirectStage)
        return _key(self)


@dataclass(frozen=True)
class StudentStage(_SideBySide):
    """Students trained side by side, by one protocol, in the training orders `runs`.

    They share one teacher, or each has its own of `teachers`. `start` is the PATH stage a protocol
    goes on from: a student starts from the one of the same order in it.
    """

    protocol: Protocol
    teachers: tuple[TeacherStage, ...]
    runs: tuple[int, ...] = (0,)
    start: StudentStage | None = None
    dynamics: Dynamics = field(default_factory=Dynamics)
    seed: int = 0

    def __post_init__(self) -> None:
        name = self.protocol.name
        if len(self.teachers) not in (1, len(self.runs)):
            raise InputError(
                f"{name} of {len(self.runs)} runs must have one teacher, or one for each; "
                f"got {len(self.teachers)}"
            )
        if len(self.teachers) > 1 and self.protocol.solver == "exact":
            raise InputError(f"{name} solved exactly must have one teacher for all runs")
        if (self.protocol.start == "PATH") != (self.start is not None):
            wanted = "a stage" if self.protocol.start == "PATH" else "no stage"
            raise InputError(f"{name} starts from {self.protocol.start}: give {wanted} to start")
        if self.start is not None and not set(self.runs) <= set(self.start.runs):
            raise InputError(
                f"{name} asks for the runs {self.runs}, its start has {self.start.runs}"
            )

    @property
    def dataset(self) -> str:
        """The dataset of its teachers."""
        return self.teachers[0].dataset

    @property
    def needs(self) -> tuple[Stage, ...]:
        """The stages whose outcome this one uses."""
        return (*self.teachers, *(() if self.start is None else (self.start,)))

    @property
    def hidden(self) -> int:
        """Hidden oscillators: one for each hidden unit of a teacher."""
        return sum(self.teachers[0].spec.widths)


@dataclass(frozen=True)
class DirectStage(_SideBySide):
    """Networks trained on labels, side by side, from a random start or from students.

    `teacher` is the one to distil, where the protocol does.
    """

    dataset: str
    protocol: DirectProtocol = field(default_factory=DirectProtocol)
    hidden: int = 64
    runs: tuple[int, ...] = (0,)
    start: StudentStage | None = None
    teacher: TeacherStage | None = None
    dynamics: Dynamics = field(default_factory=Dynamics)
    seed: int = 0

    def __post_init__(self) -> None:
        if (self.protocol.start in ("PATH", "TWO-STAGE-END")) != (self.start is not None):
            raise InputError(
                f"{self.protocol.name} starts from {self.protocol.start}: give a stage to start "
                "from exactly if that is a protocol"
            )
        if self.start is not None:
            _check_start(self, self.start)
        if self.teacher is not None and self.teacher.dataset != self.dataset:
            raise InputError(
                f"the teacher learnt {self.teacher.dataset}, the stage is of {self.dataset}"
            )
        if bool(self.protocol.distillation) != (self.teacher is not None):
            raise InputError(f"{self.protocol.name}: a teacher is given exactly if it is distilled")

    @property
    def needs(self) -> tuple[Stage, ...]:
        """The stages whose outcome this one uses."""
        return tuple(stage for stage in (self.teacher, self.start) if stage is not None)


def _check_start(stage: DirectStage, start: StudentStage) -> None:
    for what, wanted, came in (
        ("protocol", stage.protocol.start, start.protocol.name),
        ("dataset", stage.dataset, start.dataset),
        ("hidden oscillators", stage.hidden, start.hidden),
    ):
        if wanted != came:
            raise InputError(f"a start of {what} {wanted} is needed, got {came}")
    if not set(stage.runs) <= set(start.runs):
        raise InputError(f"asked for are the runs {stage.runs}, the start has {start.runs}")


Stage = TeacherStage | StudentStage | DirectStage

LATER = {"later": True}  # metadata of a field added after the first release


def _key(stage: Stage) -> str:
    kind = "teacher" if isinstance(stage, TeacherStage) else stage.protocol.name.lower()
    return f"{stage.dataset}-{kind}-{digest(stage)}"


def digest(value: object) -> str:
    """What tells one value (of dataclasses, tuples and plain values) from another.

    A field that a later release adds may be marked with `LATER`: at its default it does not count,
    so that what was trained before keeps its name.
    """
    text = json.dumps(_canonical(value), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _canonical(value: object) -> object:
    if isinstance(value, list | tuple):
        return [_canonical(entry) for entry in value]
    if not is_dataclass(value):
        return value
    return {
        each.name: _canonical(getattr(value, each.name))
        for each in fields(value)
        if LATER.items() - each.metadata.items() or getattr(value, each.name) != each.default
    }
