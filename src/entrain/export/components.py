"""The components of an LC netlist: as designed, or with the tolerances of one chip."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from entrain.export.targets import Spice
from entrain.hardware import ChipDraws, Components
from entrain.hardware.files import describe
from entrain.utils.errors import InputError


@dataclass(frozen=True)
class Parts:
    """Components of N oscillators and, last, the reference: capacitors and inductors (N + 1,) in
    SI units; factors on the conductance at 0 V and on its amplitude control (N + 1,), on the
    injections (N,), on the modulated conductances of a second-harmonic injection (N,), and on the
    transconductors (N, N), from j to i at [i, j]."""

    capacitors: np.ndarray
    inductors: np.ndarray
    linear: np.ndarray
    level: np.ndarray
    injections: np.ndarray
    second_harmonic: np.ndarray
    transconductors: np.ndarray


def components_of(name: str) -> Components:
    """The component tolerances of a hardware preset or TOML file."""
    components = describe(name).components
    if components is None:
        raise InputError(
            f"{name}: has no section [components], which gives the tolerance of each component: "
            "capacitance, inductance, tuning, negative_conductance, transconductance, injection"
        )
    return components


def parts(spice: Spice, omegas: np.ndarray) -> Parts:
    """The components of tanks for these angular frequencies (N + 1,): those of the chip
    `spice.seed`, or as designed if `spice.spread` is None."""
    count = len(omegas)
    n = count - 1
    capacitors = np.full(count, spice.capacitance)
    spread = spice.spread
    if spread is None or spread.is_identity:
        spread = Components()
    draws = ChipDraws([spice.seed], torch.zeros((), dtype=torch.float64))

    def factors(tag: str, tolerance: float, *shape: int) -> np.ndarray:
        return np.asarray(1.0 + tolerance * draws.normal(tag, *shape)[0].numpy())

    inductors = factors("indu", spread.inductance, count) / (omegas * omegas * capacitors)
    if spread.tuning is None:
        capacitors = capacitors * factors("capa", spread.capacitance, count)
    else:
        tuned = omegas * factors("tune", spread.tuning, count)
        capacitors = 1.0 / (tuned * tuned * inductors)
    return Parts(
        capacitors,
        inductors,
        factors("gneg", spread.negative_conductance, count),
        factors("levl", spread.negative_conductance, count),
        factors("injc", spread.injection, n),
        factors("inj2", spread.injection, n),
        factors("gmij", spread.transconductance, n, n),
    )
