"""Checks of measured results, whose files may have been edited."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from entrain.utils.errors import InputError, reason, short_repr

T = TypeVar("T")

_NUMBER, _TEXT, _OBJECT, _LIST = "a number", "a text", "an object", "a list"
_TYPES: dict[str, tuple[type, ...]] = {
    _NUMBER: (int, float),
    _TEXT: (str,),
    _OBJECT: (dict,),
    _LIST: (list,),
}
_MADE = {"seconds": _NUMBER, "device": _TEXT, "versions": _OBJECT}
_RESULT = {"key": _TEXT, "setting": _OBJECT, "values": _OBJECT, "stages": _LIST} | _MADE
_STAGE = {"key": _TEXT, "title": _TEXT} | _MADE
_LARGEST = 1e12  # no measured number is as large
_DEEPEST = 16


def check_result(result: Mapping[str, Any]) -> None:
    """Raise an `InputError` unless `result` is one of `entrain reproduce`.

    The structure of its `values`, which is that of an experiment, is left to `reading`.
    """
    _check_plain(result)
    _check_fields("", result, _RESULT)
    _check_fields("setting.", result["setting"], {"name": _TEXT})
    here = {name: result[name] for name in ("device", "versions")}  # of trainings without them
    for index, stage in enumerate(result["stages"]):
        where = f"stages[{index}]."
        if not isinstance(stage, dict):
            raise InputError(f"stages[{index}] must be an object, got {short_repr(stage)}")
        _check_fields(where, here | stage, _STAGE)
        _check_fields(f"{where}versions.", stage.get("versions", {}))
    _check_fields("versions.", result["versions"])


@contextlib.contextmanager
def reading(*experiments: str) -> Iterator[None]:
    """A context that reads the values of these experiments.

    An error of their structure, such as a missing key or a text instead of a number, becomes an
    `InputError` that names their files.
    """
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        files = " or ".join(f"{name}.json" for name in experiments)
        raise InputError(
            f"{files}: the values are not those that entrain reproduce writes ({reason(error)}); "
            "move the file away and measure again"
        ) from error


def read_together(
    function: Callable[[Mapping[str, Any]], T], results: Mapping[str, Any], names: Sequence[str]
) -> T:
    """`function(results)`, which reads the experiments `names` as far as they were measured.

    It reads each of them alone first, so that an error names one file.
    """
    measured = [name for name in names if name in results]
    for name in measured:
        with reading(name):
            function({name: results[name]})
    with reading(*measured):
        return function(results)


def _check_fields(where: str, values: Any, expected: Mapping[str, str] | None = None) -> None:
    """Check the types of named fields; without `expected`, every field must be a text."""
    for name, kind in (dict.fromkeys(values, _TEXT) if expected is None else expected).items():
        if name not in values:
            raise InputError(f"not a result of entrain reproduce (it has no {where}{name})")
        if not isinstance(values[name], _TYPES[kind]):
            raise InputError(f"{where}{name} must be {kind}, got {short_repr(values[name])}")


def _check_plain(value: Any, depth: int = 0) -> None:
    """Raise for numbers and texts that no measurement has."""
    if depth > _DEEPEST:
        raise InputError(f"nested more than {_DEEPEST} deep")
    if isinstance(value, dict | list):
        names = list(value) if isinstance(value, dict) else []
        for entry in (*names, *(value.values() if isinstance(value, dict) else value)):
            _check_plain(entry, depth + 1)
    elif isinstance(value, str):
        if not value.isprintable():
            raise InputError(f"a text has unprintable characters: {short_repr(value)}")
    elif isinstance(value, int | float) and not abs(value) <= _LARGEST:  # or NaN
        raise InputError(f"numbers must be at most {_LARGEST:g}, got {short_repr(value)}")
