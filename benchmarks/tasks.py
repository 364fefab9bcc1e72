"""Numbers and sequences: oscillators beside other models, on the same splits.

    python benchmarks/tasks.py numbers [PROBLEM...]
    python benchmarks/tasks.py japanese-vowels [MODEL...]
    python benchmarks/tasks.py spoken-digits fsdd-logmel.npz [MODEL...]
    python benchmarks/tasks.py speakers fsdd-logmel.npz

Each part is added to results/tasks.json. Settings were chosen on validation examples; test examples
are measured here. fsdd-logmel.npz holds log-mel frames of the Free Spoken Digit Dataset (CC BY-SA
4.0): `frames` of all recordings end to end (uint8 = 255 (log10(P + 1e-8) + 8) / 10, 24 bands every
10 ms), `lengths`, `digit`, `speaker` and `index`. Recordings of index 0 to 4 are the official test
set; 5 to 9 select epochs here.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

import entrain
from entrain.data import Dataset, SequenceDataset, Split
from entrain.data.sequence_scaling import pad
from entrain.hardware import FreshDraws
from entrain.rules.input_distortions import InputDistortions
from entrain.tasks import Classification

RESULTS = Path(__file__).parents[1] / "results" / "tasks.json"
SEEDS = 5
PROBLEMS = ("Mackey-Glass", "diabetes", "generated houses")
OURS, FROZEN, CHIPS = "oscillators", "couplings frozen at random", "on `typical` chips"
GRU, LINEAR = "GRU, 64 units", "logistic regression on all frames"
Scores = dict[str, dict[str, Any]]


# Sequences


def spoken_digits(file: str, split: Callable[[Any], tuple[np.ndarray, ...]]) -> SequenceDataset:
    """The recordings, of which `split` selects those to train, to validate and to test."""
    with np.load(file) as content:
        arrays = {name: content[name] for name in content.files}
    ends = np.cumsum(arrays["lengths"].astype(int))[:-1]
    frames = arrays["frames"].astype(np.float32) * (10 / 255) - 8
    sequences = pad(np.split(frames, ends)).astype(np.float32)
    labels = arrays["digit"].astype(np.int64)
    train, validation, test = (Split(sequences[rows], labels[rows]) for rows in split(arrays))
    task = Classification(tuple("0123456789"), window=0.5)
    bands = tuple(f"band {number}" for number in range(frames.shape[1]))
    return SequenceDataset("spoken-digits", train, validation, test, task, bands)


def official(arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, ...]:
    """Recordings from index 10, 5 to 9, and 0 to 4."""
    index = arrays["index"]
    return index >= 10, (index >= 5) & (index < 10), index < 5


def without(speaker: str) -> Callable[[dict[str, np.ndarray]], tuple[np.ndarray, ...]]:
    """Recordings of the others from index 5, and 0 to 4, and all of one speaker."""

    def split(arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, ...]:
        others, index = arrays["speaker"] != speaker, arrays["index"]
        return others & (index >= 5), others & (index < 5), ~others

    return split


def oscillators(data: Dataset, **options: Any) -> dict[str, Any]:
    """Test accuracies of runs trained side by side."""
    began = time.perf_counter()
    trained = entrain.train(data, **{"runs": SEEDS, **options})
    models = trained.models["DIRECT"]
    scores = [model.evaluate(data.test)["top1"] for model in models]
    validation = [model.evaluate(data.validation)["top1"] for model in models]
    result = {"top1": scores, "validation": validation, "seconds": time.perf_counter() - began}
    parameters = sum(p.numel() for p in models[0].network.parameters())
    chips = (
        [r.get("on_chips") for r in trained.results["runs"]] if "runs" in trained.results else []
    )
    return result | {"parameters": parameters} | ({"chips": chips} if chips else {})


def on_chips(data: Dataset) -> dict[str, Any]:
    """Mean accuracy on chips of networks trained for them."""
    began = time.perf_counter()
    trained = entrain.train(data, runs=1, hardware="typical")
    result = trained.results["results"]["DIRECT"]
    ideal, chips = result["top1"], result["on_chips"]
    seconds = time.perf_counter() - began
    return {"top1": [chips["mean"]], "ideal": ideal, "chips": chips, "seconds": seconds}


def linear(data: SequenceDataset) -> dict[str, Any]:
    """Logistic regression on all inputs; validation selects the penalty."""
    from sklearn.linear_model import LogisticRegression

    parts = (data.train, data.validation, data.test)
    x = [data.preprocessing(part.features).flatten(1).numpy() for part in parts]
    x = [rows / x[0].std() for rows in x]
    y = [part.labels for part in parts]
    began = time.perf_counter()
    fitted = [
        LogisticRegression(C=penalty, max_iter=2000).fit(x[0], y[0])
        for penalty in (1e-4, 1e-3, 1e-2, 1e-1, 1)
    ]
    seconds = time.perf_counter() - began
    best = max(fitted, key=lambda model: float(model.score(x[1], y[1])))
    score = [100 * float(best.score(a, b)) for a, b in zip(x, y, strict=True)]
    parameters = best.coef_.size + best.intercept_.size
    return {
        "top1": score[2:],
        "validation": score[1:2],
        "seconds": seconds,
        "parameters": parameters,
        "penalty": best.C,
    }


class Recurrent(torch.nn.Module):
    """A GRU whose outputs are read as the oscillators are: averaged over the second half."""

    def __init__(self, inputs: int, units: int, outputs: int) -> None:
        super().__init__()
        self.layer = torch.nn.GRU(inputs, units, batch_first=True)
        self.out = torch.nn.Linear(units, outputs)

    def forward(self, u: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.layer(u)[0]
        logits: torch.Tensor = self.out(states[:, states.shape[1] // 2 :]).mean(1)
        return logits


def recurrent(data: SequenceDataset, epochs: int, batch: int) -> dict[str, Any]:
    """A GRU with the distortions of the oscillators; validation selects the epoch."""
    parts = (data.train, data.validation, data.test)
    x = [data.preprocessing(part.features) for part in parts]
    x = [inputs / x[0].std() for inputs in x]
    y = [torch.from_numpy(part.labels) for part in parts]
    distort, tests, validations = InputDistortions(0.8, 0.1, 0.1), [], []
    began = time.perf_counter()
    for seed in range(SEEDS):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = Recurrent(x[0].shape[2], 64, data.task.outputs)
        generator = torch.Generator().manual_seed(seed)
        optimiser = torch.optim.Adam(model.parameters(), 3e-3)
        steps = epochs * -(-len(y[0]) // batch)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
        best: tuple[float, float, float] = (-1.0, 0.0, 0.0)
        for _ in range(epochs):
            for rows in torch.split(torch.randperm(len(y[0]), generator=generator), batch):
                draws = FreshDraws(1, x[0])
                distort.request(draws, tuple(x[0][rows].shape))
                draws.renew([generator])
                loss = torch.nn.functional.cross_entropy(
                    model(distort(x[0][rows][None], draws)[0]), y[0][rows]
                )
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
                schedule.step()
            with torch.no_grad():
                logits = model(x[1])
                right = 100 * float((logits.argmax(1) == y[1]).float().mean())
                entropy = float(torch.nn.functional.cross_entropy(logits, y[1]))
                if (right, -entropy) > best[:2]:
                    test = 100 * float((model(x[2]).argmax(1) == y[2]).float().mean())
                    best = (right, -entropy, test)
        tests.append(best[2])
        validations.append(best[0])
    seconds = time.perf_counter() - began
    parameters = sum(p.numel() for p in model.parameters())
    return {
        "top1": tests,
        "validation": validations,
        "seconds": seconds,
        "parameters": parameters,
    }


def sequences(data: SequenceDataset, names: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Test accuracies of the models of these names, or of all."""
    few = min(SEEDS, max(2, 1000 // len(data.train)))  # minutes each
    frozen = {"settings": {"DIRECT.frozen": ["couplings"]}, "runs": few}
    models: dict[str, Callable[[], dict[str, Any]]] = {
        LINEAR: lambda: linear(data),
        OURS: lambda: oscillators(data),
        GRU: lambda: recurrent(data, 60, min(64, max(16, len(data.train) // 20))),
        FROZEN: lambda: oscillators(data, **frozen),
        CHIPS: lambda: on_chips(data),
    }
    for name in names or models:
        yield name, models[name]()


def speakers(file: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Test accuracies on the speaker who was left out; one run of the oscillators each."""
    with np.load(file) as content:
        names = sorted(set(content["speaker"].tolist()))
    for name in names:
        data = spoken_digits(file, without(name))
        ours, base = oscillators(data, runs=1, epochs=60), linear(data)
        yield name, {OURS: ours["top1"][0], LINEAR: base["top1"][0]}


# Numbers


def mackey_glass() -> tuple[np.ndarray, np.ndarray]:
    """Windows of 12 values of the series of Mackey and Glass, and the next value, 3 later."""
    series = [1.2] * 171
    for _ in range(80_000):  # tau = 17, steps of 0.1
        delayed = series[-171]
        series.append(series[-1] + 0.1 * (0.2 * delayed / (1 + delayed**10) - 0.1 * series[-1]))
    values = np.array(series[5000::30])
    return np.lib.stride_tricks.sliding_window_view(values[:-1], 12).copy(), values[12:]


def houses() -> tuple[np.ndarray, np.ndarray]:
    """Prices of 4,000 generated houses near two cities, capped as those of California."""
    random = np.random.default_rng(0)
    place = random.uniform(0, 10, (4000, 2))
    income, age = random.gamma(4, 1, 4000), random.uniform(1, 52, 4000)
    rooms, people = random.normal(5.4, 1, 4000), random.gamma(6, 0.5, 4000)
    rows = np.column_stack(
        [income, age, rooms, rooms / 5 + random.normal(size=4000), people, place]
    )
    city = sum(np.exp(-np.square(place - centre).sum(1) / 4) for centre in ((2, 3), (7, 8)))
    price = 0.4 * income + 1.5 * city + 0.1 * rooms - 0.2 * people + 0.05 * income * city
    price += 0.3 * np.sin(age / 8) + 0.3 * random.normal(size=4000)
    return rows, np.clip(price, 0.15, 5.0)


def number_models(seed: int) -> dict[str, Any]:
    """All regressors, unfitted."""
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    penalties = np.logspace(-6, 3, 19)
    mlp = MLPRegressor(random_state=seed, max_iter=2000)
    return {
        "KuramotoRegressor": entrain.KuramotoRegressor(73, random_state=seed),
        "RidgeCV": make_pipeline(StandardScaler(), RidgeCV(penalties)),
        "MLPRegressor": make_pipeline(StandardScaler(), mlp),
        "GradientBoostingRegressor": GradientBoostingRegressor(random_state=seed),
    }


def number_splits(name: str) -> Iterator[tuple[np.ndarray, ...]]:
    """Training rows and numbers, and those of the test, five times."""
    from sklearn.datasets import load_diabetes
    from sklearn.model_selection import KFold

    if name == "Mackey-Glass":
        x, y = mackey_glass()
        for _ in range(SEEDS):
            yield x[:1400], y[:1400], x[1400:2400], y[1400:2400]
        return
    x, y = load_diabetes(return_X_y=True) if name == "diabetes" else houses()
    for train, test in KFold(SEEDS, shuffle=True, random_state=0).split(x):
        yield x[train], y[train], x[test], y[test]


def numbers(names: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """NRMSE on test rows and seconds of the fits."""
    for name in names or PROBLEMS:
        scores: Scores = {}
        for seed, (x, y, x_test, y_test) in enumerate(number_splits(name)):
            for model_name, model in number_models(seed).items():
                began = time.perf_counter()
                model.fit(x, y)
                seconds = time.perf_counter() - began
                error = np.sqrt(np.square(model.predict(x_test) - y_test).mean()) / y.std()
                values = scores.setdefault(model_name, {"nrmse": [], "seconds": []})
                values["nrmse"].append(float(error))
                values["seconds"].append(seconds)
        yield name, scores


def add(part: str, measured: Iterator[tuple[str, dict[str, Any]]]) -> None:
    """Add each result to the file when it is there; those that are in it are kept."""
    for name, value in measured:
        results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        results.setdefault(part, {})[name] = value
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        sys.stderr.write(f"{part}, {name}: {json.dumps(value)[:300]}\n")


def main() -> None:
    """Measure the part that the command line names."""
    part = sys.argv[1]
    warnings.simplefilter("ignore")
    if part == "japanese-vowels":
        add(part, sequences(entrain.load_dataset("japanese-vowels"), sys.argv[2:]))
    elif part == "spoken-digits":
        add(part, sequences(spoken_digits(sys.argv[2], official), sys.argv[3:]))
    elif part == "speakers":
        add(part, speakers(sys.argv[2]))
    elif part == "numbers":
        add(part, numbers(sys.argv[2:]))


if __name__ == "__main__":
    main()
