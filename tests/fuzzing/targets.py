"""What is fuzzed: how a file of each kind is read and used, and how its mutants are made."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from entrain.cli.search import settings_of
from entrain.data import load_own
from entrain.data.idx import parse_idx, read_idx_bytes
from entrain.data.pictures import read_picture
from entrain.export import read_export
from entrain.export.folder import files_of
from entrain.models.pretrained import load
from entrain.training import read_state
from entrain.training.run_folder import RunFolder
from entrain_paper.reproduction import ResultsFolder
from fuzzing import structured
from fuzzing.mutations import mutated
from fuzzing.seeds import pictures, seeds

Structured = Callable[[bytes, list[bytes], random.Random], bytes]


@dataclass(frozen=True)
class Target:
    """The file `name` in a folder is written and `use` is called with the folder. `structured`
    makes `share` of the mutants, damage to plain bytes the others."""

    name: str
    use: Callable[[Path], object]
    structured: Structured
    share: float = 0.5


def use_model(folder: Path) -> object:
    model = load(folder / "a.safetensors")
    top = getattr(model.preprocessing, "pixel_max", 2.0)
    return model.predict(top * (np.arange(model.network.inputs) % 2)[None])  # dark and light


def use_checkpoint(folder: Path) -> object:
    state, _ = read_state(folder / "a.safetensors")
    return [state.selected(name, i) for name in state.history for i in range(state.parallel_runs)]


def use_results(folder: Path) -> object:
    return RunFolder.open(folder).results()


def use_design(folder: Path) -> object:
    return files_of(*read_export(folder))


def use_own(path: Path) -> object:
    data = load_own(path)
    return data.preprocessing(data.test.features)


TARGETS = {
    "model": Target("a.safetensors", use_model, structured.tensor_file, 0.8),
    "checkpoint": Target("a.safetensors", use_checkpoint, structured.tensor_file, 0.8),
    "design": Target("design.safetensors", use_design, structured.tensor_file, 0.8),
    "run": Target("run.json", RunFolder.open, structured.unsealed_json),
    "results": Target("results.json", use_results, structured.json_file),
    "experiment": Target(
        "widths.json", lambda at: ResultsFolder(at).result("widths"), structured.json_file
    ),
    "settings": Target(
        "a.json", lambda at: settings_of(at / "a.json", ["DIRECT"]), structured.json_file
    ),
    "idx": Target("a", lambda at: parse_idx(read_idx_bytes(at / "a"), "a"), structured.idx_file),
    "npz": Target("a.npz", lambda at: use_own(at / "a.npz"), structured.npz_file, 0.7),
    "csv": Target("a.csv", lambda at: use_own(at / "a.csv"), structured.table_file),
    "tsv": Target("a.tsv", lambda at: use_own(at / "a.tsv"), structured.table_file),
    "picture": Target(
        "a.png", lambda at: read_picture(at / "a.png", (28, 28), 255.0), structured.picture_file
    ),
    "folder": Target("data/b/0.png", lambda at: use_own(at / "data"), structured.picture_file),
}


class Mutants:
    """The mutants of every target, each decided by the seed and its number."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.seeds = seeds()

    def make(self, target: str, number: int) -> bytes:
        dice = random.Random(f"{self.seed} {target} {number}")
        others = self.seeds[target]
        content = dice.choice(others)
        if dice.random() < TARGETS[target].share:
            return TARGETS[target].structured(content, others, dice)
        return mutated(content, others, dice)

    def prepare(self, folder: Path) -> None:
        """What the targets find beside the mutant."""
        (folder / "run.json").write_bytes(self.seeds["run"][0])
        for name in ("a", "b"):
            (folder / "data" / name).mkdir(parents=True)
            for i in range(1, 7):
                (folder / "data" / name / f"{i}.png").write_bytes(pictures()[0])
