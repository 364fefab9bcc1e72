"""`entrain bakeoff NAME --search`: settings of compared systems, searched on validation images."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from entrain.cli.console import err, number, out, print_json, print_line, table

if TYPE_CHECKING:
    import torch

    from entrain.data import ImageDataset
    from entrain.training.trials import Trial
    from entrain_paper.experiments import Setting
    from entrain_paper.reproduction import ResultsFolder

SHOWN = 5


@dataclass(frozen=True)
class Budget:
    """The limits of one search: settings, minutes, and epochs of a trial."""

    trials: int
    minutes: float
    epochs: int


def search_systems(
    names: Sequence[str],
    datasets: Sequence[str],
    setting: Setting,
    folder: ResultsFolder,
    budget: Budget,
    data_dir: Path | None,
    device: str,
    json: bool,
) -> None:
    """Search systems, write searches/SYSTEM-DATASET.json to the folder, print the best settings."""
    from entrain.data import load_dataset
    from entrain.utils.device import choose_device

    pairs = _pairs(names, datasets, setting, folder)
    torch_device = choose_device(device)
    results = []
    for name, dataset in pairs:
        data = load_dataset(setting.dataset(dataset), data_dir)
        results.append(_search(name, dataset, data, setting, folder, budget, torch_device))
        if not json:
            _print(results[-1])
    if json:
        print_json({"folder": str(folder.path / "searches"), "searches": results})
    elif not results:
        out.print("every cited accuracy was reached: nothing to search")


def _pairs(
    names: Sequence[str], datasets: Sequence[str], setting: Setting, folder: ResultsFolder
) -> list[tuple[str, str]]:
    """Named systems with their datasets; for `all`, those measured below the cited accuracy."""
    from entrain.utils.errors import InputError
    from entrain_paper.experiments.bake_off import ALL, experiments_named
    from entrain_paper.peers import SYSTEMS
    from entrain_paper.reproduction.measured import reading

    if not names:
        raise InputError("--search needs the name of a system, or all")
    if ALL not in names:
        for name in names:
            if name not in SYSTEMS:
                raise InputError(
                    f"{name} is a network of Entrain: search its settings with entrain search; "
                    f"--search is for {', '.join(SYSTEMS)}"
                )
        return [(name, dataset) for name in dict.fromkeys(names) for dataset in datasets]
    (bake_off,) = experiments_named(names, datasets)
    result = folder.result(bake_off.name)
    if result is None:
        raise InputError(
            f"{folder.result_path(bake_off.name)}: not found, so that no measured accuracy can be "
            "compared with the cited one; run entrain bakeoff all first, or name systems"
        )
    with reading(bake_off.name):
        return [
            (row["system"], row["dataset"])
            for row in result["values"]["rows"]
            if row["system"] in SYSTEMS and row["cited"] and row["measured_mean"] < row["cited"]
        ]


def _search(
    name: str,
    dataset: str,
    data: ImageDataset,
    setting: Setting,
    folder: ResultsFolder,
    budget: Budget,
    device: torch.device,
) -> dict[str, Any]:
    from entrain.cli.progress import fraction_bar
    from entrain.training.trials import plain_trial
    from entrain.utils.files import strict_json, with_digest, write_atomically
    from entrain_paper.experiments.bake_off import stage
    from entrain_paper.peers import Peer, system_named
    from entrain_paper.peers.search import current_settings, search_system
    from entrain_paper.reproduction.worker import provenance

    system = stage(setting, dataset, system_named(name)).rule
    assert isinstance(system, Peer)
    system = replace(system, epochs=min(system.epochs, budget.epochs))
    path = folder.path / "searches" / f"{name}-{dataset.lower()}.json"
    began = time.monotonic()
    with fraction_bar(f"{name} on {dataset}, {budget.trials} settings") as on_progress:

        def on_trials(trials: list[Trial]) -> None:
            on_progress(len(trials) / budget.trials)
            if not err.is_terminal:
                best = max((trial.top1 or 0.0 for trial in trials), default=0.0)
                done = f"{len(trials)}/{budget.trials}"
                err.print(f"{name}  {dataset}  {done}  best validation top-1 {best:.2f} %")

        trials = search_system(
            data,
            system,
            trials=budget.trials,
            minutes=budget.minutes,
            device=device,
            journal=path.with_suffix(".journal"),
            on_trials=on_trials,
        )
    current = current_settings(system)
    (current_trial,) = (trial for trial in trials if trial.settings == current)
    result = {
        "system": name,
        "dataset": dataset,
        "data": data.name,
        "epochs": system.epochs,
        "minutes": budget.minutes,
        "seconds": time.monotonic() - began,
        "own": plain_trial(current_trial),
        "best": plain_trial(trials[0]),
        "trials": [plain_trial(trial) for trial in trials],
        **provenance(device),
    }
    write_atomically(path, (strict_json(with_digest(result), 1) + "\n").encode())
    return result | {"file": str(path)}


def _print(result: dict[str, Any]) -> None:
    names = list(result["own"]["settings"])
    title = f"{result['system']} on {result['dataset']}: best of {len(result['trials'])} settings"
    rendered = table(f"{title}, {result['epochs']} epochs each", "validation top-1 %", *names)
    marked = [(trial, "") for trial in result["trials"][:SHOWN]] + [(result["own"], " (current)")]
    for trial, mark in marked:
        values = (f"{trial['settings'][name]:.3g}" for name in names)
        rendered.add_row(number(trial["top1"]) + mark, *values)
    out.print(rendered)
    print_line(f"stored in {result['file']}")
