"""The keywords of `entrain.train` that make a recipe, checked; the command line shares them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from entrain.data import DATASETS, Dataset, SequenceDataset
from entrain.hardware import Hardware, find
from entrain.models.model import read_model
from entrain.physics import Dynamics, NetworkSpec
from entrain.rules import Direct, GradientRule, Rule, Solver, TeacherSpec, TwoStage, protocol_named
from entrain.rules.chip_training import ChipTraining
from entrain.rules.class_weights import check_class_count, class_weights_of
from entrain.rules.convolutional_teacher import ConvolutionalTeacher
from entrain.rules.external_teacher import ExternalTeacher
from entrain.rules.regression_settings import regression_set
from entrain.rules.sequence_settings import OBSERVATION_TIME, STEPS_OF_A_FRAME, sequence_set
from entrain.training.network_choice import Network, network_of
from entrain.training.recipe import Recipe, dynamics_of, protocols_of
from entrain.training.retrain import retraining
from entrain.training.settings import TEACHER, checked_settings, fields_of
from entrain.training.teachers import AnyTeacher, read_teacher, with_teacher
from entrain.utils.errors import InputError, positive_int, seed_number, unknown_name

Protocols = Rule | str | Sequence[Rule | str]


@dataclass(frozen=True)
class Options:
    """The keywords of `entrain.train` that make a recipe, documented there.

    They are checked here, before any data are read. None is the default for the data.
    """

    protocol: Protocols | None = None
    network: Network | None = None
    hardware: Hardware | str | Path | None = None
    teacher: Any = None  # a TeacherSpec, or as for `read_teacher`
    epochs: int | None = None
    runs: int = 1
    seed: int = 0
    settings: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.epochs is not None:
            object.__setattr__(self, "epochs", positive_int("epochs", self.epochs))
        positive_int("runs", self.runs)
        seed_number("seed", self.seed)
        if self.hardware is not None:
            find(self.hardware)
        object.__setattr__(self, "network", network_of(self.network))
        object.__setattr__(self, "settings", checked_settings(self.settings))
        if self._setting("path_solver") == "exact" and self._sgd_settings:
            raise InputError(
                f"{self._sgd_settings[0]} belongs to path_solver='sgd'; the exact solver has no "
                "epochs and no learning rate"
            )
        if self.protocol is not None:
            self._epochs(self.chosen(()))

    @property
    def given(self) -> list[str]:
        """Names of the options and general settings that are not at their defaults."""
        options = [
            option.name
            for option in fields(self)
            if option.name != "settings" and getattr(self, option.name) is not option.default
        ]
        return options + [name for name in self.settings or () if "." not in name]

    @property
    def solver(self) -> Solver:
        """The solver of Stage I: exact, unless SGD or one of its settings is given."""
        return self._setting("path_solver") or ("sgd" if self._sgd_settings else "exact")

    def chosen(self, default: Sequence[str]) -> list[Rule]:
        """The rules of `protocol`, or of `default`, before they are tuned for the data."""
        protocols = protocols_of(default if self.protocol is None else self.protocol)
        return [protocol_named(p) if isinstance(p, str) else p for p in protocols]

    def reading_teacher(self, data: Dataset) -> Options:
        """These options with the `external` teacher read and checked on `data`."""
        if isinstance(self.teacher, TeacherSpec | None):
            return self
        return replace(self, teacher=read_teacher(self.teacher, data))

    @property
    def external(self) -> AnyTeacher | None:
        """The teacher from outside the recipe, once it is read."""
        known = isinstance(self.teacher, ExternalTeacher | ConvolutionalTeacher)
        return self.teacher if known else None

    def recipe(self, data: Dataset) -> Recipe:
        """The recipe for `data`: a dataset of the package is learnt from a teacher, others from
        labels."""
        if isinstance(self.network, Path):
            return self._retraining(self.network, data)
        external, are_sequences = self.external, isinstance(data, SequenceDataset)
        is_ideal = self.hardware is None and external is None
        taught = data.name in DATASETS and is_ideal and not are_sequences
        default = ("TWO-STAGE-END",) if taught else ("DIRECT",)
        network = self.network if isinstance(self.network, NetworkSpec) else None
        recipe = Recipe.for_dataset(
            data.name,
            default if self.protocol is None else self.protocol,
            path_solver=self.solver,
            examples=len(data.train),
            batch_size=self._setting("batch_size") if self.epochs is None else None,
            runs=self.runs,
            seed=self.seed,
            dynamics=self._dynamics(self.chosen(default), data) or self._dynamics_of(data),
            **_not_none(teacher=None if external else self.teacher, network=network),
        )
        recipe = self._for_task(recipe, default, data)
        recipe = self._adjusted(recipe, self.chosen(default), data)
        recipe = recipe if external is None else with_teacher(recipe, external)
        recipe = self._with_fields(recipe)
        outputs = data.task.outputs
        for rule in recipe.protocols:
            if rule.hardware is not None:
                rule.hardware.check_training(recipe.spec.hidden, outputs)
            if isinstance(rule, GradientRule):
                check_class_count(rule.class_weights, outputs)
        return recipe

    def _for_task(self, recipe: Recipe, default: Sequence[str], data: Dataset) -> Recipe:
        """The recipe whose protocols that are named have the settings of sequences or numbers."""
        names = set(protocols_of(default if self.protocol is None else self.protocol))
        examples, has_classes = len(data.train), data.task.has_classes

        def tuned(rule: Rule) -> Rule:
            if not isinstance(rule, GradientRule) or rule.name not in names:
                return rule
            if not isinstance(data, SequenceDataset):
                fields = {} if has_classes else regression_set(examples, rule.batch_size)
                return replace(rule, **fields)
            if isinstance(rule, Direct):
                return replace(rule, **sequence_set(examples, has_classes))
            return rule

        return replace(recipe, protocols=tuple(map(tuned, recipe.protocols)))

    def _retraining(self, path: Path, data: Dataset) -> Recipe:
        """The recipe for the chip of a calibrated model."""
        known = ("network", "runs", "seed", "epochs", "batch_size")
        if unknown := [name for name in self.given if name not in known]:
            raise InputError(
                f"{unknown[0]} cannot be combined with a calibrated model, which has its own"
            )
        options = {"epochs": self.epochs, "batch_size": self._setting("batch_size")}
        recipe = retraining(path, read_model(path), data, **options, runs=self.runs, seed=self.seed)
        return self._with_fields(recipe)

    def _setting(self, name: str) -> Any:
        """A general setting, or None."""
        return (self.settings or {}).get(name)

    @property
    def _sgd_settings(self) -> list[str]:
        """The settings of PATH by SGD."""
        names = fields_of(self.settings or {})
        return [f"PATH.{n}" for n in ("epochs", "learning_rate") if ("PATH", n) in names]

    def _with_fields(self, recipe: Recipe) -> Recipe:
        """The recipe with the settings of fields."""
        for (name, field), value in fields_of(self.settings or {}).items():
            if name != TEACHER:
                recipe = recipe.with_field(name, field, value)
                continue
            if not recipe.needs_teacher:
                known = [rule.name for rule in recipe.protocols]
                raise unknown_name("protocol of this recipe", name, known)
            if field not in (known := [entry.name for entry in fields(recipe.teacher)]):
                raise unknown_name("field of the teacher", field, known)
            recipe = recipe.adjusted(teacher={field: value})
        return recipe

    def _adjusted(self, recipe: Recipe, chosen: list[Rule], data: Dataset) -> Recipe:
        """The recipe with the options that concern several protocols."""
        epochs, batch_size = self._epochs(chosen), self._setting("batch_size")
        chips = self._chips(chosen)
        widths = self.network if isinstance(self.network, tuple) else None
        return recipe.adjusted(
            teacher=_not_none(widths=widths, batch_size=batch_size),
            path=_not_none(
                epochs=epochs["path"],
                batch_size=batch_size,
                chips=chips if self.solver == "sgd" else None,
            ),
            endpoint=_not_none(epochs=epochs["endpoint"], batch_size=batch_size, chips=chips),
            direct=_not_none(
                epochs=epochs["direct"],
                # So many were asked for: all of them, each with its validation.
                patience=None if epochs["direct"] is None else 0,
                validation_interval=None if epochs["direct"] is None else 0,
                batch_size=batch_size,
                class_weights=self._class_weights(recipe, data),
                chips=chips,
            ),
        )

    def _class_weights(self, recipe: Recipe, data: Dataset) -> tuple[float, ...] | None:
        """Weights of the classes of the data, for DIRECT."""
        if (weights := self._setting("class_weight")) is None:
            return None
        if not data.task.has_classes:
            raise InputError(f"class_weight is of classes; the data have {data.task.description}")
        if not any(isinstance(rule, GradientRule) for rule in recipe.protocols):
            names = ", ".join(rule.name for rule in recipe.protocols)
            raise InputError(f"class_weight is for DIRECT, which learns from labels; got {names}")
        return class_weights_of(weights, data.train.labels, data.class_names)

    def _chips(self, chosen: list[Rule]) -> ChipTraining | None:
        """The training for the hardware, which the chosen protocols can be trained for."""
        if self.hardware is None:
            return None
        twice = [rule.name for rule in chosen if rule.hardware is not None]
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
        return ChipTraining(find(self.hardware))

    def _epochs(self, chosen: list[Rule]) -> dict[str, int | None]:
        """Epochs of each kind of protocol: `epochs` for those that are chosen."""
        kinds = {_kind(rule) for rule in chosen}
        if self.epochs is not None and self.solver == "exact" and "path" in kinds:
            if kinds == {"path"}:
                raise InputError(
                    "epochs: the exact solver of PATH has none; choose path_solver='sgd'"
                )
            kinds.remove("path")
        return {k: self.epochs if k in kinds else None for k in ("path", "endpoint", "direct")}

    def _dynamics(self, chosen: list[Rule], data: Dataset) -> Dynamics | None:
        """The dynamics of the protocols or of the network, with the settings; else None."""
        names = ("observation_time", "steps")
        changes = _not_none(**{name: self._setting(name) for name in names})
        if not changes:
            return None
        given = self.network.dynamics if isinstance(self.network, NetworkSpec) else None
        usual = given or dynamics_of(chosen) or self._dynamics_of(data) or Dynamics()
        return replace(usual, **changes)

    def _dynamics_of(self, data: Dataset) -> Dynamics | None:
        """Dynamics for sequences, whose frames are held for a number of steps; else None."""
        if isinstance(self.network, NetworkSpec) or not isinstance(data, SequenceDataset):
            return None
        steps = STEPS_OF_A_FRAME * data.frames
        return Dynamics(observation_time=OBSERVATION_TIME, steps=steps)


def _kind(rule: Rule) -> str:
    if not isinstance(rule, TwoStage):
        return "direct"
    return "path" if rule.name == "PATH" else "endpoint"


def _not_none(**options: Any) -> dict[str, Any]:
    """The options that are not None."""
    return {name: value for name, value in options.items() if value is not None}
