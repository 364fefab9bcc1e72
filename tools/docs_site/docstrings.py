"""Griffe extension for Args sections: `a, b: See Direct.` documents a and b separately."""

from __future__ import annotations

import re
from typing import Any

import griffe

_GROUP = re.compile(r"^(?P<indent> +)(?P<names>\w+(?:, \w+)+):(?P<text> .*)$", re.MULTILINE)


class SeparateParameters(griffe.Extension):
    """One entry for each parameter of a group."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None and "Args:\n" in obj.docstring.value:
            obj.docstring.value = _GROUP.sub(_separate, obj.docstring.value)


def _separate(group: re.Match[str]) -> str:
    names = group["names"].split(", ")
    return "\n".join(f"{group['indent']}{name}:{group['text']}" for name in names)
