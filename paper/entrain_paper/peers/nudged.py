"""Equilibrium propagation for any system that has an energy: free, nudged, nudged the other way."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from entrain.rules import Tensors
from entrain.utils.errors import one_of, positive_float, positive_int
from entrain_paper.peers.interface import Peer

Nudging = Literal["cross-entropy", "squared"]
State = tuple[Tensor, Tensor]  # hidden units (R, B, H) and outputs (R, B, O)


@dataclass(frozen=True)
class Nudged(Peer):
    r"""Hidden units h and outputs y that descend an energy E in `free_steps` steps of `step`.

    From rest at the free state, two copies go on for `nudged_steps` with +beta C and -beta C added
    to E. As beta goes to 0

        d C / d p = ( d E / d p (beta) - d E / d p (-beta) ) / (2 beta)

    at the free equilibrium, with an error of order beta^2. C compares the outputs' reading o with
    the one-hot target t: the cross-entropy of softmax(gain o), or |wanted - o|^2 / 2, where
    `wanted` is t stretched onto the range of the reading.

    With several `starts`, every image relaxes from as many first states; scores and gradients are
    their means.
    """

    hidden: int = 500
    beta: float = 0.3
    free_steps: int = 60
    nudged_steps: int = 15
    step: float = 0.25
    nudging: Nudging = "cross-entropy"
    gain: float = 4.0
    starts: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("hidden", "free_steps", "nudged_steps", "starts"):
            positive_int(name, getattr(self, name))
        for name in ("beta", "step", "gain"):
            positive_float(name, getattr(self, name))
        one_of("nudging", self.nudging, Nudging)

    @abstractmethod
    def drive(self, numbers: Tensors, inputs: Tensor) -> Tensor:
        """What inputs (R, B, D) do to the hidden units: (R, B, H)."""

    @abstractmethod
    def energy(self, numbers: Tensors, drive: Tensor, state: State) -> Tensor:
        """E of every example: (R, B)."""

    @abstractmethod
    def forces(self, numbers: Tensors, drive: Tensor, state: State) -> State:
        """-dE / dh and -dE / dy."""

    @abstractmethod
    def rest(self, numbers: Tensors, drive: Tensor) -> State:
        """The state from which the free relaxation begins."""

    def reading(self, outputs: Tensor) -> Tensor:
        """What is read of the outputs; they themselves by default."""
        return outputs

    def turned(self, outputs: Tensor, push: Tensor) -> Tensor:
        """A push on the reading as a force on the outputs: push times d reading / d output."""
        return push

    def wanted(self, target: Tensor) -> Tensor:
        """The reading that squared-error nudging asks for."""
        return target

    def bounded(self, h: Tensor, y: Tensor) -> State:
        """The state brought back into its range after a step; unbounded by default."""
        return h, y

    @property
    def variables(self) -> int:
        return self.hidden + 10

    def couplers(self, numbers: Tensors) -> int:
        return numbers["V"][0].numel()

    def scores(self, numbers: Tensors, inputs: Tensor) -> Tensor:
        read = self.reading(self.free(numbers, self.drive(numbers, inputs))[1])
        runs, examples, _ = inputs.shape
        read = read.reshape(runs, self.starts, examples, -1).mean(1)
        return read if self.nudging == "squared" else self.gain * read

    def misfit(self, outputs: Tensor, target: Tensor) -> Tensor:
        """C of every example: (R, B)."""
        read = self.reading(outputs)
        if self.nudging == "squared":
            return 0.5 * (self.wanted(target) - read).square().sum(-1)
        return -(target * (self.gain * read).log_softmax(-1)).sum(-1)

    def loss(self, numbers: Tensors, inputs: Tensor, target: Tensor) -> Tensor:
        """The mean of C (R,) at the free state."""
        _, y = self.free(numbers, self.drive(numbers, inputs))
        return self.misfit(y, target.repeat(1, self.starts, 1)).mean(-1)

    @torch.no_grad()
    def gradients(self, numbers: Tensors, inputs: Tensor, target: Tensor) -> tuple[Tensor, Tensors]:
        """The loss (R,) and the estimate of its gradient from the two nudged states."""
        drive = self.drive(numbers, inputs)
        target = target.repeat(1, self.starts, 1)
        h, y = self.free(numbers, drive)
        loss = self.misfit(y, target).mean(-1)
        several = 2 * self.starts  # both signs of beta lie side by side in the batch
        beta = torch.cat([torch.full_like(y[..., :1], sign * self.beta) for sign in (1.0, -1.0)], 1)
        state = self.relaxed(
            numbers,
            drive.repeat(1, several, 1),
            (h.repeat(1, 2, 1), y.repeat(1, 2, 1)),
            self.nudged_steps,
            beta,
            target.repeat(1, 2, 1),
        )
        names = [name for name in numbers if name not in self.fixed]
        leaves = {name: numbers[name].detach().requires_grad_() for name in names}
        with torch.enable_grad():
            drive = self.drive(numbers | leaves, inputs).repeat(1, several, 1)
            energy = self.energy(numbers | leaves, drive, state)
            weighted = (energy * beta[..., 0]).sum() / (2.0 * self.beta**2 * y.shape[1])
            found = torch.autograd.grad(weighted, list(leaves.values()))
        return loss, dict(zip(names, found, strict=True))

    def quick(self) -> Nudged:
        """Few epochs of short relaxations from one start, for a quick run on few images."""
        return replace(
            self,
            epochs=min(self.epochs, 4),
            free_steps=min(self.free_steps, 30),
            nudged_steps=min(self.nudged_steps, 8),
            starts=1,
        )

    def dissipated(self, numbers: Tensors, inputs: Tensor) -> Tensor:
        """The mean drop (R,) of E in one inference."""
        drive = self.drive(numbers, inputs).repeat(1, self.starts, 1)
        first = self.rest(numbers, drive)
        last = self.settled(numbers, drive, first)
        drop = self.energy(numbers, drive, first) - self.energy(numbers, drive, last)
        return drop.mean(-1)

    def free(self, numbers: Tensors, drive: Tensor) -> State:
        """The free state of every start: (R, starts B, H) and (R, starts B, O)."""
        drive = drive.repeat(1, self.starts, 1)
        return self.settled(numbers, drive, self.rest(numbers, drive))

    def settled(self, numbers: Tensors, drive: Tensor, state: State) -> State:
        """The free state that is reached from a first one."""
        return self.relaxed(numbers, drive, state, self.free_steps)

    def relaxed(
        self,
        numbers: Tensors,
        drive: Tensor,
        state: State,
        steps: int,
        beta: Tensor | None = None,
        target: Tensor | None = None,
    ) -> State:
        """The state after some steps down E, or down E + beta C with beta (R, B, 1)."""
        h, y = state
        for _ in range(steps):
            force, out = self.forces(numbers, drive, (h, y))
            if beta is not None and target is not None:
                out = out + beta * self.turned(y, self._push(y, target))
            h, y = self.bounded(
                torch.add(h, force, alpha=self.step), torch.add(y, out, alpha=self.step)
            )
        return h, y

    def _push(self, outputs: Tensor, target: Tensor) -> Tensor:
        """-dC / d reading: it vanishes when the answer is right."""
        read = self.reading(outputs)
        if self.nudging == "squared":
            return self.wanted(target) - read
        return self.gain * (target - (self.gain * read).softmax(-1))
