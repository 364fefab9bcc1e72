"""Natural frequencies: every oscillator advances by itself."""

from __future__ import annotations

from entrain.physics.terms.term import LocalTerm

TERM = LocalTerm(
    name="frequencies",
    symbol="w",
    formula="w_i",
    energy_formula="- (w_i / mu) theta_i",
    torque=lambda sin, cos, w: -w,
    gradient=lambda sin, cos, q: -q,
    energy=lambda phases, w: -(w * phases),
    is_velocity=True,
)
