"""Figures of associative memories: recall against load, and recalled pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from entrain.plots.style import CLASS_COLOURS, COLUMN, STYLE, save
from entrain.utils.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure
    from torch import Tensor

    from entrain.memory import Recall

_LINES = {"oscillators": "-", "Hopfield network": ":"}


def capacity_figure(rows: Sequence[dict[str, Any]]) -> Figure:
    """A figure of the recalled share against load, a panel for each rule.

    Args:
        rows: Values "rule", "system" ("oscillators" or "Hopfield network"), "load", "corruption",
            "rate" and "rate_interval", as in results/memory.json.
    """
    import matplotlib
    from matplotlib.figure import Figure

    rules = list(dict.fromkeys(row["rule"] for row in rows))
    shares = sorted({row["corruption"] for row in rows})
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(COLUMN / 3 * max(2, len(rules)), 3.3), layout="constrained")
        axes = figure.subplots(1, len(rules), sharey=True, squeeze=False)[0]
        for axis, rule in zip(axes, rules, strict=True):
            for share, colour in zip(shares, CLASS_COLOURS, strict=False):
                for system, line in _LINES.items():
                    chosen = [
                        row
                        for row in rows
                        if (row["rule"], row["corruption"], row["system"]) == (rule, share, system)
                    ]
                    loads = [row["load"] for row in chosen]
                    axis.plot(loads, [row["rate"] for row in chosen], line, color=colour, lw=1.3)
                    if system == "oscillators" and chosen:
                        bounds = np.array([row["rate_interval"] for row in chosen]).T
                        axis.fill_between(loads, *bounds, color=colour, alpha=0.15, lw=0)
            axis.set(title=rule, xlabel="load P / N", ylim=(-0.03, 1.03))
        axes[0].set_ylabel("recalled without an error")
        for share, colour in zip(shares, CLASS_COLOURS, strict=False):
            axes[0].plot([], [], color=colour, label=f"{100 * share:.0f} % of the cue wrong")
        for system, line in _LINES.items():
            axes[0].plot([], [], line, color="black", label=system)
        axes[0].legend(loc="upper right")
    return figure


def draw_capacity(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write `capacity_figure`.

    Args:
        path: Figure to write.
        rows: See `capacity_figure`.
    """
    save(capacity_figure(rows), path)


def recall_figure(cues: Tensor, recall: Recall, shape: tuple[int, int]) -> Figure:
    """A figure of pictures: the cues, what was recalled, and the overlap with the best pattern.

    Args:
        cues: Cues (B, N) or (N,).
        recall: What the memory recalled from them.
        shape: Height and width of the pictures.

    Examples:
        >>> patterns = entrain.memory.random_patterns(2, 36)
        >>> cues = entrain.memory.corrupt(patterns, 0.1)
        >>> recall = entrain.Memory.store(patterns).recall(cues)
        >>> len(entrain.plots.memory.recall_figure(cues, recall, (6, 6)).axes)
        4
    """
    import matplotlib
    from matplotlib.figure import Figure

    columns, cues = len(recall.states), cues[None] if cues.dim() == 1 else cues
    if tuple(cues.shape) != tuple(recall.states.shape):
        raise InputError(
            f"cues must be those of the recall, {columns} x {recall.states.shape[1]}; got shape "
            f"{tuple(cues.shape)}"
        )
    if shape[0] * shape[1] != cues.shape[1]:
        raise InputError(f"shape must be of {cues.shape[1]} pixels, got {shape[0]} x {shape[1]}")
    span = {"vmin": -torch.pi, "vmax": torch.pi} if recall.phases else {"vmin": -1, "vmax": 1}
    colours = "twilight" if recall.phases else "gray_r"
    patterns = recall.patterns.reshape(columns, -1)
    best = recall.overlaps.reshape(columns, -1).abs().max(1).values
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(1.2 * columns + 0.4, 2.8), layout="constrained")
        rows = figure.subplots(2, columns, squeeze=False)
        for axes, pictures in zip(rows, (cues, patterns), strict=True):
            for axis, picture in zip(axes, pictures, strict=True):
                axis.imshow(picture.reshape(shape).numpy(), cmap=colours, **span)
                axis.set(xticks=[], yticks=[])
                axis.spines[:].set_visible(True)
        for axis, overlap in zip(rows[1], best.tolist(), strict=True):
            axis.set_xlabel(f"m = {overlap:.2f}")
        rows[0][0].set_ylabel("cue")
        rows[1][0].set_ylabel("recalled")
    return figure
