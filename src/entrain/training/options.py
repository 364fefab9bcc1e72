"""The keywords of `entrain.train` that make a recipe, checked; the command line shares them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from entrain.data import DATASETS, Dataset, SequenceDataset
from entrain.hardware import Hardware, find
from entrain.models.model import read_model
from entrain.physics import Dynamics, NetworkSpec
from entrain.rules import Direct, Rule, Solver, TeacherSpec, TwoStage, protocol_named
from entrain.rules.chip_training import ChipTraining
from entrain.rules.class_weights import check_class_count, class_weights_of
from entrain.rules.regression_settings import regression_set
from entrain.rules.sequence_settings import OBSERVATION_TIME, STEPS_OF_A_FRAME, sequence_set
from entrain.training.recipe import Recipe, dynamics_of, protocols_of
from entrain.training.retrain import retraining
from entrain.utils.errors import InputError, one_of, positive_float, positive_int, seed_number

Protocols = Rule | str | Sequence[Rule | str]
ClassWeight = str | Mapping[Any, float]


@dataclass(frozen=True)
class Options:
    """The keywords of `entrain.train` that make a recipe, documented there.

    They are checked here, before any data are read. None is the default for the data.
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
    calibrated: str | Path | None = None
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
        for name, check in _CHECKS.items():
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, check(name, value))
        for name, (expected, description) in _TYPES.items():
            if not isinstance(value := getattr(self, name), expected | None):
                raise TypeError(f"{name} must be {description}, got {value!r}")
        if self.hardware is not None:
            find(self.hardware)
        if self.path_solver is not None:
            one_of("path_solver", self.path_solver, Solver)
        sgd = self.path_epochs is not None or self.path_learning_rate is not None
        if self.path_solver == "exact" and sgd:
            raise InputError(
                "path_epochs and path_learning_rate belong to path_solver='sgd'; the exact solver "
                "has neither"
            )
        if self.protocols is not None:
            self._epochs(self.chosen(()))
        for name in self.settings or ():
            if not isinstance(name, str) or not all(name.rpartition(".")):
                raise InputError(
                    f"settings must be named PROTOCOL.FIELD as in {_EXAMPLE}, got {name!r}"
                )
        self._widths()
        if self.network is not None and self.hidden is not None:
            raise InputError("hidden and network both set the number of oscillators; give one")

    @property
    def given(self) -> list[str]:
        """Names of the options that are not at their defaults."""
        return [
            option.name
            for option in fields(self)
            if getattr(self, option.name) is not option.default
        ]

    @property
    def solver(self) -> Solver:
        """The solver of Stage I: exact, unless SGD or one of its settings is given."""
        settings = self.path_epochs, self.path_learning_rate
        return self.path_solver or ("exact" if settings == (None, None) else "sgd")

    def chosen(self, default: Sequence[str]) -> list[Rule]:
        """The rules of `protocols`, or of `default`, before they are tuned for the data."""
        protocols = protocols_of(default if self.protocols is None else self.protocols)
        return [protocol_named(p) if isinstance(p, str) else p for p in protocols]

    def recipe(self, data: Dataset) -> Recipe:
        """The recipe for `data`: a dataset of the package is learnt from a teacher, others from
        labels."""
        if self.calibrated is not None:
            return self._retraining(data)
        are_sequences = isinstance(data, SequenceDataset)
        taught = data.name in DATASETS and self.hardware is None and not are_sequences
        default = ("TWO-STAGE-END",) if taught else ("DIRECT",)
        recipe = Recipe.for_dataset(
            data.name,
            default if self.protocols is None else self.protocols,
            path_solver=self.solver,
            examples=len(data.train),
            runs=self.runs,
            seed=self.seed,
            dynamics=self._dynamics(self.chosen(default), data) or self._dynamics_of(data),
            **_not_none(teacher=self.teacher, network=self.network),
        )
        recipe = self._for_task(recipe, default, data)
        recipe = self._adjusted(recipe, self.chosen(default), data)
        recipe = self._with_settings(recipe)
        outputs = data.task.outputs
        for rule in recipe.protocols:
            if rule.hardware is not None:
                rule.hardware.check_training(recipe.spec.hidden, outputs)
            if isinstance(rule, Direct):
                check_class_count(rule.class_weights, outputs)
        return recipe

    def _for_task(self, recipe: Recipe, default: Sequence[str], data: Dataset) -> Recipe:
        """The recipe whose protocols that are named have the settings of sequences or numbers."""
        names = set(protocols_of(default if self.protocols is None else self.protocols))
        examples, has_classes = len(data.train), data.task.has_classes

        def tuned(rule: Rule) -> Rule:
            if not isinstance(rule, Direct) or rule.name not in names:
                return rule
            if isinstance(data, SequenceDataset):
                return replace(rule, **sequence_set(examples, has_classes))
            fields = {} if has_classes else regression_set(examples, rule.batch_size)
            return replace(rule, **fields)

        return replace(recipe, protocols=tuple(map(tuned, recipe.protocols)))

    def _retraining(self, data: Dataset) -> Recipe:
        """The recipe for the chip of a calibrated model."""
        assert self.calibrated is not None
        known = ("calibrated", "runs", "seed", "epochs", "batch_size", "settings")
        if unknown := [name for name in self.given if name not in known]:
            raise InputError(
                f"{unknown[0]} cannot be combined with a calibrated model, which has its own"
            )
        path = Path(self.calibrated)
        if not path.is_file():
            raise InputError(f"calibrated must be the file of a model, got {str(path)!r}")
        options = {name: getattr(self, name) for name in ("epochs", "batch_size", "runs", "seed")}
        return self._with_settings(retraining(path, read_model(path), data, **options))

    def _with_settings(self, recipe: Recipe) -> Recipe:
        for name, value in (self.settings or {}).items():
            protocol, _, field = name.rpartition(".")
            recipe = recipe.with_field(protocol, field, value)
        return recipe

    def _adjusted(self, recipe: Recipe, chosen: list[Rule], data: Dataset) -> Recipe:
        epochs = self._epochs(chosen)
        weights = None
        if self.class_weight is not None and not data.task.has_classes:
            raise InputError(f"class_weight is of classes; the data have {data.task.description}")
        if self.class_weight is not None:
            weights = class_weights_of(self.class_weight, data.train.labels, data.class_names)
        if weights is not None and not any(isinstance(rule, Direct) for rule in recipe.protocols):
            names = ", ".join(rule.name for rule in recipe.protocols)
            raise InputError(f"class_weight is for DIRECT, which learns from labels; got {names}")
        chips = None
        if self.hardware is not None:
            chips = ChipTraining(find(self.hardware))
            twice = [rule.name for rule in recipe.protocols if rule.hardware is not None]
            twice += [name for name in self.settings or () if name.endswith(".chips")]
            if twice:  # one of them would be ignored
                raise InputError(
                    f"hardware is given twice, as hardware and by {twice[0]}; give it once"
                )
            exact = ["PATH"] if self.solver == "exact" else []
            ideal = [r.name for r in chosen if r.name in exact or not hasattr(r, "chips")]
            if ideal:
                raise InputError(
                    f"{', '.join(ideal)} cannot be trained for hardware"
                    + ("; choose path_solver='sgd'" if ideal == ["PATH"] else "")
                )
        return recipe.adjusted(
            teacher=_not_none(
                widths=self._widths(),
                initialisations=self.initialisations,
                epochs=self.teacher_epochs,
                batch_size=self.batch_size,
            ),
            path=_not_none(
                epochs=epochs["path"],
                learning_rate=self.path_learning_rate,
                batch_size=self.batch_size,
                ridge=self.ridge,
                chips=chips if self.solver == "sgd" else None,
            ),
            endpoint=_not_none(
                epochs=epochs["endpoint"],
                learning_rate=self.endpoint_learning_rate,
                endpoint_weight=self.endpoint_weight,
                batch_size=self.batch_size,
                chips=chips,
            ),
            direct=_not_none(
                epochs=epochs["direct"],
                # So many were asked for: all of them, each with its validation.
                patience=None if epochs["direct"] is None else 0,
                validation_interval=None if epochs["direct"] is None else 0,
                batch_size=self.batch_size,
                class_weights=weights,
                chips=chips,
            ),
        )

    def _epochs(self, chosen: list[Rule]) -> dict[str, int | None]:
        """Epochs of each kind of protocol: its own option, or `epochs` for `chosen` protocols."""
        kinds = {_kind(rule) for rule in chosen}
        if self.epochs is not None and self.solver == "exact" and "path" in kinds:
            if kinds == {"path"}:
                raise InputError(
                    "epochs: the exact solver of PATH has none; choose path_solver='sgd'"
                )
            kinds.remove("path")
        own = {kind: getattr(self, f"{kind}_epochs") for kind in ("path", "endpoint", "direct")}
        return {
            kind: self.epochs if epochs is None and kind in kinds else epochs
            for kind, epochs in own.items()
        }

    def _dynamics(self, chosen: list[Rule], data: Dataset) -> Dynamics | None:
        changes = _not_none(observation_time=self.observation_time, steps=self.steps)
        if not changes:
            return self.dynamics
        usual = self.network.dynamics if self.network is not None else dynamics_of(chosen)
        return replace(self.dynamics or usual or self._dynamics_of(data) or Dynamics(), **changes)

    def _dynamics_of(self, data: Dataset) -> Dynamics | None:
        """Dynamics for sequences, whose frames are held for a number of steps; else None."""
        if self.network is not None or not isinstance(data, SequenceDataset):
            return None
        steps = STEPS_OF_A_FRAME * data.frames
        return Dynamics(observation_time=OBSERVATION_TIME, steps=steps)

    def _widths(self) -> tuple[int, ...] | None:
        """Widths of the teacher's hidden layers; their sum is the number of hidden oscillators."""
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


_EXAMPLE = "{'DIRECT.gain': 8}"
_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(("epochs", "batch_size", "initialisations", "steps"), positive_int),
    **dict.fromkeys(
        [f"{x}_epochs" for x in ("direct", "teacher", "path", "endpoint")], positive_int
    ),
    **dict.fromkeys(("path_learning_rate", "endpoint_learning_rate"), positive_float),
    "observation_time": positive_float,
    **dict.fromkeys(("ridge", "endpoint_weight"), partial(positive_float, zero=True)),
}
_TYPES: dict[str, tuple[Any, str]] = {
    "teacher": (TeacherSpec, "a TeacherSpec"),
    "network": (NetworkSpec, "a NetworkSpec"),
    "dynamics": (Dynamics, "a Dynamics"),
    "calibrated": (str | Path, "the file of a model"),
    "settings": (Mapping, f"a dict such as {_EXAMPLE}"),
    "class_weight": (str | Mapping, "'balanced' or a dict of weights by class"),
}


def _kind(rule: Rule) -> str:
    if not isinstance(rule, TwoStage):
        return "direct"
    return "path" if rule.name == "PATH" else "endpoint"


def _not_none(**options: Any) -> dict[str, Any]:
    """The options that are not None."""
    return {name: value for name, value in options.items() if value is not None}
