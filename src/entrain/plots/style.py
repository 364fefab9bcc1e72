"""Colours, labels and file formats of all figures."""

from __future__ import annotations

import contextlib
import io
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from entrain.utils import escape
from entrain.utils.errors import InputError
from entrain.utils.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Ten hues that stay apart for colour-blind readers (after Okabe and Ito, and Tol), by class.
CLASS_COLOURS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#8C6D1F",
    "#000000",
    "#882255",
    "#999999",
)


STYLE: dict[Any, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.prop_cycle": f"cycler('color', {list(CLASS_COLOURS)})",
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
}
"""The look of all figures, for `matplotlib.style.use` or `matplotlib.rc_context`."""


COLUMN = 8.0
"""Inches of a column of text. A figure is no wider, so that its text keeps its size there."""

_FORMATS = (".png", ".pdf", ".svg")


def class_colour(index: int) -> str:
    """The colour of a class or its output; colours repeat after ten classes."""
    return CLASS_COLOURS[index % len(CLASS_COLOURS)]


def label(text: str, most: int = 24) -> str:
    """Text of a user for a figure: no formula, and the middle of a long text left out."""
    if len(text) > most:
        text = f"{text[: most // 2]}…{text[-(most // 2) + 1 :]}"
    return escape.mathtext(text)


@contextlib.contextmanager
def boxes_for_missing_glyphs() -> Iterator[None]:
    """No warning of each character that the font lacks; it is drawn as a box."""
    with warnings.catch_warnings():
        for message in ("Glyph ", "Matplotlib currently does not support"):
            warnings.filterwarnings("ignore", message, UserWarning)
        yield


def save(figure: Figure, path: Path, *, dpi: int = 150, colours: int = 0) -> Path:
    """Write a figure atomically, in the format of the file name.

    Args:
        figure: Figure of matplotlib.
        path: File to write.
        dpi: Resolution of a bitmap.
        colours: Size of the palette of a .png, 256 for a quarter of the bytes; 0 has all colours.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> from matplotlib.figure import Figure
        >>> entrain.plots.save(Figure(), Path(mkdtemp()) / "empty.png").suffix
        '.png'
    """
    buffer = io.BytesIO()
    with boxes_for_missing_glyphs():
        figure.savefig(buffer, format=path.suffix.lstrip("."), dpi=dpi, bbox_inches="tight")
    if colours:
        buffer = _reduced(buffer, colours)
    write_atomically(path, buffer.getvalue())
    return path


def _reduced(buffer: io.BytesIO, colours: int) -> io.BytesIO:
    """A PNG with a palette."""
    from PIL import Image

    reduced = io.BytesIO()
    with Image.open(buffer) as image:
        method, dither = Image.Quantize.FASTOCTREE, Image.Dither.NONE
        plain = image.convert("RGB").quantize(colours, method=method, dither=dither)
    plain.save(reduced, "PNG", optimize=True)
    return reduced


def not_drawn(path: Path, error: Exception) -> str:
    """A message for a figure that could not be drawn, on one line."""
    cause = textwrap.shorten(str(error), 200, placeholder=" ...")
    return f"{path}: no figure was drawn ({type(error).__name__}: {cause})"


def check_format(path: Path | None) -> None:
    """Refuse a file name whose format cannot be written."""
    if path is not None and path.suffix.lower() not in _FORMATS:
        raise InputError(f"{path}: a figure ends in {', '.join(_FORMATS)}")
