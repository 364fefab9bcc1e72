r"""Injection of order k = 3 .. 8: it locks phases to k values, for Potts models and colouring.

T = k s sin(k theta),   E = - s cos(k theta)
"""

from __future__ import annotations

from typing import Any

from entrain.physics.terms.term import LocalTerm

ORDERS = range(3, 9)


def _term(order: int) -> LocalTerm:
    factor, turns = float(order), order - 1

    # sin and cos of k theta, in each function anew: a kernel compiles them one by one.
    def torque(sin: Any, cos: Any, s: Any) -> Any:
        sin_k, cos_k = sin, cos
        for _ in range(turns):
            sin_k, cos_k = sin_k * cos + cos_k * sin, cos_k * cos - sin_k * sin
        return factor * s * sin_k

    def slope(sin: Any, cos: Any, s: Any) -> Any:
        sin_k, cos_k = sin, cos
        for _ in range(turns):
            sin_k, cos_k = sin_k * cos + cos_k * sin, cos_k * cos - sin_k * sin
        return factor * (factor * s) * cos_k

    def gradient(sin: Any, cos: Any, q: Any) -> Any:
        sin_k, cos_k = sin, cos
        for _ in range(turns):
            sin_k, cos_k = sin_k * cos + cos_k * sin, cos_k * cos - sin_k * sin
        return factor * q * sin_k

    return LocalTerm(
        name=f"injection_{order}",
        symbol=f"s{order}",
        formula=f"- mu {order} s{order}_i sin({order} theta_i)",
        energy_formula=f"- s{order}_i cos({order} theta_i)",
        torque=torque,
        slope=slope,
        gradient=gradient,
        energy=lambda phases, s: -(s * (factor * phases).cos()),
    )


TERMS = tuple(_term(order) for order in ORDERS)
