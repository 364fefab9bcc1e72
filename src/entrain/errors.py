"""The errors a user can cause and mend."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from dataclasses import fields
from numbers import Integral, Real
from typing import Any


class InputError(ValueError):
    """Something given to Entrain cannot be used.

    The message says what came, what was expected and, where there is one, the way out.
    The command line prints it and exits with code 2; anything else it raises is a bug.
    """


def unknown_name(kind: str, name: object, known: Iterable[str]) -> InputError:
    """An `InputError` for a name that is not in `known`, suggesting the nearest one."""
    names = sorted(known)
    lower = {candidate.lower(): candidate for candidate in names}
    near = difflib.get_close_matches(str(name).lower(), lower, n=1)
    hint = f"did you mean {lower[near[0]]!r}? " if near else ""
    choices = ", ".join(names) or "(none)"
    return InputError(f"unknown {kind} {name!r}; {hint}choose from {choices}")


def positive_int(name: str, value: object) -> int:
    """`value` as a whole number of at least one, or an `InputError` that names it."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InputError(f"{name} must be a whole number of at least 1, got {value!r}")
    return int(value)


def seed_number(name: str, value: object) -> int:
    """`value` as a whole number of 32 bits, or an `InputError` that names it."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not 0 <= int(value) < 2**32:
        raise InputError(f"{name} must be a whole number from 0 to {2**32 - 1}, got {value!r}")
    return int(value)


def positive_float(name: str, value: object, *, zero: bool = False) -> float:
    """`value` as a finite number above (or at least) zero, or an `InputError` that names it."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:  # of a whole number with too many digits
        number = float("inf")
    if not (0.0 <= number < float("inf")) or (number == 0.0 and not zero):
        bound = "at least 0" if zero else "above 0"
        raise InputError(f"{name} must be finite and {bound}, got {value!r}")
    return number


def finite_numbers(name: str, values: Iterable[object]) -> tuple[float, ...]:
    """`values` as finite numbers, or an `InputError` that names them."""
    if isinstance(values, str | bytes):
        raise InputError(f"{name} must be numbers, got {values!r}")
    try:
        numbers = tuple(float(value) for value in values)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers, got {values!r}") from error
    for number in numbers:
        if not math.isfinite(number):
            raise InputError(f"{name} must be finite, got {number!r}")
    return numbers


def store_plain_numbers(instance: Any) -> None:
    """In the fields of a frozen dataclass, Python's numbers in the place of NumPy's, which JSON
    cannot hold; all else stays as it is."""
    for each in fields(instance):
        value = getattr(instance, each.name)
        found = tuple(map(_plain, value)) if isinstance(value, tuple) else _plain(value)
        object.__setattr__(instance, each.name, found)


def _plain(value: object) -> object:
    if isinstance(value, int | float) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)
