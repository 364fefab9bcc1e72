r"""What is estimated of a device, as one vector, and what is believed of it before measuring.

    J_ij -> (1 + x_p + d_p) J_ij,   J_ji -> (1 + x_p - d_p) J_ji     for the coupler p of i < j,
    b_i -> (1 + g_i) b_i + o_i,     w_i -> w_i + v_i,                a common lag a,

all 0 for a device that does what it was told. A priori each is normal around 0.
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
    """How far a device may be from its program: standard deviations; 0 is exactly as programmed.

    `couplings` and `fields` are relative, `asymmetry` the relative half difference of a coupler's
    two directions, `offsets` in units of the couplings' root mean square, `frequencies` in rad per
    unit of time, `lag` in rad.
    """

    couplings: float = 0.3
    asymmetry: float = 0.05
    fields: float = 0.3
    offsets: float = 0.3
    frequencies: float = 5.0
    lag: float = 0.3

    def __post_init__(self) -> None:
        store_plain_numbers(self)
        for each in fields(self):
            positive_float(each.name, getattr(self, each.name), zero=True)


class Unknowns:
    """The vector of unknowns of a device that was programmed with couplings J (N, N)."""

    def __init__(self, couplings: np.ndarray, prior: Prior) -> None:
        self.programmed, self.prior = couplings, prior
        n = self.oscillators = len(couplings)
        used = (couplings != 0) | (couplings != 0).T
        self.pairs = np.argwhere(np.triu(used, 1))
        scale = float(np.sqrt(np.mean(couplings[couplings != 0] ** 2))) if used.any() else 1.0
        couplers = len(self.pairs)
        sizes = {
            "couplings": (couplers, prior.couplings),
            "asymmetry": (couplers, prior.asymmetry),
            "fields": (n, prior.fields),
            "offsets": (n, prior.offsets * scale),
            "frequencies": (n, prior.frequencies),
            "lag": (1, prior.lag),
        }
        self.parts: dict[str, slice] = {}
        spreads: list[np.ndarray] = []
        for name, (count, sd) in sizes.items():
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
        """The numbers of one kind, zeros where that kind is not estimated."""
        sizes = {"lag": 1, "couplings": len(self.pairs), "asymmetry": len(self.pairs)}
        if name not in self.parts:
            return np.zeros(sizes.get(name, self.oscillators))
        return x[self.parts[name]]

    def gains(self, x: np.ndarray) -> np.ndarray:
        """What couplings are multiplied by (N, N), 1 where there is no coupler."""
        found = np.ones((self.oscillators, self.oscillators))
        both, half = self.part("couplings", x), self.part("asymmetry", x)
        found[*self.pairs.T] += both + half
        found.T[*self.pairs.T] += both - half
        return found

    def phase_model(self, x: np.ndarray, base: PhaseModel) -> PhaseModel:
        """What acts on the device: `base` is what acts as programmed, under fields (1, M, N)."""

        def like(values: np.ndarray) -> Tensor:
            return torch.from_numpy(values).to(base.fields)

        given = base.tensors()
        found: dict[str, Any] = given | {
            "couplings": base.couplings * like(self.gains(x)),
            "fields": base.fields * (1.0 + like(self.part("fields", x)))
            + like(self.part("offsets", x)),
        }
        if "frequencies" in self.parts:
            added = like(self.part("frequencies", x))[None, None]
            found["frequencies"] = given.get("frequencies", 0.0) + added
        if "lag" in self.parts:
            found["lag"] = given.get("lag", 0.0) + like(self.part("lag", x))
        return PhaseModel(**found)

    def pullback(self, gradient: PhaseModel, base: PhaseModel) -> np.ndarray:
        """The gradient with respect to the unknowns, from that with respect to `phase_model`."""
        by_gain = (gradient.couplings * base.couplings)[0].double().numpy()
        upper, lower = by_gain[*self.pairs.T], by_gain.T[*self.pairs.T]
        by_field = gradient.fields[0].double()
        found = {
            "couplings": upper + lower,
            "asymmetry": upper - lower,
            "fields": (by_field * base.fields[0].double()).sum(0).numpy(),
            "offsets": by_field.sum(0).numpy(),
        }
        if gradient.frequencies is not None:
            found["frequencies"] = gradient.frequencies[0].double().sum(0).numpy()
        if gradient.lag is not None:
            found["lag"] = gradient.lag.double().numpy()
        return np.concatenate([found[name] for name in self.parts])

    def columns(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Oscillators j that act on i (those with a coupler), and the number of each coupler."""
        others = np.flatnonzero(self.index[i] >= 0)
        return others, self.index[i, others]

    def measured(self, x: np.ndarray) -> Measured:
        """The device as an effect of hardware."""

        def numbers(name: str, add: float = 0.0) -> tuple[float, ...] | None:
            if name not in self.parts:
                return None
            return tuple(float(f"{value:.7g}") for value in add + x[self.parts[name]])

        gains = None
        if "couplings" in self.parts or "asymmetry" in self.parts:
            gains = tuple(tuple(float(f"{g:.7g}") for g in row) for row in self.gains(x))
        return Measured(
            couplings=gains,
            fields=numbers("fields", 1.0),
            offsets=numbers("offsets"),
            frequencies=numbers("frequencies"),
            lag=(numbers("lag") or (0.0,))[0],
        )
