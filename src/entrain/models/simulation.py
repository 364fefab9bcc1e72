"""The result of a simulation: phases, and what is read from them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


def order_parameter(phases: Tensor) -> Tensor:
    """r = | 1/N sum_j exp(i theta_j) | of phases (..., N): 1 in synchrony, about 0 in disorder.

    Args:
        phases: theta (..., N).

    Examples:
        >>> entrain.order_parameter(torch.tensor([0.0, 0.0, 0.0])).item()
        1.0
        >>> round(entrain.order_parameter(torch.tensor([0.0, torch.pi])).item(), 3)
        0.0
    """
    return torch.hypot(phases.cos().mean(-1), phases.sin().mean(-1))


def spins(phases: Tensor) -> Tensor:
    """Spins +1 where cos(theta) >= 0, else -1, of phases (..., N), int8.

    Args:
        phases: theta (..., N).
    """
    return torch.where(phases.cos() >= 0, 1, -1).to(torch.int8)


@dataclass(frozen=True, eq=False)
class Simulation:
    """Phases of a simulation, which another one can continue.

    Axes are those that were asked for, in this order: times, runs, restarts, samples, oscillators.

    Args:
        phases: Recorded phases (T, ..., N); without recording those at the end, T = 1.
        times: Their times (T,), float64.
        final: Phases at the end (..., N).
        read: Indices of the oscillators that are read.
        after_inputs: Phases at the end of each of the inputs in time; None if inputs were constant.
        end: Time and steps since the start of the first simulation of a chain.
        restarts: Number of restarts; None without their axis.
        is_batched: True if there is an axis of samples.

    Examples:
        >>> frequencies = np.linspace(-1, 1, 10)
        >>> machine = entrain.Oscillators(1 - np.eye(10), frequencies=frequencies)
        >>> run = machine.simulate(time=30, steps=600, starts="random", seed=0, record=20)
        >>> run.phases.shape
        torch.Size([31, 10])
        >>> bool(run.order_parameter() > 0.9)
        True
    """

    phases: Tensor
    times: Tensor
    final: Tensor
    read: Tensor
    after_inputs: Tensor | None
    end: tuple[float, int]
    restarts: int | None
    is_batched: bool

    @property
    def readout(self) -> Tensor:
        """cos(theta) of the oscillators that are read, at the end (..., O).

        With inputs in time (..., T, O), at the end of each.
        """
        if self.after_inputs is None:
            return self.final[..., self.read].cos()
        return self.after_inputs[..., self.read].cos().movedim(0, -2)

    @property
    def spins(self) -> Tensor:
        """Spins +1 or -1 at the end (..., N), int8."""
        return spins(self.final)

    def order_parameter(self) -> Tensor:
        """Order parameter r at the end (...).

        `entrain.order_parameter(run.phases)` is that of all times.
        """
        return order_parameter(self.final)

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.phases.shape))
        return f"Simulation(phases {shape}, until time {self.end[0]:g}, {self.phases.dtype})"
