"""How every figure looks, and how it is written."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from entrain.files import write_atomically

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


def save(figure: Figure, path: Path, *, dpi: int = 150) -> Path:
    """Write a figure atomically, in the format its ending names."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix.lstrip("."), dpi=dpi, bbox_inches="tight")
    write_atomically(path, buffer.getvalue())
    return path
