"""Everything that decides the outcome of a training, as one value that is saved beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from entrain.errors import InputError, positive_int, seed_number
from entrain.learning.protocols import (
    PROTOCOLS,
    Protocol,
    Solver,
    TeacherSpec,
    per_run,
    protocol_named,
)
from entrain.physics import Dynamics

PATH_NODES = 32  # give the sum of 200 terms to 1e-6 where artanh targets reach 18.7


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
        seed_number("seed", self.seed)
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
    def for_dataset(
        cls,
        dataset: str,
        protocols: Sequence[Protocol | str] = ("PATH", "TWO-STAGE-END"),
        *,
        path_solver: Solver = "exact",
        **changes: Any,
    ) -> Recipe:
        """The paper's settings for MNIST and Fashion-MNIST, and what suits the small digits.

        `path_solver` "sgd" is the paper's Stage I; "exact" solves for its minimum, and sums the
        path loss over 32 weighted times. `protocols` may be names; `changes` are other fields.
        """
        chosen = tuple(protocol_named(p) if isinstance(p, str) else p for p in protocols)
        recipe = cls(dataset, protocols=chosen, **changes)
        if dataset.startswith("fashion-mnist") and "teacher" not in changes:
            once = replace(recipe.teacher, initialisations=1, selection="cross-entropy")
            recipe = replace(recipe, teacher=once)
        if path_solver == "exact":
            recipe = recipe.adjusted(
                path={"solver": "exact", "epochs": 1, "path_nodes": PATH_NODES},
                endpoint={"path_nodes": PATH_NODES},
            )
        if dataset == "digits":
            # 1,197 images: small batches, or there are few steps. Inputs of a fifth of MNIST's
            # norm make the path loss flatter in the input weights: a larger rate is stable.
            recipe = recipe.adjusted(
                path={"batch_size": 32}
                | ({"learning_rate": 60_000.0, "epochs": 40} if path_solver == "sgd" else {}),
                endpoint={"batch_size": 32},
            )
        return recipe

    def adjusted(
        self,
        *,
        teacher: dict[str, Any] | None = None,
        path: dict[str, Any] | None = None,
        endpoint: dict[str, Any] | None = None,
    ) -> Recipe:
        """This recipe with fields changed: of the teacher, of PATH, of every other protocol.

        An endpoint weight goes to the protocols that have an endpoint loss.
        """

        def change(protocol: Protocol) -> Protocol:
            changes = dict((path if protocol.name == "PATH" else endpoint) or {})
            if protocol.endpoint_weight == 0:
                changes.pop("endpoint_weight", None)
            return replace(protocol, **changes)

        return replace(
            self,
            teacher=replace(self.teacher, **(teacher or {})),
            protocols=tuple(change(protocol) for protocol in self.protocols),
        )

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
        except (AttributeError, KeyError, TypeError) as error:
            raise InputError(f"not a complete recipe: {error!r}") from error


def _protocol(values: dict[str, Any]) -> Protocol:
    tuples: dict[str, Any] = {
        name: tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
        for name, value in values.items()
    }
    return Protocol(**tuples)
