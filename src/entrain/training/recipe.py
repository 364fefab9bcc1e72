"""Everything that decides the outcome of a training, as one value that is saved beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import Any

from entrain.physics import Dynamics, NetworkSpec
from entrain.rules import (
    PAPER_PROTOCOLS,
    PROTOCOLS,
    Direct,
    Rule,
    Solver,
    TeacherSpec,
    TwoStage,
    from_json,
    protocol_named,
)
from entrain.utils.errors import (
    InputError,
    one_of,
    positive_int,
    seed_number,
    store_plain_numbers,
    unknown_name,
)


@dataclass(frozen=True)
class Recipe:
    """A dataset, a network, a teacher, and the protocols by which networks are trained.

    `runs` training orders of each protocol are trained side by side. A protocol that another one
    starts from is added in front, as `for_dataset` has it. The teacher is trained only if a
    protocol learns from one; a network that is not given has a hidden oscillator for each of its
    hidden units.
    """

    dataset: str
    teacher: TeacherSpec = field(default_factory=TeacherSpec)
    protocols: tuple[Rule, ...] = (PAPER_PROTOCOLS["PATH"], PAPER_PROTOCOLS["TWO-STAGE-END"])
    network: NetworkSpec | None = None
    runs: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        store_plain_numbers(self)
        if not isinstance(self.dataset, str):
            raise TypeError(f"dataset must be the name of one, got {self.dataset!r}")
        object.__setattr__(self, "protocols", protocols_of(self.protocols))
        positive_int("runs", self.runs)
        seed_number("seed", self.seed)
        for protocol in self.protocols:
            if not isinstance(protocol, Rule) or isinstance(protocol, TeacherSpec):
                raise InputError(
                    f"protocols must be rules such as Direct(), got {protocol!r}; "
                    "Recipe.for_dataset takes names"
                )
        for what, value, kind in (
            ("teacher", self.teacher, TeacherSpec),
            ("network", self.network, NetworkSpec | None),
        ):
            if not isinstance(value, kind):
                raise InputError(f"{what} must be a {kind}, got {value!r}")
        _refuse_repeated([protocol.name for protocol in self.protocols])
        if self.network is None:
            dynamics = dynamics_of(self.protocols) or Dynamics()
            object.__setattr__(self, "network", NetworkSpec(self.teacher.hidden, dynamics))
        complete = _with_starts(self.protocols, _suited(self.dataset))
        object.__setattr__(self, "protocols", complete)
        for protocol in complete:
            teachers = [self.teacher] if protocol.uses_teacher else []
            protocol.check(self.spec, self.runs, teachers)

    @property
    def spec(self) -> NetworkSpec:
        """The network."""
        assert self.network is not None
        return self.network

    @property
    def needs_teacher(self) -> bool:
        """Whether anything but labels is learnt from."""
        return any(protocol.uses_teacher for protocol in self.protocols)

    @classmethod
    def for_dataset(
        cls,
        dataset: str,
        protocols: Sequence[Rule | str] | Rule | str = ("PATH", "TWO-STAGE-END"),
        *,
        path_solver: Solver = "exact",
        examples: int = 1000,
        dynamics: Dynamics | None = None,
        **changes: Any,
    ) -> Recipe:
        """The settings that suit a dataset: the paper's for MNIST and Fashion-MNIST.

        They apply to `protocols` given by name; a protocol that is given as an object is used
        exactly as it is. `path_solver` "sgd" is the paper's Stage I; "exact" solves for its
        minimum, and sums the path loss over 32 weighted times. `examples` is the number of
        training examples of a dataset that is not the package's own; `dynamics` those of the
        network, and `changes` other fields.
        """

        one_of("path_solver", path_solver, Solver)
        if not isinstance(dataset, str):
            raise TypeError(f"dataset must be the name of one, got {dataset!r}")
        named = _suited(dataset, path_solver, examples)
        chosen = tuple(
            named(each) if isinstance(each, str) else each for each in protocols_of(protocols)
        )
        _refuse_repeated([rule.name for rule in chosen])
        if "teacher" not in changes and dataset.removesuffix("-small") == "fashion-mnist":
            changes["teacher"] = TeacherSpec(initialisations=1, selection="cross-entropy")
        known = [each.name for each in fields(cls) if each.name not in ("dataset", "protocols")]
        for name in changes:
            if name not in known:
                raise unknown_name(
                    "setting", name, ["dynamics", "path_solver", "protocols", *known]
                )
        if dynamics is not None:
            hidden = changes.get("teacher", TeacherSpec()).hidden
            network = changes.get("network") or NetworkSpec(hidden)
            changes["network"] = replace(network, dynamics=dynamics)
        return cls(dataset, protocols=_with_starts(chosen, named), **changes)

    def adjusted(
        self,
        *,
        teacher: dict[str, Any] | None = None,
        path: dict[str, Any] | None = None,
        endpoint: dict[str, Any] | None = None,
        direct: dict[str, Any] | None = None,
    ) -> Recipe:
        """This recipe with fields changed: of the teacher, of PATH, of the other protocols of the
        paper, and of those that learn from labels.

        An endpoint weight goes to the protocols that have an endpoint loss. Other widths of the
        teacher are another number of hidden oscillators.
        """

        def change(protocol: Rule) -> Rule:
            if isinstance(protocol, Direct):
                changes = dict(direct or {})
                chips = changes.pop("chips", None)
                changed = replace(protocol, **changes)
                return changed if chips is None else changed.for_chips(chips, self.dataset)
            if not isinstance(protocol, TwoStage):  # another rule takes what it has a field for
                known = protocol.settings()
                return replace(protocol, **{n: v for n, v in (direct or {}).items() if n in known})  # type: ignore[type-var]
            changes = dict((path if protocol.name == "PATH" else endpoint) or {})
            if not protocol.has_endpoint:
                changes.pop("endpoint_weight", None)
            return replace(protocol, **changes)

        changed = replace(self.teacher, **(teacher or {}))
        network = self.spec
        if changed.hidden != self.teacher.hidden:
            network = replace(network, hidden=changed.hidden)
        return replace(
            self,
            teacher=changed,
            network=network,
            protocols=tuple(change(protocol) for protocol in self.protocols),
        )

    def with_field(self, protocol: str, field: str, value: object) -> Recipe:
        """This recipe with one field of one of its protocols changed; `value` is a JSON value."""
        chosen = {each.name: each for each in self.protocols}
        if protocol.upper() not in chosen:
            raise unknown_name("protocol of this recipe", protocol, chosen)
        rule = chosen[protocol.upper()]
        assert is_dataclass(rule)
        hidden = {"name"} if getattr(rule, "chips", None) is not None else {"name", "chips"}
        known = [each.name for each in fields(rule) if each.name not in hidden]
        if field not in known:
            raise unknown_name(f"field of {rule.name}", field, known)
        changed = chosen[rule.name] = from_json(rule.to_json() | {field: value})
        if changed.is_continuation and changed.start not in chosen:
            raise InputError(
                f"{rule.name} would start from {changed.start}, which is not trained: name both as "
                "protocols"
            )
        return replace(self, protocols=tuple(chosen.values()))

    def to_json(self) -> dict[str, Any]:
        """JSON values that `from_json` turns back into the same recipe."""
        return asdict(self) | {
            "network": self.spec.to_json(),
            "protocols": [each.to_json() for each in self.protocols],
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Recipe:
        """The recipe of `to_json`, checked like any other; also one that version 0.1 wrote."""
        try:
            teacher = dict(values["teacher"])
            spec = TeacherSpec(**teacher | {"widths": tuple(teacher["widths"])})
            if "network" in values:
                network = NetworkSpec.from_json(values["network"])
            else:
                network = NetworkSpec(spec.hidden, Dynamics(**values["dynamics"]))
            return cls(
                dataset=values["dataset"],
                teacher=spec,
                protocols=tuple(from_json(protocol) for protocol in values["protocols"]),
                network=network,
                runs=values["runs"],
                seed=values["seed"],
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"not a complete recipe: {error!r}") from error


def dynamics_of(rules: Iterable[Rule | str]) -> Dynamics | None:
    """What all of these rules train networks for unless told otherwise; None is the usual."""
    wanted = {protocol_named(r).dynamics if isinstance(r, str) else r.dynamics for r in rules}
    if len(wanted) > 1:
        raise InputError(
            "protocols that relax to an equilibrium and protocols that are read at a finite time "
            "need networks of different dynamics: train them apart, or give the dynamics"
        )
    return next(iter(wanted), None)


def protocols_of(given: object) -> tuple[Rule | str, ...]:
    """One protocol, or several: names, in upper or lower case, or rules."""
    if isinstance(given, str | Rule):
        return (given,)
    several = tuple(given) if isinstance(given, Iterable) else (given,)
    if not all(isinstance(each, str | Rule) for each in several):
        raise InputError(
            f"protocols must be a name such as 'DIRECT', a rule, or a list of these, got {given!r}"
        )
    return several


def _suited(
    dataset: str, path_solver: Solver = "exact", examples: int = 1000
) -> Callable[[str], Rule]:
    """The protocols by name, with the settings that suit a dataset."""

    def named(name: str) -> Rule:
        return protocol_named(name).with_solver(path_solver).tuned_for(dataset, examples)

    return named


def _refuse_repeated(names: list[str]) -> None:
    if not names or len({"TEACHER", *map(str.upper, names)}) != len(names) + 1:
        raise InputError(
            f"protocols must have different names, none of them teacher, and be at least one; "
            f"got {names}"
        )


def _with_starts(protocols: Sequence[Rule], named: Callable[[str], Rule]) -> tuple[Rule, ...]:
    """The protocols, and those that they start from by name, these first."""
    found = {protocol.name: protocol for protocol in protocols}
    missing = [p.start for p in protocols if p.is_continuation and p.start not in found]
    while missing:
        first = named(missing.pop())
        found.setdefault(first.name, first)
        if first.is_continuation and first.start not in found:
            missing.append(first.start)
    needed = {rule.start for rule in (*PROTOCOLS.values(), *found.values()) if rule.is_continuation}
    starts = [rule for rule in found.values() if rule.name in needed]
    starts.sort(key=lambda rule: _depth(rule, found))
    return (*starts, *(rule for rule in found.values() if rule.name not in needed))


def _depth(rule: Rule, among: dict[str, Rule]) -> int:
    """How many others must be trained before it."""
    depth = 0
    while rule.is_continuation:
        rule, depth = among[rule.start], depth + 1
        if depth > len(among):
            raise InputError(f"{rule.name} starts from itself, by way of others")
    return depth
