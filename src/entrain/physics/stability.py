r"""The largest stable time step of a phase model, from bounds that cost its edges.

The drift is -mu times a function with derivatives D_i on the diagonal and -J_ij g'(phi_ij) beside
it. With r_i = sum_j |J_ij| max |g'| the eigenvalues are at most

    L = max_i ( |b_i| + r_i + local slopes ) + rho,   rho <= max_i ( sum_j |J_ij| |g'| r_j )^(1/2),

so that a step of the explicit Euler method with dt < 2 / (mu L) never raises the energy of a
gradient flow. Natural frequencies do not enter; custom terms and delays are not considered.
"""

from __future__ import annotations

import math
import warnings

import torch
from torch import Tensor

from entrain.physics.couplings import Couplings, multiply, values_of, with_values
from entrain.physics.phase_model import Dynamics, PhaseModel
from entrain.physics.schedule import Schedule
from entrain.physics.terms import LOCAL, PAIR, LocalTerm

# Length of the real interval of stability of each method.
INTERVALS = {"euler": 2.0, "heun": 2.0, "rk4": 2.785}
_ANGLES = 720  # a grid with the largest slope of sin(k theta), for every k up to 8


def stable_step(model: PhaseModel, mobility: float, method: str = "euler") -> float:
    """The largest step 2 / (mu L) of the explicit Euler method; infinite if nothing acts.

    Args:
        model: The phase model; of a schedule the largest values count.
        mobility: mu.
        method: A name of `INTERVALS`.

    Examples:
        >>> oscillators = entrain.Oscillators([[0, 1], [1, 0.0]], fields=[1.0, 0.0])
        >>> entrain.physics.stable_step(oscillators.phase_model(), mobility=1.0)
        0.6666666666666666
    """
    rate = mobility * largest_slope(model.detached(), mobility)
    return float(INTERVALS[method] / rate) if rate else math.inf


def warn_if_unstable(model: PhaseModel, dynamics: Dynamics, method: str = "euler") -> None:
    """Warn if the time step is above `stable_step`.

    Args:
        model: The phase model.
        dynamics: Mobility, observation time and steps.
        method: A name of `INTERVALS`.
    """
    largest = stable_step(model, dynamics.mobility, method)
    if dynamics.time_step <= largest or not largest > 0.0:  # not finite: refused elsewhere
        return
    least = math.ceil(dynamics.observation_time / largest)
    warnings.warn(
        f"the time step {dynamics.time_step:.3g} is above {largest:.3g}, the largest that is "
        "surely stable with these fields and couplings: phases may jump and the energy rise. "
        f"Take at least {least:,} steps (now {dynamics.steps:,}), or a shorter time",
        RuntimeWarning,
        stacklevel=3,
    )


def largest_slope(model: PhaseModel, mobility: float) -> float:
    """L, a bound of the slopes of the bracket of the phase model.

    Args:
        model: The phase model, without autograd's graph.
        mobility: mu, by which velocities are divided.
    """
    if not model.fields.numel():
        return 0.0
    schedule = model.schedule or Schedule()
    factors = {name: float(f.abs().max()) for name, f in schedule.factors.items()}
    diagonal = factors.get("fields", 1.0) * model.fields.abs()
    if schedule.drive is not None:
        diagonal = diagonal + schedule.drive.abs().amax(0)
    for name, term in LOCAL.items():
        if name in model.terms and term.slope is not None:
            slope = factors.get(name, 1.0) * _unit_slope(term) * model.terms[name].abs()
            diagonal = diagonal + (slope / mobility if term.is_velocity else slope)
    slopes = coupling_slopes(model)
    ones = model.fields.new_ones(len(model.fields), 1, model.fields.shape[-1])
    sums = multiply(slopes, ones)  # (R, 1, N)
    radius = math.sqrt(float(multiply(slopes, sums).max()))
    scale = factors.get("couplings", 1.0)
    return float((diagonal + scale * sums).max()) + scale * radius


def coupling_slopes(model: PhaseModel) -> Couplings:
    """max |J_ij g'(phi)| of every coupling over phi; components of one multiple are added first.

    Args:
        model: The phase model.
    """
    if not any(name in model.terms for name in PAIR):
        return with_values(model.couplings, values_of(model.couplings).abs())
    parts = dict[int, list[Tensor]]()  # amplitudes of sin(m phi) and cos(m phi), by m
    for component in model.components():
        values = values_of(component.couplings)
        pair = [values, torch.zeros_like(values)]
        if component.factors is not None:
            ends = [1] * (values.dim() - 1)
            pair = [values * factor.reshape(-1, *ends) for factor in component.factors]
        before = parts.get(component.multiple)
        parts[component.multiple] = (
            pair if before is None else [a + b for a, b in zip(before, pair, strict=True)]
        )
    slopes = [multiple * torch.hypot(*pair) for multiple, pair in parts.items()]
    return with_values(model.couplings, torch.stack(slopes).sum(0))


def _unit_slope(term: LocalTerm) -> float:
    """max |dT / d theta| over theta for v = 1; T is linear in v."""
    assert term.slope is not None
    angles = torch.linspace(0.0, 2.0 * math.pi, _ANGLES + 1, dtype=torch.float64)
    slope = term.slope(angles.sin(), angles.cos(), torch.ones_like(angles))
    return float(slope.abs().max())
