"""Colours of all figures, and how a figure is saved."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

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


def class_colour(index: int) -> str:
    """The colour of a class or its output. Colours repeat if there are many classes."""
    return CLASS_COLOURS[index % len(CLASS_COLOURS)]


def save(figure: Figure, path: Path, *, dpi: int = 150) -> Path:
    """Write a figure atomically, in the format of the file name."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix.lstrip("."), dpi=dpi, bbox_inches="tight")
    write_atomically(path, buffer.getvalue())
    return path
