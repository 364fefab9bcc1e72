"""Training steps of plain networks on the CPU, compiled: many steps in one call.

`rules.compiled_steps` chooses between this and the same steps in PyTorch operations.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import torch
from torch import Tensor

from entrain.kernels.counters import can_yield
from entrain.kernels.cpu import compile_beside_rollout
from entrain.kernels.tiles_adamw import Parameter
from entrain.kernels.tiles_inputs import LANES, array, ceil, rows_of
from entrain.kernels.tiles_plain import plain_workspace_size
from entrain.kernels.tiles_training import (
    Batch,
    Batches,
    Counters,
    Examples,
    Network,
    Settings,
    Tile,
    train_run,
)
from entrain.kernels.workers import in_threads, scratch, together
from entrain.physics import Dynamics

_PARTIAL_SUMS = 32  # of the gradient of J, at most
_TILES_OF_A_THREAD = 4  # at least: threads with less would wait for one another
_MEMORY = {1: 0.0, 2: 0.5}  # m of `tiles_plain` by the order of the steps


@dataclass(frozen=True)
class Loss:
    """The loss and the optimiser; tuples have a number for each run.

    Args:
        input_rate: Largest learning rate of W.
        coupling_rate: Largest learning rate of J and c.
        weight_decay: Decoupled decay of W.
        gain: Gain of the softmax.
        smoothing: Label smoothing.
        clip: Largest norm of the gradient.
        averaging: Largest decay of the running mean.
        is_squared: True for the mean squared error, False for the cross-entropy.
    """

    input_rate: Sequence[float]
    coupling_rate: Sequence[float]
    weight_decay: Sequence[float]
    gain: Sequence[float]
    smoothing: Sequence[float]
    clip: float
    averaging: float
    is_squared: bool = False

    def arrays(self, dynamics: Dynamics, order: int) -> Settings:
        """As the kernel reads it.

        Args:
            dynamics: Mobility, observation time and steps.
            order: Order of convergence of the steps.
        """
        names = ("input_rate", "coupling_rate", "weight_decay", "gain", "smoothing")
        runs = (np.array(getattr(self, name), dtype=np.float32) for name in names)
        scale = dynamics.mobility * dynamics.time_step
        fixed = float(self.clip), float(self.averaging), bool(self.is_squared)
        steps = dynamics.steps, np.float32(_MEMORY[order])
        return Settings(*(*runs, *fixed, scale, *steps))


class TrainingPass:
    """Passes over the examples of a task, in memory that all of them use."""

    def __init__(
        self, inputs: Tensor, targets: Tensor, weights: Tensor | None, graph: Tensor, loss: Loss
    ) -> None:
        """A pass over some examples.

        Args:
            inputs: u (M, D).
            targets: Probabilities of classes, or numbers (M, O).
            weights: Weights in the loss (M,), or None.
            graph: (N, N) booleans, True where two oscillators are coupled.
            loss: The loss and the optimiser.
        """
        padded = torch.nn.functional.pad(inputs.float(), (0, -inputs.shape[1] % LANES))
        factors = scratch(0) if weights is None else array(weights.float())
        self._examples = Examples(array(padded), array(targets.float()), factors)
        self._graph, self._loss = array(graph.float()), loss
        self._memory: dict[tuple[int, ...], Any] = {}
        self._is_compiled = False

    def train(
        self,
        tensors: Mapping[str, Tensor],
        rows: Tensor,
        sizes: Sequence[int],
        schedule: Sequence[float],
        dynamics: Dynamics,
        order: int = 1,
        runs: Sequence[int] | None = None,
    ) -> Tensor:
        """Sums of the losses (R,) of all rows, each at its step; steps `tensors` in place.

        Args:
            tensors: The tensors of `rules.adamw`, float32 and contiguous, with symmetric couplings.
            rows: Indices (R, n) of examples in order.
            sizes: Number of rows of each step; their sum is n.
            schedule: Factor of the rates in each step.
            dynamics: Mobility, observation time and steps.
            order: 1 for Euler's steps, 2 for those of Adams and Bashforth.
            runs: Runs to train, by default all; the loss of the others is 0.
        """
        largest, losses = max(sizes), np.zeros(len(rows))
        trained = range(len(rows)) if runs is None else runs
        factors = np.array(schedule, dtype=np.float32)
        batches = Batches(array(rows), np.cumsum([0, *sizes]), factors)
        settings = self._loss.arrays(dynamics, order)
        threads = torch.get_num_threads()
        team = min(threads, ceil(largest, LANES) // _TILES_OF_A_THREAD) if can_yield() else 1
        if len(trained) >= threads:
            team = 1

        def train(run: int) -> None:
            batch = self._batch(run, largest)
            counters = Counters(*(np.zeros(len(sizes), dtype=np.int64) for _ in range(3)))
            network = _network(tensors, self._graph, batch)
            tiles = [self._tile(run, thread, dynamics.steps) for thread in range(max(team, 1))]

            def work(thread: int) -> None:
                train_run(run, thread, *fixed, batch, tiles[thread], counters)

            fixed = network, self._examples, batches, settings
            if not self._is_compiled:  # the types take a part of a small epoch
                _compile((run, 0, *fixed, batch, tiles[0], counters))
                self._is_compiled = True
            if team > 1:
                together(work, team)
            else:
                work(0)
            losses[run] = batch.losses.sum()

        if team > 1:
            for run in trained:
                train(run)
        else:
            in_threads(len(trained), lambda: lambda index: train(trained[index]))
        return torch.from_numpy(losses).float()

    def _batch(self, run: int, size: int) -> Batch:
        """Memory of a run for batches of a size."""
        key = (run, size)
        if key not in self._memory:
            self._memory[key] = _batch(size, self._examples, self._graph)
        batch: Batch = self._memory[key]
        batch.losses[:] = 0.0
        return batch

    def _tile(self, run: int, thread: int, steps: int) -> Tile:
        """Memory of a thread of a run for rollouts of so many steps."""
        key = (run, thread, steps)
        if key not in self._memory:
            self._memory[key] = _tile(self._examples, len(self._graph), steps)
        tile: Tile = self._memory[key]
        return tile


def _compile(arguments: tuple[Any, ...]) -> None:
    """Compile the training for such arguments beside the rollout, which validation needs."""
    typeof: Any = numba.typeof
    types = tuple(typeof(argument) for argument in arguments)
    if types not in train_run.overloads:
        name = hashlib.sha256(repr(types).encode()).hexdigest()[:16]
        compile_beside_rollout(name, lambda: train_run.compile(types))


def _network(tensors: Mapping[str, Tensor], graph: Any, batch: Batch) -> Network:
    def parameter(name: str, gradient: Any) -> Parameter:
        parts = [tensors[f"{kind}{name}"].numpy() for kind in ("raw.", "first.", "second.", "")]
        if parts[0].ndim == 2:
            parts = [part[:, None] for part in parts]
        return Parameter(*(*parts, gradient))

    return Network(
        parameter("input_weights", batch.by_weights),
        parameter("biases", batch.by_biases),
        parameter("couplings", batch.by_couplings),
        graph,
        tensors["adam.count"].numpy(),
    )


def _batch(size: int, examples: Examples, graph: Any) -> Batch:
    tiles, n = ceil(size, LANES), len(graph)
    rows, parts, columns = rows_of(n), min(tiles, _PARTIAL_SUMS), examples.inputs.shape[1]
    return Batch(
        inputs=scratch(LANES * tiles, columns),
        slopes=scratch(LANES * tiles, n),
        panels=scratch(n * rows),
        partial=scratch(parts, ceil(rows, 16), rows, 16),
        by_weights=scratch(n - examples.targets.shape[1], columns),
        by_biases=scratch(1, n),
        by_couplings=scratch(n, LANES * ceil(n, LANES)),
        squares=np.zeros(n),
        losses=np.zeros(parts),
    )


def _tile(examples: Examples, n: int, steps: int) -> Tile:
    rows = rows_of(n)
    return Tile(
        tape=scratch(steps + 1, 16 * rows),
        diagonals=scratch(steps, 8 * rows),
        inputs=scratch(examples.inputs.shape[1], LANES),
        fields=scratch(rows, LANES),
        adjoint=scratch(rows, LANES),
        slopes=scratch(rows, LANES),
        workspace=scratch(plain_workspace_size(rows)),
        outputs=np.zeros((2, examples.targets.shape[1])),
    )
