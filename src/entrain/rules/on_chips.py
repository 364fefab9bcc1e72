"""Forward passes on imperfect chips during training: new chips in every step, gradual pruning.

The examples of a batch are shared out among several chips, sampled anew for every step. The
gradient passes through the map from a network to a chip (`hardware.realise`), and unchanged through
rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from entrain import kernels
from entrain.evaluation.activations import frames_read
from entrain.evaluation.chips import VALIDATION_CHIPS, read_on_chips, scores_across_chips
from entrain.hardware import (
    CachedDraws,
    ChipDraws,
    Draws,
    FreshDraws,
    Realised,
    largest,
    largest_inputs,
    realise,
)
from entrain.physics import Dynamics, Noise, Parameters, PhaseModel
from entrain.physics.network_spec import NetworkOnDevice
from entrain.rules.adamw import STEPPED
from entrain.rules.chip_training import ChipTraining, unpruned_share
from entrain.rules.interface import Tensors
from entrain.tasks import Task

Back = Callable[[Tensor, int], Tensors]
_Draws = tuple[FreshDraws | CachedDraws, FreshDraws]  # of the chips, and of one inference

_SAMPLES = 2**20  # indices of noisy trajectories for each epoch


class OnChips:
    """Forward passes on chips, and gradients back to the network, of one training."""

    def __init__(
        self,
        training: ChipTraining,
        spec: NetworkOnDevice,
        runs: tuple[int, ...],
        seed: int,
        task: Task | None = None,
    ) -> None:
        self.training, self._spec, self._runs, self._seed = training, spec, runs, seed
        self._task = task
        # Masks replace sparsity and fan-in.
        self._hardware = replace(training.hardware, sparsity=None, fan_in=None)
        self._onset = torch.zeros((), device=spec.graph.device)
        n = len(spec.graph)
        self._mask = spec.graph.expand(len(runs), n, n).clone()
        self._weights_mask: Tensor | None = None
        self._draws: dict[tuple[int, int], _Draws] = {}
        self._samples = torch.zeros((), dtype=torch.int64, device=spec.graph.device)
        self._generators: list[torch.Generator] = []
        self._validation: CachedDraws | None = None
        self.complete = False  # True if the last epoch trained what will be built

    @classmethod
    def of(
        cls,
        training: ChipTraining | None,
        spec: NetworkOnDevice,
        runs: tuple[int, ...],
        seed: int,
        task: Task | None = None,
    ) -> OnChips | None:
        """None for the ideal network and for chips without any effect, which equal it exactly."""
        if training is None:
            return None
        hidden = spec.spec.hidden
        training.hardware.check_training(hidden, len(spec.graph) - hidden)
        if training.hardware.is_identity:
            return None
        return cls(training, spec, runs, seed, task)

    def begin_epoch(self, tensors: Tensors, epoch: int, epochs: int) -> None:
        """New generators, the strength of this epoch, and pruning."""
        training, device = self.training, self._onset.device
        # All of the training counts as done before the last epoch, so that even the shortest one
        # ends with what will be built.
        done = 1.0 if epoch == epochs - 1 else epoch / epochs
        strength = 1.0 if done >= training.onset else done / training.onset
        unpruned = unpruned_share(training, done)
        sparsity, fan_in = training.hardware.sparsity, training.hardware.fan_in
        self.complete = strength == 1.0 and not (unpruned and (sparsity or fan_in))
        self._onset.fill_(strength)
        self._generators = [
            torch.Generator(device).manual_seed(((self._seed * 1013 + run) * 7919 + epoch) % 2**63)
            for run in self._runs
        ]
        self._samples.fill_(epoch * _SAMPLES % 2**31)  # new thermal noise in every epoch
        raw = self._raw(tensors)
        graph = self._spec.graph
        hidden = self._spec.spec.hidden
        outputs = len(graph) - hidden
        if self._hardware.wiring is not None:
            graph = graph & self._hardware.wiring.graph_of(hidden, outputs, device)
        share = 1.0 if sparsity is None else sparsity.kept + (1.0 - sparsity.kept) * unpruned
        self._mask.copy_(largest(raw["couplings"], graph, share, outputs))
        _zero_outside(tensors, "couplings", self._mask)
        weights = raw["input_weights"]
        inputs = weights.shape[-1]
        if fan_in is not None and fan_in.inputs is not None and fan_in.inputs < inputs:
            left = fan_in.inputs + (inputs - fan_in.inputs) * unpruned
            mask = largest_inputs(weights, round(left))
            self._weights_mask = (
                mask if self._weights_mask is None else self._weights_mask.copy_(mask)
            )
            _zero_outside(tensors, "input_weights", mask)

    def renew(self, tensors: Tensors, rows: Tensor, dynamics: Dynamics) -> None:
        """New chips for the step on the examples `rows` (R, B)."""
        for draws in self._draws_of(self._raw(tensors), rows.shape[1], dynamics):
            if isinstance(draws, FreshDraws):
                draws.renew(self._generators)
        self._samples += rows.shape[1]

    def noise(self, rows: int, relaxation: int = 0) -> Noise | None:
        """Thermal noise of this step for so many samples of a chip, other numbers for each
        `relaxation`; None if the chips have none."""
        thermal = self._hardware.phase_noise
        if thermal is None or thermal.is_identity:
            return None
        begin = self._samples + relaxation * _SAMPLES
        samples = begin + torch.arange(rows, device=self._samples.device)
        return Noise(self._seed, thermal.temperature, samples.new_zeros(1), samples % 2**31)

    def forward(
        self, raw: Tensors, inputs: Tensor, dynamics: Dynamics, outputs: int
    ) -> tuple[Tensor, Back]:
        """Activations (R, B, O) of inputs (R, B, D), each on one of the chips; and the
        map from their gradient, over a count, to gradients of the tensors in `raw`."""
        runs, batch = inputs.shape[:2]
        model, to_leaves = self._model(raw, inputs, dynamics.steps)
        frames, record = frames_read(model, self._task)
        noise = self.noise(model.fields.shape[1])
        phases, pullback = kernels.rollout_with_pullback(
            model, dynamics, noise=noise, record=record
        )
        ends = (phases if noise is None else phases.squeeze(-3)).detach()
        last = ends[-frames:] if record else ends[None]
        reading = self._hardware.readout
        read = last[..., -outputs:].requires_grad_()
        with torch.enable_grad():
            if reading is None or reading.is_identity:
                scores = read[0].cos() if len(read) == 1 else read.cos().mean(0)
            else:
                draws = self._draws[runs, batch]
                scores = read_on_chips(last, model, dynamics, reading, outputs, *draws, read=read)

        def back(gradient: Tensor, count: int) -> Tensors:
            by_scores = gradient.reshape(scores.shape) / count
            (by_read,) = torch.autograd.grad(scores, read, by_scores)
            by_phases = torch.zeros_like(ends)
            by_phases[..., -outputs:][-frames if record else 0 :] = (
                by_read if record else by_read[0]
            )
            return to_leaves(pullback(by_phases if noise is None else by_phases.unsqueeze(-3)))

        return scores.detach().reshape(runs, batch, outputs), back

    def path_loss(
        self,
        raw: Tensors,
        inputs: Tensor,
        coefficients: Tensor,
        dynamics: Dynamics,
        nodes: int | None,
    ) -> tuple[Tensor, Tensors]:
        """L_path (R,) of inputs (R, B, D), each on one of the chips, along the teacher's path of
        `coefficients` (R, B, N); and its gradient with respect to the tensors in `raw`."""
        model, to_leaves = self._model(raw, inputs, dynamics.steps)
        chips = len(model.fields) // len(inputs)
        by_chip = coefficients.reshape(model.fields.shape)
        losses, gradient = kernels.path_loss(model, by_chip, dynamics, nodes=nodes)
        gradients = to_leaves(gradient.map(lambda tensor: tensor / chips))
        return losses.reshape(-1, chips).mean(1), gradients

    def validation_scores(
        self, parameters: Parameters, inputs: Tensor, dynamics: Dynamics
    ) -> Tensor:
        """Activations (R, M, O) of inputs (M, D), shared out among the fixed chips in order."""
        chips = min(self.training.validation_chips, len(inputs))
        first = VALIDATION_CHIPS.start
        if self.training.chip is not None:
            chips, first = 1, self.training.chip
        seeds = range(first, first + chips)
        if self._validation is None:
            draws = ChipDraws(seeds, parameters.biases, len(parameters.biases))
            self._validation = CachedDraws(draws)
        return scores_across_chips(
            parameters,
            self.training.hardware,
            seeds,
            inputs,
            dynamics,
            task=self._task,
            draws=self._validation,
        )

    def measured(
        self, raw: Tensors, inputs: Tensor
    ) -> tuple[PhaseModel, Callable[[PhaseModel], Tensors]]:
        """As `_model`, for rules that measure phases only: the gradient of the realised parameters
        is used for the programmed ones."""
        realised, by_chip = self._realised_for(raw, inputs)

        def to_programmed(gradient: PhaseModel) -> Tensors:
            gradients = {
                name: tensor.reshape(len(inputs), -1, *tensor.shape[1:]).sum(1)
                for name, tensor in realised.parameters.pullback(gradient, by_chip).items()
                if name in raw
            }
            return self.masked(gradients)

        return realised.phase_model(by_chip), to_programmed

    def complete_first(self, merit: Tensor) -> Tensor:
        """`merit` (R, n) behind a column that ranks an epoch before the end of pruning last."""
        return torch.cat([torch.full_like(merit[:, :1], float(self.complete)), merit], dim=1)

    def masked(self, changes: Tensors) -> Tensors:
        """Gradients, or other changes of parameters, with zeros for those that were pruned."""
        result = changes | {"couplings": self._mask * changes["couplings"]}
        if self._weights_mask is not None and "input_weights" in changes:
            result["input_weights"] = self._weights_mask * changes["input_weights"]
        return result

    def _model(
        self, raw: Tensors, inputs: Tensor, steps: int
    ) -> tuple[PhaseModel, Callable[[PhaseModel], Tensors]]:
        """The phase model of R networks on C chips each, (R C, B / C, N), and the map from its
        gradient to those of the tensors in `raw`."""
        leaves = {name: tensor.detach().requires_grad_() for name, tensor in raw.items()}
        with torch.enable_grad():
            realised, by_chip = self._realised_for(leaves, inputs)
            model = realised.phase_model(by_chip, steps)

        def to_leaves(gradient: PhaseModel) -> Tensors:
            outputs, by_output = model.tensors(), gradient.tensors()
            names = [name for name in outputs if outputs[name].requires_grad]
            gradients = torch.autograd.grad(
                [outputs[name] for name in names],
                list(leaves.values()),
                [by_output[name].reshape(outputs[name].shape) for name in names],
                allow_unused=True,
            )
            by_leaves = {
                name: torch.zeros_like(leaf) if by_leaf is None else by_leaf
                for (name, leaf), by_leaf in zip(leaves.items(), gradients, strict=True)
            }
            by_couplings = by_leaves["couplings"]
            return self.masked(by_leaves | {"couplings": by_couplings + by_couplings.mT})

        return model.map(torch.Tensor.detach), to_leaves

    def _chips(self, batch: int) -> int:
        """The largest number of chips, at most that of the training, that divides the batch."""
        most = min(self.training.chips, batch) if self.training.chip is None else 1
        return next(c for c in range(most, 0, -1) if batch % c == 0)

    def _realised_for(self, raw: Tensors, inputs: Tensor) -> tuple[Realised, Tensor]:
        """The networks on the chips of this step, and their inputs (R C, B / C, D)."""
        runs, batch = inputs.shape[:2]
        chips = self._chips(batch)
        realised = self._realised(self._spec.parameters(raw), chips, self._draws[runs, batch][0])
        return realised, inputs.reshape(runs * chips, batch // chips, *inputs.shape[2:])

    def _realised(self, parameters: Parameters, chips: int, draws: Draws) -> Realised:
        """The networks on new chips; below full strength, interpolated from the ideal ones."""
        ideal = parameters.map(lambda tensor: tensor.repeat_interleave(chips, dim=0))
        realised = realise(ideal, self._hardware, draws)
        changed = {}
        for name, tensor in realised.parameters.tensors().items():
            before = getattr(ideal, name)
            if before is not tensor and name != "start_phases":
                base = torch.zeros_like(tensor) if before is None else before
                changed[name] = base + self._onset * (tensor - base)
        return realised.with_parameters(**changed)

    def _raw(self, tensors: Tensors) -> Tensors:
        """The parameters that are stepped; with averaging they stand beside their running mean."""
        names = self._spec.spec.names
        return {name: tensors.get(f"raw.{name}", tensors[name]) for name in names}

    def _draws_of(self, raw: Tensors, batch: int, dynamics: Dynamics) -> _Draws:
        """Random numbers of batches of this size, requested by a dry run the first time."""
        runs = len(self._runs)
        if (runs, batch) not in self._draws:
            chips, chip, like = self._chips(batch), self.training.chip, raw["biases"]
            of_chips: FreshDraws | CachedDraws = FreshDraws(runs * chips, like)
            if chip is not None:  # the one chip it trains on
                of_chips = CachedDraws(ChipDraws([chip], like, runs))
            draws = self._draws[runs, batch] = of_chips, FreshDraws(runs * chips, like)
            with torch.no_grad():
                parameters = self._spec.parameters(raw)
                self._realised(parameters, chips, draws[0])
                reading = self._hardware.readout
                if reading is not None:
                    zeros = like.new_zeros(runs * chips, batch // chips, parameters.outputs)
                    reading.scores(zeros, zeros, dynamics.observation_time, *draws)
        return self._draws[runs, batch]


def _zero_outside(tensors: Tensors, name: str, mask: Tensor) -> None:
    """Set a parameter, and its tensors of AdamW, to zero where `mask` is False."""
    for prefix in STEPPED:
        if f"{prefix}{name}" in tensors:
            tensors[f"{prefix}{name}"] *= mask
