"""Labels of points, placed so that they do not cover each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Box = tuple[float, float, float, float]  # left, bottom, right, top, in points

# Distances of a label from its point, in points at font size 7, and number of directions.
_RADII, _ANGLES = (10.0, 16.0, 24.0, 34.0, 46.0), 16


def label_points(
    axis: Axes,
    names: Sequence[str],
    at: Sequence[tuple[float, float]],
    avoid: np.ndarray,
    size: float = 7.0,
) -> None:
    """Write each name near its point (data units), clear of other labels and of `avoid` (n, 2).

    The layout of the figure must be final.
    """
    if not names:
        return
    unit = 72.0 / axis.get_figure(root=True).dpi  # type: ignore[union-attr]
    panel = axis.bbox
    edge = (panel.x0 * unit, panel.y0 * unit, panel.x1 * unit, panel.y1 * unit)
    marks = axis.transData.transform(avoid) * unit
    points = axis.transData.transform(at) * unit
    boxes: list[Box] = []
    for index in sorted(range(len(names)), key=lambda i: -at[i][1]):
        x, y = points[index]
        width, height = 0.64 * size * len(names[index]), 1.15 * size
        best: tuple[float, float, float, Box] | None = None
        for radius in (distance * size / 7.0 for distance in _RADII):
            for turn in range(_ANGLES):
                angle = 2 * math.pi * turn / _ANGLES
                dx = math.cos(angle) * (radius + width / 2 - 4)
                dy = math.sin(angle) * radius
                box = _box(x + dx, y + dy, width, height)
                cost = radius / 8 + _overlap(box, boxes, marks, edge)
                cost += _ambiguity(box, points, index)
                if best is None or cost < best[0]:
                    best = (cost, dx, dy, box)
        assert best is not None
        boxes.append(best[3])
        axis.annotate(
            names[index],
            at[index],
            best[1:3],
            textcoords="offset points",
            fontsize=size,
            ha="center",
            va="center",
            arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": "#555555", "shrinkB": 3},
            zorder=7,
        ).set_in_layout(False)


def _box(x: float, y: float, width: float, height: float) -> Box:
    return (x - width / 2, y - height / 2, x + width / 2, y + height / 2)


def _ambiguity(box: Box, points: np.ndarray, index: int) -> float:
    """Cost of a box at about the same distance from other labelled points as from its point."""
    across = np.maximum(np.maximum(box[0] - points[:, 0], points[:, 0] - box[2]), 0.0)
    up = np.maximum(np.maximum(box[1] - points[:, 1], points[:, 1] - box[3]), 0.0)
    distance = np.hypot(across, up)
    return 5.0 * (int((distance < distance[index] + 2.0).sum()) - 1)


def _overlap(box: Box, boxes: Sequence[Box], marks: np.ndarray, edge: Box) -> float:
    """Cost of the labels, marks and edges of the panel that a box covers, edges most."""
    left, bottom, right, top = box
    cost = 0.0
    for other in boxes:
        wide = min(right, other[2]) - max(left, other[0]) + 2
        high = min(top, other[3]) - max(bottom, other[1]) + 1
        cost += 20.0 + wide * high if wide > 0 and high > 0 else 0.0
    inside = (
        (marks[:, 0] > left - 5)
        & (marks[:, 0] < right + 5)
        & (marks[:, 1] > bottom - 4)
        & (marks[:, 1] < top + 4)
    )
    cost += 14.0 * int(inside.sum())
    out = left < edge[0] or bottom < edge[1] or right > edge[2] or top > edge[3]
    return cost + (1000.0 if out else 0.0)
