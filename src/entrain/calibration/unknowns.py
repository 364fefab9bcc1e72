r"""The unknown parameters of a chip as one vector, and their prior.

    J_ij -> (1 + x_p + d_p) J_ij,   J_ji -> (1 + x_p - d_p) J_ji     for the coupler p of i < j,
    b_i -> (1 + g_i) b_i + o_i,     w_i -> w_i + v_i,                a common lag a,

all 0 for an ideal chip. A priori they are normal around 0.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain.hardware import Measured
from entrain.physics import PhaseModel
from entrain.utils.errors import positive_float, store_plain_numbers


@dataclass(frozen=True)
class Prior:
    """Standard deviations of a chip from its program; 0 is exactly as programmed.

    Args:
        couplings: Relative.
        asymmetry: Relative half difference of the two directions of a coupler.
        fields: Relative.
        offsets: Of the fields, in units of the root mean square of the couplings.
        frequencies: In rad per unit of time.
        lag: In rad.
    """

    couplings: float = 0.3
    asymmetry: float = 0.05
    fields: float = 0.3
    offsets: float = 0.3
    frequencies: float = 5.0
    lag: float = 0.3

    def __post_init__(self) -> None:
        store_plain_numbers(self)
        for item in fields(self):
            positive_float(item.name, getattr(self, item.name), zero=True)


class Unknowns:
    """The vector of unknowns of a chip that was programmed with couplings J (N, N)."""

    def __init__(self, couplings: np.ndarray, prior: Prior) -> None:
        self.programmed, self.prior = couplings, prior
        n = self.oscillators = len(couplings)
        used = (couplings != 0) | (couplings != 0).T
        self.pairs = np.argwhere(np.triu(used, 1))
        scale = float(np.sqrt(np.mean(couplings[couplings != 0] ** 2))) if used.any() else 1.0
        couplers = len(self.pairs)
        self._sizes = {
            "couplings": (couplers, prior.couplings),
            "asymmetry": (couplers, prior.asymmetry),
            "fields": (n, prior.fields),
            "offsets": (n, prior.offsets * scale),
            "frequencies": (n, prior.frequencies),
            "lag": (1, prior.lag),
        }
        self.parts: dict[str, slice] = {}
        spreads: list[np.ndarray] = []
        for name, (count, sd) in self._sizes.items():
            if sd > 0:
                first = sum(map(len, spreads))
                self.parts[name] = slice(first, first + count)
                spreads.append(np.full(count, sd))
        self.spread = np.concatenate(spreads) if spreads else np.zeros(0)
        self.index = np.full((n, n), -1)
        self.index[*self.pairs.T] = self.index.T[*self.pairs.T] = np.arange(couplers)

    def __len__(self) -> int:
        return len(self.spread)

    def part(self, name: str, x: np.ndarray) -> np.ndarray:
        """The unknowns of one kind, zeros if that kind is not estimated."""
        return x[self.parts[name]] if name in self.parts else np.zeros(self._sizes[name][0])

    def gains(self, x: np.ndarray) -> np.ndarray:
        """Factors on the couplings (N, N), 1 where there is no coupler."""
        gains = np.ones((self.oscillators, self.oscillators))
        both, half = self.part("couplings", x), self.part("asymmetry", x)
        gains[*self.pairs.T] += both + half
        gains.T[*self.pairs.T] += both - half
        return gains

    def phase_model(self, x: np.ndarray, base: PhaseModel) -> PhaseModel:
        """The phase model of the chip; `base` is that of the programmed network."""

        def tensor(values: np.ndarray) -> Tensor:
            return torch.from_numpy(values).to(base.fields)

        nominal = base.tensors()
        gain, offset = tensor(self.part("fields", x)), tensor(self.part("offsets", x))
        values: dict[str, Any] = nominal | {
            "couplings": base.matrix * tensor(self.gains(x)),
            "fields": base.fields * (1.0 + gain) + offset,
        }
        if "frequencies" in self.parts:
            shift = tensor(self.part("frequencies", x))[None, None]
            values["frequencies"] = nominal.get("frequencies", 0.0) + shift
        if "lag" in self.parts:
            values["lag"] = nominal.get("lag", 0.0) + tensor(self.part("lag", x))
        return PhaseModel(**values)

    def pullback(self, gradient: PhaseModel, base: PhaseModel) -> np.ndarray:
        """The gradient with respect to the unknowns, from that with respect to `phase_model`."""
        by_gain = (gradient.matrix * base.matrix)[0].double().numpy()
        upper, lower = by_gain[*self.pairs.T], by_gain.T[*self.pairs.T]
        by_field = gradient.fields[0].double()
        gradients = {
            "couplings": upper + lower,
            "asymmetry": upper - lower,
            "fields": (by_field * base.fields[0].double()).sum(0).numpy(),
            "offsets": by_field.sum(0).numpy(),
        }
        if gradient.frequencies is not None:
            gradients["frequencies"] = gradient.frequencies[0].double().sum(0).numpy()
        if gradient.lag is not None:
            gradients["lag"] = gradient.lag.double().numpy()
        return np.concatenate([gradients[name] for name in self.parts])

    def measured(self, x: np.ndarray) -> Measured:
        """The chip as an effect of hardware."""

        def rounded(values: np.ndarray) -> tuple[float, ...]:
            return tuple(float(f"{value:.7g}") for value in values)

        values: dict[str, Any] = {
            name: rounded(x[self.parts[name]])
            for name in ("offsets", "frequencies")
            if name in self.parts
        }
        if "fields" in self.parts:
            values["fields"] = rounded(1.0 + x[self.parts["fields"]])
        if "couplings" in self.parts or "asymmetry" in self.parts:
            values["couplings"] = tuple(map(rounded, self.gains(x)))
        return Measured(**values, lag=rounded(self.part("lag", x))[0])
