"""Conversion of formulas from TeX to MathML, which needs no script and no font.

`pymdownx.arithmatex` marks them: `$...$` within a line, `$$...$$` on lines of their own.
"""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

_MARKED = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
# Browsers put no space between the name of a function and its argument.
_FUNCTION = re.compile(r"(<mi>(?:sin|cos|tanh)</mi>|<mi>artanh</mi>)(<mi>|<mfrac>|<msub>|<mn>)")


def as_mathml(page: str) -> str:
    """`page` with every formula as a `<math>` element."""
    return _MARKED.sub(_to_mathml, page)


def _to_mathml(match: re.Match[str]) -> str:
    block = match[2] == "["
    formula = convert(html.unescape(match[3]).strip(), display="block" if block else "inline")
    formula = _FUNCTION.sub(r'\1<mspace width="0.17em"/>\2', formula)
    return f'<div class="formula">{formula}</div>' if block else formula
