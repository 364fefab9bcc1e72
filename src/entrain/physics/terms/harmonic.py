"""A second harmonic of the coupling function, odd (c) and even (d)."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from entrain.physics.terms.term import Component, PairTerm


def _change(components: Sequence[Component], harmonic: Tensor) -> list[Component]:
    couplings = components[0].couplings
    second = Component(couplings, 2, (harmonic[..., 0], harmonic[..., 1]))
    return [*components, second]


TERM = PairTerm(
    name="harmonic",
    symbol="c, d",
    formula="+ c sin(2 phi) + d cos(2 phi)",
    energy_formula="- (c / 2) sum_{i<j} J_ij cos(2 phi_ij)",
    shape="shared",
    change=_change,
    size=(2,),
    has_energy=True,
)
