"""A device whose numbers were measured: what `entrain calibrate` finds, as an effect."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from entrain.hardware.effect import Draws, Effect, Realised
from entrain.physics import Parameters
from entrain.utils.errors import InputError, finite_float, finite_numbers

_LARGEST = 1e6  # of any number: beyond, a device does not follow its program at all

_DEAD = 0.2  # a gain below which a part is not driven harder


@dataclass(frozen=True)
class Measured(Effect):
    r"""One device as it was measured; nothing is drawn.

        J_ij -> couplings_ij J_ij,   b_i -> fields_i b_i + offsets_i,
        w_i -> w_i + frequencies_i,  lag -> lag + lag.

    `couplings` are N rows of N gains, row i of what acts on oscillator i; `fields` and `offsets`
    (in the unit of a field) belong to oscillators, `frequencies` are in rad per unit of time, `lag`
    in rad. What is None is as programmed.
    """

    couplings: tuple[tuple[float, ...], ...] | None = None
    fields: tuple[float, ...] | None = None
    offsets: tuple[float, ...] | None = None
    frequencies: tuple[float, ...] | None = None
    lag: float = 0.0

    def __post_init__(self) -> None:
        sizes = set()
        for name in ("fields", "offsets", "frequencies"):
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
    def is_identity(self) -> bool:
        arrays = (self.couplings, self.fields, self.offsets, self.frequencies)
        return all(values is None for values in arrays) and self.lag == 0.0

    @property
    def size(self) -> int | None:
        """N, or None where no number belongs to an oscillator."""
        for values in (self.couplings, self.fields, self.offsets, self.frequencies):
            if values is not None:
                return len(values)
        return None

    def times(self, factor: float) -> None:
        """A measurement has no strength."""

    def compensated(self, parameters: Parameters) -> Parameters:
        """What to program instead of networks (R, ...), so that the device's gains and offsets
        cancel: J over the mean gain of its two directions, W and biases over the field's gain. A
        part that is as good as dead stays as it is."""
        p, found = parameters, _tensors(self, parameters.biases.dtype, parameters.biases.device)
        changed: dict[str, Tensor] = {}
        if "couplings" in found:
            both = 0.5 * (found["couplings"] + found["couplings"].T)
            changed["couplings"] = p.couplings / _alive(both)
        weights, biases = p.input_weights, p.biases
        if "offsets" in found:
            biases = biases - found["offsets"]
        if "fields" in found:
            gains = _alive(found["fields"])
            weights, biases = weights / gains[: p.hidden, None], biases / gains
        return replace(parameters, input_weights=weights, biases=biases, **changed)

    def change(self, network: Realised, draws: Draws) -> Realised:
        p = network.parameters
        n = p.biases.shape[-1]
        if self.size not in (None, n):
            raise InputError(f"the device was measured with {self.size} oscillators, not with {n}")
        found = _tensors(self, p.biases.dtype, p.biases.device)
        changed: dict[str, Tensor] = {}
        if "couplings" in found:
            changed["couplings"] = p.couplings * found["couplings"]
        if "frequencies" in found:
            added = found["frequencies"].expand(len(p.biases), -1)
            changed["frequencies"] = added if p.frequencies is None else p.frequencies + added
        if self.lag:
            lag = p.biases.new_full(p.biases.shape[:1], self.lag)
            changed["lag"] = lag if p.lag is None else p.lag + lag
        network = network.with_numbers(**changed)
        if "fields" in found:
            network = network.with_fields(lambda b: b * found["fields"])
        if "offsets" in found:
            network = network.with_fields(lambda b: b + found["offsets"])
        return network


def _alive(gains: Tensor) -> Tensor:
    return torch.where(gains.abs() < _DEAD, torch.ones_like(gains), gains)


def _numbers(name: str, values: object) -> tuple[float, ...]:
    if not isinstance(values, tuple | list):
        raise InputError(f"{name} must be numbers, one for each oscillator, got {values!r}")
    found = finite_numbers(name, values)
    if any(abs(value) > _LARGEST for value in found):
        raise InputError(f"{name} must be at most {_LARGEST:g} in size, got {max(map(abs, found))}")
    return found


@functools.lru_cache(maxsize=16)
def _tensors(measured: Measured, dtype: torch.dtype, device: torch.device) -> dict[str, Tensor]:
    """Its arrays on a device; kept, for a captured graph of CUDA must not copy from the host."""
    arrays = {
        name: getattr(measured, name) for name in ("couplings", "fields", "offsets", "frequencies")
    }
    return {
        name: torch.tensor(values, dtype=dtype, device=device)
        for name, values in arrays.items()
        if values is not None
    }
