"""`entrain predict`: what a model reads in pictures and tables."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entrain.cli.console import err, number, out, print_error, print_json, table, visible
from entrain.cli.options import Json, ModelArgument
from entrain.cli.progress import fraction_bar

if TYPE_CHECKING:
    from entrain.cli.predict_inputs import Item
    from entrain.models.model import Model

SOME_FAILED = 1
_CHUNK = 64  # examples between two steps of the progress bar


def command(
    model: ModelArgument,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="Pictures, folders of pictures, tables (.csv, .tsv, .npz); - is standard input.",
        ),
    ],
    polarity: Annotated[
        str, typer.Option(help="Polarity of pictures: auto, light-on-dark or dark-on-light.")
    ] = "auto",
    json: Json = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print comma-separated values, one line for each input.")
    ] = False,
) -> None:
    """Classify pictures of any size, or rows of features.

    A picture of the model's size is used without changes. In any other picture the content is
    found, also under uneven light and on ruled paper, scaled to 20/28 of the frame and centred by
    mass. Columns of a table are found by the names of the training table, else by their order.

    An answer with a small margin, or to an input unlike the training data, is marked unsure. An
    input that cannot be read does not stop the others: exit code 1 if some failed, 2 if all did.
    """
    from entrain.cli.predict_inputs import items_of
    from entrain.data.pictures import POLARITIES
    from entrain.models.pretrained import find, load
    from entrain.utils.errors import InputError, unknown_name

    if polarity not in POLARITIES:
        raise unknown_name("polarity", polarity, POLARITIES)
    if json and as_csv:
        raise InputError("--json and --csv cannot both be printed; choose one")
    path = find(model)
    loaded = load(path)
    items = [item for source in sources for item in items_of(source, loaded)]
    with fraction_bar("classifying") as on_progress:
        results = []
        for start in range(0, len(items), _CHUNK):
            results += _classified(loaded, items[start : start + _CHUNK], polarity)
            on_progress(len(results) / len(items))
    failed = [found["error"] for found in results if "error" in found]
    if len(failed) == len(results):
        raise InputError("\n".join(failed))
    if json:
        print_json({"model": str(path), "predictions": results})
    elif as_csv:
        _print_csv(loaded, results)
    else:
        _print_table(loaded, results)
    if loaded.hardware is not None and not loaded.hardware.is_identity:
        err.print("Answers of the ideal network; the model was trained for chips.")
    for message in failed:
        print_error(message)
    if failed:
        raise typer.Exit(SOME_FAILED)


def _classified(model: Model, items: list[Item], polarity: str) -> list[dict[str, Any]]:
    """One result for each item: its prediction, or its error."""
    for item in items:
        item.read(model, polarity)
    _answer(model, [item for item in items if item.error is None])
    return [_result(model, item) for item in items]


def _answer(model: Model, items: list[Item]) -> None:
    """Scores of all, or of one after the other where one of them cannot be computed."""
    import numpy as np

    from entrain.utils.errors import InputError

    if not items:
        return
    rows = np.stack([item.values for item in items if item.values is not None])
    try:
        scores = model.scores(rows)
        doubts = model.reject_reasons(rows, scores)
        likely = model.probabilities_of(scores)
    except InputError as error:
        if len(items) == 1:
            where = f"row {items[0].row}: " if items[0].row is not None else ""
            items[0].error = f"{items[0].source}: {where}{error}"
            return
        for item in items:
            _answer(model, [item])
        return
    for item, row, doubt, chances in zip(items, scores, doubts, likely, strict=True):
        item.answer = (row, doubt, chances)


def _result(model: Model, item: Item) -> dict[str, Any]:
    from entrain.evaluation import margin

    found: dict[str, Any] = {"source": item.source}
    if item.row is None:
        found["image"] = item.source
    else:
        found["row"] = item.row
    if item.given is not None:
        found["given"] = item.given
    if item.error is not None or item.answer is None:
        return found | {"unsure": True, "error": item.error}
    scores, doubt, chances = item.answer
    best = int(scores.argmax())
    return found | {
        "class": best,
        "label": model.class_names[best],
        "unsure": None if model.reject is None and doubt is None else doubt is not None,
        "reason": doubt,
        "score": float(scores.max()),
        "margin": float(margin(scores)),
        "scores": scores.tolist(),
        "probabilities": dict(zip(model.class_names, chances.tolist(), strict=True)),
    }


def _print_csv(model: Model, results: list[dict[str, Any]]) -> None:
    """source, row, label, unsure, margin, a probability of each class, and the error if any."""
    fields = ("source", "row", "label", "unsure", "margin")
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([*fields, *(_cell(f"p({name})") for name in model.class_names), "error"])
    for found in results:
        likely = found.get("probabilities", {})
        writer.writerow(
            [
                *(_cell(found.get(name, "")) for name in fields),
                *(likely.get(name, "") for name in model.class_names),
                _cell(found.get("error", "")),
            ]
        )
    sys.stdout.flush()


def _cell(value: object) -> object:
    if isinstance(value, str):
        return visible(value).replace("\n", " ")
    return str(value).lower() if isinstance(value, bool) else value


def _print_table(model: Model, results: list[dict[str, Any]]) -> None:
    shown = table(f"{model.protocol} on {model.dataset}", "input", "class", "score", "margin", "")
    for found in results:
        if "error" in found:
            continue
        row = f":{found['row']}" if "row" in found else ""
        shown.add_row(
            f"{found['source']}{row}",
            found["label"],
            number(found["score"], ".3f"),
            number(found["margin"], ".3f"),
            f"unsure: {found['reason']}" if found["unsure"] else "",
        )
    out.print(shown)
    if model.reject is None:
        err.print(
            "This model has no reject option: answers that should not be believed are not marked.",
            soft_wrap=True,
        )
