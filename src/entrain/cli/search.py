"""`entrain search`: hyper-parameters of DIRECT on validation examples."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from entrain.cli.console import err, number, print_json, print_line, print_table
from entrain.cli.options import (
    IMAGE_SIZE,
    Address,
    DataDir,
    Device,
    EngineName,
    ImageSize,
    Json,
    Label,
    argument,
    option,
    require,
)
from entrain.utils.errors import InputError, positive_int, reason, seed_number

if TYPE_CHECKING:
    from entrain.training.trials import Trial

_MOST_ROWS = 8


def command(
    dataset: Annotated[
        str, argument("DATASET", "A dataset or your own data, as in entrain train.")
    ],
    trials: Annotated[int, option("Number of settings to try.")] = 24,
    side_by_side: Annotated[int, option("Number of settings that train side by side.")] = 4,
    epochs: Annotated[int, option("Epochs of each trial.")] = 10,
    hidden: Annotated[int, option("Number of hidden oscillators.")] = 64,
    out_file: Annotated[
        Path | None,
        option("File for the settings found.", "runs/search-DATASET.json", name="--out"),
    ] = None,
    seed: Annotated[int, option("Seed of the search and of the networks.")] = 0,
    label: Label = None,
    image_size: ImageSize = IMAGE_SIZE,
    engine: EngineName = "process",
    address: Address = None,
    data_dir: DataDir = None,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Search learning rates, gain and decay of DIRECT with Optuna (needs the extra search).

    Use its file with entrain train DATASET --protocol DIRECT --settings FILE. A killed search
    continues from the journal beside the file.
    """
    from dataclasses import replace

    from entrain.cli.loading import data_source, prepared_engine, read_data
    from entrain.cli.progress import fraction_bar
    from entrain.rules import Direct, TeacherSpec
    from entrain.training.search import SPACE, search
    from entrain.training.trials import plain_trial
    from entrain.utils.files import strict_json, with_digest, write_atomically

    require(positive_int, trials=trials, side_by_side=side_by_side, epochs=epochs, hidden=hidden)
    require(seed_number, seed=seed)
    source = data_source(dataset, label, image_size)
    _, chosen_engine = prepared_engine(engine, address, device)
    data = read_data(dataset, data_dir, source)
    protocol = Direct().tuned_for(data.name, len(data.train))
    protocol = replace(protocol, epochs=epochs, fine_epochs=1, unaugmented_epochs=0)
    path = out_file or Path("runs") / f"search-{data.name}.json"
    _check_result(path, {"dataset": data.name, "epochs": epochs, "hidden": hidden})
    with fraction_bar(f"{trials} settings, {epochs} epochs each") as on_progress:

        def report(finished: list[Trial]) -> None:
            on_progress(len(finished) / trials)
            if not err.is_terminal:
                best = max((trial.top1 or 0.0 for trial in finished), default=0.0)
                err.print(f"{len(finished)}/{trials}  best validation top-1 {best:.2f} %")

        ranked = search(
            data,
            protocol,
            trials=trials,
            engine=chosen_engine,
            side_by_side=side_by_side,
            hidden=hidden,
            seed=seed,
            journal=path.with_suffix(".journal"),
            on_trials=report,
        )
    result: dict[str, Any] = {
        "dataset": data.name,
        "epochs": epochs,
        "hidden": hidden,
        "validation_top1": ranked[0].top1,
        "settings": ranked[0].settings,
        "trials": [plain_trial(trial) for trial in ranked],
    }
    write_atomically(path, strict_json(with_digest(result), 1).encode())
    if json:
        print_json(result | {"file": str(path)})
        return
    print_table(
        f"{data.name}: best of {len(ranked)} settings",
        ("validation top-1 %", *SPACE),
        [
            (number(trial.top1), *(f"{trial.settings[name]:.3g}" for name in SPACE))
            for trial in ranked[:_MOST_ROWS]
        ],
    )
    options: dict[str, Any] = {"--settings": path, "--label": label, "--data-dir": data_dir}
    if source and image_size != IMAGE_SIZE:
        options["--image-size"] = image_size
    if hidden != TeacherSpec().hidden:
        options["--network"] = hidden
    words = [str(word) for item in options.items() if item[1] is not None for word in item]
    print_line(shlex.join(["entrain", "train", dataset, "--protocol", "DIRECT", *words]))


def _check_result(path: Path, options: dict[str, object]) -> None:
    """Refuse a file that is not the result of the same search, which is continued."""
    from entrain.utils.files import read_json_with_digest

    if not path.exists():
        return
    before = read_json_with_digest(path, "a file of entrain search")
    if "trials" not in before or any(before.get(name) != options[name] for name in options):
        search = ", ".join(f"{name} {value}" for name, value in options.items())
        raise InputError(
            f"{path}: is not a search with {search}, and nothing is overwritten; choose another "
            "--out"
        )


def settings_of(path: Path | None, protocols: list[str]) -> dict[str, float]:
    """The settings in a file of `entrain search` for each DIRECT protocol; {} without a file."""
    from entrain.training.search import SPACE
    from entrain.utils.files import read_json_with_digest

    if path is None:
        return {}
    direct = [protocol for protocol in protocols if protocol.upper().startswith("DIRECT")]
    if not direct:
        raise InputError(
            f"--settings {path} are for DIRECT, and {', '.join(protocols)} cannot use them; add "
            "--protocol DIRECT"
        )
    values = read_json_with_digest(path, "a file of entrain search")
    try:
        settings = {name: float(values["settings"][name]) for name in SPACE}
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{path}: not a file of entrain search ({reason(error)})") from error
    return {f"{protocol}.{name}": settings[name] for protocol in direct for name in SPACE}
