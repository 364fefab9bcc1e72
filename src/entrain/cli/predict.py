"""`entrain predict`: what a model reads in pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from entrain.cli.console import number, out, print_json, table
from entrain.cli.options import Json, ModelArgument


def command(
    model: ModelArgument,
    images: Annotated[list[Path], typer.Argument(metavar="IMAGE...", help="PNG, JPEG and others.")],
    polarity: Annotated[
        str, typer.Option(help="auto (by the border), light-on-dark or dark-on-light.")
    ] = "auto",
    json: Json = False,
) -> None:
    """Classify pictures of any size.

    A picture of the model's own size is taken as it is; any other is prepared as the MNIST digits
    were: background made dark, content scaled to 20/28 of the frame and centred by mass.
    """
    import numpy as np

    from entrain.data import Preprocessing
    from entrain.data.pictures import POLARITIES, read_picture
    from entrain.errors import InputError, unknown_name
    from entrain.evaluation import margin
    from entrain.models import find, load

    if polarity not in POLARITIES:
        raise unknown_name("polarity", polarity, POLARITIES)
    path = find(model)
    loaded = load(path)
    constants = loaded.preprocessing
    if not isinstance(constants, Preprocessing):
        raise InputError(
            f"{path}: reads rows of {constants.inputs} features, not pictures; use "
            "entrain.load(...).predict(rows) in Python"
        )
    pixels = np.stack(
        [read_picture(image, constants.image_shape, 1.0, polarity) for image in images]
    )
    scores = loaded.scores(pixels)
    predictions: list[dict[str, Any]] = [
        {
            "image": str(image),
            "class": int(row.argmax()),
            "label": loaded.class_names[int(row.argmax())],
            "score": float(row.max()),
            "margin": float(gap),
            "scores": row.tolist(),
        }
        for image, row, gap in zip(images, scores, margin(scores), strict=True)
    ]
    if json:
        print_json({"model": str(path), "predictions": predictions})
        return
    shown = table(f"{loaded.protocol} on {loaded.dataset}", "image", "class", "score", "margin")
    for found in predictions:
        shown.add_row(
            found["image"],
            found["label"],
            number(found["score"], ".3f"),
            number(found["margin"], ".3f"),
        )
    out.print(shown)
