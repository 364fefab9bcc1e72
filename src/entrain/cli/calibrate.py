"""`entrain calibrate`: a device's numbers from measured phases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entrain.cli.console import out, print_json, table
from entrain.cli.options import Json, with_option_names

if TYPE_CHECKING:
    from entrain.calibration import Calibration

_UNITS = {
    "couplings": "relative",
    "asymmetry": "relative",
    "fields": "relative",
    "offsets": "field",
    "frequencies": "rad / time",
    "lag": "rad",
}


def command(
    traces: Annotated[
        Path,
        typer.Argument(
            metavar="TRACES", help="Fields, times and phases: an .npz or .safetensors file."
        ),
    ],
    model: Annotated[
        str, typer.Option(metavar="MODEL", help="The model that the device was programmed with.")
    ],
    out_file: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="New file for the calibrated model.")
    ] = Path("calibrated.safetensors"),
    couplings: Annotated[
        float, typer.Option(help="Prior spread of the couplings, relative.")
    ] = 0.3,
    asymmetry: Annotated[
        float, typer.Option(help="Prior spread between the two directions of a coupler; 0: equal.")
    ] = 0.05,
    fields: Annotated[float, typer.Option(help="Prior spread of the field gains, relative.")] = 0.3,
    offsets: Annotated[
        float, typer.Option(help="Prior spread of the field offsets, in rms couplings.")
    ] = 0.3,
    frequencies: Annotated[
        float, typer.Option(help="Prior spread of the natural frequencies, rad per unit of time.")
    ] = 5.0,
    lag: Annotated[float, typer.Option(help="Prior spread of the lag, rad; 0: no lag.")] = 0.3,
    steps: Annotated[
        int | None,
        typer.Option(
            help="Number of Euler steps of the fitted model.", show_default="the network's"
        ),
    ] = None,
    iterations: Annotated[int, typer.Option(help="Iterations of the maximum-likelihood fit.")] = 40,
    json: Json = False,
) -> None:
    """Estimate what a device makes of MODEL from its measured phases: couplings, fields,
    frequencies, lag.

    Writes the model with the device as its hardware: entrain evaluate, entrain yield and entrain
    export take it, and entrain train --chip FILE continues the training for that device. FILE.json
    has every estimate with its error, and FILE.png shows them.
    """
    from entrain.calibration import Prior, calibrate, read_traces
    from entrain.cli.progress import stage_bar
    from entrain.models.pretrained import load
    from entrain.plots.calibration import draw_calibration
    from entrain.utils.errors import InputError
    from entrain.utils.files import strict_json, write_atomically

    report, figure = out_file.with_suffix(".json"), out_file.with_suffix(".png")
    for path in (out_file, report, figure):
        if path.exists():
            raise InputError(f"{path}: is there already; give another --out")
    if out_file.suffix != ".safetensors":
        raise InputError(f"--out must be a .safetensors file, got {out_file}")
    with with_option_names("couplings", "asymmetry", "fields", "offsets", "frequencies", "lag"):
        prior = Prior(couplings, asymmetry, fields, offsets, frequencies, lag)
    loaded, read = load(model), read_traces(traces)
    with stage_bar() as tell, with_option_names("steps"):
        found = calibrate(
            loaded, read, prior=prior, steps=steps, iterations=iterations, on_progress=tell
        )
    calibrated = found.model(loaded)
    calibrated.save(out_file)
    write_atomically(report, (strict_json(found.to_json(), 1) + "\n").encode())
    draw_calibration(figure, found)
    if json:
        print_json({"model": str(out_file), **found.summary(), "not_shown": found.not_shown})
        return
    _show(out_file, found)


def _show(path: Path, found: Calibration) -> None:
    shown = table(
        f"{found.traces} traces of {found.unknowns.oscillators} oscillators",
        *("", "unknowns", "unit", "spread", "error", "not shown"),
    )
    for name, part in found.summary()["parts"].items():
        shown.add_row(
            name,
            f"{part['count']:,}",
            _UNITS[name],
            f"{part['sd']:.3g}" if part["count"] > 1 else f"{part['mean']:.3g}",
            f"{part['error']:.2g}",
            str(part["not_shown"] or "-"),
        )
    out.print(shown)
    out.print(
        f"readings differ by {found.noise:.2g} rad; from what was programmed, by "
        f"{found.noise_as_programmed:.2g}",
        soft_wrap=True,
    )
    if found.not_shown:
        out.print(
            "not shown: the experiments did not excite them, and the belief before stands; "
            "entrain traces plans fields that do",
            soft_wrap=True,
        )
    out.print(f"model    {path}, {path.with_suffix('.json')}, {path.with_suffix('.png')}")
    out.print(f"train on for this device: entrain train --chip {path}", soft_wrap=True)
