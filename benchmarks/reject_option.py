"""Coverage against accuracy of the shipped models' reject options, and what they make of pictures.

    ENTRAIN_DATA=FOLDER python benchmarks/reject_option.py

Writes results/reject-option.json: for each model the accuracy among the sure validation images at
several coverages, by margin; the thresholds chosen and what they give on validation and, once, on
the test images; the share that is unsure of pictures that are none of the classes; and, for MNIST,
the drawn and photograph-like digits of tests/photographs.py, of a seed that no choice was made by.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

import entrain
from entrain.data import Split
from entrain.data.pictures import framed
from entrain.evaluation import margin
from entrain.models.model import Model
from entrain.models.pretrained import shipped
from entrain.utils.files import strict_json, write_atomically

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "results" / "reject-option.json"
COVERAGES = (100, 99, 98, 95, 90, 80, 70, 60, 50)
SEED = 4


def main() -> None:
    torch.set_num_threads(1)
    data = {name: entrain.load_dataset(name) for name in ("mnist", "fashion-mnist")}
    other = {"mnist": "fashion-mnist", "fashion-mnist": "mnist"}
    found: dict[str, Any] = {}
    for name in shipped():
        model = entrain.load(name)
        assert model.reject is not None
        own = data[model.dataset]
        noise = np.random.default_rng(0).integers(0, 256, (1000, 784))
        found[name] = {
            "margin": model.reject.margin,
            "distance": model.reject.distance,
            "curve": _curve(model, own.validation),
            "validation": _chosen(model, own.validation),
            "test": _chosen(model, own.test),
            "unsure": {
                other[model.dataset]: _unsure(
                    model, data[other[model.dataset]].validation.features
                ),
                "noise": _unsure(model, noise),
            },
        }
        if model.dataset == "mnist":
            found[name]["photographs"] = _photographs(model)
        print(name, found[name]["validation"], found[name]["unsure"])  # noqa: T201
    write_atomically(RESULT, (strict_json(found, indent=1) + "\n").encode())


def _curve(model: Model, split: Split) -> list[dict[str, float]]:
    """Top-1 among the examples with the largest margins, for each share of them, percent."""
    scores = model.scores(split.features)
    order = margin(scores).argsort(descending=True, stable=True).numpy()
    correct = (scores.argmax(-1).numpy() == split.labels)[order]
    counts = [round(len(correct) * share / 100) for share in COVERAGES]
    return [
        {"coverage": share, "top1": 100 * float(correct[:count].mean())}
        for share, count in zip(COVERAGES, counts, strict=True)
    ]


def _chosen(model: Model, split: Split) -> dict[str, float]:
    sure = ~model.rejected(split.features)
    correct = model.predict_indices(split.features) == split.labels
    return {
        "top1": 100 * float(correct.mean()),
        "coverage": 100 * float(sure.mean()),
        "top1_sure": 100 * float(correct[sure].mean()),
    }


def _unsure(model: Model, pixels: np.ndarray) -> float:
    return 100 * float(model.rejected(pixels).mean())


def _photographs(model: Model) -> dict[str, dict[str, float]]:
    """Percent of each kind: right, right and sure, right or unsure."""
    sys.path.insert(0, str(ROOT / "tests"))
    from photographs import photographs

    made = list(photographs(SEED))
    pixels = np.stack([framed(_small(each.levels), (28, 28)) for each in made])
    right = model.predict(pixels) == [each.digit for each in made]
    unsure = model.rejected(pixels)
    groups = {each.kind: [one.kind == each.kind for one in made] for each in made}
    groups |= {f"by {each.hand}": [one.hand == each.hand for one in made] for each in made}
    groups["all"] = [True] * len(made)
    return {
        name: {
            "pictures": sum(members),
            "right": 100 * float(right[members].mean()),
            "right_and_sure": 100 * float((right & ~unsure)[members].mean()),
            "right_or_unsure": 100 * float((right | unsure)[members].mean()),
        }
        for name, members in groups.items()
    }


def _small(levels: np.ndarray) -> np.ndarray:
    """As large as the package reads it."""
    return np.asarray(Image.fromarray(levels).reduce(-(-max(levels.shape) // 512)))


if __name__ == "__main__":
    main()
