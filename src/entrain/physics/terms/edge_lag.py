r"""A phase lag of each coupling: sin(phi_ij + A_ij), the delay of a wire in the rotating frame.

J_ij sin(phi + A_ij) = (J cos A)_ij sin(phi) + (J sin A)_ij cos(phi)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from entrain.physics.couplings import scaled
from entrain.physics.terms.term import Component, PairTerm


def _change(components: Sequence[Component], lags: Tensor) -> list[Component]:
    first, *others = components
    if first.factors is None:
        ones = lags.new_ones(first.couplings.shape[:-2])
        factors = (torch.zeros_like(ones), ones)
    else:  # sin(phi + a + A): the even part is cos(phi + a)
        factors = (-first.factors[1], first.factors[0])
    even = Component(scaled(first.couplings, lags.sin()), 1, factors)
    return [replace(first, couplings=scaled(first.couplings, lags.cos())), *others, even]


TERM = PairTerm(
    name="edge_lag",
    symbol="A",
    formula="sin(phi + A_ij) in place of sin(phi)",
    energy_formula="",
    shape="couplings",
    change=_change,
)
