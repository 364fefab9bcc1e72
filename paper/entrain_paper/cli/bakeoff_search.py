"""`entrain bakeoff NAME --search`: settings of compared systems, on validation images."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from entrain.cli.console import err, number, out, print_json, table

if TYPE_CHECKING:
    import torch

    from entrain.training.trials import Trial
    from entrain_paper.experiments import Setting
    from entrain_paper.peers import Peer
    from entrain_paper.reproduction import ResultsFolder

SHOWN = 5


@dataclass(frozen=True)
class Budget:
    """What one search may take: settings, minutes, and epochs of a trial."""

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
    """Search each, keep searches/SYSTEM-DATASET.json in the folder, and show the best settings."""
    from entrain.data import load_dataset
    from entrain.utils.device import choose_device

    wanted = _wanted(names, datasets, setting, folder)
    place = choose_device(device)
    found = []
    for name, dataset in wanted:
        data = load_dataset(setting.dataset(dataset), data_dir)
        found.append(_search(name, dataset, data, setting, folder, budget, place))
        if not json:
            _show(found[-1])
    if json:
        print_json({"folder": str(folder.path / "searches"), "searches": found})
    elif not found:
        out.print("every cited accuracy was reached: nothing to search")


def _wanted(
    names: Sequence[str], datasets: Sequence[str], setting: Setting, folder: ResultsFolder
) -> list[tuple[str, str]]:
    """Systems and datasets: those named, or of `all` those measured below what is cited."""
    from entrain.utils.errors import InputError
    from entrain_paper.experiments.bake_off import ALL, experiments_named
    from entrain_paper.peers import SYSTEMS

    if not names:
        raise InputError("--search needs the name of a system, or all")
    if ALL not in names:
        for name in names:
            if name not in SYSTEMS:
                raise InputError(
                    f"{name} is a network of ours, which entrain search is for; --search is for "
                    f"{', '.join(SYSTEMS)}"
                )
        return [(name, dataset) for name in dict.fromkeys(names) for dataset in datasets]
    (whole,) = experiments_named(names, datasets)
    result = folder.result(whole.name)
    if result is None:
        raise InputError(
            f"{folder.result_path(whole.name)}: is not there, so that nothing is known to lie "
            "below what is cited; run entrain bakeoff all first, or name systems"
        )
    return [
        (row["system"], row["dataset"])
        for row in result["values"]["rows"]
        if row["system"] in SYSTEMS and row["cited"] and row["measured_mean"] < row["cited"]
    ]


def _search(
    name: str,
    dataset: str,
    data: Any,
    setting: Setting,
    folder: ResultsFolder,
    budget: Budget,
    device: torch.device,
) -> dict[str, Any]:
    from entrain.cli.progress import fraction_bar
    from entrain.training.trials import plain_trial
    from entrain.utils.files import strict_json, with_digest, write_atomically
    from entrain_paper.experiments.bake_off import stage
    from entrain_paper.peers.search import current_settings, search_system
    from entrain_paper.reproduction.worker import provenance

    system = _shortened(stage(setting, dataset, _system(name)).rule, budget.epochs)
    path = folder.path / "searches" / f"{name}-{dataset.lower()}.json"
    began = time.monotonic()
    with fraction_bar(f"{name} on {dataset}, {budget.trials} settings") as on_progress:

        def after(found: list[Trial]) -> None:
            on_progress(len(found) / budget.trials)
            if not err.is_terminal:
                best = max((each.top1 or 0.0 for each in found), default=0.0)
                done = f"{len(found)}/{budget.trials}"
                err.print(f"{name}  {dataset}  {done}  best validation top-1 {best:.2f} %")

        found = search_system(
            data,
            system,
            trials=budget.trials,
            minutes=budget.minutes,
            device=device,
            journal=path.with_suffix(".journal"),
            on_trials=after,
        )
    own = current_settings(system)
    (first,) = (each for each in found if each.settings == own)
    result = {
        "system": name,
        "dataset": dataset,
        "data": data.name,
        "epochs": system.epochs,
        "minutes": budget.minutes,
        "seconds": time.monotonic() - began,
        "own": plain_trial(first),
        "best": plain_trial(found[0]),
        "trials": [plain_trial(each) for each in found],
        **provenance(device),
    }
    write_atomically(path, (strict_json(with_digest(result), 1) + "\n").encode())
    return result | {"file": str(path)}


def _system(name: str) -> Peer:
    from entrain_paper.peers import system_named

    return system_named(name)


def _shortened(system: Any, epochs: int) -> Peer:
    from dataclasses import replace

    from entrain_paper.peers import Peer

    assert isinstance(system, Peer)
    return replace(system, epochs=min(system.epochs, epochs))


def _show(result: dict[str, Any]) -> None:
    names = list(result["own"]["settings"])
    title = f"{result['system']} on {result['dataset']}: best of {len(result['trials'])} settings"
    shown = table(f"{title}, {result['epochs']} epochs each", "validation top-1 %", *names)
    rows = [*result["trials"][:SHOWN], result["own"]]
    for place, trial in enumerate(rows):
        mark = " (its own)" if place == len(rows) - 1 else ""
        values = (f"{trial['settings'][name]:.3g}" for name in names)
        shown.add_row(number(trial["top1"]) + mark, *values)
    out.print(shown)
    out.print(f"kept in {result['file']}", soft_wrap=True)
