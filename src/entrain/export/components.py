"""What every component of an LC netlist is: as designed, or with the tolerance of one chip."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from entrain.export.spice import Spice
from entrain.hardware import ChipDraws, Components
from entrain.hardware.files import describe
from entrain.utils.errors import InputError


@dataclass(frozen=True)
class Parts:
    """Components of N oscillators and, last, the reference: capacitors and inductors (N + 1,) in
    SI units; factors on the conductance at 0 V and on what levels it (N + 1,), on the injections
    (N,) and on the transconductors (N, N), from j to i at [i, j]."""

    capacitors: np.ndarray
    inductors: np.ndarray
    linear: np.ndarray
    level: np.ndarray
    injections: np.ndarray
    transconductors: np.ndarray


def components_of(name: str) -> Components:
    """The tolerances that a preset or a TOML file gives for single components."""
    found = describe(name)
    if found.components is None:
        raise InputError(
            f"{name}: has no section [components], which gives the tolerance of each component: "
            "capacitance, inductance, tuning, negative_conductance, transconductance, injection"
        )
    return found.components


def parts(spice: Spice, omegas: np.ndarray) -> Parts:
    """The components of tanks for these angular frequencies (N + 1,): those of the chip
    `spice.seed`, or as designed where `spice.spread` is None."""
    count = len(omegas)
    n = count - 1
    capacitors = np.full(count, spice.capacitance)
    ones = np.ones(count)
    if spice.spread is None or spice.spread.is_identity:
        inductors = 1.0 / (omegas * omegas * capacitors)
        return Parts(capacitors, inductors, ones, ones, ones[:n], np.ones((n, n)))
    draws = ChipDraws([spice.seed], torch.zeros((), dtype=torch.float64))

    def factors(tag: str, tolerance: float, *shape: int) -> np.ndarray:
        return np.asarray(1.0 + tolerance * draws.normal(tag, *shape)[0].numpy())

    spread = spice.spread
    made = factors("indu", spread.inductance, count) / (omegas * omegas * capacitors)
    if spread.tuning is None:
        capacitors = capacitors * factors("capa", spread.capacitance, count)
    else:
        tuned = omegas * factors("tune", spread.tuning, count)
        capacitors = 1.0 / (tuned * tuned * made)
    return Parts(
        capacitors,
        made,
        factors("gneg", spread.negative_conductance, count),
        factors("levl", spread.negative_conductance, count),
        factors("injc", spread.injection, n),
        factors("gmij", spread.transconductance, n, n),
    )
