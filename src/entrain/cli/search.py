"""`entrain search`: hyper-parameters of DIRECT on validation examples."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entrain.cli.console import err, number, out, print_json, table
from entrain.cli.options import Address, DataDir, Device, EngineName, Json, require
from entrain.cli.own_data import IMAGE_SIZE, own_data, read

if TYPE_CHECKING:
    from entrain.training.trials import Trial

SHOWN = 8
_WRITTEN = frozenset({"dataset", "epochs", "hidden", "validation_top1", "settings", "trials"})


def command(
    dataset: Annotated[
        str,
        typer.Argument(metavar="DATASET", help="A dataset, or your own, as in entrain train."),
    ],
    trials: Annotated[int, typer.Option(help="Number of settings to try.")] = 24,
    side_by_side: Annotated[int, typer.Option(help="Settings that train at a time.")] = 4,
    epochs: Annotated[int, typer.Option(help="Epochs of each trial.")] = 10,
    hidden: Annotated[int, typer.Option(help="Number of hidden oscillators.")] = 64,
    out_file: Annotated[
        Path | None,
        typer.Option(
            "--out", help="File for what is found.", show_default="runs/search-DATASET.json"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the search and of the networks.")] = 0,
    label: Annotated[str | None, typer.Option(help="Label column of your table.")] = None,
    image_size: Annotated[int, typer.Option(help="Side of your own pictures in pixels.")] = (
        IMAGE_SIZE
    ),
    engine: EngineName = "process",
    address: Address = None,
    data_dir: DataDir = None,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Search rates, gain, decay and start of DIRECT with Optuna (needs entrain[search]).

    entrain train DATASET --protocol DIRECT --settings FILE uses the file that it writes. A killed
    search continues from the journal next to that file.
    """
    from dataclasses import replace

    from entrain import kernels
    from entrain.cli.progress import fraction_bar
    from entrain.cluster import LocalEngine, engine_named
    from entrain.rules import Direct, TeacherSpec
    from entrain.training.search import SPACE, search
    from entrain.training.trials import plain_trial
    from entrain.utils.errors import positive_int, seed_number
    from entrain.utils.files import strict_json, with_digest, write_atomically

    require(positive_int, trials=trials, side_by_side=side_by_side, epochs=epochs, hidden=hidden)
    require(seed_number, seed=seed)
    own = own_data(dataset, label, image_size)
    worker = engine_named(engine, address, device)
    data = read(dataset, data_dir, own)
    protocol = Direct().tuned_for(data.name, len(data.train))
    protocol = replace(protocol, epochs=epochs, fine_epochs=1, unaugmented_epochs=0)
    path = out_file or Path("runs") / f"search-{data.name}.json"
    if isinstance(worker, LocalEngine):
        kernels.prepare(worker.device, err.print)
    with fraction_bar(f"{trials} settings, {epochs} epochs each") as on_progress:

        def after(found: list[Trial]) -> None:
            on_progress(len(found) / trials)
            if not err.is_terminal:
                best = max((each.top1 or 0.0 for each in found), default=0.0)
                err.print(f"{len(found)}/{trials}  best validation top-1 {best:.2f} %")

        found = search(
            data,
            protocol,
            trials=trials,
            engine=worker,
            side_by_side=side_by_side,
            hidden=hidden,
            seed=seed,
            journal=path.with_suffix(".journal"),
            on_trials=after,
        )
    result: dict[str, Any] = {
        "dataset": data.name,
        "epochs": epochs,
        "hidden": hidden,
        "validation_top1": found[0].top1,
        "settings": found[0].settings,
        "trials": [plain_trial(each) for each in found],
    }
    write_atomically(path, strict_json(with_digest(result), 1).encode())
    if json:
        print_json(result | {"file": str(path)})
        return
    shown = table(f"{data.name}: best of {len(found)} settings", "validation top-1 %", *SPACE)
    for each in found[:SHOWN]:
        shown.add_row(number(each.top1), *(f"{each.settings[name]:.3g}" for name in SPACE))
    out.print(shown)
    options: dict[str, Any] = {"--settings": path, "--label": label, "--data-dir": data_dir}
    if own and image_size != IMAGE_SIZE:
        options["--image-size"] = image_size
    if hidden != TeacherSpec().hidden:
        options["--hidden"] = hidden
    given = [str(part) for each in options.items() if each[1] is not None for part in each]
    again = shlex.join(["entrain", "train", dataset, "--protocol", "DIRECT", *given])
    out.print(again, soft_wrap=True, markup=False)


def settings_of(path: Path | None, protocols: list[str]) -> dict[str, float]:
    """The best settings in a file that `entrain search` wrote, for protocols from labels."""
    from entrain.training.search import SPACE
    from entrain.utils.errors import InputError, reason
    from entrain.utils.files import read_json_with_digest

    if path is None:
        return {}
    if not any(name.upper().startswith("DIRECT") for name in protocols):
        raise InputError(
            f"--settings {path} are of DIRECT, and none of {', '.join(protocols)} would follow "
            "them; add --protocol DIRECT"
        )
    try:
        found = read_json_with_digest(path, _WRITTEN, "a file of entrain search")["settings"]
        values = {name: float(found[name]) for name in SPACE}
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{path}: not a file of entrain search ({reason(error)})") from error
    return values
