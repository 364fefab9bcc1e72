"""Recipes: everything that decides the outcome of a training, saved beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from functools import partial
from typing import Any

from entrain.data import DATASETS
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
from entrain.rules.direct import small_set
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

    A protocol that another one continues is added in front, with the settings of `for_dataset`.

    Args:
        dataset: Name of the dataset.
        teacher: The teacher, trained only if a protocol learns from one.
        protocols: Rules, by which networks are trained one after the other.
        network: The network; by default one hidden oscillator per hidden unit of the teacher.
        runs: Training runs of each protocol, side by side.
        seed: Seed of initialisations and of the order of examples.
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
        if not isinstance(self.teacher, TeacherSpec):
            raise InputError(f"teacher must be a TeacherSpec, got {self.teacher!r}")
        if not isinstance(self.network, NetworkSpec | None):
            raise InputError(f"network must be a NetworkSpec, got {self.network!r}")
        _check_names([protocol.name for protocol in self.protocols])
        if self.network is None:
            dynamics = dynamics_of(self.protocols) or Dynamics()
            object.__setattr__(self, "network", NetworkSpec(self.teacher.hidden, dynamics))
        complete = _with_starts(self.protocols, partial(_tuned, self.dataset))
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
        """True if a protocol learns from a teacher."""
        return any(protocol.uses_teacher for protocol in self.protocols)

    @classmethod
    def for_dataset(
        cls,
        dataset: str,
        protocols: Sequence[Rule | str] | Rule | str = ("PATH", "TWO-STAGE-END"),
        *,
        path_solver: Solver = "exact",
        examples: int = 1000,
        batch_size: int | None = None,
        dynamics: Dynamics | None = None,
        **changes: Any,
    ) -> Recipe:
        """The settings tuned for a dataset: those of the paper for MNIST and Fashion-MNIST.

        Args:
            dataset: Name of the dataset.
            protocols: Names of protocols, which are tuned, or rules, which are used unchanged.
            path_solver: "sgd" is the Stage I of the paper; "exact" solves for its minimum, and sums
                the path loss over 32 weighted times.
            examples: Number of training examples of a dataset that is not the package's own.
            batch_size: Examples of a step, for which DIRECT is tuned on your own data.
            dynamics: Dynamics of the network.
            **changes: Other fields of the recipe.
        """
        one_of("path_solver", path_solver, Solver)
        if not isinstance(dataset, str):
            raise TypeError(f"dataset must be the name of one, got {dataset!r}")
        named = partial(
            _tuned, dataset, path_solver=path_solver, examples=examples, batch_size=batch_size
        )
        rules = tuple(named(p) if isinstance(p, str) else p for p in protocols_of(protocols))
        _check_names([rule.name for rule in rules])
        if "teacher" not in changes and dataset.removesuffix("-small") == "fashion-mnist":
            changes["teacher"] = TeacherSpec(initialisations=1, selection="cross-entropy")
        known = [field.name for field in fields(cls) if field.name not in ("dataset", "protocols")]
        for name in changes:
            if name not in known:
                raise unknown_name(
                    "setting", name, ["dynamics", "path_solver", "protocols", *known]
                )
        if dynamics is not None:
            hidden = changes.get("teacher", TeacherSpec()).hidden
            network = changes.get("network") or NetworkSpec(hidden)
            changes["network"] = replace(network, dynamics=dynamics)
        return cls(dataset, protocols=_with_starts(rules, named), **changes)

    def adjusted(
        self,
        *,
        teacher: dict[str, Any] | None = None,
        path: dict[str, Any] | None = None,
        endpoint: dict[str, Any] | None = None,
        direct: dict[str, Any] | None = None,
    ) -> Recipe:
        """This recipe with other fields of the teacher and of kinds of protocols.

        Args:
            teacher: Fields of the teacher; with other widths the number of hidden oscillators
                changes too.
            path: Fields of PATH.
            endpoint: Fields of the other protocols with a teacher; an endpoint weight only of those
                with an endpoint loss.
            direct: Fields of protocols that learn from labels.
        """

        def change(protocol: Rule) -> Rule:
            changes = dict(direct or {})
            if isinstance(protocol, TwoStage):
                changes = dict((path if protocol.name == "PATH" else endpoint) or {})
                if not protocol.has_endpoint:
                    changes.pop("endpoint_weight", None)
            elif not isinstance(protocol, Direct):  # another rule: the fields it has
                changes = {n: v for n, v in changes.items() if n in protocol.settings()}
            elif "chips" in changes:
                protocol = protocol.for_chips(changes.pop("chips"), self.dataset)
            return replace(protocol, **changes)  # type: ignore[type-var]

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
        """This recipe with another value of one field of one of its protocols.

        Args:
            protocol: Name of the protocol, in upper or lower case.
            field: Name of the field.
            value: A JSON value.
        """
        rules = {rule.name: rule for rule in self.protocols}
        if protocol.upper() not in rules:
            raise unknown_name("protocol of this recipe", protocol, rules)
        rule = rules[protocol.upper()]
        assert is_dataclass(rule)
        hidden = {"name"} if getattr(rule, "chips", None) is not None else {"name", "chips"}
        known = [entry.name for entry in fields(rule) if entry.name not in hidden]
        if field not in known:
            raise unknown_name(f"field of {rule.name}", field, known)
        changed = rules[rule.name] = from_json(rule.to_json() | {field: value})
        if changed.is_continuation and changed.start not in rules:
            raise InputError(
                f"{rule.name} would start from {changed.start}, which is not trained: name both as "
                "protocols"
            )
        return replace(self, protocols=tuple(rules.values()))

    def to_json(self) -> dict[str, Any]:
        """JSON values that `from_json` turns back into the same recipe."""
        return asdict(self) | {
            "network": self.spec.to_json(),
            "protocols": [rule.to_json() for rule in self.protocols],
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Recipe:
        """The recipe that `to_json` turned into JSON values.

        Args:
            values: The JSON values.
        """
        try:
            return cls(
                dataset=values["dataset"],
                teacher=TeacherSpec(**values["teacher"]),
                protocols=tuple(from_json(protocol) for protocol in values["protocols"]),
                network=NetworkSpec.from_json(values["network"]),
                runs=values["runs"],
                seed=values["seed"],
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"not a complete recipe: {error!r}") from error


def dynamics_of(rules: Iterable[Rule | str]) -> Dynamics | None:
    """The dynamics that all of these rules need by default; None for the usual ones."""
    dynamics = {protocol_named(r).dynamics if isinstance(r, str) else r.dynamics for r in rules}
    if len(dynamics) > 1:
        raise InputError(
            "protocols that relax to an equilibrium and protocols that are read at a finite time "
            "need networks of different dynamics: train them apart, or give the dynamics"
        )
    return next(iter(dynamics), None)


def protocols_of(value: object) -> tuple[Rule | str, ...]:
    """A protocol or several as a tuple of rules and names."""
    if isinstance(value, str | Rule):
        return (value,)
    protocols = tuple(value) if isinstance(value, Iterable) else (value,)
    if not all(isinstance(protocol, str | Rule) for protocol in protocols):
        raise InputError(
            f"protocols must be a name such as 'DIRECT', a rule, or a list of these, got {value!r}"
        )
    return protocols


def _tuned(
    dataset: str,
    name: str,
    path_solver: Solver = "exact",
    examples: int = 1000,
    batch_size: int | None = None,
) -> Rule:
    """The protocol of a name, with the settings tuned for a dataset."""
    rule = protocol_named(name).with_solver(path_solver).tuned_for(dataset, examples)
    if batch_size is None or dataset in DATASETS or type(rule) is not Direct:
        return rule
    return replace(rule, **small_set(examples, batch_size))


def _check_names(names: list[str]) -> None:
    if not names or len({"TEACHER", *map(str.upper, names)}) != len(names) + 1:
        raise InputError(
            f"protocols must be at least one, with different names other than teacher; got {names}"
        )


def _with_starts(protocols: Sequence[Rule], named: Callable[[str], Rule]) -> tuple[Rule, ...]:
    """The protocols and those that they continue, these first."""
    rules = {protocol.name: protocol for protocol in protocols}
    for rule in protocols:
        while rule.is_continuation and rule.start not in rules:
            start = named(rule.start)
            rules[start.name] = rule = start
    needed = {rule.start for rule in (*PROTOCOLS.values(), *rules.values()) if rule.is_continuation}

    def depth(rule: Rule) -> int:
        """Number of protocols that must be trained before."""
        count = 0
        while rule.is_continuation:
            rule, count = rules[rule.start], count + 1
            if count > len(rules):
                raise InputError(f"{rule.name} starts from itself, by way of others")
        return count

    starts = sorted((rule for rule in rules.values() if rule.name in needed), key=depth)
    return (*starts, *(rule for rule in rules.values() if rule.name not in needed))
