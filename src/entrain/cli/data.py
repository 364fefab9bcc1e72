"""`entrain data`: the datasets, their sources, and the download of one."""

from __future__ import annotations

from typing import Annotated, Any

from entrain.cli.console import err, print_json, print_line, print_table
from entrain.cli.options import DataDir, Json, argument
from entrain.utils.errors import unknown_name


def command(
    dataset: Annotated[
        str | None, argument("DATASET", "Download and verify this dataset.", "list all")
    ] = None,
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """List the datasets, or download and verify one and show its splits and constants."""
    if dataset is None:
        _list(data_dir, json)
    else:
        _fetch(dataset, data_dir, json)


def _list(data_dir: DataDir, json: bool) -> None:
    from entrain.data import DATASETS, SMALL, status
    from entrain.data.datasets import VOWELS

    rows: dict[str, dict[str, str | None]] = {}
    for name in DATASETS:
        if name == "digits":
            rows[name] = dict.fromkeys(("train", "t10k"), "scikit-learn")
        elif name == VOWELS:
            rows[name] = dict.fromkeys(("train", "t10k"), "bundled")
        elif name in SMALL:
            rows[name] = dict.fromkeys(("train", "t10k"), status(SMALL[name], data_dir)["t10k"])
        else:
            rows[name] = status(name, data_dir)
    if json:
        print_json({"datasets": rows})
        return
    cells: list[tuple[str, ...]] = []
    folders: dict[str, None] = {}
    for name, row in rows.items():
        sources = [source or f"missing: entrain data {name}" for source in row.values()]
        parts = [source.partition(" (") for source in sources]
        cells.append((name, *(origin for origin, _, _ in parts)))
        folders |= {
            f"{origin:<8} {path.removesuffix(')')}": None for origin, _, path in parts if path
        }
    print_table("Datasets", ("name", "training examples", "test examples"), cells, text=(0, 1, 2))
    for folder in folders:
        print_line(folder)


def _fetch(dataset: str, data_dir: DataDir, json: bool) -> None:
    from dataclasses import asdict

    from entrain.data import DATASETS, Dataset, Preprocessing, load_dataset

    if dataset not in DATASETS:
        raise unknown_name("dataset", dataset, DATASETS)
    with err.status(f"downloading and verifying {dataset}"):
        data: Dataset = load_dataset(dataset, data_dir)
        constants = data.preprocessing
    splits = {"train": data.train, "validation": data.validation, "test": data.test}
    result: dict[str, Any] = {
        "dataset": data.name,
        "examples": {name: len(split) for name, split in splits.items()},
        "class_names": list(data.class_names),
        "preprocessing": asdict(constants),
    }
    if json:
        print_json(result)
        return
    if not isinstance(constants, Preprocessing):
        print_line(f"{data}")
        return
    norms = (constants.norm, constants.norm, constants.test_norm)
    print_table(
        f"{data.name}: {len(data.class_names)} classes",
        ("split", "images", "norm"),
        [
            (name, f"{len(split):,}", f"{norm:.3f}")
            for (name, split), norm in zip(splits.items(), norms, strict=True)
        ],
    )
    rows, columns = constants.image_shape
    print_line(
        f"{rows} x {columns} pixels from 0 to {constants.pixel_max:g}; "
        f"mean {constants.mean:.3f}, SD {constants.sd:.3f} of the training images"
    )
