r"""Text of users and files, escaped for the format it is written in: one function per format.

terminal    no control codes: ESC as \x1b, a bidirectional control as \u202e
csv_cell    no formula of a spreadsheet: '=1+1
markdown    no markup and no HTML: \|, \`, &lt;
html        no tags
mathtext    no formula of matplotlib: \$
"""

from __future__ import annotations

import html as _html
import re

# Signs of a formula, also in full width, and characters that spreadsheets skip before one.
_FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20].", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_MARKUP = re.compile(r"([\\`|*\[\]~]|^>|^[#+\-](?=[#\-\s]|$)|(?<![^\W_])_|_(?![^\W_]))")


def terminal(text: str) -> str:
    """`text` with unprintable characters escaped; line ends and tabs stay."""
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or character in "\n\t\N{NO-BREAK SPACE}"
        else character.encode("unicode_escape").decode()
        for character in text
    )


def csv_cell(text: str) -> str:
    """`text` on one line, behind an apostrophe if a spreadsheet would compute it.

    Formulas begin with =, +, - or @; a tab or line end may precede them. A text that is a number,
    such as the label -1, stays.
    """
    formula = _FORMULA.match(text) and not _NUMBER.fullmatch(text)
    return "'" * bool(formula) + terminal(text).replace("\n", " ")


def markdown(text: str) -> str:
    """`text` on one line of Markdown, also in a cell of a table."""
    line = " ".join(terminal(text).split())
    return _MARKUP.sub(r"\\\1", line.replace("&", "&amp;").replace("<", "&lt;"))


def html(text: str) -> str:
    """`text` in HTML, also in an attribute."""
    return _html.escape(terminal(text))


def mathtext(text: str) -> str:
    """`text` in a figure, where matplotlib would read $...$ as a formula."""
    return terminal(text).replace("$", r"\$")
