"""Torques of fields, couplings and terms, and the drift of the phases.

A component of the coupling function (see `terms.term`) takes two matrix products, never an N x N
array per sample. With S = sin(m theta) and C = cos(m theta), rotated by its factors (c, d),

    (M S)' = c M S - d M C,   (M C)' = c M C + d M S,
    sum_j M_ij [ c sin(m phi_ij) + d cos(m phi_ij) ] = S_i (M C)'_i - C_i (M S)'_i.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from entrain.physics.couplings import multiply
from entrain.physics.phase_model import PhaseModel
from entrain.physics.terms import LOCAL, Component


def multiple_angle(sin: Tensor, cos: Tensor, multiple: int) -> tuple[Tensor, Tensor]:
    """sin and cos of 1 or 2 times the angle."""
    if multiple == 1:
        return sin, cos
    assert multiple == 2
    return 2.0 * sin * cos, cos * cos - sin * sin


def products(sin: Tensor, cos: Tensor, component: Component) -> tuple[Tensor, Tensor]:
    """(M S)' and (M C)' from S and C: two (..., B, N)."""
    j_sin, j_cos = multiply(component.couplings, sin), multiply(component.couplings, cos)
    if component.factors is None:
        return j_sin, j_cos
    c, d = (factor[..., None, None] for factor in component.factors)
    return c * j_sin - d * j_cos, c * j_cos + d * j_sin


def local_torques(sin: Tensor, cos: Tensor, model: PhaseModel) -> Tensor | None:
    """The sum of the torques of local terms that act by the mobility; None if there are none."""
    total = None
    for name, term in LOCAL.items():
        if name in model.terms and not term.is_velocity:
            torque = term.torque(sin, cos, model.terms[name])
            total = torque if total is None else total + torque
    return total


def velocities(sin: Tensor, cos: Tensor, model: PhaseModel) -> Tensor | None:
    """The sum of the velocities of local terms; None if there are none."""
    total = None
    for name, term in LOCAL.items():
        if name in model.terms and term.is_velocity:
            velocity = -term.torque(sin, cos, model.terms[name])
            total = velocity if total is None else total + velocity
    return total


def drift(
    phases: Tensor,
    model: PhaseModel,
    mobility: float,
    delayed: Tensor | None = None,
    components: Sequence[Component] | None = None,
) -> Tensor:
    """d theta / dt at phases (..., B, N): (..., B, N).

    With a delay couplings act on `delayed`. `components` are those of the model, if computed
    before.
    """
    sin, cos = phases.sin(), phases.cos()
    others = (sin, cos) if delayed is None else (delayed.sin(), delayed.cos())
    first, *more = model.components() if components is None else components
    j_sin, j_cos = products(*others, first)
    bracket = sin * (model.fields + j_cos) - cos * j_sin
    if (local := local_torques(sin, cos, model)) is not None:
        bracket = bracket + local
    for component in more:
        s, c = multiple_angle(sin, cos, component.multiple)
        m_sin, m_cos = products(*multiple_angle(*others, component.multiple), component)
        bracket = bracket + (s * m_cos - c * m_sin)
    for term in model.other_terms:
        bracket = bracket + term(phases)
    velocity = -mobility * bracket
    own = velocities(sin, cos, model)
    return velocity if own is None else velocity + own
