r"""The equations of a network as a netlist, for plain ngspice.

One capacitor for each oscillator, whose voltage is the phase (1 V is 1 rad), and one behavioural
current source that charges it,

    C dV_i/dt = (C / T) [ drift of theta_i ],

where T is the SI duration of one unit of time.
"""

from __future__ import annotations

import numpy as np

from entrain.export.design import Design
from entrain.export.spice import Spice, number

_TO_LINE = 6  # terms of a sum on one line of a netlist


def phase_network(design: Design, spice: Spice) -> str:
    """The drift of every phase as a current into its capacitor."""
    model, mu = design.phase_model, design.dynamics.mobility
    lag = 0.0 if model.lag is None else float(model.lag[0])
    harmonic = (0.0, 0.0) if model.harmonic is None else tuple(model.harmonic[0].tolist())
    frequencies, injection = design.shared("frequencies"), design.shared("injection")
    capacitance = spice.capacitance
    parts = [
        f"* {design.oscillators} oscillators, phases as voltages: 1 V is 1 rad",
        f".param gain={number(capacitance / spice.unit(design))}",
    ]
    for i, row in enumerate(design.couplings):
        terms = [f"-{number(mu)}*{{b{i}}}*sin(v(p{i}))"]
        if frequencies is not None:
            terms.append(f"{frequencies[i]:+.12g}")
        if injection is not None:
            terms.append(f"{-2.0 * mu * injection[i]:+.12g}*sin(2*v(p{i}))")
        for j in np.flatnonzero(row):
            angle = f"v(p{i})-v(p{j})"
            shifted = f"{angle}{lag:+.12g}" if lag else angle
            terms.append(f"{-mu * row[j]:+.12g}*sin({shifted})")
            for function, size in zip(("sin", "cos"), harmonic, strict=True):
                if size:
                    terms.append(f"{-mu * row[j] * size:+.12g}*{function}(2*({angle}))")
        parts.append(f"C{i} p{i} 0 {number(capacitance)} ic={number(design.start[i])}")
        parts.append(_lines(f"B{i} 0 p{i} i={{gain}}*(", terms, ")"))
    return "\n".join([*parts, ""])


def _lines(head: str, terms: list[str], tail: str = "") -> str:
    """A long sum over continuation lines."""
    rows = [" ".join(terms[k : k + _TO_LINE]) for k in range(0, len(terms), _TO_LINE)]
    return "\n".join([head, *(f"+ {row}" for row in rows), *([f"+ {tail}"] if tail else [])])
