"""Small valid files of every kind that Entrain reads; mutants start from them."""

from __future__ import annotations

import gzip
import io
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from entrain.data import FeatureScaling, Preprocessing
from entrain.export import Onnx, Plain, Spice, WordLengths, design_of
from entrain.export.design import FILE, write_design
from entrain.export.targets import Target, target_to_json
from entrain.hardware import Components
from entrain.models.model import Model
from entrain.models.network import KuramotoNetwork
from entrain.models.teacher import Teacher
from entrain.tasks import Classification
from entrain.training import Recipe, TrainingState, pack_state
from entrain.training.run_folder import RunFolder
from entrain.training.search import SPACE
from entrain.utils.files import strict_json, with_digest

CLASSES = ("zero", "one", "zwölf")
TASK = Classification(CLASSES)


def seeds() -> dict[str, list[bytes]]:
    """Valid contents by target."""
    images = pictures()
    return {
        "model": _models(),
        "checkpoint": [_checkpoint(1), _checkpoint(3)],
        "design": _designs(),
        "run": [_run(["PATH", "TWO-STAGE-END"]), _run(["DIRECT"])],
        "results": [strict_json(with_digest(_results()), 2).encode()],
        "experiment": [strict_json(with_digest(_experiment()), 1).encode()],
        "settings": [strict_json(with_digest(_settings()), 1).encode()],
        "idx": _idx(),
        "npz": _npz(),
        "csv": _tables(","),
        "tsv": _tables("\t"),
        "picture": images,
        "folder": images[:3],
    }


def _network(inputs: int, terms: bool) -> KuramotoNetwork:
    """Five hidden oscillators and three outputs, with every optional term or none."""
    draw = torch.Generator().manual_seed(inputs)
    couplings = torch.randn(8, 8, generator=draw)
    couplings = (couplings + couplings.T).fill_diagonal_(0.0)
    couplings[5:, 5:] = 0.0
    more: dict[str, Any] = {}
    if terms:
        more = {"frequencies": torch.arange(8.0), "injection": torch.ones(8), "lag": 0.1}
        more |= {"start_phases": torch.linspace(1, 2, 8), "trainable": ["frequencies"]}
        more |= {"harmonic": torch.tensor([0.2, -0.1])}
    return KuramotoNetwork.from_arrays(
        torch.randn(5, inputs, generator=draw),
        torch.randn(8, generator=draw),
        couplings,
        steps=20,
        **more,
    )


def _models() -> list[bytes]:
    draw = torch.Generator().manual_seed(0)
    sizes = [(12, 2), (2, 3), (3, 3)]
    teacher = Teacher(
        tuple(torch.randn(out, into, generator=draw) for into, out in sizes),
        tuple(torch.randn(out, generator=draw) for _, out in sizes),
    )
    pixels = Preprocessing((3, 4), 255.0, 0.13, 0.31, 9.2, 9.0)
    scaling = FeatureScaling((0.5, -1.0, 1e6), (1.0, 2.0, 1e5), 3.5)
    details = {"run": 0, "seed": 0, "epoch": 3, "validation": {"top1": 50.0}}
    models = [
        Model(_network(12, False), pixels, TASK, "digits", "PATH", teacher, details),
        Model(_network(3, True), scaling, TASK, "mine", "DIRECT", None, details, 8.0),
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model"
        return [(model.save(file), file.read_bytes())[1] for model in models]


def _designs() -> list[bytes]:
    """One network for every kind of circuit, with and without what a circuit may lack."""
    plain, terms = (
        Model(_network(12, False), Preprocessing((3, 4), 255.0, 0.1, 0.3, 9.2, 9.0), TASK, "", ""),
        Model(_network(3, True), FeatureScaling((0.5,) * 3, (2.0,) * 3, 3.5), TASK, "", ""),
    )
    pixels, labels = 20.0 * np.arange(24.0).reshape(2, 12) % 256, np.array([0, 2])
    lc = Spice("lc", spread=Components(0.01, 0.02, 0.001, 0.05), oscillator="cubic", seed=3)
    found = [
        _design(plain, pixels, labels, target)
        for target in (Spice(), Spice("lc"), lc, WordLengths(), Plain(), Onnx())
    ]
    return found + [_design(terms, pixels[:, :3], labels, each) for each in (Spice(), Onnx())]


def _design(model: Model, rows: np.ndarray, labels: np.ndarray, target: Target) -> bytes:
    design = design_of(model, rows, labels, with_input_stage=isinstance(target, Onnx))
    with tempfile.TemporaryDirectory() as folder:
        write_design(Path(folder), replace(design, target=target_to_json(target)))
        return (Path(folder) / FILE).read_bytes()


def _checkpoint(runs: int) -> bytes:
    weights = torch.linspace(-1, 1, 15 * runs).reshape(runs, 5, 3)
    tensors = {"weights": weights, "weights.moment": weights**2}
    state = TrainingState(
        epoch=2,
        current=tensors,
        best={name: tensor + 1 for name, tensor in tensors.items()},
        best_merit=torch.ones(runs, 1, dtype=torch.float64),
        best_epoch=torch.ones(runs, dtype=torch.int64),
        diverged=torch.zeros(runs, dtype=torch.int64),
        history={"top1": [[50.0] * runs, [60.0] * runs]},
    )
    return pack_state(state, {"recipe": "0" * 64})


def _run(protocols: list[str]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "run"
        settings = {"device": "cpu", "data_dir": None, "own": None, "examples": "0" * 64}
        RunFolder.create(place, Recipe.for_dataset("digits", protocols, runs=2), settings)
        return (place / "run.json").read_bytes()


def _results() -> dict[str, Any]:
    row = {"top1": 93.25, "epoch": 3.0, "sd": {"top1": None}, "runs": [{"top1": 93.25}]}
    return {
        "dataset": "digits",
        "split": "test",
        "examples": 300,
        "seed": 0,
        "teacher": {"top1": 95.0},
        "results": {"PATH": row, "TWO-STAGE-END": row},
        "folder": "runs/ä",
        "model": "runs/ä/path-0.safetensors",
        "figure": "runs/ä/trajectories.png",
        "device": "cpu",
        "seconds": {"total": 1.5e-3},
    }


def _experiment() -> dict[str, Any]:
    stage = {"title": "teacher", "seed": 0, "key": "0" * 16, "seconds": 1.5, "spec": {"epochs": 3}}
    values = {"rows": [{"dataset": "MNIST", "mean": {"top1": 95.9}, "sd": {"top1": 0.02}}]}
    return {
        "experiment": "widths",
        "title": "Widths",
        "source": None,
        "key": "0" * 16,
        "setting": {"name": "tiny", "runs": 2},
        "values": values,
        "stages": [stage],
        "seconds": 0.1,
        "finished": "2026-01-01T00:00:00+00:00",
        "device": "cpu",
        "versions": {"python": "3.11"},
    }


def _settings() -> dict[str, Any]:
    settings = {name: low for name, (low, _) in SPACE.items()}
    trials = [{"settings": settings, "top1": 12.5}]
    return {"dataset": "digits", "epochs": 2, "hidden": 8, "validation_top1": 12.5} | {
        "settings": settings,
        "trials": trials,
    }


def _idx() -> list[bytes]:
    levels = np.arange(60, dtype=np.uint8)
    plain = [
        bytes([0, 0, 8, len(shape)])
        + b"".join(side.to_bytes(4, "big") for side in shape)
        + levels.tobytes()
        for shape in ((60,), (5, 12), (5, 4, 3))
    ]
    return plain + [gzip.compress(content, mtime=0) for content in plain]


def _npz() -> list[bytes]:
    draw = np.random.default_rng(0)
    rows, names = draw.normal(size=(40, 3)), np.repeat(["a", "b"], 20)
    levels = draw.integers(0, 256, (40, 4, 5)).astype(np.uint8)
    codes = np.arange(40) % 3
    more = {"X_test": rows[:10], "y_test": names[15:25]}
    found = []
    for save, arrays in (
        (np.savez, {"X": rows, "y": names}),
        (np.savez_compressed, {"X": levels, "y": codes}),
        (np.savez, {"X": rows.astype(np.float32), "y": names.astype("S1")} | more),
    ):
        file = io.BytesIO()
        save(file, **arrays)
        found.append(file.getvalue())
    return found


def _tables(delimiter: str) -> list[bytes]:
    rows = [[f"{i % 7 + 0.5}", f"{i * 1e-3:g}", "-3e2" if i % 2 else "4", CLASSES[i % 3]]
            for i in range(30)]  # fmt: skip
    lines = [delimiter.join(each) for each in [["größe", "b", "c", "label"], *rows]]
    quoted = [lines[0], *(delimiter.join(f'"{cell}"' for cell in each) for each in rows)]
    text = "\n".join(lines) + "\n"
    return [
        text.encode(),
        "\r\n".join(quoted).encode("utf-8-sig"),
        text.encode("utf-16"),
        text.encode("latin-1"),
    ]


def pictures() -> list[bytes]:
    """The same drawing in every format that is read, in several pixel types."""
    levels = np.zeros((20, 24), dtype=np.uint8)
    levels[5:15, 8:12] = 200
    levels[7:9, 8:18] = 255
    grey = Image.fromarray(levels)
    found = []
    for picture, formats in (
        (grey, ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")),
        (grey.convert("RGBA"), ("PNG", "TIFF", "WEBP")),
        (grey.convert("P"), ("PNG", "GIF", "BMP")),
        (grey.convert("CMYK"), ("JPEG", "TIFF")),
        (Image.fromarray(levels.astype(np.uint16) * 257), ("PNG", "TIFF", "PPM")),
        (Image.fromarray(levels.astype(np.float32)), ("TIFF",)),
    ):
        for name in formats:
            file = io.BytesIO()
            options = {"compression": "tiff_lzw"} if name == "TIFF" and picture is grey else {}
            picture.save(file, name, **options)
            found.append(file.getvalue())
    moving = io.BytesIO()
    grey.save(moving, "GIF", save_all=True, append_images=[grey.rotate(90)])
    turned = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    grey.save(turned, "JPEG", exif=exif)
    return [*found, moving.getvalue(), turned.getvalue()]
