"""Colours and markers of the paper's figures: a method, a dataset, a depth, what is published."""

from __future__ import annotations

from typing import Any

from entrain.plots.style import CLASS_COLOURS

# A method looks the same in every figure; marker and line tell it apart without colour.
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

# As results name them, and as they are called.
MAIN_METHODS = {"path": "PATH", "two_stage_end": "TWO-STAGE-END"}

# Where one panel holds both datasets; dark and light in grey, too.
DATASET_COLOURS = {"MNIST": "#882255", "Fashion-MNIST": "#44AA99"}
DATASET_LINES = {"MNIST": "-", "Fashion-MNIST": "--"}

# Teachers by their number of hidden layers; two and three are dark and light in grey, too.
DEPTH_COLOURS = {1: "#000000", 2: "#0072B2", 3: "#E69F00", 4: "#009E73"}
DEPTH_MARKERS = {1: "*", 2: "o", 3: "^", 4: "s"}

# What the paper prints: a hollow diamond.
PAPER_LOOK: dict[str, Any] = {
    "marker": "D",
    "markerfacecolor": "none",
    "markeredgecolor": "#222222",
    "markeredgewidth": 1.0,
    "markersize": 5.0,
    "linestyle": "none",
}


PUBLISHED_COLOUR = CLASS_COLOURS[0]


def published_look(standard: bool) -> dict[str, Any]:
    """The look of a published network: filled on the standard task, open on another."""
    return {
        "linestyle": "none",
        "marker": "o",
        "markersize": 5.5,
        "color": PUBLISHED_COLOUR,
        "markerfacecolor": PUBLISHED_COLOUR if standard else "white",
        "markeredgewidth": 1.4,
    }
