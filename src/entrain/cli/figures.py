"""Figures of commands, which never cost their results."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from entrain.cli.console import print_warning
from entrain.plots.style import not_drawn


@contextlib.contextmanager
def drawing(figure: Path, result: dict[str, Any]) -> Iterator[None]:
    """Enter the path of a figure into a result as `figure`.

    If drawing it fails, `figure` is None and `figure_error` the reason, which is also printed as a
    warning.
    """
    try:
        yield
    except Exception as error:
        message = not_drawn(figure, error)
        print_warning(message)
        result |= {"figure": None, "figure_error": message}
    else:
        result["figure"] = str(figure)
