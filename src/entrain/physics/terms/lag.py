"""A phase lag that all couplings share: sin(phi + a) in place of sin(phi)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from entrain.physics.terms.term import Component, PairTerm


def _change(components: Sequence[Component], lag: Tensor) -> list[Component]:
    first, *others = components
    return [replace(first, factors=(lag.cos(), lag.sin())), *others]


TERM = PairTerm(
    name="lag",
    symbol="a",
    formula="sin(phi + a) in place of sin(phi)",
    energy_formula="",
    shape="shared",
    change=_change,
)
