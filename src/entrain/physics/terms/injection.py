"""Second-harmonic injection: it locks phases to 0 or pi, as in oscillator Ising machines."""

from __future__ import annotations

from entrain.physics.terms.term import LocalTerm

TERM = LocalTerm(
    name="injection",
    symbol="s",
    formula="- mu 2 s_i sin(2 theta_i)",
    energy_formula="- s_i cos(2 theta_i)",
    torque=lambda sin, cos, s: 4.0 * s * sin * cos,
    slope=lambda sin, cos, s: 4.0 * s * (cos * cos - sin * sin),
    gradient=lambda sin, cos, q: 4.0 * (q * (sin * cos)),
    energy=lambda phases, s: -(s * (2.0 * phases).cos()),
    split=lambda sin, cos, s: (-(2.0 * s) * sin, (2.0 * s) * cos),
    rest=lambda sin, cos, s: (2.0 * s) * (cos * cos - sin * sin),
)
