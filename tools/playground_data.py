"""Write the images of the playground, and reference numbers of its computations.

    python tools/playground_data.py

Writes, for MNIST and Fashion-MNIST, playground/public/gallery.safetensors (three official test
images of each class) and playground/public/test-images.safetensors (twenty of each class, on which
chips are measured). The page must compute the same numbers as tests/vectors/playground.json and
tests/vectors/terms.json (a small network with every optional term of the phase model): float64, by
the reference kernels. tests/vectors/photographs.json has pictures under uneven light and on ruled
paper, and the pixels that are read from them.
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
from entrain.data.pictures import framed, read_picture
from entrain.evaluation import margin
from entrain.hardware import preset
from entrain.physics import Noise, layered_graph
from entrain.physics.noise import philox
from entrain.playground.files import MODELS
from entrain.utils.files import write_atomically
from entrain.utils.tensor_file import write_tensors

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "playground" / "public" / "gallery.safetensors"
TEST_IMAGES = ROOT / "playground" / "public" / "test-images.safetensors"
VECTORS = ROOT / "tests" / "vectors" / "playground.json"
TERMS = ROOT / "tests" / "vectors" / "terms.json"
PHOTOGRAPHS = ROOT / "tests" / "vectors" / "photographs.json"

PER_CLASS, MEASURED_PER_CLASS = 3, 20
EXAMPLES = (0, 8, 16, 29)  # indices in the gallery
SEED, TEMPERATURES, REPLICATES = 7, (0.5, 1.0), 3
COARSE = 37  # steps that do not fill the noise's blocks of four
STRIDE = 20  # steps between two recorded times
SHAPE = (28, 28)
JUDGE = "mnist-74"  # the model whose reject option judges photographs
TERM_NAMES = ("frequencies", "start_phases", "injection", "lag", "harmonic")
TERM_STRIDE = 3  # steps between two recorded energies of the network with terms
TERM_TEMPERATURE, TERM_SAMPLE = 0.5, 11


def main() -> None:
    torch.set_num_threads(1)  # products this small are slower on several
    write_tensors(GALLERY, "gallery", gallery(), {})
    write_tensors(TEST_IMAGES, "gallery", test_images(), {})
    VECTORS.parent.mkdir(exist_ok=True)
    contents = ((VECTORS, vectors()), (TERMS, terms()), (PHOTOGRAPHS, photographs()))
    for path, content in contents:
        text = json.dumps(content, separators=(",", ":"), allow_nan=False)
        write_atomically(path, f"{text}\n".encode())
    for path in (GALLERY, TEST_IMAGES, VECTORS, TERMS, PHOTOGRAPHS):
        print(f"{path.name}: {path.stat().st_size:,} bytes")  # noqa: T201


def gallery() -> dict[str, Tensor]:
    """Per dataset: images uint8 (30, 28, 28), labels uint8 (30), indices int64 (30), by class."""
    return _chosen(lambda places, name, label: places[:PER_CLASS])


def test_images() -> dict[str, Tensor]:
    """The same of 200 images a dataset, a sample stratified by class and by difficulty: in each
    class of the test set the middles of 20 equal ranges of the mean margin of its own class, on
    chips. Every second and every fourth image are such samples too."""
    margins = {name: margins_on_chips(name) for name in ("mnist", "fashion-mnist")}
    ranks = [4 * group + rank for group in range(MEASURED_PER_CLASS // 4) for rank in (2, 1, 0, 3)]

    def stratified(places: np.ndarray, name: str, label: int) -> np.ndarray:
        ranked = places[margins[name][places].argsort(kind="stable")]
        chosen = np.array(ranks) + 0.5
        if label % 2:  # every second image of a class would be a little harder than the others
            chosen = MEASURED_PER_CLASS - chosen
        return ranked[(chosen * len(places) / MEASURED_PER_CLASS).astype(int)]

    return _chosen(stratified)


def margins_on_chips(dataset: str) -> np.ndarray:
    """Activation of the class of each test image over the largest of the others (n,), in the mean
    over two networks on ten typical chips each."""
    test, typical, total = load_test_split(dataset), preset("typical"), 0.0
    labels = torch.from_numpy(test.labels)[:, None]
    for ending in ("direct", "robust"):
        model = entrain.load(f"{dataset}-74-{ending}")
        for chip in range(10):
            scores = model.on(typical.sample(chip)).scores(test.features)
            own = scores.gather(1, labels)[:, 0]
            others = scores.scatter(1, labels, -math.inf).amax(1)
            total = total + (own - others).double().numpy()
    return total / 20


def _chosen(choose: Callable[[np.ndarray, str, int], np.ndarray]) -> dict[str, Tensor]:
    """Images, labels and indices that `choose` selects in each class of a dataset."""
    tensors = {}
    for name in ("mnist", "fashion-mnist"):
        test = load_test_split(name)
        chosen = [choose(np.flatnonzero(test.labels == label), name, label) for label in range(10)]
        indices = torch.from_numpy(np.concatenate(chosen))
        tensors[f"{name}.images"] = torch.from_numpy(test.features)[indices].reshape(-1, *SHAPE)
        tensors[f"{name}.labels"] = torch.from_numpy(test.labels)[indices].to(torch.uint8)
        tensors[f"{name}.indices"] = indices
    return tensors


def vectors() -> dict[str, Any]:
    """The content of tests/vectors/playground.json."""
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
    """Numbers that a shipped model computes for a few gallery images."""
    model = entrain.load(name)
    network = model.network.double()
    rows = []
    for example in EXAMPLES:
        index = int(images[f"{model.dataset}.indices"][example])
        inputs = model.inputs(images[f"{model.dataset}.images"][example].numpy()).double()
        path = network.simulate(inputs, record=1).phases[::STRIDE]
        outputs = path[:, 0, network.hidden :].cos()
        row: dict[str, Any] = {
            "place": example,
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
        if example == EXAMPLES[0]:
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
    run = network.simulate(
        inputs,
        steps=steps,
        temperature=temperature,
        seed=SEED,
        restarts=replicates,
        first_sample=index,
    )
    scores: list[list[float]] = run.readout[:, 0].tolist()
    return scores


def _normals() -> list[dict[str, float]]:
    """Single increments, each with its full address."""
    rows = []
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
        rows.append(
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
    return rows


def _philox() -> list[dict[str, list[int]]]:
    """Words of the generator; the first three are the vectors published with Random123."""
    rows = []
    for counter, key in (
        ((0, 0, 0, 0), (0, 0)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2),
        ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)),
        ((3, 70, 0, 0), (SEED, 0x6D69736D)),
    ):
        c0, c1, c2, c3 = (torch.tensor([word]) for word in counter)
        words = [int(word) for word in philox((c0, c1, c2, c3), key)]
        rows.append({"counter": list(counter), "key": list(key), "words": words})
    return rows


def terms() -> dict[str, Any]:
    """The content of tests/vectors/terms.json.

    A network of 3 inputs, 4 hidden oscillators and 2 outputs: its parameters, all exact in float32,
    and its phases and energies with none of the terms, with each alone and with all of them. In the
    `graph`, the outputs are coupled and two hidden oscillators are not.
    """
    hidden, n = 4, 6
    graph = layered_graph(hidden, n - hidden)
    for i, j, there in ((0, 2, False), (1, 4, False), (4, 5, True)):
        graph[i, j] = graph[j, i] = there
    strengths = _waves(n * n, 2.0).reshape(n, n).triu(1)
    numbers = {
        "input_weights": _waves(hidden * 3, 0.0).reshape(hidden, 3),
        "biases": _waves(n, 1.0),
        "couplings": strengths + strengths.T,  # zero where a case has no coupler
        "graph": graph.to(torch.uint8),
        "frequencies": 2 * _waves(n, 3.0),
        "start_phases": 4 * _waves(n, 4.0),  # some of them beyond pi
        "injection": _waves(n, 5.0),
        "lag": torch.tensor(0.4375, dtype=torch.float64),
        "harmonic": torch.tensor([-0.75, 0.3125], dtype=torch.float64),
    }
    inputs = torch.tensor([[0.75, -1.25, 0.5]], dtype=torch.float64)
    dynamics: dict[str, Any] = {"mobility": 1.5, "observation_time": 1.2, "steps": 12}
    every = (*TERM_NAMES, "graph")
    with kernels.use("reference"):
        cases = [
            _terms_case(numbers, names, inputs, dynamics)
            for names in ((), *((name,) for name in every), every)
        ]
    return {
        "seed": SEED,
        "temperature": TERM_TEMPERATURE,
        "sample": TERM_SAMPLE,
        "stride": TERM_STRIDE,
        "dynamics": dynamics,
        "inputs": inputs[0].tolist(),
        "numbers": {name: tensor.tolist() for name, tensor in numbers.items()},
        "cases": cases,
    }


def _waves(count: int, shift: float) -> Tensor:
    """Numbers from -2 to 2 without a pattern, multiples of 1/64."""
    places = torch.arange(count, dtype=torch.float64)
    return (128 * (places * places + 7 * shift + 1).sin()).round() / 64


def _terms_case(
    numbers: dict[str, Tensor], names: tuple[str, ...], inputs: Tensor, dynamics: dict[str, Any]
) -> dict[str, Any]:
    """Phases at t_f and energies on the way, without noise and for two noisy replicates."""
    layered = layered_graph(4, 2)
    network = entrain.KuramotoNetwork.from_arrays(
        numbers["input_weights"],
        numbers["biases"],
        numbers["couplings"] * (numbers["graph"] if "graph" in names else layered),
        **{name: numbers[name] for name in names},
        **dynamics,
    )
    noisy = network.simulate(
        inputs,
        record=1,
        temperature=TERM_TEMPERATURE,
        seed=SEED,
        restarts=2,
        first_sample=TERM_SAMPLE,
    )
    paths = network.simulate(inputs, record=1).phases, *noisy.phases.unbind(1)
    energies = [network.energy(path[::TERM_STRIDE], inputs)[:, 0].tolist() for path in paths]
    ends = [path[-1, 0].tolist() for path in paths]
    return {
        "terms": list(names),
        "phases": ends[0],
        "energies": energies[0],
        "noisy": {"phases": ends[1:], "energies": energies[1:]},
    }


def _picture(rgba: np.ndarray) -> dict[str, Any]:
    """RGBA bytes of a picture (rows, columns, 4), and the rounded pixels that are read."""
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


def photographs() -> dict[str, Any]:
    """The content of tests/vectors/photographs.json: grey levels, their content in the frame, and
    whether a model rejects the rounded pixels."""
    model = entrain.load(JUDGE)
    assert model.reject is not None
    rows = []
    for name, levels in _photographed().items():
        content = framed(levels, SHAPE)
        pixels = np.floor(255 * content + 0.5)
        rows.append(
            {
                "name": name,
                "rows": levels.shape[0],
                "columns": levels.shape[1],
                "grey": levels.astype(np.uint8).tobytes().hex(),
                "levels": content.round(9).ravel().tolist(),
                "distance": float(model.reject.distances(model.normalised_inputs(pixels))),
                "margin": float(margin(model.scores(pixels))),
                "doubt": model.reject_reasons(pixels)[0],
            }
        )
    return {"model": JUDGE, "photographs": rows}


def _photographed() -> dict[str, np.ndarray]:
    """Grey levels of a seven under each light, on each paper, and of papers without it."""
    rows, columns = 96, 84
    y, x = np.mgrid[:rows, :columns]
    ink = _seven(rows, columns)
    slope = 1 - 0.55 * (0.6 * x / columns + 0.4 * y / rows)
    lamp = 0.35 + 0.65 * np.exp(-((x / columns - 0.4) ** 2 + (y / rows - 0.6) ** 2) / 0.4)
    shadow = np.where(x + 0.4 * y > 58, 0.6, 1.0)
    lines = np.where((y + 5) % 16 < 1, 0.5, 0.0)
    squares = np.maximum(lines, np.where((x + 3) % 16 < 1, 0.5, 0.0))
    grain = 24 * (((x * x * 7 + y * y * 13 + 29 * x * y) % 31) / 31 - 0.5)
    levels = {
        "even": 230 * (1 - 0.85 * ink),
        "light on dark": 25 + 200 * ink,
        "linear": 240 * (1 - 0.85 * ink) * slope,
        "radial": 240 * (1 - 0.85 * ink) * lamp,
        "shadow": 235 * (1 - 0.8 * ink) * shadow,
        "chalk": (40 + 190 * ink) * slope,
        "ruled": 230 * (1 - 0.85 * np.maximum(ink, lines)),
        "squared, shaded": 235 * (1 - 0.85 * np.maximum(ink, squares)) * slope,
        "noisy": 215 * (1 - 0.8 * ink) + grain,
        "pale": 150 * (1 - 0.25 * ink),
        "rulings alone": 230 * (1 - 0.85 * squares),
        "noise alone": 120 + 4 * grain,
    }
    return {name: np.rint(grey.clip(0, 255)) for name, grey in levels.items()}


def _seven(rows: int, columns: int) -> np.ndarray:
    """Coverage by the ink of a seven, from 0 to 1."""
    across = _stroke(rows, columns, lambda t: (22, 24 + 36 * t))
    down = _stroke(rows, columns, lambda t: (22 + 50 * t, 60 - 24 * t))
    return np.maximum(across, down) / 255


def _drawn() -> list[np.ndarray]:
    """A light stroke, a coloured stroke on transparent paper, a small symmetric bar, and a stroke
    of 28 x 28 pixels. The centre of mass of the bar is exactly half a pixel off the middle.
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
