"""What a training may be asked for, in the words that Python and the command line share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from entrain.data import DATASETS, Dataset
from entrain.hardware import Hardware, find
from entrain.models.model import read_model
from entrain.physics import Dynamics, NetworkSpec
from entrain.rules import Direct, Rule, Solver, TeacherSpec, TwoStage, protocol_named
from entrain.rules.chip_training import ChipTraining
from entrain.rules.class_weights import class_weights_of
from entrain.training.recipe import Recipe, dynamics_of, protocols_of
from entrain.training.retrain import retraining
from entrain.utils.errors import InputError, one_of, positive_float, positive_int, seed_number

Protocols = Rule | str | Sequence[Rule | str]
ClassWeight = str | Mapping[Any, float]


@dataclass(frozen=True)
class Options:
    """The arguments of `entrain.train` that make a recipe; what is None is as suits the data.

    Checked here, before any data are read: an error names the argument.
    """

    protocols: Protocols | None = None
    runs: int = 1
    seed: int = 0
    hidden: int | str | Sequence[int] | None = None
    epochs: int | None = None
    batch_size: int | None = None
    direct_epochs: int | None = None
    class_weight: ClassWeight | None = None
    hardware: Hardware | str | Path | None = None
    chip: str | Path | None = None
    teacher_epochs: int | None = None
    initialisations: int | None = None
    path_solver: Solver | None = None
    ridge: float | None = None
    path_epochs: int | None = None
    path_learning_rate: float | None = None
    endpoint_epochs: int | None = None
    endpoint_learning_rate: float | None = None
    endpoint_weight: float | None = None
    observation_time: float | None = None
    steps: int | None = None
    settings: Mapping[str, Any] | None = None
    teacher: TeacherSpec | None = None
    network: NetworkSpec | None = None
    dynamics: Dynamics | None = None

    def __post_init__(self) -> None:
        positive_int("runs", self.runs)
        seed_number("seed", self.seed)
        for name in _WHOLE:
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, positive_int(name, value))
        for name in _NUMBERS:
            if (value := getattr(self, name)) is not None:
                number = positive_float(name, value, zero=name in ("ridge", "endpoint_weight"))
                object.__setattr__(self, name, number)
        for name, kind in _VALUES.items():
            if (value := getattr(self, name)) is not None and not isinstance(value, kind):
                raise TypeError(f"{name} must be a {kind.__name__}, got {value!r}")
        if self.hardware is not None:
            find(self.hardware)
        if self.chip is not None and not isinstance(self.chip, str | Path):
            raise TypeError(f"chip must be the file of a calibrated model, got {self.chip!r}")
        if self.path_solver is not None:
            one_of("path_solver", self.path_solver, Solver)
        if self.solver == "exact" and self._sgd:
            raise InputError(
                "path_epochs and path_learning_rate belong to path_solver='sgd'; the exact solver "
                "has neither"
            )
        if self.protocols is not None:
            self._epochs(self.chosen(()))
        self._check_names()
        self._widths()
        if self.network is not None and self.hidden is not None:
            raise InputError("hidden and network both say how many oscillators there are; give one")

    @property
    def given(self) -> list[str]:
        """The names of the arguments that are not at their defaults."""
        return [each.name for each in fields(self) if getattr(self, each.name) is not each.default]

    @property
    def _sgd(self) -> bool:
        return self.path_epochs is not None or self.path_learning_rate is not None

    @property
    def solver(self) -> Solver:
        """That of Stage I: exact, unless SGD or one of its settings was asked for."""
        if self.path_solver is None:
            return "sgd" if self._sgd else "exact"
        return self.path_solver

    def chosen(self, default: Sequence[str]) -> list[Rule]:
        """The protocols that were named, or those of `default`, without what suits the data."""
        named = protocols_of(default if self.protocols is None else self.protocols)
        return [protocol_named(each) if isinstance(each, str) else each for each in named]

    def recipe(self, data: Dataset) -> Recipe:
        """The recipe for these data: a dataset of the package is learnt from a teacher, others
        from labels."""
        if self.chip is not None:
            return self._retraining(data)
        taught = data.name in DATASETS and self.hardware is None
        default = ("TWO-STAGE-END",) if taught else ("DIRECT",)
        dynamics = self._dynamics(self.chosen(default))
        given = {name: value for name in _VALUES if (value := getattr(self, name)) is not None}
        given.pop("dynamics", None)
        recipe = Recipe.for_dataset(
            data.name,
            default if self.protocols is None else self.protocols,
            path_solver=self.solver,
            examples=len(data.train),
            runs=self.runs,
            seed=self.seed,
            dynamics=dynamics,
            **given,
        )
        recipe = self._adjusted(recipe, self.chosen(default), data)
        recipe = self._with_settings(recipe)
        for rule in recipe.protocols:
            if rule.hardware is not None:
                rule.hardware.check_training(recipe.spec.hidden, len(data.class_names))
            weights = getattr(rule, "class_weights", None)
            if weights is not None and len(weights) != len(data.class_names):
                raise InputError(
                    f"class_weights must be {len(data.class_names)} numbers, one for each class of "
                    f"{data.name}, got {len(weights)}"
                )
        return recipe

    def _retraining(self, data: Dataset) -> Recipe:
        """For the device of a calibrated model; what else it can be told is how long."""
        assert self.chip is not None
        known = ("chip", "runs", "seed", "epochs", "batch_size", "settings")
        if foreign := [name for name in self.given if name not in known]:
            raise InputError(
                f"{foreign[0]} cannot be combined with chip: the calibrated model has its own"
            )
        path = Path(self.chip)
        if not path.is_file():
            raise InputError(f"chip must be the file of a calibrated model, got {str(path)!r}")
        recipe = retraining(
            path,
            read_model(path),
            data,
            epochs=self.epochs,
            batch_size=self.batch_size,
            runs=self.runs,
            seed=self.seed,
        )
        return self._with_settings(recipe)

    def _with_settings(self, recipe: Recipe) -> Recipe:
        for name, value in (self.settings or {}).items():
            protocol, _, field = name.rpartition(".")
            recipe = recipe.with_field(protocol, field, value)
        return recipe

    def _adjusted(self, recipe: Recipe, chosen: list[Rule], data: Dataset) -> Recipe:
        epochs = self._epochs(chosen)
        weights = class_weights_of(self.class_weight, data.train.labels, data.class_names)
        if weights is not None and not any(isinstance(rule, Direct) for rule in recipe.protocols):
            names = ", ".join(rule.name for rule in recipe.protocols)
            raise InputError(f"class_weight is for DIRECT, which learns from labels; got {names}")
        chips = None
        if self.hardware is not None:
            chips = ChipTraining(find(self.hardware))
            self._refuse_other_chips(recipe)
            foreign = [rule.name for rule in chosen if not _can_learn_on_chips(rule, self.solver)]
            if foreign:
                raise InputError(
                    f"{', '.join(foreign)} cannot be trained for hardware"
                    + ("; choose path_solver='sgd'" if foreign == ["PATH"] else "")
                )
        return recipe.adjusted(
            teacher=_given(
                widths=self._widths(),
                initialisations=self.initialisations,
                epochs=self.teacher_epochs,
                batch_size=self.batch_size,
            ),
            path=_given(
                epochs=epochs["path"],
                learning_rate=self.path_learning_rate,
                batch_size=self.batch_size,
                ridge=self.ridge,
                chips=chips if self.solver == "sgd" else None,
            ),
            endpoint=_given(
                epochs=epochs["endpoint"],
                learning_rate=self.endpoint_learning_rate,
                endpoint_weight=self.endpoint_weight,
                batch_size=self.batch_size,
                chips=chips,
            ),
            direct=_given(
                epochs=epochs["direct"],
                batch_size=self.batch_size,
                class_weights=weights,
                chips=chips,
            ),
        )

    def _refuse_other_chips(self, recipe: Recipe) -> None:
        """Hardware beside that of a rule: one of the two would be ignored."""
        twice = [rule.name for rule in recipe.protocols if rule.hardware is not None]
        twice += [name for name in self.settings or () if name.endswith(".chips")]
        if twice:
            raise InputError(
                f"hardware is given twice, as hardware and by {twice[0]}; give it once"
            )

    def _epochs(self, chosen: list[Rule]) -> dict[str, int | None]:
        """The epochs of each kind of protocol: its own, or `epochs` for those that were named."""
        kinds = {_kind(rule) for rule in chosen}
        if self.epochs is not None and self.solver == "exact" and "path" in kinds:
            if kinds == {"path"}:
                raise InputError(
                    "epochs: the exact solver of PATH has none; choose path_solver='sgd'"
                )
            kinds.remove("path")
        found = {}
        for kind in ("path", "endpoint", "direct"):
            own = getattr(self, f"{kind}_epochs")
            found[kind] = self.epochs if own is None and kind in kinds else own
        return found

    def _dynamics(self, chosen: list[Rule]) -> Dynamics | None:
        changes = _given(observation_time=self.observation_time, steps=self.steps)
        if not changes:
            return self.dynamics
        usual = self.network.dynamics if self.network is not None else dynamics_of(chosen)
        return replace(self.dynamics or usual or Dynamics(), **changes)

    def _widths(self) -> tuple[int, ...] | None:
        """The hidden layers of the teacher; their sum is the number of hidden oscillators."""
        hidden = self.hidden
        if hidden is None:
            return None
        try:
            parts = [int(part) for part in hidden.split(",")] if isinstance(hidden, str) else hidden
        except ValueError:
            parts = []
        widths = tuple(parts) if isinstance(parts, Iterable) else (parts,)
        if not widths:
            raise InputError(f"hidden must be widths such as 32,16,16, got {hidden!r}")
        return tuple(positive_int("hidden", width) for width in widths)

    def _check_names(self) -> None:
        """That settings and class weights are what can be looked up by name."""
        settings = {} if self.settings is None else self.settings
        if not isinstance(settings, Mapping):
            raise TypeError(f"settings must be a dict such as {_EXAMPLE}, got {settings!r}")
        for name in settings:
            if not isinstance(name, str) or not all(name.rpartition(".")):
                raise InputError(
                    f"settings must be named PROTOCOL.FIELD as in {_EXAMPLE}, got {name!r}"
                )
        if not isinstance(self.class_weight, str | Mapping | None):
            raise TypeError(
                f"class_weight must be 'balanced' or a dict of weights by class, got "
                f"{self.class_weight!r}"
            )


_EXAMPLE = "{'DIRECT.gain': 8}"
_WHOLE = (
    *("epochs", "batch_size", "direct_epochs", "teacher_epochs", "initialisations"),
    *("path_epochs", "endpoint_epochs", "steps"),
)
_NUMBERS = (
    *("ridge", "path_learning_rate", "endpoint_learning_rate", "endpoint_weight"),
    "observation_time",
)
_VALUES = {"teacher": TeacherSpec, "network": NetworkSpec, "dynamics": Dynamics}


def _can_learn_on_chips(rule: Rule, solver: Solver) -> bool:
    """Whether a protocol learns by gradients that go through a chip."""
    return hasattr(rule, "chips") and not (rule.name == "PATH" and solver == "exact")


def _kind(rule: Rule) -> str:
    if not isinstance(rule, TwoStage):
        return "direct"
    return "path" if rule.name == "PATH" else "endpoint"


def _given(**options: Any) -> dict[str, Any]:
    """Those that are not None."""
    return {name: value for name, value in options.items() if value is not None}
