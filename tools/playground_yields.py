"""Write the yields that the web page must compute.

    python tools/playground_yields.py

Writes tests/vectors/yield.json: the accuracies of ten chips by `entrain.yield_of`, on every fifth
of the page's test images (playground/public/test-images.safetensors), and their statistics.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import torch

import entrain
from entrain.data import Split
from entrain.hardware import (
    CouplingFunction,
    Dead,
    FrequencySpread,
    Hardware,
    Levels,
    Mismatch,
    Offset,
    PhaseNoise,
    Readout,
    Wiring,
    preset,
)
from entrain.utils.files import write_atomically
from entrain.utils.tensor_file import read_tensors

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "playground" / "public" / "test-images.safetensors"
VECTORS = ROOT / "tests" / "vectors" / "yield.json"

CHIPS, FIRST_SEED, NOISE_SEED = 10, 5, 3
STRIDE = 5  # through the images: with all, the page's unit tests take a minute
THRESHOLDS = (50.0, 90.0, 97.0)
BY_HAND = Hardware(  # as set by the controls of the page
    coupling_levels=Levels(bits=5, range=1.0, rule="max"),
    weight_levels=Levels(part="input_weights", bits=5, range=1.0, rule="max"),
    mismatch=Mismatch(couplings=0.05, input_weights=0.05),
    offset=Offset(couplings=0.05),
    dead=Dead(couplers=0.01, oscillators=0.01),
    frequency_spread=FrequencySpread(0.5),
    coupling_function=CouplingFunction(lag=0.1),
    phase_noise=PhaseNoise(0.05),
    readout=Readout(bits=5),
)


class Case(NamedTuple):
    """A shipped model on hardware."""

    model: str
    name: str
    hardware: Hardware


CASES = (
    Case("mnist-74-direct", "typical", preset("typical")),
    Case("mnist-74-robust", "typical", preset("typical")),
    Case("fashion-mnist-74-robust", "typical", preset("typical")),
    Case("mnist-48-chip", "lo-2023", preset("lo-2023")),
    Case("mnist-74", "by hand", BY_HAND),
    Case("mnist-74-path", "a graph", Hardware(wiring=Wiring("ring", degree=40))),
)


def main() -> None:
    torch.set_num_threads(1)
    text = json.dumps(vectors(), indent=1, allow_nan=False)
    write_atomically(VECTORS, f"{text}\n".encode())
    print(f"{VECTORS.name}: {VECTORS.stat().st_size:,} bytes")  # noqa: T201


def vectors() -> dict[str, Any]:
    """The content of tests/vectors/yield.json."""
    return {
        "stride": STRIDE,
        "first_seed": FIRST_SEED,
        "noise_seed": NOISE_SEED,
        "thresholds": THRESHOLDS,
        "cases": [_case(case) for case in CASES],
    }


def test_split(dataset: str) -> Split:
    """Every fifth of the page's test images of a dataset."""
    tensors, _ = read_tensors(IMAGES, "gallery")
    pixels = tensors[f"{dataset}.images"][::STRIDE].flatten(1).numpy()
    return Split(pixels, tensors[f"{dataset}.labels"][::STRIDE].long().numpy())


def _case(case: Case) -> dict[str, Any]:
    model = entrain.load(case.model)
    split = test_split(model.dataset)
    result = entrain.yield_of(
        model, case.hardware, split, chips=CHIPS, first_seed=FIRST_SEED, noise_seed=NOISE_SEED
    )
    return {
        "model": case.model,
        "name": case.name,
        "hardware": case.hardware.to_json(),
        "images": len(split),
        "accuracies": list(result.accuracies),
        "summary": result.summary(),
        "above": [result.above(threshold) for threshold in THRESHOLDS],
        "above_intervals": [result.intervals(each)["above_threshold"] for each in THRESHOLDS],
        "standard_error": result.standard_error,
    }


if __name__ == "__main__":
    main()
