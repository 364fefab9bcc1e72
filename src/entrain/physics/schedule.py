r"""Terms that vary in time, within one rollout.

In step k = 0 .. K - 1 every scheduled term is its constant value times a factor f(k), and the
fields have a drive that is constant in each segment of H steps:

    b(k) = f_b(k) b + u_{k // H},    J(k) = f_J(k) J,    s(k) = f_s(k) s,    w(k) = f_w(k) w.

All terms are held within a step. The temperature of the noise varies likewise (`Noise.factors`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from entrain.utils.errors import InputError, finite_float


@dataclass(frozen=True)
class Schedule:
    """Factors and a drive, of the K steps of a rollout.

    Args:
        factors: f (K,) of "fields", "couplings" and local terms, by name; absent ones are constant.
        drive: u (S, R, B, N), added to the fields; None is none.
        hold: H, steps of a segment of the drive.
        first: Number of steps since the beginning of the drive's first segment.
    """

    factors: Mapping[str, Tensor] = field(default_factory=dict)
    drive: Tensor | None = None
    hold: int = 1
    first: int = 0

    def segment(self, step: int) -> int:
        """Index of the drive in a step.

        Args:
            step: Step k.
        """
        return (self.first + step) // self.hold

    def steps(self, first: int, count: int) -> Schedule:
        """The schedule of a part of the steps.

        Args:
            first: The first step.
            count: Number of steps.
        """
        factors = {name: f[first : first + count] for name, f in self.factors.items()}
        if self.drive is None:
            return replace(self, factors=factors)
        begin, end = self.segment(first), self.segment(first + count - 1) + 1
        offset = (self.first + first) % self.hold
        return replace(self, factors=factors, drive=self.drive[begin:end], first=offset)

    def refined(self, parts: int) -> Schedule:
        """The same function of time for steps that are `parts` times shorter.

        Args:
            parts: Steps in the place of one.
        """
        factors = {name: f.repeat_interleave(parts) for name, f in self.factors.items()}
        return replace(self, factors=factors, hold=parts * self.hold, first=parts * self.first)

    def check(self, steps: int, shape: Sequence[int]) -> None:
        """Refuse a schedule of another number of steps, or of other fields.

        Args:
            steps: K.
            shape: (R, B, N) of the fields.
        """
        for name, factor in self.factors.items():
            if factor.shape != (steps,):
                raise InputError(
                    f"the schedule of {name} must be {steps} factors, one for each step; got "
                    f"shape {tuple(factor.shape)}"
                )
        if self.drive is None:
            return
        segments = self.segment(steps - 1) + 1
        if tuple(self.drive.shape) != (segments, *shape):
            expected = " x ".join(map(str, (segments, *shape)))
            raise InputError(
                f"the drive must be {expected} (segments of {self.hold} of {steps} steps, runs, "
                f"samples, oscillators); got shape {tuple(self.drive.shape)}"
            )


@dataclass(frozen=True)
class Ramp:
    """A value that grows linearly from `start` at time 0 to `end` at t_f."""

    start: float
    end: float

    def values(self, steps: int) -> Tensor:
        """The values in the middle of each step (K,), float64.

        Args:
            steps: K.
        """
        middle = (torch.arange(steps, dtype=torch.float64) + 0.5) / steps
        return self.start + (self.end - self.start) * middle


def ramp(start: float, end: float) -> Ramp:
    """A linear ramp over a rollout, for `schedule`.

    Args:
        start: Value at the beginning.
        end: Value at the end.

    Examples:
        >>> machine = entrain.Oscillators(np.eye(4) - 1, injection=1)
        >>> ramps = {"injection": entrain.ramp(0, 1), "temperature": entrain.ramp(0.3, 0)}
        >>> run = machine.simulate(time=10, steps=200, starts="random", seed=0, schedule=ramps)
    """
    return Ramp(finite_float("start", start), finite_float("end", end))


def step_values(name: str, values: Ramp | Tensor | Sequence[float] | float, steps: int) -> Tensor:
    """The values of a scheduled quantity in each step (K,).

    Args:
        name: Its name, for errors.
        values: A ramp, one number, or S numbers, each for a segment of K / S steps.
        steps: K.
    """
    if isinstance(values, Ramp):
        return values.values(steps)
    try:
        tensor = values if isinstance(values, Tensor) else torch.tensor(values, dtype=torch.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the schedule of {name} must be a ramp or numbers, got {type(values).__name__}"
        ) from error
    tensor = tensor.reshape(1) if tensor.dim() == 0 else tensor
    if tensor.dim() != 1 or not 1 <= len(tensor) <= steps:
        raise InputError(
            f"the schedule of {name} must be a ramp, a number or a list of 1 to {steps} numbers; "
            f"got shape {tuple(tensor.shape)}"
        )
    if not bool(tensor.isfinite().all()):
        raise InputError(f"the schedule of {name} must be finite numbers")
    segments = torch.arange(steps, device=tensor.device) * len(tensor) // steps
    return tensor[segments]


def is_constant(values: Tensor) -> bool:
    """True if a schedule (K,) does not vary, and nothing differentiates with respect to it."""
    return not values.requires_grad and bool((values == values[0]).all())
