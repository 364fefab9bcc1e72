"""`entrain verify`: an exported circuit in its simulator, beside Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entrain.cli.console import out, print_json, table
from entrain.cli.options import Json, require

if TYPE_CHECKING:
    from entrain.export import Verification

RESULT, FIGURE = "verify.json", "verify.png"


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of entrain export.")],
    images: Annotated[
        int | None, typer.Option(help="Netlists: the first images only.", show_default="all")
    ] = None,
    synthesis: Annotated[
        bool,
        typer.Option("--synthesis", help="Verilog: also cells by Yosys and speed by nextpnr."),
    ] = False,
    edited: Annotated[
        bool, typer.Option("--edited", help="Run files that were changed after the export.")
    ] = False,
    json: Json = False,
) -> None:
    """Run an exported circuit in its simulator on its test images, and compare it with Python.

    ngspice runs netlists; Verilator or Icarus Verilog runs a core, which must be equal in every bit
    to its integer model. What was found goes to verify.json and verify.png in the folder.
    """
    from entrain.cli.progress import fraction_bar
    from entrain.export.design import read_design
    from entrain.export.folder import EditedFileError
    from entrain.export.verify import verify
    from entrain.plots.circuits import draw_verification
    from entrain.utils.errors import InputError, positive_int
    from entrain.utils.files import strict_json, write_atomically

    require(positive_int, images=images)
    try:
        with fraction_bar("simulating") as tell:
            found = verify(
                folder, images=images, edited=edited, synthesis=synthesis, on_progress=tell
            )
    except EditedFileError as error:
        raise InputError(f"{error}: run entrain verify --edited") from error
    result = found.to_json()
    write_atomically(folder / RESULT, (strict_json(result, 1) + "\n").encode())
    draw_verification(folder / FIGURE, found, read_design(folder).class_names)
    if json:
        print_json({"folder": str(folder), **result})
        return
    _show(folder, found)


def _show(folder: Path, found: Verification) -> None:
    shown = table(f"{folder} in {found.simulator}", "", "")
    rows: dict[str, Any] = {
        "same verdict as Python": f"{found.agree} of {found.images}",
        "right": f"{found.right} of {found.images}",
        "largest difference of a cosine": f"{found.max_difference:.2g}",
        "median difference": f"{found.median_difference:.2g}",
        "seconds": f"{found.seconds:.1f}",
    }
    details = found.details
    if "bit_exact" in details:
        rows["bit-exact with the integer model"] = "yes" if details["bit_exact"] else "NO"
        rows["cycles of an inference"] = f"{details['cycles_per_inference']:,}"
        rows["same verdict as in floating point"] = (
            f"{details['agree_with_float']} of {found.images}"
        )
    for family in ("ice40", "xilinx"):
        cells = details.get("synthesis", {}).get(family, {})
        if cells:
            most = list(cells.items())[:6]
            rows[f"cells, {family}"] = ", ".join(f"{count} {name}" for name, count in most)
    if placed := details.get("synthesis", {}).get("nextpnr"):
        rows["nextpnr"] = f"{placed['device']}, {placed['megahertz']} MHz"
    for name, value in rows.items():
        shown.add_row(name, str(value))
    out.print(shown)
    out.print(f"report   {folder / RESULT}, {folder / FIGURE}", soft_wrap=True)
