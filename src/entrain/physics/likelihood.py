"""The path loss as a likelihood."""

from __future__ import annotations

import math

from torch import Tensor

from entrain.physics.phase_model import Dynamics
from entrain.utils.errors import positive_float


def negative_log_likelihood(path_loss: Tensor, dynamics: Dynamics, temperature: float) -> Tensor:
    r"""Local Euler-Maruyama NLL of the teacher path, per example, time interval and oscillator.

    NLL = L_path / (4 mu kT dt) + 1/2 ln(4 pi mu kT dt), at temperature kT > 0.
    """
    positive_float("temperature", temperature)
    variance = 2.0 * dynamics.mobility * temperature * dynamics.time_step
    return path_loss / (2.0 * variance) + 0.5 * math.log(2.0 * math.pi * variance)
