"""Accuracy against coverage of the reject options of the shipped models, also on other pictures.

    ENTRAIN_DATA=FOLDER python benchmarks/reject_option.py

Writes results/reject-option.json: for each model the accuracy among the accepted validation images
at several coverages, by margin; the thresholds with their accuracy and coverage on validation and
test images; the rejected share of pictures of other classes; and, for MNIST, of drawn and
photograph-like digits (tests/photographs.py, with a seed that was not used to choose thresholds).
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
    results: dict[str, Any] = {}
    for name in shipped():
        model = entrain.load(name)
        assert model.reject is not None
        dataset = data[model.dataset]
        noise = np.random.default_rng(0).integers(0, 256, (1000, 784))
        results[name] = {
            "margin": model.reject.margin,
            "distance": model.reject.distance,
            "curve": _curve(model, dataset.validation),
            "validation": _with_thresholds(model, dataset.validation),
            "test": _with_thresholds(model, dataset.test),
            "unsure": {
                other[model.dataset]: _unsure(
                    model, data[other[model.dataset]].validation.features
                ),
                "noise": _unsure(model, noise),
            },
        }
        if model.dataset == "mnist":
            results[name]["photographs"] = _photographs(model)
        print(name, results[name]["validation"], results[name]["unsure"])  # noqa: T201
    write_atomically(RESULT, (strict_json(results, indent=1) + "\n").encode())


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


def _with_thresholds(model: Model, split: Split) -> dict[str, float]:
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
    """Percent correct, correct and accepted, and correct or rejected, of each kind of picture."""
    sys.path.insert(0, str(ROOT / "tests"))
    from photographs import photographs

    pictures = list(photographs(SEED))
    pixels = np.stack([framed(_small(p.levels), (28, 28)) for p in pictures])
    right = model.predict(pixels) == [p.digit for p in pictures]
    unsure = model.rejected(pixels)
    groups = {q.kind: [p.kind == q.kind for p in pictures] for q in pictures}
    groups |= {f"by {q.hand}": [p.hand == q.hand for p in pictures] for q in pictures}
    groups["all"] = [True] * len(pictures)
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
    """The picture in the size that the package reads."""
    return np.asarray(Image.fromarray(levels).reduce(-(-max(levels.shape) // 512)))


if __name__ == "__main__":
    main()
