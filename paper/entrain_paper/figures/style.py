"""Colours, markers and lines of the figures, by method, dataset and depth."""

from __future__ import annotations

from typing import Any

from entrain.plots.style import CLASS_COLOURS

# A method looks the same in every figure; markers and lines differ without colour, too.
METHOD_COLOURS = {
    "teacher": "#000000",
    "PATH": "#0072B2",
    "PATH-CONT": "#56B4E9",
    "Z-END": "#E69F00",
    "ZERO-END-ONLY": "#CC79A7",
    "PRETRAIN-END-ONLY": "#009E73",
    "TWO-STAGE-END": "#D55E00",
    "DIRECT": "#882255",
    "DIRECT for chips": "#117733",
}
METHOD_MARKERS = {
    "teacher": "*",
    "PATH": "o",
    "PATH-CONT": "v",
    "Z-END": "P",
    "ZERO-END-ONLY": "X",
    "PRETRAIN-END-ONLY": "^",
    "TWO-STAGE-END": "s",
    "DIRECT": ">",
    "DIRECT for chips": "D",
}
METHOD_LINES = {
    "teacher": ":",
    "PATH": "--",
    "PATH-CONT": ":",
    "Z-END": "-.",
    "ZERO-END-ONLY": ":",
    "PRETRAIN-END-ONLY": "-.",
    "TWO-STAGE-END": "-",
    "DIRECT": "-.",
    "DIRECT for chips": "-",
}

# Keys in results, and names in figures.
MAIN_METHODS = {"path": "PATH", "two_stage_end": "TWO-STAGE-END"}

# For panels with both datasets; dark and light in greyscale, too.
DATASET_COLOURS = {"MNIST": "#882255", "Fashion-MNIST": "#44AA99"}
DATASET_LINES = {"MNIST": "-", "Fashion-MNIST": "--"}

# Teachers by number of hidden layers; two and three are dark and light in greyscale, too.
DEPTH_COLOURS = {1: "#000000", 2: "#0072B2", 3: "#E69F00", 4: "#009E73"}
DEPTH_MARKERS = {1: "*", 2: "o", 3: "^", 4: "s"}

# Numbers printed in the paper.
PAPER_LOOK: dict[str, Any] = {
    "marker": "D",
    "markerfacecolor": "none",
    "markeredgecolor": "#222222",
    "markeredgewidth": 1.0,
    "markersize": 5.0,
    "linestyle": "none",
}

PUBLISHED_COLOUR = CLASS_COLOURS[0]


def method_look(method: str) -> dict[str, Any]:
    """Colour, marker and line of a method."""
    return {
        "color": METHOD_COLOURS[method],
        "marker": METHOD_MARKERS[method],
        "linestyle": METHOD_LINES[method],
    }


def published_look(same_task: bool) -> dict[str, Any]:
    """Look of a published network: filled markers for the same task, open ones for another."""
    return {
        "linestyle": "none",
        "marker": "o",
        "markersize": 5.5,
        "color": PUBLISHED_COLOUR,
        "markerfacecolor": PUBLISHED_COLOUR if same_task else "white",
        "markeredgewidth": 1.4,
    }
