r"""A network as a SPICE netlist, in plain ngspice.

`phase` writes the equations down: one capacitor for each oscillator, whose voltage is the phase
(1 V is 1 rad), and one behavioural current source that charges it,

    C dV_i/dt = (C / T) [ drift of theta_i ],

where T is the SI duration of one unit of time.

`lc` builds the oscillators. Each is a tank (C, L) with a cubic negative conductance,

    C dv/dt = g1 v - g3 v^3 - i_L + i_in,    L di_L/dt = v,    g3 = 4 g1 / 3,

which settles at v = cos(w t + theta) with an amplitude of 1 V. A current g v_j into it turns
theta_i by (g / 2 C) sin(theta_j - theta_i) on average over a cycle, so that a coupling is a
transconductance 2 C mu J_ij / T, and a field one of 2 C mu b_i / T from a reference oscillator of
the same kind, whose phase is what all others are measured against: its shift of frequency is
everybody's. A natural frequency detunes the tank. Amplitudes recover at the rate g1 / C, which must
be fast beside the couplings and slow beside the cycles.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from entrain.errors import InputError, one_of, positive_float, seed_number, shown
from entrain.export.components import parts
from entrain.export.design import Design
from entrain.hardware import Components

Level = Literal["phase", "lc"]
NETWORK = "network.inc"
REFERENCE = "ref"
_TO_LINE = 6  # terms of a sum on one line of a netlist
POINTS_PER_CYCLE = 60
PHASE_POINTS = 400  # largest step of the phase level: the observation time by this


@dataclass(frozen=True)
class Spice:
    """How a netlist is built. `frequency` in hertz, `cycles` of it within the observation time,
    `capacitance` in farads; `amplitude_rate` g1 / (2 C) in units of the network's time, by default
    20 sqrt(cycles), which kept the error of trials with 30, 100 and 300 cycles smallest. With a
    `spread` the components of an `lc` netlist are those of the chip `seed`."""

    level: Level = "phase"
    frequency: float = 1e9
    cycles: float = 100.0
    capacitance: float = 1e-12
    amplitude_rate: float | None = None
    spread: Components | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        one_of("level", self.level, Level)
        seed_number("seed", self.seed)
        if self.spread is not None and not isinstance(self.spread, Components):
            raise InputError(f"spread must be Components, got {shown(self.spread)}")
        if self.spread is not None and self.level != "lc":
            raise InputError("the level phase has no components that could differ; export at lc")
        for name in ("frequency", "cycles", "capacitance"):
            positive_float(name, getattr(self, name), least=1e-18, most=1e15)
        if self.amplitude_rate is not None:
            positive_float("amplitude_rate", self.amplitude_rate, most=1e15)

    def to_json(self) -> dict[str, Any]:
        """As a design keeps it."""
        return {"to": "spice", **asdict(self)}

    @property
    def rate(self) -> float:
        """The amplitude rate."""
        return 20.0 * math.sqrt(self.cycles) if self.amplitude_rate is None else self.amplitude_rate

    def duration(self) -> float:
        """The observation time in seconds."""
        return self.cycles / self.frequency

    def unit(self, design: Design) -> float:
        """T: one unit of the network's time in seconds."""
        return self.duration() / design.dynamics.observation_time


def spice_from_json(target: dict[str, Any]) -> Spice:
    """What `to_json` gave."""
    given = {name: value for name, value in target.items() if name != "to"}
    if given.get("spread") is not None:
        given["spread"] = Components(**given["spread"])
    return Spice(**given)


def image_file(image: int) -> str:
    """The netlist of one image."""
    return f"image-{image:04d}.cir"


def netlists(design: Design, spice: Spice) -> dict[str, str]:
    """Every file of the export by name: the network, and one netlist with fields per image."""
    network = _phase_network if spice.level == "phase" else _lc_network
    files = {NETWORK: network(design, spice)}
    for image in range(design.images):
        files[image_file(image)] = _image(design, spice, image)
    return files


def _number(value: float) -> str:
    return f"{value:.12g}"


def _image(design: Design, spice: Spice, image: int) -> str:
    """Title, fields, network, and how long it runs."""
    fields = [f".param b{i}={_number(b)}" for i, b in enumerate(design.fields[image])]
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
            f".tran {_number(step)} {_number(stop)} 0 {_number(step)} uic",
            ".end",
            "",
        ]
    )


def _lines(head: str, terms: list[str], tail: str = "") -> str:
    """A long sum over continuation lines."""
    rows = [" ".join(terms[k : k + _TO_LINE]) for k in range(0, len(terms), _TO_LINE)]
    return "\n".join([head, *(f"+ {row}" for row in rows), *([f"+ {tail}"] if tail else [])])


def _phase_network(design: Design, spice: Spice) -> str:
    """The drift of every phase as a current into its capacitor."""
    model, mu = design.phase_model, design.dynamics.mobility
    lag = 0.0 if model.lag is None else float(model.lag[0])
    harmonic = (0.0, 0.0) if model.harmonic is None else tuple(model.harmonic[0].tolist())
    frequencies, injection = design.shared("frequencies"), design.shared("injection")
    capacitance = spice.capacitance
    parts = [
        f"* {design.oscillators} oscillators, phases as voltages: 1 V is 1 rad",
        f".param gain={_number(capacitance / spice.unit(design))}",
    ]
    for i, row in enumerate(design.couplings):
        terms = [f"-{_number(mu)}*{{b{i}}}*sin(v(p{i}))"]
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
        parts.append(f"C{i} p{i} 0 {_number(capacitance)} ic={_number(design.start[i])}")
        parts.append(_lines(f"B{i} 0 p{i} i={{gain}}*(", terms, ")"))
    return "\n".join([*parts, ""])


def _lc_network(design: Design, spice: Spice) -> str:
    """Tanks, negative conductances and transconductors."""
    model, n = design.phase_model, design.oscillators
    for name in ("injection", "lag", "harmonic"):
        if getattr(model, name) is not None:
            raise InputError(
                f"the network has {name}, which an lc netlist does not build; export its equations "
                "at the level phase"
            )
    c, unit = spice.capacitance, spice.unit(design)
    strength = 2.0 * c * design.dynamics.mobility / unit  # siemens for J = 1
    negative = 2.0 * c * spice.rate / unit
    omega = 2.0 * math.pi * spice.frequency
    detuning = design.shared("frequencies")
    omegas = np.full(n, omega) if detuning is None else omega + detuning / unit
    if omegas.min() <= 0.1 * omega:
        raise InputError("natural frequencies are as large as the carrier; export more cycles")
    lines = [
        f"* {n} oscillators and a reference, {spice.frequency:g} Hz, {spice.cycles:g} cycles",
        f".param g1={_number(negative)} g3={_number(negative * 4.0 / 3.0)}",
        f".param gm={_number(strength)}",
    ]
    starts = [*design.start, 0.0]
    made = parts(spice, np.array([*omegas, omega]))
    for k, (name, start) in enumerate(zip([*range(n), REFERENCE], starts, strict=True)):
        tank, coil = made.capacitors[k], made.inductors[k]
        current = math.sin(start) * math.sqrt(tank / coil)  # of the inductor: w C sin(theta) at 1 V
        linear, cubic = _times("g1", made.linear[k]), _times("g3", made.cubic[k])
        lines += [
            f"* oscillator {name}",
            f"C{name} n{name} 0 {_number(tank)} ic={_number(math.cos(start))}",
            f"L{name} n{name} m{name} {_number(coil)} ic={_number(current)}",
            f"Vsense{name} m{name} 0 0",
            f"B{name} 0 n{name} i={linear}*v(n{name})-{cubic}*v(n{name})*v(n{name})*v(n{name})",
        ]
    lines.append("* fields: injection from the reference")
    for i, factor in enumerate(made.injections):
        lines.append(f"Gf{i} 0 n{i} n{REFERENCE} 0 {_times(f'gm*b{i}', factor)}")
    lines.append("* couplings: transconductors")
    for i, row in enumerate(design.couplings):
        values = strength * row * made.transconductors[i]
        lines += [f"G{i}_{j} 0 n{i} n{j} 0 {_number(values[j])}" for j in np.flatnonzero(row)]
    return "\n".join([*lines, ""])


def _times(name: str, factor: float) -> str:
    """A parameter with the tolerance of one component."""
    return f"{{{name}}}" if factor == 1.0 else f"{{{name}*{_number(factor)}}}"
