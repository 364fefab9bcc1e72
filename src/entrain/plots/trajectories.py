"""Outputs or phases against time, one panel per example, as in the paper's figures."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from entrain.plots.style import COLUMN, class_colour, label, save
from entrain.utils.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from entrain.models.model import Model

Bounds = tuple[float, float, float, float]  # left, bottom, width, height, in parts of a panel

# Between the risen winner and the fallen others; lines are drawn over it.
AMID: Bounds = (0.64, 0.29, 0.35, 0.35)
_STRIP: Bounds = (0.03, 0.03, 0.5, 0.07)  # of a row of features, below lines that fall later

MOST_PANELS = 25
_MOST_KEYS = 40  # classes in the legend
_MOST_NUMBERS = 3  # in a title
_LINE = 26  # characters in a line of a title
_LEGEND = 120  # characters in a row of the legend


def trajectory(
    model: Model,
    x: np.ndarray,
    y: ArrayLike | None = None,
    *,
    phases: bool = False,
    path: Path | str | None = None,
) -> Figure:
    """A figure of what the oscillators of a model do with each example, from the start to t_f.

    A panel shows the example and the output activations cos theta_o(t). The thick line is the
    predicted class, the title its name, in red if it is not the label.

    Args:
        model: A trained model.
        x: Raw pixels or rows of features, as for `Model.predict`, at most 25 examples.
        y: True labels (n,), as in `Model.classes`.
        phases: True for the phases theta(t) of all oscillators, the hidden ones in grey.
        path: File to write as well: .png, .pdf or .svg.

    Examples:
        >>> test = entrain.load_test_split("mnist").rows(slice(5))
        >>> figure = entrain.plots.trajectory(entrain.load("mnist-74"), test.features, test.labels)
        >>> len(figure.axes)
        5
    """
    theta = model.trajectory(x).cpu().numpy()  # (K + 1, n, N)
    count = theta.shape[1]
    if count > MOST_PANELS:
        raise InputError(f"x must be at most {MOST_PANELS} examples, got {count}; choose some rows")
    figure = trajectories(
        images=model.pictures(x),
        outputs=np.cos(theta[..., -model.network.outputs :]),
        labels=None if y is None or not model.task.has_classes else model.label_indices(y, count),
        class_names=model.task.output_names,
        columns=min(5, max(3, count)),
        title=f"{model.protocol} on {label(model.dataset)}: "
        f"{'phases of all oscillators' if phases else 'output oscillators'} over time",
        predicted=model.predict_indices(x) if model.task.has_classes else None,
        titles=None if model.task.has_classes else _predictions(model, x, y),
        phases=np.unwrap(theta, axis=0) if phases else None,
    )
    if path is not None:
        save(figure, Path(path))
    return figure


def trajectories(
    images: np.ndarray,
    outputs: np.ndarray,
    labels: np.ndarray | None,
    class_names: tuple[str, ...],
    title: str,
    columns: int = 5,
    bounds: Bounds = AMID,
    *,
    predicted: np.ndarray | None = None,
    titles: list[str] | None = None,
    phases: np.ndarray | None = None,
) -> Figure:
    """Panels of output activations cos theta_o(t) with their images.

    Args:
        images: (n, rows, columns).
        outputs: (K + 1, n, O).
        labels: (n,), indices into `class_names`; None if they are unknown.
        class_names: Names of the outputs.
        title: Title of the figure.
        columns: Panels per row.
        bounds: Left and lower edge, width and height of the image in its panel.
        predicted: Predicted classes (n,), by default the largest outputs at the end.
        titles: Titles of the panels in place of classes (n,), for outputs that are numbers.
        phases: Phases (K + 1, n, N) to draw instead, the outputs last.

    Examples:
        >>> outputs = np.random.default_rng(0).uniform(-1, 1, (11, 3, 2))
        >>> images, labels = np.zeros((3, 8, 8)), np.array([0, 1, 1])
        >>> figure = entrain.plots.trajectories(images, outputs, labels, ("a", "b"), "Three")
        >>> len(figure.axes)
        5
    """
    from matplotlib.figure import Figure

    count = outputs.shape[1]
    rows = max(1, -(-count // columns))
    keys = min(len(class_names), _MOST_KEYS)
    names = [label(name) for name in class_names]
    per_row = max(1, min(10, _LEGEND // max(map(len, names[:keys]), default=1)))
    figure = Figure(
        figsize=(COLUMN / 5 * columns, 1.75 * rows + 0.95 + 0.15 * math.ceil(keys / per_row)),
        layout="constrained",
    )
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    if predicted is None:
        predicted = outputs[-1].argmax(-1)
    for panel, axis in enumerate(axes):
        axis.set_visible(panel < count)
        if panel >= count:
            continue
        lines = outputs[:, panel] if phases is None else phases[:, panel]
        best = int(predicted[panel])
        _lines(axis, lines, len(class_names), best if titles is None else None)
        if titles is None:
            true = best if labels is None else labels[panel]
            _title(axis, names[best], None if true == best else names[true])
        else:
            axis.set_title(titles[panel], fontsize=8)
        picture(axis, images[panel], bounds)
        if phases is None:
            axis.set_ylim(-1.05, 1.05)
        axis.tick_params(labelsize=7)
        axis.patch.set_visible(False)
        if panel >= count - columns:
            axis.set_xlabel("time $t / t_f$", fontsize=9)
            axis.tick_params(labelbottom=True)
        axis.spines[["top", "right"]].set_visible(False)
    activation = r"output activation $\cos\theta_o(t)$"
    figure.supylabel(activation if phases is None else r"phase $\theta(t)$ (rad)", fontsize=9)
    figure.suptitle(title if count else f"{title}: no examples", fontsize=11)
    _legend(figure, names, per_row)
    return figure


def _predictions(model: Model, x: np.ndarray, y: ArrayLike | None) -> list[str]:
    """Titles of panels: the predicted numbers and, if they are known, the true ones."""
    predicted = np.asarray(model.predict(x)).reshape(len(x), -1)
    true = None if y is None else model.task.encode(y, len(x))
    titles = []
    for row, numbers in enumerate(predicted):
        text = ", ".join(f"{number:.4g}" for number in numbers[:_MOST_NUMBERS])
        if true is not None:
            text += f"\n(is {', '.join(f'{n:.4g}' for n in true[row][:_MOST_NUMBERS])})"
        titles.append(text)
    return titles


def _lines(axis: Axes, lines: np.ndarray, classes: int, predicted: int | None) -> None:
    """Lines (K + 1, N) over time; the last ones are those of the outputs."""
    time = np.linspace(0.0, 1.0, len(lines))
    hidden = lines.shape[1] - classes
    axis.plot(time, lines[:, :hidden], color="#bbbbbb", linewidth=0.5, zorder=1.5)
    for output in range(classes):
        width, order = (2.0, 3) if output == predicted else (0.9, 2)
        line: dict[str, Any] = {"color": class_colour(output), "linewidth": width, "zorder": order}
        axis.plot(time, lines[:, hidden + output], **line)


def _title(axis: Axes, predicted: str, true: str | None) -> None:
    truth = "" if true is None else f"(is {true})"
    gap = "\n" if len(predicted) + len(truth) >= _LINE else " "
    colour = "black" if true is None else "#B00020"
    axis.set_title(f"{predicted}{gap}{truth}".strip(), fontsize=9, color=colour)


def _legend(figure: Figure, names: list[str], per_row: int) -> None:
    """One entry for each class, of very many for the first."""
    from matplotlib.lines import Line2D

    shown = names[:_MOST_KEYS]
    handles = [
        Line2D([], [], color=class_colour(output), linewidth=1.5) for output in range(len(shown))
    ]
    if len(shown) < len(names):
        shown[-1] = f"... {len(names) - len(shown) + 1} others"
        handles[-1] = Line2D([], [], linestyle="none")
    figure.legend(
        handles,
        shown,
        loc="outside lower center",
        ncols=min(per_row, max(1, len(shown))),
        fontsize=8,
        frameon=False,
    )


def picture(axis: Axes, image: ArrayLike, bounds: Bounds) -> None:
    """Draw an input image in a corner of a panel, under its lines; one row as a strip.

    Zero is transparent and positive numbers are grey; with negative ones, which are then blue,
    positive numbers are red.
    """
    values = np.ma.masked_equal(np.ma.masked_invalid(np.asarray(image, dtype=float)), 0.0)
    size = float(np.abs(values).max()) if values.count() else 1.0
    signed = bool((values.compressed() < 0).any())
    strip = len(values) == 1
    inset = axis.inset_axes(_STRIP if strip else bounds, zorder=1)
    inset.imshow(values / size, "RdBu_r" if signed else "gray_r", vmin=-int(signed), vmax=1)
    inset.set_aspect("auto" if strip else "equal")
    inset.set_axis_off()
