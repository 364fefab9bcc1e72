"""`entrain predict`: the classes of pictures, rows, sequences and sounds, or their numbers."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entrain.cli.console import (
    err,
    number,
    print_error,
    print_json,
    print_line,
    print_table,
)
from entrain.cli.options import Json, ModelArgument, argument, option
from entrain.cli.progress import fraction_bar
from entrain.utils import escape
from entrain.utils.errors import InputError, unknown_name

if TYPE_CHECKING:
    from torch import Tensor

    from entrain.cli.predict_inputs import Item
    from entrain.models.model import Model

SOME_FAILED = 1
_MOST_LINES = 1000  # of a table; more inputs are summarised
_CHUNK = 64  # examples between two steps of the progress bar


def command(
    model: ModelArgument,
    sources: Annotated[
        list[str],
        argument(
            "SOURCE...",
            "Pictures, WAV files, folders of these, tables (.csv, .tsv, .npz); - is stdin.",
        ),
    ],
    polarity: Annotated[
        str, option("Polarity of pictures: auto, light-on-dark or dark-on-light.")
    ] = "auto",
    json: Json = False,
    as_csv: Annotated[
        bool, option("Print comma-separated values, one line per input.", name="--csv")
    ] = False,
) -> None:
    """Classify pictures, sounds, rows of features or sequences, or predict their numbers.

    A picture of the model's size is used unchanged. In any other picture the content is located,
    also under uneven light and on ruled paper, scaled to 20/28 of the frame and centred by mass.
    Columns of a table are matched by the names of the training table, otherwise by their order.
    Sounds, of any rate, become the log-mel frames of the training.

    An answer with a small margin, or to an input unlike the training data, is marked unsure. An
    unreadable input does not stop the others: exit code 1 if some inputs failed, 2 if all did.
    """
    from entrain.cli.loading import load_model
    from entrain.cli.predict_inputs import items_of
    from entrain.data.pictures import POLARITIES

    if polarity not in POLARITIES:
        raise unknown_name("polarity", polarity, POLARITIES)
    if json and as_csv:
        raise InputError("--json and --csv exclude each other; choose one")
    path, loaded = load_model(model)
    items = [item for source in sources for item in items_of(source, loaded)]
    with fraction_bar("classifying") as on_progress:
        results = []
        for start in range(0, len(items), _CHUNK):
            chunk = items[start : start + _CHUNK]
            for item in chunk:
                item.read(loaded, polarity)
            _answer(loaded, [item for item in chunk if item.error is None])
            results += [_result(loaded, item) for item in chunk]
            on_progress(len(results) / len(items))
    failed = [result["error"] for result in results if "error" in result]
    if len(failed) == len(results):
        raise InputError("\n".join(failed))
    if json:
        print_json({"model": str(path), "predictions": results})
    elif as_csv:
        _print_csv(loaded, results)
    elif len(results) > _MOST_LINES:
        _print_summary(loaded, results)
    else:
        _print_table(loaded, results)
    if loaded.hardware is not None and not loaded.hardware.is_identity:
        err.print("Answers of the ideal network; the model was trained for chips.")
    for message in failed[:_MOST_LINES]:
        print_error(message)
    if len(failed) > _MOST_LINES:
        print_error(f"and {len(failed) - _MOST_LINES:,} more")
    if failed:
        raise typer.Exit(SOME_FAILED)


def _answer(model: Model, items: list[Item]) -> None:
    """Answer all items in one batch of each type; where one of them fails, each alone."""
    import numpy as np

    values = [item.values for item in items if item.values is not None]
    types = {array.dtype for array in values}
    if len(types) != 1:  # stacked with floats, integers would be read on another scale
        for dtype in types:
            _answer(model, [i for i in items if i.values is not None and i.values.dtype == dtype])
        return
    longest = max(map(len, values))
    if any(len(array) < longest for array in values):  # sounds
        ends = [((0, longest - len(array)), (0, 0)) for array in values]
        values = [
            np.pad(a, end, constant_values=np.nan) for a, end in zip(values, ends, strict=True)
        ]
    rows = np.stack(values)
    try:
        scores = model.scores(rows)
        reasons = model.reject_reasons(rows, scores)
        probabilities = model.probabilities_of(scores) if model.task.has_classes else scores
    except InputError as error:
        if len(items) == 1:
            row = f"row {items[0].row}: " if items[0].row is not None else ""
            items[0].error = f"{items[0].source}: {row}{error}"
            return
        for item in items:
            _answer(model, [item])
        return
    for item, answer in zip(items, zip(scores, reasons, probabilities, strict=True), strict=True):
        item.answer = answer


def _result(model: Model, item: Item) -> dict[str, Any]:
    row = {"image": item.source} if item.row is None else {"row": item.row}
    result: dict[str, Any] = {"source": item.source, **row}
    if item.label is not None:
        result["given"] = item.label
    if item.error is not None or item.answer is None:
        return result | {"unsure": True, "error": item.error}
    if model.task.has_classes:
        return result | _class_of(model, *item.answer)
    scores = item.answer[0]
    numbers = model.task.predict(scores[None]).reshape(-1).tolist()
    return result | {
        "unsure": None if item.answer[1] is None else True,
        "reason": item.answer[1],
        "values": dict(zip(model.task.output_names, numbers, strict=True)),
        "scores": scores.tolist(),
    }


def _class_of(
    model: Model, scores: Tensor, reason: str | None, probabilities: Tensor
) -> dict[str, Any]:
    """The entries of an answer with classes."""
    from entrain.evaluation import margin

    best = int(scores.argmax())
    return {
        "class": best,
        "label": model.class_names[best],
        "unsure": None if model.reject is None and reason is None else reason is not None,
        "reason": reason,
        "score": float(scores.max()),
        "margin": float(margin(scores)),
        "scores": scores.tolist(),
        "probabilities": dict(zip(model.class_names, probabilities.tolist(), strict=True)),
    }


def _print_csv(model: Model, results: list[dict[str, Any]]) -> None:
    """Print source, row, label, unsure, margin, the probability of each class, and any error; of
    numbers source, row, the numbers, and any error."""
    names, classes = model.task.output_names, model.task.has_classes
    fields = ("source", "row", *(("label", "unsure", "margin") if classes else ()))
    titles = [f"p({name})" if classes else name for name in names]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([*fields, *map(_cell, titles), "error"])
    for result in results:
        values = result.get("probabilities" if classes else "values", {})
        cells = [_cell(result.get(name, "")) for name in fields]
        cells += [values.get(name, "") for name in names]
        writer.writerow([*cells, _cell(result.get("error", ""))])
    sys.stdout.flush()


def _cell(value: object) -> object:
    if isinstance(value, str):
        return escape.csv_cell(value)
    return str(value).lower() if isinstance(value, bool) else value


def _print_summary(model: Model, results: list[dict[str, Any]]) -> None:
    """Print the number of inputs and of unsure answers of each class; the mean and range of numbers
    that are predicted."""
    answers = [result for result in results if "error" not in result]
    if not model.task.has_classes:
        _print_numbers(model, answers, len(results))
        return
    labels = Counter(result["label"] for result in answers)
    unsure = Counter(result["label"] for result in answers if result["unsure"])
    print_table(
        f"{model.protocol} on {model.dataset}",
        ("class", "inputs", "unsure"),
        [(name, f"{labels[name]:,}", f"{unsure[name]:,}") for name in model.class_names],
    )
    print_line(
        f"{len(results):,} inputs, {sum(unsure.values()):,} unsure, "
        f"{len(results) - len(answers):,} failed"
    )
    labelled = [result for result in answers if "given" in result]
    if labelled:
        right = sum(result["label"] == result["given"] for result in labelled)
        print_line(f"{100 * right / len(labelled):.2f} % of {len(labelled):,} labels predicted")
    print_line("every answer: --csv > FILE or --json > FILE")


def _print_numbers(model: Model, answers: list[dict[str, Any]], inputs: int) -> None:
    """Print mean and range of predicted numbers."""
    rows = []
    for name in model.task.output_names:
        values = [result["values"][name] for result in answers]
        mean = sum(values) / len(values)
        rows.append((name, *(number(v, ".5g") for v in (mean, min(values), max(values)))))
    title = f"{model.protocol} on {model.dataset}"
    print_table(title, ("number", "mean", "least", "largest"), rows)
    print_line(f"{inputs:,} inputs, {inputs - len(answers):,} failed")
    print_line("every answer: --csv > FILE or --json > FILE")


def _print_table(model: Model, results: list[dict[str, Any]]) -> None:
    if not model.task.has_classes:
        names = model.task.output_names
        print_table(
            f"{model.protocol} on {model.dataset}",
            ("input", *names),
            [
                (_input_name(result), *(number(result["values"][name], ".5g") for name in names))
                for result in results
                if "error" not in result
            ],
        )
        return
    print_table(
        f"{model.protocol} on {model.dataset}",
        ("input", "class", "score", "margin", ""),
        [
            (
                _input_name(result),
                result["label"],
                *(number(result[name], ".3f") for name in ("score", "margin")),
                f"unsure: {result['reason']}" if result["unsure"] else "",
            )
            for result in results
            if "error" not in result
        ],
    )
    if model.reject is None:
        err.print(
            "This model has no reject option: unreliable answers are not marked.", soft_wrap=True
        )


def _input_name(result: dict[str, Any]) -> str:
    return str(result["source"]) + (f":{result['row']}" if "row" in result else "")
