"""`entrain data`: the datasets, their sources, and the download of one."""

from __future__ import annotations

from typing import Annotated, Any

from entrain.cli.console import err, out, print_json, print_line, table
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

    def sources(name: str) -> dict[str, str | None]:
        if name == "digits":
            return {"train": "scikit-learn", "t10k": "scikit-learn"}
        if name in SMALL:
            source = status(SMALL[name], data_dir)["t10k"]
            return {"train": source, "t10k": source}
        return status(name, data_dir)

    rows = {name: sources(name) for name in DATASETS}
    if json:
        print_json({"datasets": rows})
        return
    cells = table("Datasets", "name", "training images", "test images", text=(0, 1, 2))
    folders: dict[str, None] = {}
    for name, row in rows.items():
        origins = []
        for source in (row["train"], row["t10k"]):
            origin, _, folder = (source or f"missing: entrain data {name}").partition(" (")
            origins.append(origin)
            if folder:
                folders[f"{origin:<8} {folder.removesuffix(')')}"] = None
        cells.add_row(name, *origins)
    out.print(cells)
    for folder in folders:
        print_line(folder)


def _fetch(dataset: str, data_dir: DataDir, json: bool) -> None:
    from dataclasses import asdict

    from entrain.data import DATASETS, load_dataset

    if dataset not in DATASETS:
        raise unknown_name("dataset", dataset, DATASETS)
    with err.status(f"downloading and verifying {dataset}"):
        data = load_dataset(dataset, data_dir)
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
    cells = table(f"{data.name}: {len(data.class_names)} classes", "split", "images", "norm")
    for name, split in splits.items():
        norm = constants.test_norm if name == "test" else constants.norm
        cells.add_row(name, f"{len(split):,}", f"{norm:.3f}")
    out.print(cells)
    rows, columns = constants.image_shape
    print_line(
        f"{rows} x {columns} pixels from 0 to {constants.pixel_max:g}; "
        f"mean {constants.mean:.3f}, SD {constants.sd:.3f} of the training images"
    )
