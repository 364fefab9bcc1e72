"""Everything that decides the outcome of a training, as one value that is saved beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from entrain.errors import InputError, positive_int
from entrain.learning.protocols import PROTOCOLS, Protocol, TeacherSpec, per_run
from entrain.physics import Dynamics


@dataclass(frozen=True)
class Recipe:
    """A dataset, a teacher, and the protocols its students are trained by.

    `runs` training orders of each protocol are trained side by side. PATH is added in front where
    a protocol starts from it. The number of hidden oscillators is the sum of the teacher's widths.
    """

    dataset: str
    teacher: TeacherSpec = field(default_factory=TeacherSpec)
    protocols: tuple[Protocol, ...] = (PROTOCOLS["PATH"], PROTOCOLS["TWO-STAGE-END"])
    dynamics: Dynamics = field(default_factory=Dynamics)
    runs: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        positive_int("runs", self.runs)
        if isinstance(self.seed, bool) or not 0 <= self.seed < 2**32:
            raise InputError(f"seed must be a whole number from 0 to 2^32 - 1, got {self.seed!r}")
        names = [protocol.name for protocol in self.protocols]
        if not names or len(set(names)) != len(names):
            raise InputError(f"protocols must be different and at least one, got {names}")
        for protocol in self.protocols:
            per_run("learning_rate", protocol.learning_rate, self.runs)
            per_run("endpoint_weight", protocol.endpoint_weight, self.runs)
        if "PATH" not in names and any(p.start == "PATH" for p in self.protocols):
            object.__setattr__(self, "protocols", (PROTOCOLS["PATH"], *self.protocols))
        order = sorted(self.protocols, key=lambda protocol: protocol.name != "PATH")
        object.__setattr__(self, "protocols", tuple(order))

    @classmethod
    def for_dataset(cls, dataset: str, **changes: Any) -> Recipe:
        """The paper's settings: Fashion-MNIST has one teacher start, selected by cross-entropy."""
        teacher = TeacherSpec()
        if dataset == "fashion-mnist":
            teacher = replace(teacher, initialisations=1, selection="cross-entropy")
        return replace(cls(dataset, teacher), **changes)

    def to_json(self) -> dict[str, Any]:
        """JSON values that `from_json` turns back into the same recipe."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Recipe:
        """The recipe of `to_json`, checked like any other."""
        try:
            teacher = dict(values["teacher"])
            teacher["widths"] = tuple(teacher["widths"])
            return cls(
                dataset=values["dataset"],
                teacher=TeacherSpec(**teacher),
                protocols=tuple(_protocol(protocol) for protocol in values["protocols"]),
                dynamics=Dynamics(**values["dynamics"]),
                runs=values["runs"],
                seed=values["seed"],
            )
        except (KeyError, TypeError) as error:
            raise InputError(f"not a complete recipe: {error!r}") from error


def _protocol(values: dict[str, Any]) -> Protocol:
    tuples = {
        name: tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
        for name, value in values.items()
    }
    return Protocol(**tuples)
