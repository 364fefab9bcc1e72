"""Values that are one line in a console and a small table in a notebook."""

from __future__ import annotations

from entrain.utils import escape

_LONGEST = 60  # characters of a fact


class Summary:
    """Base of classes whose `facts` stand for their tensors and arrays."""

    def facts(self) -> dict[str, str]:
        """Short descriptions by name."""
        raise NotImplementedError

    def __repr__(self) -> str:
        parts = [f"{name} {_short(text)}" for name, text in self.facts().items()]
        return f"{type(self).__name__}({', '.join(parts)})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape.html(name)}</th>"
            f"<td style='text-align:left'>{escape.html(text)}</td></tr>"
            for name, text in self.facts().items()
        )
        return f"<b>{type(self).__name__}</b><table>{rows}</table>"


def _short(text: str) -> str:
    line = escape.terminal(text).replace("\n", " ")
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."
