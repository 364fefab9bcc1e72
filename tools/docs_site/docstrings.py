"""Griffe extension for docstrings: one entry for each parameter, and a result with its type.

`a, b: See Direct.` in an Args section documents a and b separately. The first sentence of a
docstring is the result, so it becomes the Returns section of a function that has none.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_NOTHING = {"None", "NoReturn"}
_GROUP = re.compile(r"^(?P<indent> +)(?P<names>\w+(?:, \w+)+):(?P<text> .*)$", re.MULTILINE)


class ParametersAndResult(griffe.Extension):
    """One entry for each parameter of a group, and the result of each function."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is None:
            return
        if "Args:\n" in obj.docstring.value:
            obj.docstring.value = _GROUP.sub(_separate, obj.docstring.value)
        if isinstance(obj, griffe.Function) and "property" not in obj.labels:
            obj.docstring.value = with_result(obj.docstring.value, str(obj.returns or "None"))


def with_result(docstring: str, returns: str) -> str:
    """`docstring` with its first sentence as the Returns section, if there is a result."""
    if returns in _NOTHING or re.search(r"^(Returns|Yields):", docstring, re.MULTILINE):
        return docstring
    summary = " ".join(docstring.split("\n\n")[0].split())
    sentence = re.match(r".*?\.(?= |$)", summary)
    text = sentence[0] if sentence else summary
    if re.match(r"\w*\s*(\(.+\))?: ", text):  # would be read as a name and a type
        text = text.replace(": ", ", ", 1)
    section = f"\n\nReturns:\n    {text}\n"
    examples = re.search(r"\n\nExamples?:\n", docstring)
    end = examples.start() if examples else len(docstring.rstrip())
    return docstring[:end] + section + docstring[end:]


def _separate(group: re.Match[str]) -> str:
    names = group["names"].split(", ")
    return "\n".join(f"{group['indent']}{name}:{group['text']}" for name in names)
