"""`entrain calibrate`: the parameters of a chip from its measured phases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from entrain.cli.console import print_json, print_line, print_table
from entrain.cli.options import Json, Overwrite, argument, option, with_option_names
from entrain.utils.errors import InputError

if TYPE_CHECKING:
    from entrain.calibration import Calibration

_UNITS = dict.fromkeys(("couplings", "asymmetry", "fields"), "relative")
_UNITS |= {"offsets": "field", "frequencies": "rad / time", "lag": "rad"}


def command(
    traces: Annotated[
        Path, argument("TRACES", "Fields, times and phases: .npz or .safetensors file.")
    ],
    model: Annotated[str, option("Model that the chip was programmed with.", metavar="MODEL")],
    out_file: Annotated[
        Path, option("New file for the calibrated model.", name="--out", metavar="FILE")
    ] = Path("calibrated.safetensors"),
    couplings: Annotated[float, option("Prior SD of the couplings, relative.")] = 0.3,
    asymmetry: Annotated[
        float, option("Prior SD between the two directions of a coupler; 0: symmetric.")
    ] = 0.05,
    fields: Annotated[float, option("Prior SD of the field gains, relative.")] = 0.3,
    offsets: Annotated[float, option("Prior SD of the field offsets, in rms couplings.")] = 0.3,
    frequencies: Annotated[
        float, option("Prior SD of the natural frequencies, rad per unit of time.")
    ] = 5.0,
    lag: Annotated[float, option("Prior SD of the lag in rad; 0: no lag.")] = 0.3,
    steps: Annotated[
        int | None, option("Number of Euler steps of the fitted model.", "as in MODEL")
    ] = None,
    iterations: Annotated[int, option("Iterations of the maximum-likelihood fit.")] = 40,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Estimate couplings, fields, frequencies and lag of a chip from its measured phases.

    Writes MODEL with the calibrated chip as its hardware: use it with entrain evaluate, yield and
    export, and train it further for that chip with entrain train --network FILE. FILE.json has
    every estimate with its error, and FILE.png shows them.
    """
    from entrain.calibration import Prior, calibrate, read_traces
    from entrain.cli.figures import drawing
    from entrain.cli.progress import stage_bar
    from entrain.models.pretrained import load
    from entrain.plots.calibration import draw_calibration
    from entrain.utils.files import strict_json, write_atomically
    from entrain.utils.new_files import new_files

    report, figure = out_file.with_suffix(".json"), out_file.with_suffix(".png")
    if out_file.suffix != ".safetensors":
        raise InputError(f"--out must be a .safetensors file, got {out_file}")
    with with_option_names(*_UNITS):
        prior = Prior(couplings, asymmetry, fields, offsets, frequencies, lag)
    with new_files(out_file, report, figure, overwrite=overwrite) as parts:
        loaded, measured = load(model), read_traces(traces)
        with stage_bar() as update, with_option_names("steps"):
            calibration = calibrate(
                *(loaded, measured),
                prior=prior,
                steps=steps,
                iterations=iterations,
                on_progress=update,
            )
        calibration.model(loaded).save(parts[out_file])
        write_atomically(parts[report], (strict_json(calibration.to_json(), 1) + "\n").encode())
        result = {"model": str(out_file), **calibration.summary()}
        with drawing(figure, result):
            draw_calibration(parts[figure], calibration)
    if json:
        print_json(result | {"not_shown": calibration.not_shown})
        return
    _print(calibration)
    files = (out_file, report, result["figure"])
    print_line(f"model  {', '.join(str(file) for file in files if file)}")
    print_line(f"train it for this chip: entrain train --network {out_file}")


def _print(calibration: Calibration) -> None:
    print_table(
        f"{calibration.traces} traces of {calibration.unknowns.oscillators} oscillators",
        ("", "unknowns", "unit", "spread", "error", "undetermined"),
        [
            (
                *(name, f"{part['count']:,}", _UNITS[name]),
                f"{part['sd' if part['count'] > 1 else 'mean']:.3g}",
                *(f"{part['error']:.2g}", str(part["not_shown"] or "-")),
            )
            for name, part in calibration.summary()["parts"].items()
        ],
    )
    print_line(
        f"readings differ from the fit by {calibration.noise:.2g} rad, from the programmed model "
        f"by {calibration.noise_as_programmed:.2g} rad"
    )
    if calibration.not_shown:
        print_line(
            "undetermined: the experiments did not excite these unknowns, which keep their prior; "
            "entrain traces plans fields that excite all"
        )
