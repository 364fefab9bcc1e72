"""The terms of the phase model beside fields and couplings: one file each, and one line here."""

from __future__ import annotations

from entrain.physics.terms import edge_lag, frequencies, harmonic, higher_injection, injection, lag
from entrain.physics.terms.term import Component, LocalTerm, PairTerm, cuda_lines

_ALL: tuple[LocalTerm | PairTerm, ...] = (
    frequencies.TERM,
    injection.TERM,
    lag.TERM,
    harmonic.TERM,
    edge_lag.TERM,  # after the harmonic, which takes J as it is
    *higher_injection.TERMS,
)

TERMS: dict[str, LocalTerm | PairTerm] = {term.name: term for term in _ALL}
LOCAL: dict[str, LocalTerm] = {t.name: t for t in _ALL if isinstance(t, LocalTerm)}
PAIR: dict[str, PairTerm] = {t.name: t for t in _ALL if isinstance(t, PairTerm)}

__all__ = ["LOCAL", "PAIR", "TERMS", "Component", "LocalTerm", "PairTerm", "cuda_lines"]
