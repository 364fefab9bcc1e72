"""Output activations against time, one panel per example, as in the paper's figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from entrain.plots.style import class_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

Bounds = tuple[float, float, float, float]  # left, bottom, width, height, in parts of a panel

# Between the risen winner and the fallen others; lines are drawn over it.
AMID: Bounds = (0.64, 0.29, 0.35, 0.35)


def trajectories(
    images: np.ndarray,
    outputs: np.ndarray,
    labels: np.ndarray,
    class_names: tuple[str, ...],
    title: str,
    columns: int = 5,
    bounds: Bounds = AMID,
) -> Figure:
    """Panels of output activations cos theta_o(t) with their images.

    Args:
        images: (n, rows, columns).
        outputs: (K + 1, n, O).
        labels: (n,), indices into `class_names`.
        class_names: Names of the outputs.
        title: Title of the figure.
        columns: Panels per row.
        bounds: Left and lower edge, width and height of the image in its panel.
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    count, rows = len(labels), -(-len(labels) // columns)
    figure = Figure(figsize=(2.3 * columns, 2.0 * rows + 1.1), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    time = np.linspace(0.0, 1.0, len(outputs))
    for panel, axis in enumerate(axes):
        if panel >= count:
            axis.set_visible(False)
            continue
        predicted = int(outputs[-1, panel].argmax())
        for output in range(outputs.shape[2]):
            width, order = (2.0, 3) if output == predicted else (0.9, 2)
            line = {"color": class_colour(output), "linewidth": width, "zorder": order}
            axis.plot(time, outputs[:, panel, output], **line)
        correct = predicted == labels[panel]
        truth = "" if correct else f" (is {class_names[labels[panel]]})"
        colour = "black" if correct else "#B00020"
        axis.set_title(class_names[predicted] + truth, fontsize=9, color=colour)
        picture(axis, images[panel], bounds)
        axis.set_ylim(-1.05, 1.05)
        axis.tick_params(labelsize=7)
        axis.patch.set_visible(False)
        if panel >= count - columns:
            axis.set_xlabel("time $t / t_f$", fontsize=9)
        axis.spines[["top", "right"]].set_visible(False)
    figure.supylabel(r"output activation $\cos\theta_o(t)$", fontsize=9)
    figure.suptitle(title, fontsize=11)
    colours = [class_colour(output) for output in range(len(class_names))]
    figure.legend(
        [Line2D([], [], color=colour, linewidth=1.5) for colour in colours],
        class_names,
        loc="outside lower center",
        ncols=min(10, len(class_names)),
        fontsize=8,
        frameon=False,
    )
    return figure


def picture(axis: Axes, image: ArrayLike, bounds: Bounds) -> None:
    """Draw an input image in a corner of a panel, under its lines."""
    inset = axis.inset_axes(bounds, zorder=1)
    inset.imshow(np.ma.masked_equal(np.asarray(image), 0), cmap="gray_r", vmin=0)
    inset.set_axis_off()
