"""Fields of dataclasses that files and keys of earlier releases do not have."""

from __future__ import annotations

from dataclasses import MISSING, Field, field, fields, is_dataclass
from typing import Any

_ADDED_LATER = "added later"  # in the metadata of a field


def added_later(**default: Any) -> Any:
    """A dataclass field that a release after the first adds, with its `default` or
    `default_factory`.

    At its default it counts neither in `learning.digest`, so that what was trained before keeps
    its key, nor in `as_json`.
    """
    return field(**default, metadata={_ADDED_LATER: True})


def counts(each: Field[Any], of: object) -> bool:
    """Whether a field of `of` was there from the first, or is not at its default."""
    default = each.default if each.default_factory is MISSING else each.default_factory()
    return _ADDED_LATER not in each.metadata or getattr(of, each.name) != default


def as_json(value: Any) -> Any:
    """As `dataclasses.asdict`, without fields added later that are at their default."""
    if isinstance(value, tuple | list):
        return [as_json(each) for each in value]
    if not is_dataclass(value):
        return value
    return {
        each.name: as_json(getattr(value, each.name))
        for each in fields(value)
        if counts(each, value)
    }
