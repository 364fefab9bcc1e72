"""The `settings` of `entrain.train`: general ones, fields of protocols, and older keywords."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from entrain.rules import Solver
from entrain.utils.errors import InputError, one_of, positive_float, positive_int, unknown_name

EXAMPLE = "{'steps': 100, 'DIRECT.gain': 8}"
TEACHER = "TEACHER"
"""Name of the teacher beside those of protocols."""


@dataclass(frozen=True)
class General:
    """A setting that belongs to no single protocol.

    Args:
        check: The value of (name, value), or an error.
        description: What it sets.
        default: Its default, in words.
    """

    check: Callable[[str, Any], Any]
    description: str
    default: str


def _class_weight(name: str, value: Any) -> Any:
    if not isinstance(value, str | Mapping):
        raise TypeError(f"{name} must be 'balanced' or a dict of weights by class, got {value!r}")
    return value


def _solver(name: str, value: Any) -> Any:
    one_of(name, value, Solver)
    return value


GENERAL: dict[str, General] = {
    "batch_size": General(
        positive_int,
        "examples of a step, in every stage; your own data keep the number of steps",
        "256; digits 32; own data 16 to 256",
    ),
    "observation_time": General(positive_float, "time t_f at which outputs are read", "0.2"),
    "steps": General(positive_int, "Euler steps K from 0 to t_f", "200; 4 for a frame"),
    "class_weight": General(
        _class_weight,
        'weights of the classes for DIRECT: `"balanced"`, or a dict by class name',
        "all alike",
    ),
    "path_solver": General(
        _solver,
        '`"exact"` solves Stage I; `"sgd"` trains it as in the paper, and so does a setting of '
        "`PATH.epochs` or `PATH.learning_rate`",
        '`"exact"`',
    ),
}

# Keywords of version 0.2: the setting, the keyword or the call that has their place.
OLD_SETTINGS = {
    **{name: name for name in GENERAL},
    "direct_epochs": "DIRECT.epochs",
    "teacher_epochs": "TEACHER.epochs",
    "initialisations": "TEACHER.initialisations",
    "ridge": "PATH.ridge",
    "path_epochs": "PATH.epochs",
    "path_learning_rate": "PATH.learning_rate",
    "endpoint_epochs": "TWO-STAGE-END.epochs",
    "endpoint_learning_rate": "TWO-STAGE-END.learning_rate",
    "endpoint_weight": "TWO-STAGE-END.endpoint_weight",
}
OLD_KEYWORDS = {"protocols": "protocol", "hidden": "network", "calibrated": "network"}
_READ = "train(entrain.load_own(data, {name}={value}))"
OLD_PLACES = {
    **dict.fromkeys(("label", "image_size", "frames"), _READ),
    "data_dir": "train(entrain.load_dataset(name, {name}={value}))",
    "dynamics": "network=NetworkSpec(hidden, {value})",
    "recipe": "entrain.train_recipe(recipe, data)",
}


def keyword_error(name: str, value: object, known: Iterable[str]) -> TypeError:
    """The error of an unknown keyword of `entrain.train`: its new place, or the nearest one.

    Args:
        name: The keyword.
        value: Its value.
        known: All keywords.
    """
    if name in OLD_SETTINGS:
        place = f"settings={{{OLD_SETTINGS[name]!r}: {value!r}}}"
    elif name in OLD_KEYWORDS:
        place = f"{OLD_KEYWORDS[name]}={value!r}"
    elif name in OLD_PLACES:
        place = OLD_PLACES[name].format(name=name, value=repr(value))
    else:
        return TypeError(str(unknown_name("keyword of train", name, known)))
    return TypeError(f"{name} is now {place}")


def checked_settings(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """The settings, with the values of general ones checked.

    Args:
        settings: Values by name: a general setting, or PROTOCOL.FIELD.
    """
    if not isinstance(settings, Mapping | None):
        raise TypeError(f"settings must be a dict such as {EXAMPLE}, got {settings!r}")
    checked = dict(settings or {})
    for name, value in checked.items():
        if name in GENERAL:
            if value is not None:
                checked[name] = GENERAL[name].check(name, value)
        elif isinstance(name, str) and name in OLD_SETTINGS:
            raise InputError(f"the setting {name} is now called {OLD_SETTINGS[name]}")
        elif not isinstance(name, str) or not all(name.rpartition(".")):
            known = ", ".join(GENERAL)
            raise InputError(
                f"settings must be named {known} or PROTOCOL.FIELD, as in {EXAMPLE}; got {name!r}"
            )
    return {name: value for name, value in checked.items() if value is not None or "." in name}


def fields_of(settings: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
    """The settings of fields, by protocol in upper case and field."""
    return {
        (name.rpartition(".")[0].upper(), name.rpartition(".")[2]): value
        for name, value in settings.items()
        if name not in GENERAL
    }
