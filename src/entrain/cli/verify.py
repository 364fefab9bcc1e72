"""`entrain verify`: the simulation of an exported circuit, compared with Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from entrain.cli.console import print_json, print_line, print_table
from entrain.cli.options import Json, argument, option, require
from entrain.utils.errors import InputError, positive_int

if TYPE_CHECKING:
    from entrain.export import Verification

RESULT, FIGURE = "verify.json", "verify.png"


def command(
    folder: Annotated[Path, argument("DIR", "Folder of entrain export.")],
    images: Annotated[
        int | None, option("SPICE: use the first test examples, or runs, only.", "all")
    ] = None,
    synthesis: Annotated[
        bool, option("Verilog: also cells (Yosys) and clock rate (nextpnr).", name="--synthesis")
    ] = False,
    edited: Annotated[
        bool, option("Accept files that were changed after the export.", name="--edited")
    ] = False,
    json: Json = False,
) -> None:
    """Simulate an exported circuit on its test examples, or its runs, and compare it with Python.

    ngspice runs netlists; Verilator or Icarus Verilog runs a core, which must be equal in every bit
    to its integer model. The results are written to verify.json and verify.png in the folder.
    """
    from entrain.cli.figures import drawing
    from entrain.cli.progress import fraction_bar
    from entrain.export.design import read_design
    from entrain.export.folder import EditedFileError
    from entrain.export.verify import verify
    from entrain.plots.circuits import draw_verification
    from entrain.utils.files import strict_json, write_atomically

    require(positive_int, images=images)
    try:
        with fraction_bar("simulating") as update:
            verification = verify(
                folder, images=images, edited=edited, synthesis=synthesis, on_progress=update
            )
    except EditedFileError as error:
        raise InputError(f"{error}: run entrain verify --edited") from error
    result = verification.to_json()
    write_atomically(folder / RESULT, (strict_json(result, 1) + "\n").encode())
    result = {"folder": str(folder), **result}
    with drawing(folder / FIGURE, result):
        draw_verification(folder / FIGURE, verification, read_design(folder).class_names)
    if json:
        print_json(result)
        return
    _print(folder, verification)
    files = (folder / RESULT, result["figure"])
    print_line(f"report   {', '.join(str(file) for file in files if file)}")


def _print(folder: Path, verification: Verification) -> None:
    count, details = verification.images, verification.details
    if "measure" in details:
        _print_machine(folder, verification)
        return
    values: dict[str, Any] = {
        "same class as in Python": f"{verification.agree} of {count}",
        "correct": f"{verification.right} of {count}",
        "largest difference of a cosine": f"{verification.max_difference:.2g}",
        "median difference": f"{verification.median_difference:.2g}",
        "seconds": f"{verification.seconds:.1f}",
    }
    if "bit_exact" in details:
        values["bit-exact with the integer model"] = "yes" if details["bit_exact"] else "NO"
        values["cycles per inference"] = f"{details['cycles_per_inference']:,}"
        values["same class as in floating point"] = f"{details['agree_with_float']} of {count}"
    synthesis = details.get("synthesis", {})
    for family in ("ice40", "xilinx"):
        if cells := synthesis.get(family):
            first = list(cells.items())[:6]
            values[f"cells, {family}"] = ", ".join(f"{number} {name}" for name, number in first)
    if placed := synthesis.get("nextpnr"):
        values["nextpnr"] = f"{placed['device']}, {placed['megahertz']} MHz"
    print_table(f"{folder} in {verification.simulator}", ("", ""), values.items())


def _print_machine(folder: Path, verification: Verification) -> None:
    count, details = verification.images, verification.details
    best = max if details["goal"] == "maximum" else min
    difference = details["max_phase_difference"]
    values = {
        f"best {details['measure']}": f"{best(verification.verdicts):,}",
        f"best {details['measure']} in Python": f"{best(verification.labels):,}",
        f"runs with the {details['measure']} of Python": f"{verification.right} of {count}",
        "runs with the states of Python": f"{verification.agree} of {count}",
        "their largest difference of a phase": "" if difference is None else f"{difference:.2g}",
        "seconds": f"{verification.seconds:.1f}",
    }
    print_table(f"{folder} in {verification.simulator}", ("", ""), values.items())
