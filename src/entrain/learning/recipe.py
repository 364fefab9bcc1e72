"""Everything that decides the outcome of a training, as one value that is saved beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from entrain.errors import InputError, positive_int, seed_number, unknown_name
from entrain.learning.augmentation import Augmentation
from entrain.learning.direct import DIRECT_PROTOCOLS, DirectProtocol, suited
from entrain.learning.protocols import PROTOCOLS, Protocol, Solver, TeacherSpec, per_run
from entrain.physics import Dynamics

AnyProtocol = Protocol | DirectProtocol
_FIRST = ("PATH", "TWO-STAGE-END")  # others may start from them

PATH_NODES = 32  # give the sum of 200 terms to 1e-6 where artanh targets reach 18.7


@dataclass(frozen=True)
class Recipe:
    """A dataset, a teacher, and the protocols its students are trained by.

    `runs` training orders of each protocol are trained side by side. PATH and TWO-STAGE-END are
    added in front where a protocol starts from them. The number of hidden oscillators is the sum
    of the teacher's widths; the teacher itself is trained only if a protocol needs one.
    """

    dataset: str
    teacher: TeacherSpec = field(default_factory=TeacherSpec)
    protocols: tuple[AnyProtocol, ...] = (PROTOCOLS["PATH"], PROTOCOLS["TWO-STAGE-END"])
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
            if isinstance(protocol, DirectProtocol):
                if protocol.distillation:
                    raise InputError(f"{protocol.name}: a recipe does not distil")
                continue
            per_run("learning_rate", protocol.learning_rate, self.runs)
            per_run("endpoint_weight", protocol.endpoint_weight, self.runs)
        protocols = {protocol.name: protocol for protocol in self.protocols}
        for name in reversed(_FIRST):
            if name not in protocols and any(p.start == name for p in protocols.values()):
                protocols[name] = PROTOCOLS[name]
        rank = {name: place for place, name in enumerate(_FIRST)}
        order = sorted(protocols.values(), key=lambda each: rank.get(each.name, len(rank)))
        object.__setattr__(self, "protocols", tuple(order))

    @property
    def hidden(self) -> int:
        """Hidden oscillators."""
        return sum(self.teacher.widths)

    @property
    def needs_teacher(self) -> bool:
        """Whether anything but labels is learnt from."""
        return any(isinstance(protocol, Protocol) for protocol in self.protocols)

    @classmethod
    def for_dataset(
        cls,
        dataset: str,
        protocols: Sequence[AnyProtocol | str] = ("PATH", "TWO-STAGE-END"),
        *,
        path_solver: Solver = "exact",
        **changes: Any,
    ) -> Recipe:
        """The paper's settings for MNIST and Fashion-MNIST, and what suits the small digits.

        `path_solver` "sgd" is the paper's Stage I; "exact" solves for its minimum, and sums the
        path loss over 32 weighted times. `protocols` may be names; `changes` are other fields.
        """
        named = [protocol_named(p) if isinstance(p, str) else p for p in protocols]
        chosen = tuple(suited(p, dataset) if isinstance(p, DirectProtocol) else p for p in named)
        recipe = cls(dataset, protocols=chosen, **changes)
        if dataset in ("fashion-mnist", "fashion-mnist-small") and "teacher" not in changes:
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
                direct={"batch_size": 32, "epochs": 60},
            )
        return recipe

    def adjusted(
        self,
        *,
        teacher: dict[str, Any] | None = None,
        path: dict[str, Any] | None = None,
        endpoint: dict[str, Any] | None = None,
        direct: dict[str, Any] | None = None,
    ) -> Recipe:
        """This recipe with fields changed: of the teacher, of PATH, of the other protocols, and
        of those that learn from labels.

        An endpoint weight goes to the protocols that have an endpoint loss.
        """

        def change(protocol: AnyProtocol) -> AnyProtocol:
            if isinstance(protocol, DirectProtocol):
                return replace(protocol, **(direct or {}))
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


def protocol_named(name: str) -> AnyProtocol:
    """The protocol of that name, upper or lower case: the paper's, or one from labels."""
    known: dict[str, AnyProtocol] = {**PROTOCOLS, **DIRECT_PROTOCOLS}
    if name.upper() not in known:
        raise unknown_name("protocol", name, known)
    return known[name.upper()]


def _protocol(values: dict[str, Any]) -> AnyProtocol:
    tuples: dict[str, Any] = {
        name: tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
        for name, value in values.items()
    }
    if "augmentation" in tuples:
        distorted = Augmentation(**tuples.pop("augmentation"))
        return DirectProtocol(augmentation=distorted, **tuples)
    return Protocol(**tuples)
