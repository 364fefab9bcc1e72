"""Colours and file formats of all figures."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

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


_FORMATS = (".png", ".pdf", ".svg")


def class_colour(index: int) -> str:
    """The colour of a class or its output; colours repeat after ten classes."""
    return CLASS_COLOURS[index % len(CLASS_COLOURS)]


def save(figure: Figure, path: Path, *, dpi: int = 150) -> Path:
    """Write a figure atomically, in the format of the file name.

    Args:
        figure: Figure of matplotlib.
        path: File to write.
        dpi: Resolution of a bitmap.
    """
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix.lstrip("."), dpi=dpi, bbox_inches="tight")
    write_atomically(path, buffer.getvalue())
    return path


def check_format(path: Path | None) -> None:
    """Refuse a file name whose format cannot be written."""
    if path is not None and path.suffix.lower() not in _FORMATS:
        raise InputError(f"{path}: a figure ends in {', '.join(_FORMATS)}")
