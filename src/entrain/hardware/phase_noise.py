"""Thermal noise of the phases."""

from __future__ import annotations

from dataclasses import dataclass

from entrain.hardware.effect import Effect


@dataclass(frozen=True)
class PhaseNoise(Effect):
    """d theta_i + sqrt(2 mu kT) dW_i: thermal noise on every phase, different in every run.

    Args:
        temperature: kT.

    Examples:
        >>> from entrain.hardware import Hardware, PhaseNoise
        >>> Hardware(phase_noise=PhaseNoise(temperature=0.1)).to_json()
        {'phase_noise': {'temperature': 0.1}}
    """

    temperature: float = 0.0
