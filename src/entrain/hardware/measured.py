"""A calibrated chip: the result of `entrain calibrate` as an effect."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch
from torch import Tensor

from entrain.hardware.effect import Draws, Effect, Realised
from entrain.physics import Parameters
from entrain.utils.errors import InputError, finite_float, finite_numbers

_LARGEST = 1e6  # a chip with larger entries does not follow its program at all
_DEAD = 0.2  # a smaller gain is not compensated
_PER_OSCILLATOR = ("fields", "offsets", "frequencies")


@dataclass(frozen=True)
class Measured(Effect):
    """A calibrated chip, without random variates:

        J_ij -> couplings_ij J_ij,   b_i -> fields_i b_i + offsets_i,
        w_i -> w_i + frequencies_i,  a -> a + lag.

    An entry that is None has no effect.

    Args:
        couplings: N rows of N gains; row i acts on oscillator i.
        fields: N gains of the fields.
        offsets: N offsets of the fields.
        frequencies: N natural frequencies, in rad per unit of time.
        lag: Phase lag, in rad.
    """

    couplings: tuple[tuple[float, ...], ...] | None = None
    fields: tuple[float, ...] | None = None
    offsets: tuple[float, ...] | None = None
    frequencies: tuple[float, ...] | None = None
    lag: float = 0.0

    def __post_init__(self) -> None:
        sizes = set()
        for name in _PER_OSCILLATOR:
            if (values := getattr(self, name)) is not None:
                object.__setattr__(self, name, _numbers(name, values))
                sizes.add(len(getattr(self, name)))
        if self.couplings is not None:
            if not isinstance(self.couplings, tuple | list):
                raise InputError(f"couplings must be rows of gains, got {self.couplings!r}")
            rows = tuple(_numbers("couplings", row) for row in self.couplings)
            object.__setattr__(self, "couplings", rows)
            sizes |= {len(rows), *map(len, rows)}
        if len(sizes) > 1 or 0 in sizes:
            raise InputError(
                f"a measured device has one number of oscillators, got {sorted(sizes)}"
            )
        finite_float("lag", self.lag)

    @property
    def size(self) -> int | None:
        """N, or None if no entry belongs to an oscillator."""
        arrays = (self.couplings, self.fields, self.offsets, self.frequencies)
        return next((len(values) for values in arrays if values is not None), None)

    def times(self, factor: float) -> None:
        return None  # a measurement has no strength

    def compensated(self, parameters: Parameters) -> Parameters:
        """Parameters to program, so that gains and offsets of the chip cancel.

        J is divided by the mean gain of its two directions, W and biases by the gain of the field.
        Parts with a gain near 0 are not compensated.

        Args:
            parameters: The networks (R, ...) that the chip should have.
        """
        p, tensors = parameters, _tensors(self, parameters.biases.dtype, parameters.biases.device)
        changed = {"input_weights": p.input_weights, "biases": p.biases}
        if "couplings" in tensors:
            both = 0.5 * (tensors["couplings"] + tensors["couplings"].T)
            changed["couplings"] = p.couplings / _working(both)
        if "offsets" in tensors:
            changed["biases"] = changed["biases"] - tensors["offsets"]
        if "fields" in tensors:
            gains = _working(tensors["fields"])
            changed["input_weights"] = p.input_weights / gains[: p.hidden, None]
            changed["biases"] = changed["biases"] / gains
        return parameters.with_tensors(changed)

    def change(self, network: Realised, draws: Draws) -> Realised:
        p = network.parameters
        n = p.biases.shape[-1]
        if self.size not in (None, n):
            raise InputError(f"the device was measured with {self.size} oscillators, not with {n}")
        tensors = _tensors(self, p.biases.dtype, p.biases.device)
        if "couplings" in tensors:
            network = network.with_parameters(couplings=p.couplings * tensors["couplings"])
        if "frequencies" in tensors:
            network = network.with_added(
                frequencies=tensors["frequencies"].expand(len(p.biases), -1)
            )
        if self.lag:
            network = network.with_added(lag=p.biases.new_full(p.biases.shape[:1], self.lag))
        if "fields" in tensors:
            network = network.with_fields(lambda b: b * tensors["fields"])
        if "offsets" in tensors:
            network = network.with_fields(lambda b: b + tensors["offsets"])
        return network


def _working(gains: Tensor) -> Tensor:
    """`gains`, and 1 for parts with a gain near 0."""
    return torch.where(gains.abs() < _DEAD, torch.ones_like(gains), gains)


def _numbers(name: str, values: object) -> tuple[float, ...]:
    if not isinstance(values, tuple | list):
        raise InputError(f"{name} must be numbers, one for each oscillator, got {values!r}")
    numbers = finite_numbers(name, values)
    if (largest := max(map(abs, numbers), default=0.0)) > _LARGEST:
        raise InputError(f"{name} must be at most {_LARGEST:g} in size, got {largest}")
    return numbers


@functools.lru_cache(maxsize=16)
def _tensors(measured: Measured, dtype: torch.dtype, device: torch.device) -> dict[str, Tensor]:
    """Its arrays on a device; cached, since a captured CUDA graph must not copy from the host."""
    return {
        name: torch.tensor(values, dtype=dtype, device=device)
        for name in ("couplings", *_PER_OSCILLATOR)
        if (values := getattr(measured, name)) is not None
    }
