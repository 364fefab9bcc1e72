"""Errors of user input, and checks that raise them."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from dataclasses import fields
from functools import partial
from numbers import Integral, Real
from typing import Any, get_args

_LONGEST = 60  # characters of a value in an error
_LONGEST_REASON = 500


class InputError(ValueError):
    """Invalid input.

    The message has the value, what was expected and, if possible, a remedy. The command line prints
    it and exits with code 2; any other exception is a bug.

    Examples:
        >>> try:
        ...     entrain.load("mnist74")
        ... except entrain.InputError as error:
        ...     print(str(error).partition(";")[0])
        unknown model 'mnist74'
    """


def unknown_name(kind: str, name: object, known: Iterable[str]) -> InputError:
    """An `InputError` for a name that is not in `known`, suggesting the nearest one."""
    names = sorted(known)
    lower = {candidate.lower(): candidate for candidate in names}
    near = difflib.get_close_matches(str(name).lower(), lower, n=1)
    hint = f"did you mean {lower[near[0]]!r}? " if near else ""
    choices = ", ".join(names) or "(none)"
    return InputError(f"unknown {kind} {name!r}; {hint}choose from {choices}")


def missing_extra(package: str, extra: str) -> InputError:
    """An `InputError` for an optional package that is not installed."""
    return InputError(
        f"{package} is not installed: in a clone of Entrain, pip install '.[{extra}]' adds it"
    )


def one_of(name: str, value: object, allowed: object) -> None:
    """Refuse a value that is not one of a `Literal`."""
    if value not in get_args(allowed):
        raise unknown_name(name, value, get_args(allowed))


def positive_int(name: str, value: object, *, most: int | None = None) -> int:
    """`value` as a positive integer, or an `InputError` that names it."""
    return whole_number(name, value, least=1, most=most)


def whole_number(name: str, value: object, *, least: int = 0, most: int | None = None) -> int:
    """`value` as an integer of at least `least`, or an `InputError` that names it."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(
            f"{name} must be a whole number of at least {least}, got {short_repr(value)}"
        )
    if most is not None and int(value) > most:
        raise InputError(f"{name} must be a whole number up to {most:,}, got {short_repr(value)}")
    return int(value)


def seed_number(name: str, value: object) -> int:
    """`value` as an integer of 32 bits, or an `InputError` that names it."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not 0 <= int(value) < 2**32:
        raise InputError(
            f"{name} must be a whole number from 0 to {2**32 - 1}, got {short_repr(value)}"
        )
    return int(value)


def positive_float(
    name: str, value: object, *, zero: bool = False, least: float = 0.0, most: float = math.inf
) -> float:
    """`value` as a finite number above (or at least) zero, or an `InputError` that names it."""
    number = _real(name, value)
    if not (0.0 <= number < math.inf) or (number == 0.0 and not zero):
        bound = "at least 0" if zero else "above 0"
        raise InputError(f"{name} must be finite and {bound}, got {short_repr(value)}")
    return finite_float(name, number, least=least, most=most)


def check_ranges(
    instance: Any,
    *,
    whole: Iterable[str] = (),
    positive: Iterable[str] = (),
    non_negative: Iterable[str] = (),
    shares: Iterable[str] = (),
    prefix: str = "",
) -> None:
    """Raise an `InputError` that names a field of a dataclass, behind `prefix`, out of its range.

    Fields in `whole` are positive integers, in `positive` and `non_negative` finite numbers, in
    `shares` from 0 to 1. None is valid where it is the default, a tuple where the field is PerRun.
    """
    declared = {entry.name: entry for entry in fields(instance)}
    for names, check in (
        (whole, positive_int),
        (positive, positive_float),
        (non_negative, partial(positive_float, zero=True)),
        (shares, partial(positive_float, zero=True, most=1)),
    ):
        for name in names:
            value = getattr(instance, name)
            if value is None and declared[name].default is None:
                continue
            per_run = isinstance(value, tuple) and declared[name].type == "PerRun"
            for number in value if per_run else (value,):
                check(prefix + name, number)


def finite_float(
    name: str, value: object, *, least: float = -math.inf, most: float = math.inf
) -> float:
    """`value` as a finite number within these bounds, or an `InputError` that names it."""
    number = _real(name, value)
    if not math.isfinite(number):
        raise InputError(f"{name} must be finite, got {short_repr(value)}")
    if not least <= number <= most:
        raise InputError(f"{name} must be from {least:g} to {most:g}, got {short_repr(value)}")
    return number


def _real(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"{name} must be a number, got {short_repr(value)}")
    try:
        return float(value)
    except OverflowError:  # an integer of several hundred digits
        return math.inf


def short_repr(value: object) -> str:
    """`value` for an error message, truncated."""
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        return "a number of too many digits"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def finite_numbers(name: str, values: Iterable[object]) -> tuple[float, ...]:
    """`values` as finite numbers, or an `InputError` that names them."""
    if isinstance(values, str | bytes):
        raise InputError(f"{name} must be numbers, got {short_repr(values)}")
    try:
        numbers = tuple(float(value) for value in values)  # type: ignore[arg-type]
    except (OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers, got {short_repr(values)}") from error
    for number in numbers:
        if not math.isfinite(number):
            raise InputError(f"{name} must be finite, got {number!r}")
    return numbers


def reason(error: Exception) -> str:
    """The message of an error about the content of a file, truncated: it may repeat the content."""
    plain = isinstance(error, InputError | UnicodeError)  # the repr of the latter has all bytes
    text = str(error) if plain else repr(error)
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}..."


def as_tuple(value: Any) -> Any:
    """Lists, also in lists, as tuples: hashable values of JSON."""
    return tuple(map(as_tuple, value)) if isinstance(value, list) else value


def store_plain_numbers(instance: Any) -> None:
    """Replace NumPy numbers in the fields of a frozen dataclass by Python's, for JSON."""
    for entry in fields(instance):
        value = getattr(instance, entry.name)
        plain = tuple(map(_plain, value)) if isinstance(value, tuple) else _plain(value)
        object.__setattr__(instance, entry.name, plain)


def _plain(value: object) -> object:
    if isinstance(value, int | float) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)
