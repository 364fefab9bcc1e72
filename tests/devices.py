"""A small trained network and a simulated device it runs on, for the tests of calibration."""

from __future__ import annotations

import numpy as np

import entrain
from entrain.calibration import Traces, plan, simulated
from entrain.hardware import (
    Asymmetry,
    CouplingFunction,
    FrequencySpread,
    Hardware,
    Mismatch,
    Offset,
    on_chips,
)
from entrain.models.model import Model

KIND = Hardware(
    mismatch=Mismatch(couplings=0.1, fields=0.1),
    offset=Offset(fields=0.2),
    asymmetry=Asymmetry(0.03),
    frequency_spread=FrequencySpread(1.0),
    coupling_function=CouplingFunction(lag=0.1),
)
CHIP = KIND.sample(5)


def small_model() -> Model:
    """A small trained network of 18 oscillators; strong couplings, so that they show."""
    return entrain.train("digits", protocol="DIRECT", network=8, epochs=4).model


def true(model: Model) -> dict[str, np.ndarray]:
    p = on_chips(model.batched_parameters(), KIND, [CHIP.seed]).parameters
    assert p.frequencies is not None
    return {
        "couplings": p.couplings[0].double().numpy(),
        "frequencies": p.frequencies[0].double().numpy(),
    }


def coupling_error(found: np.ndarray, model: Model) -> float:
    """Relative to the rms of the couplings."""
    wanted = true(model)["couplings"]
    used = wanted != 0
    squares = np.square((found - wanted)[used]).mean() / np.square(wanted[used]).mean()
    return float(np.sqrt(squares))


def measured(model: Model, *, noise: float = 0.0, runs: int = 40, times: int = 20) -> Traces:
    return simulated(model, CHIP, plan(model, runs=runs, times=times), noise=noise)
