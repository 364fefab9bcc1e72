"""The errors a user can cause and mend."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable


class InputError(ValueError):
    """Something given to Entrain cannot be used.

    The message says what came, what was expected and, where there is one, the way out.
    The command line prints it and exits with code 2; anything else it raises is a bug.
    """


def unknown_name(kind: str, name: str, known: Iterable[str]) -> InputError:
    """An `InputError` for a name that is not in `known`, suggesting the nearest one."""
    names = sorted(known)
    lower = {candidate.lower(): candidate for candidate in names}
    near = difflib.get_close_matches(name.lower(), lower, n=1)
    hint = f"did you mean {lower[near[0]]!r}? " if near else ""
    choices = ", ".join(names) or "(none)"
    return InputError(f"unknown {kind} {name!r}; {hint}choose from {choices}")


def positive_int(name: str, value: object) -> int:
    """`value` as a whole number of at least one, or an `InputError` that names it."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{name} must be a whole number of at least 1, got {value!r}")
    return value


def seed_number(name: str, value: object) -> int:
    """`value` as a whole number of 32 bits, or an `InputError` that names it."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**32:
        raise InputError(f"{name} must be a whole number from 0 to {2**32 - 1}, got {value!r}")
    return value


def positive_float(name: str, value: object, *, zero: bool = False) -> float:
    """`value` as a finite number above (or at least) zero, or an `InputError` that names it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name} must be a number, got {value!r}")
    number = float(value)
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
