r"""A network as LC oscillators, for plain ngspice.

Each oscillator is a tank (C, L) with a negative conductance; with y = i_L sqrt(L / C),

    C dv/dt = g1 v (1 - level) - i_L + i_in,    L di_L/dt = v,

which settles at v = cos(w t + theta), y = sin(w t + theta), an amplitude of 1 V. A current of the
fundamental g cos(w t + theta_j) into it turns theta_i by (g / 2 C) sin(theta_j - theta_i) on
average over a cycle, so that a coupling is a transconductance 2 C mu J_ij / T (T: seconds of one
unit of time), and a field one of 2 C mu b_i / T from an equal reference oscillator, against which
all phases are measured: it has the same shift of frequency as all others. A natural frequency
detunes the tank. Amplitudes recover at the rate g1 / C.

Second-harmonic injection modulates the conductance of a tank at twice the frequency. The voltage v
and the quadrature y of the reference, cos(p) and sin(p) with p = w t, make the second harmonic,
v^2 - y^2 = cos(2 p), and each oscillator gets the current

    i_in = g2 cos(2 p) v = (g2 / 2) [ cos(p - theta) + cos(3 p + theta) ],   v = cos(p + theta).

Its first part is the fundamental of an oscillator at -theta, so that on average over a cycle

    d theta / dt = (g2 / 4 C) sin(-2 theta),    d a / dt = (g2 / 4 C) a cos(2 theta),

with the amplitude a, whose control holds it near 1 V; the part at 3 w averages out. The term
-2 mu s sin(2 theta) of the phase model is g2 = 8 C mu s / T. Of an Ising machine, s is multiplied
by the voltage of the node `ramp`.

`levelled`: the conductance is controlled by the amplitude, level = v^2 + y^2, and transconductors
are driven by a limited copy of the voltage, tanh(4 v) scaled to a fundamental of 1 V at 1 V.

`cubic`: level = (4/3) v^2, van der Pol's oscillator, and transconductors are linear. Its third
harmonic slows it by (g1 / w C)^2 A^4 / 16, and every coupling is proportional to the amplitude of
the oscillator that drives it: amplitudes, which couplings change by a few percent, enter the phases
twice.
"""

from __future__ import annotations

import math

import numpy as np

from entrain.export.components import parts
from entrain.export.design import Design, refuse_terms
from entrain.export.netlist_parts import number, ramp_source
from entrain.export.targets import Spice
from entrain.utils.errors import InputError

REFERENCE = "ref"
_STEEPNESS = 4.0  # of a limiter, at 1 V


def lc_network(design: Design, spice: Spice) -> str:
    """Tanks, negative conductances and transconductors."""
    refuse_terms(design, "an lc netlist", ("lag", "harmonic"))
    n = design.oscillators
    c, unit = spice.capacitance, spice.unit(design)
    strength = 2.0 * c * design.dynamics.mobility / unit  # siemens for J = 1
    omega = 2.0 * math.pi * spice.frequency
    detuning = design.shared("frequencies")
    omegas = np.full(n, omega) if detuning is None else omega + detuning / unit
    if omegas.min() <= 0.1 * omega:
        raise InputError("natural frequencies are as large as the carrier; export more cycles")
    quadrature = number(1.0 / (omega * c))
    driver, shared = "n", f".param level={number(4.0 / 3.0)}"
    if design.shared("injection") is not None:
        shared += f" z={quadrature}"
    if spice.oscillator == "levelled":
        wave = np.cos(np.arange(4096) * (2.0 * math.pi / 4096))
        fundamental = float(2.0 * np.mean(np.tanh(_STEEPNESS * wave) * wave))  # of a limiter
        limited = number(1.0 / fundamental)
        driver, shared = "l", f".param level=1 z={quadrature} limited={limited}"
    components = parts(spice, np.array([*omegas, omega]))
    lines = [
        f"* {n} oscillators and a reference, {spice.frequency:g} Hz, {spice.cycles:g} cycles",
        f".param g1={number(2.0 * c * spice.rate(design) / unit)} gm={number(strength)}",
        shared,
    ]
    names = [*map(str, range(n)), REFERENCE]
    for k, name in enumerate(names):
        farads, henries = components.capacitors[k], components.inductors[k]
        voltage, current = _initial(design, k, math.sqrt(farads / henries))
        lines += [
            f"* oscillator {name}",
            f"C{name} n{name} 0 {number(farads)} ic={voltage}",
            f"L{name} n{name} m{name} {number(henries)} ic={current}",
            f"Vsense{name} m{name} 0 0",
            *_active(spice, name, components.linear[k], components.level[k]),
        ]
    lines.append("* fields: injection from the reference")
    for i, factor in enumerate(components.injections):
        lines.append(f"Gf{i} 0 n{i} {driver}{REFERENCE} 0 {_times(f'gm*b{i}', factor)}")
    lines.append("* couplings: transconductors")
    for i, row in enumerate(design.couplings):
        values = strength * row * components.transconductors[i]
        lines += [f"G{i}_{j} 0 n{i} {driver}{j} 0 {number(values[j])}" for j in np.flatnonzero(row)]
    lines += _second_harmonic(design, strength, components.second_harmonic)
    return "\n".join([*lines, *ramp_source(design, spice), ""])


def _initial(design: Design, oscillator: int, admittance: float) -> tuple[str, str]:
    """Voltage and inductor current, cos(theta) and w C sin(theta), at the start."""
    if design.machine is not None and oscillator < design.oscillators:
        phase = f"theta{oscillator}"
        return f"{{cos({phase})}}", f"{{{number(admittance)}*sin({phase})}}"
    start = design.start[oscillator] if oscillator < design.oscillators else 0.0
    return number(math.cos(start)), number(math.sin(start) * admittance)


def _second_harmonic(design: Design, strength: float, factors: np.ndarray) -> list[str]:
    """The second harmonic of the reference, and the conductances that it modulates."""
    injection = design.shared("injection")
    if injection is None:
        return []
    v, y = f"v(n{REFERENCE})", f"{{z}}*i(vsense{REFERENCE})"
    drive = "v(second)*v(ramp)" if design.machine else "v(second)"
    lines = [
        "* injection: conductances modulated by the second harmonic of the reference",
        f"Bsecond 0 second i={v}*{v}-{y}*{y}",
        "Rsecond second 0 1",
    ]
    for i, value in enumerate(4.0 * strength * injection * factors):
        if value:
            lines.append(f"Bs{i} 0 n{i} i={number(value)}*{drive}*v(n{i})")
    return lines


def _active(spice: Spice, name: str, linear: float, level: float) -> list[str]:
    """The negative conductance of an oscillator and its limiter, if it has one: a current into
    1 ohm, since a voltage source would add an unknown."""
    v, gain, depth = f"v(n{name})", _times("g1", linear), _times("level", level)
    if spice.oscillator == "cubic":
        return [f"B{name} 0 n{name} i={gain}*{v}*(1-{depth}*{v}*{v})"]
    y = f"{{z}}*i(vsense{name})"
    return [
        f"B{name} 0 n{name} i={gain}*{v}*(1-{depth}*({v}*{v}+{y}*{y}))",
        f"Bl{name} 0 l{name} i={{limited}}*tanh({number(_STEEPNESS)}*{v})",
        f"Rl{name} l{name} 0 1",
    ]


def _times(name: str, factor: float) -> str:
    """A parameter times the factor of one component."""
    return f"{{{name}}}" if factor == 1.0 else f"{{{name}*{number(factor)}}}"
