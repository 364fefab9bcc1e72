"""Equilibrium propagation for systems with an energy: one free and two nudged relaxations."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from entrain.hardware import Draws
from entrain.rules import Tensors
from entrain.utils.errors import one_of, positive_float, positive_int
from entrain_paper.peers.interface import Peer

Nudging = Literal["cross-entropy", "squared"]
State = tuple[Tensor, Tensor]  # hidden units (R, B, H) and outputs (R, B, O)


@dataclass(frozen=True)
class EquilibriumPropagation(Peer):
    r"""Hidden units h and outputs y that descend an energy E in `free_steps` steps of `step`.

    From the free state, two copies relax for `nudged_steps` more steps with +beta C and -beta C
    added to E. As beta goes to 0

        d C / d p = ( d E / d p (beta) - d E / d p (-beta) ) / (2 beta)

    at the free equilibrium, with an error of order beta^2. The cost C of the readout o and the
    one-hot target t is the cross-entropy of softmax(gain o), or |t' - o|^2 / 2 with t scaled to the
    range of the readout (t').

    Every image relaxes from `starts` initial states; scores and gradients are means over them.
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
    def drive(self, parameters: Tensors, inputs: Tensor) -> Tensor:
        """Field (R, B, H) of inputs (R, B, D) on the hidden units."""

    @abstractmethod
    def energy(self, parameters: Tensors, drive: Tensor, state: State) -> Tensor:
        """Energy E (R, B) of every example."""

    @abstractmethod
    def forces(self, parameters: Tensors, drive: Tensor, state: State) -> State:
        """-dE / dh and -dE / dy."""

    @abstractmethod
    def initial_state(self, parameters: Tensors, drive: Tensor, draws: Draws) -> State:
        """Initial state of the free relaxation."""

    def readout(self, outputs: Tensor) -> Tensor:
        """Readout o of the outputs; the identity by default."""
        return outputs

    def output_force(self, outputs: Tensor, push: Tensor) -> Tensor:
        """Force on the outputs of a push on the readout: push times d readout / d output."""
        return push

    def target_readout(self, target: Tensor) -> Tensor:
        """Target of the readout in the squared error."""
        return target

    def clamp(self, h: Tensor, y: Tensor) -> State:
        """The state clipped to its range after a step; no bounds by default."""
        return h, y

    @property
    def variables(self) -> int:
        return self.hidden + 10

    def couplers(self, parameters: Tensors) -> int:
        return parameters["V"][0].numel()

    def scores(self, parameters: Tensors, inputs: Tensor, draws: Draws) -> Tensor:
        _, y = self.free_state(parameters, self.drive(parameters, inputs), draws)
        readout = self.readout(y)
        runs, examples, _ = inputs.shape
        readout = readout.reshape(runs, self.starts, examples, -1).mean(1)
        return readout if self.nudging == "squared" else self.gain * readout

    def output_cost(self, outputs: Tensor, target: Tensor) -> Tensor:
        """Cost C (R, B) of every example."""
        readout = self.readout(outputs)
        if self.nudging == "squared":
            return 0.5 * (self.target_readout(target) - readout).square().sum(-1)
        return -(target * (self.gain * readout).log_softmax(-1)).sum(-1)

    def loss(self, parameters: Tensors, inputs: Tensor, target: Tensor, draws: Draws) -> Tensor:
        """Mean cost C (R,) at the free state."""
        _, y = self.free_state(parameters, self.drive(parameters, inputs), draws)
        return self.output_cost(y, target.repeat(1, self.starts, 1)).mean(-1)

    @torch.no_grad()
    def gradients(
        self, parameters: Tensors, inputs: Tensor, target: Tensor, draws: Draws
    ) -> tuple[Tensor, Tensors]:
        """Loss (R,) and its gradient as estimated from the two nudged states."""
        drive = self.drive(parameters, inputs)
        target = target.repeat(1, self.starts, 1)
        h, y = self.free_state(parameters, drive, draws)
        loss = self.output_cost(y, target).mean(-1)
        copies = 2 * self.starts  # both signs of beta are side by side in the batch
        beta = torch.cat([torch.full_like(y[..., :1], sign * self.beta) for sign in (1.0, -1.0)], 1)
        state = self.relax(
            parameters,
            drive.repeat(1, copies, 1),
            (h.repeat(1, 2, 1), y.repeat(1, 2, 1)),
            self.nudged_steps,
            beta,
            target.repeat(1, 2, 1),
        )
        leaves = self.trained_leaves(parameters)
        with torch.enable_grad():
            drive = self.drive(parameters | leaves, inputs).repeat(1, copies, 1)
            energy = self.energy(parameters | leaves, drive, state)
            weighted = (energy * beta[..., 0]).sum() / (2.0 * self.beta**2 * y.shape[1])
            slopes = torch.autograd.grad(weighted, list(leaves.values()))
        return loss, dict(zip(leaves, slopes, strict=True))

    def quick(self) -> EquilibriumPropagation:
        """This system with few epochs of short relaxations from one start."""
        return replace(
            self,
            epochs=min(self.epochs, 4),
            free_steps=min(self.free_steps, 30),
            nudged_steps=min(self.nudged_steps, 8),
            starts=1,
        )

    def dissipated_energy(self, parameters: Tensors, inputs: Tensor, draws: Draws) -> Tensor:
        """Mean decrease (R,) of E in one inference."""
        drive = self.drive(parameters, inputs).repeat(1, self.starts, 1)
        first = self.initial_state(parameters, drive, draws)
        last = self.relax_free(parameters, drive, first)
        drop = self.energy(parameters, drive, first) - self.energy(parameters, drive, last)
        return drop.mean(-1)

    def free_state(self, parameters: Tensors, drive: Tensor, draws: Draws) -> State:
        """Free states (R, starts B, H) and (R, starts B, O) from every start."""
        drive = drive.repeat(1, self.starts, 1)
        return self.relax_free(parameters, drive, self.initial_state(parameters, drive, draws))

    def relax_free(self, parameters: Tensors, drive: Tensor, state: State) -> State:
        """The free state reached from an initial state."""
        return self.relax(parameters, drive, state, self.free_steps)

    def relax(
        self,
        parameters: Tensors,
        drive: Tensor,
        state: State,
        steps: int,
        beta: Tensor | None = None,
        target: Tensor | None = None,
    ) -> State:
        """The state after `steps` steps down E, or down E + beta C with beta (R, B, 1)."""
        h, y = state
        for _ in range(steps):
            force, out = self.forces(parameters, drive, (h, y))
            if beta is not None and target is not None:
                out = out + beta * self.output_force(y, self._push(y, target))
            h, y = self.clamp(
                torch.add(h, force, alpha=self.step), torch.add(y, out, alpha=self.step)
            )
        return h, y

    def _push(self, outputs: Tensor, target: Tensor) -> Tensor:
        """-dC / d readout, which vanishes at a cost of 0."""
        readout = self.readout(outputs)
        if self.nudging == "squared":
            return self.target_readout(target) - readout
        return self.gain * (target - (self.gain * readout).softmax(-1))
