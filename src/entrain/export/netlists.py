r"""The files of a SPICE export: the network, and one netlist with the fields of each image.

Those of an Ising machine have the start phases of each run instead, and a node `ramp` whose voltage
is the factor of the injection.

At the level `phase` the network is its equations: one capacitor for each oscillator, whose voltage
is the phase (1 V is 1 rad), and one behavioural current source that charges it,

    C dV_i/dt = (C / T) [ drift of theta_i ],

where T is one unit of the network's time in seconds. `lc_netlist.py` has the level `lc`.
"""

from __future__ import annotations

import numpy as np

from entrain.export.design import Design
from entrain.export.lc_netlist import REFERENCE, lc_network
from entrain.export.netlist_parts import number, own_starts, ramp_source, start_phase
from entrain.export.targets import Spice

NETWORK = "network.inc"
_TERMS_PER_LINE = 6
POINTS_PER_CYCLE = 60
PHASE_POINTS = 400  # least points of the observation time at the phase level


def image_file(design: Design, image: int) -> str:
    """The netlist of one image, or of one run of a machine."""
    return f"{'image' if design.machine is None else 'run'}-{image:04d}.cir"


def netlists(design: Design, spice: Spice) -> dict[str, str]:
    """The files of the export by name: the network; title, fields and duration of each image."""
    names = [str(i) for i in range(design.oscillators)]
    if spice.level == "phase":
        network, vectors = phase_network(design, spice), [f"v(p{name})" for name in names]
        stop, step = spice.duration(), spice.duration() / PHASE_POINTS
    else:
        network, cycle = lc_network(design, spice), 1.0 / spice.frequency
        vectors = [*(f"v(n{name})" for name in [*names, REFERENCE]), f"i(vsense{REFERENCE})"]
        stop, step = spice.duration() + 0.5 * cycle, cycle / POINTS_PER_CYCLE
    files = {NETWORK: network}
    for image, (fields, label) in enumerate(zip(design.fields, design.labels, strict=True)):
        what = f"image {image}, label {label}" if design.machine is None else f"run {image}"
        lines = [
            f"* {design.title}, {what}",
            *(f".param b{i}={number(b)}" for i, b in enumerate(fields)),
            *own_starts(design, image),
            f".include {NETWORK}",
            ".options method=trap reltol=1e-5 abstol=1e-15 vntol=1e-9 chgtol=1e-18 maxord=2",
            *(f".save {name}" for name in vectors),
            f".tran {number(step)} {number(stop)} 0 {number(step)} uic",
            ".end",
        ]
        files[image_file(design, image)] = "\n".join([*lines, ""])
    return files


def phase_network(design: Design, spice: Spice) -> str:
    """The drift of every phase as a current into its capacitor."""
    model, mu = design.phase_model, design.dynamics.mobility
    lag = 0.0 if model.lag is None else float(model.lag[0])
    harmonic = (0.0, 0.0) if model.harmonic is None else tuple(model.harmonic[0].tolist())
    frequencies, injection = design.shared("frequencies"), design.shared("injection")
    capacitance = spice.capacitance
    lines = [
        f"* {design.oscillators} oscillators, phases as voltages: 1 V is 1 rad",
        f".param gain={number(capacitance / spice.unit(design))}",
    ]
    for i, row in enumerate(design.couplings):
        terms = [f"-{number(mu)}*{{b{i}}}*sin(v(p{i}))"]
        if frequencies is not None:
            terms.append(f"{frequencies[i]:+.12g}")
        if injection is not None:
            strength = f"{-2.0 * mu * injection[i]:+.12g}{'*v(ramp)' if design.machine else ''}"
            terms.append(f"{strength}*sin(2*v(p{i}))")
        for j in np.flatnonzero(row):
            angle = f"v(p{i})-v(p{j})"
            shifted = f"{angle}{lag:+.12g}" if lag else angle
            terms.append(f"{-mu * row[j]:+.12g}*sin({shifted})")
            for function, size in zip(("sin", "cos"), harmonic, strict=True):
                if size:
                    terms.append(f"{-mu * row[j] * size:+.12g}*{function}(2*({angle}))")
        lines += [
            f"C{i} p{i} 0 {number(capacitance)} ic={start_phase(design, i)}",
            f"B{i} 0 p{i} i={{gain}}*(",
        ]
        for k in range(0, len(terms), _TERMS_PER_LINE):
            lines.append(f"+ {' '.join(terms[k : k + _TERMS_PER_LINE])}")
        lines.append("+ )")
    return "\n".join([*lines, *ramp_source(design, spice), ""])
