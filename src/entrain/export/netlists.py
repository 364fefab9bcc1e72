"""Every file of a SPICE export: the network, and one netlist with the fields of each image."""

from __future__ import annotations

from entrain.export.design import Design
from entrain.export.lc_netlist import REFERENCE, lc_network
from entrain.export.phase_netlist import phase_network
from entrain.export.spice import Spice, number

NETWORK = "network.inc"
POINTS_PER_CYCLE = 60
PHASE_POINTS = 400  # largest step of the phase level: the observation time by this


def image_file(image: int) -> str:
    """The netlist of one image."""
    return f"image-{image:04d}.cir"


def netlists(design: Design, spice: Spice) -> dict[str, str]:
    """Every file of the export by name: the network, and one netlist with fields per image."""
    network = phase_network if spice.level == "phase" else lc_network
    files = {NETWORK: network(design, spice)}
    for image in range(design.images):
        files[image_file(image)] = _image(design, spice, image)
    return files


def _image(design: Design, spice: Spice, image: int) -> str:
    """Title, fields, network, and how long it runs."""
    fields = [f".param b{i}={number(b)}" for i, b in enumerate(design.fields[image])]
    if spice.level == "phase":
        stop, step = spice.duration(), spice.duration() / PHASE_POINTS
        saved = [f"v(p{i})" for i in range(design.oscillators)]
    else:
        cycle = 1.0 / spice.frequency
        stop, step = spice.duration() + 0.5 * cycle, cycle / POINTS_PER_CYCLE
        names = [*map(str, range(design.oscillators)), REFERENCE]
        saved = [*(f"v(n{name})" for name in names), f"i(vsense{REFERENCE})"]
    return "\n".join(
        [
            f"* {design.title}, image {image}, label {design.labels[image]}",
            *fields,
            f".include {NETWORK}",
            ".options method=trap reltol=1e-5 abstol=1e-15 vntol=1e-9 chgtol=1e-18 maxord=2",
            *(f".save {name}" for name in saved),
            f".tran {number(step)} {number(stop)} 0 {number(step)} uic",
            ".end",
            "",
        ]
    )
