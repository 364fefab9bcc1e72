"""Make what the playground shows and what it is tested against.

    python tools/playground_data.py

Writes playground/public/gallery.safetensors, three official test images of each class of MNIST and
Fashion-MNIST, and tests/vectors/playground.json, numbers of the package that the page's own
implementation must give as well: float64, from the reference kernels.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

import entrain
from entrain import kernels
from entrain.data import load_test_split
from entrain.data.pictures import read_picture
from entrain.files import write_atomically
from entrain.physics import Noise
from entrain.physics.noise import philox
from entrain.playground.files import MODELS
from entrain.tensorfile import write_tensors

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "playground" / "public" / "gallery.safetensors"
VECTORS = ROOT / "tests" / "vectors" / "playground.json"

PER_CLASS = 3
EXAMPLES = (0, 8, 16, 29)  # places in the gallery
SEED, TEMPERATURES, REPLICATES = 7, (0.5, 1.0), 3
COARSE = 37  # steps that do not fill the noise's blocks of four
STRIDE = 20  # steps between two recorded times
SHAPE = (28, 28)


def main() -> None:
    torch.set_num_threads(1)  # products this small are slower on several
    write_tensors(GALLERY, "gallery", gallery(), {})
    text = json.dumps(vectors(), separators=(",", ":"), allow_nan=False)
    VECTORS.parent.mkdir(exist_ok=True)
    write_atomically(VECTORS, f"{text}\n".encode())
    print(f"{GALLERY.name}: {GALLERY.stat().st_size:,} bytes")  # noqa: T201
    print(f"{VECTORS.name}: {VECTORS.stat().st_size:,} bytes")  # noqa: T201


def gallery() -> dict[str, Tensor]:
    """Per dataset: images uint8 (30, 28, 28), labels uint8 (30), indices int64 (30), by class."""
    tensors = {}
    for name in ("mnist", "fashion-mnist"):
        test = load_test_split(name)
        chosen = [np.flatnonzero(test.labels == label)[:PER_CLASS] for label in range(10)]
        indices = torch.from_numpy(np.concatenate(chosen))
        tensors[f"{name}.images"] = torch.from_numpy(test.features)[indices].reshape(-1, *SHAPE)
        tensors[f"{name}.labels"] = torch.from_numpy(test.labels)[indices].to(torch.uint8)
        tensors[f"{name}.indices"] = indices
    return tensors


def vectors() -> dict[str, Any]:
    """Everything in tests/vectors/playground.json, computed now."""
    images = gallery()
    with kernels.use("reference"):
        return {
            "seed": SEED,
            "stride": STRIDE,
            "coarse": COARSE,
            "models": {name: _model(name, images) for name in sorted(MODELS)},
            "normals": _normals(),
            "philox": _philox(),
            "pictures": [_picture(picture) for picture in _drawn()],
        }


def _model(name: str, images: dict[str, Tensor]) -> list[dict[str, Any]]:
    """What a shipped model computes of a few gallery images."""
    model = entrain.load(name)
    network = model.network.double()
    rows = []
    for place in EXAMPLES:
        index = int(images[f"{model.dataset}.indices"][place])
        inputs = model.inputs(images[f"{model.dataset}.images"][place].numpy()).double()
        path = network.simulate(inputs, record=True)[::STRIDE]
        outputs = path[:, 0, network.hidden :].cos()
        row: dict[str, Any] = {
            "place": place,
            "index": index,
            "inputs_sum": float(inputs.sum()),
            "inputs_moment": float((inputs[0] * torch.arange(1, inputs.shape[1] + 1)).sum()),
            "fields": network.fields(inputs)[0, ::8].tolist(),
            "scores": outputs[-1].tolist(),
            "energies": network.energy(path, inputs)[:, 0].tolist(),
            "noisy": {
                str(kT): _noisy(network, inputs, index, kT, None, REPLICATES) for kT in TEMPERATURES
            },
        }
        if place == EXAMPLES[0]:
            row["trajectory"] = outputs.tolist()
            row["coarse"] = _noisy(network, inputs, index, 1.0, COARSE, 1)[0]
        rows.append(row)
    return rows


def _noisy(
    network: entrain.KuramotoNetwork,
    inputs: Tensor,
    index: int,
    temperature: float,
    steps: int | None,
    replicates: int,
) -> list[list[float]]:
    phases = network.simulate(
        inputs,
        steps=steps,
        temperature=temperature,
        seed=SEED,
        replicates=replicates,
        first_sample=index,
    )
    scores: list[list[float]] = phases[:, 0, network.hidden :].cos().tolist()
    return scores


def _normals() -> list[dict[str, float]]:
    """Single increments, each with its full address."""
    found = []
    for seed, temperature, replicate, sample, step, oscillator in (
        (0, 1.0, 0, 0, 0, 0),
        (7, 0.5, 2, 9999, 199, 73),
        (7, 0.1, 1, 3, 6, 40),
        (4294967295, 2.0, 9, 4294967295, 1, 5),
        (123456789, 0.3, 4, 77, 1023, 11),
    ):
        noise = Noise(seed, temperature, torch.tensor([replicate]), torch.tensor([sample]))
        block, place = divmod(step, 4)
        value = float(noise.increments(block, oscillator + 1)[place, 0, 0, oscillator])
        found.append(
            {
                "seed": seed,
                "temperature": temperature,
                "replicate": replicate,
                "sample": sample,
                "step": step,
                "oscillator": oscillator,
                "value": value,
            }
        )
    return found


def _philox() -> list[dict[str, list[int]]]:
    """Words of the generator; the first three are the vectors published with Random123."""
    found = []
    for counter, key in (
        ((0, 0, 0, 0), (0, 0)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2),
        ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)),
        ((3, 70, 0, 0), (SEED, 0x6D69736D)),
    ):
        c0, c1, c2, c3 = (torch.tensor([word]) for word in counter)
        words = [int(word) for word in philox((c0, c1, c2, c3), key)]
        found.append({"counter": list(counter), "key": list(key), "words": words})
    return found


def _picture(rgba: np.ndarray) -> dict[str, Any]:
    """A picture's RGBA bytes (rows, columns, 4), and the whole pixels the package makes of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        Image.fromarray(rgba, mode="RGBA").save(path)
        pixels = np.floor(read_picture(path, SHAPE, 255.0) + 0.5).astype(np.uint8)
    rows, columns, _ = rgba.shape
    return {
        "rows": rows,
        "columns": columns,
        "rgba": rgba.tobytes().hex(),
        "pixels": pixels.tobytes().hex(),
    }


def _drawn() -> list[np.ndarray]:
    """A light stroke, a coloured one on transparent paper, a small symmetric one, and one 28 x 28.

    The symmetric one has its centre of mass exactly half a pixel off the middle.
    """
    light = np.zeros((56, 44, 4), np.uint8)
    light[..., :3] = _stroke(56, 44, lambda t: (10 + 36 * t, 20 + 12 * math.sin(5 * t)))[..., None]
    light[..., 3] = 255
    ink = np.zeros((37, 50, 4), np.uint8)
    ink[..., :3] = (40, 20, 90)
    ink[..., 3] = _stroke(37, 50, lambda t: (8 + 20 * t * t, 6 + 38 * t))
    bar = np.zeros((23, 21, 4), np.uint8)
    bar[..., 3] = 255
    bar[2:21, 5:14, :3] = 200
    same = np.zeros((*SHAPE, 4), np.uint8)
    same[..., :3] = _stroke(*SHAPE, lambda t: (4 + 18 * t, 5 + 9 * t))[..., None]
    same[..., 3] = 255
    return [light, ink, bar, same]


def _stroke(rows: int, columns: int, curve: Callable[[float], tuple[float, float]]) -> np.ndarray:
    """Grey levels (rows, columns) of a soft pen along `curve`, t from 0 to 1 -> (row, column)."""
    y, x = np.mgrid[:rows, :columns]
    points = np.array([curve(t) for t in np.linspace(0, 1, 60)])
    squares = (y[..., None] - points[:, 0]) ** 2 + (x[..., None] - points[:, 1]) ** 2
    levels = np.clip(255 * (2.6 - np.sqrt(squares.min(-1))), 0, 255)
    return np.asarray(levels, dtype=np.uint8)


if __name__ == "__main__":
    main()
