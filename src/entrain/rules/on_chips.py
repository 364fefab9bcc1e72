"""Training with imperfections present: new chips in every step, pruning on a schedule.

The examples of a batch are dealt to several chips, drawn anew for every step. The gradient goes
through what makes a chip of a network (`hardware.realise`), straight through where it rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from entrain import kernels
from entrain.evaluation.chips import VALIDATION_CHIPS, scores_across_chips
from entrain.hardware import (
    ChipDraws,
    Draws,
    FreshDraws,
    KeptDraws,
    Realised,
    largest,
    largest_inputs,
    realise,
)
from entrain.physics import Dynamics, Noise, Parameters, PhaseModel, drift
from entrain.physics.network_spec import NetworkOnDevice
from entrain.rules.chip_training import ChipTraining, done_before
from entrain.rules.interface import Tensors

Back = Callable[[Tensor, int], Tensors]
_Draws = tuple[FreshDraws | KeptDraws, FreshDraws]  # of the chips, and of a run

_SAMPLES = 2**20  # numbers of noisy trajectories for each epoch
_STEPPED = ("", "raw.", "first.", "second.")  # a network's numbers, and what steps them


class OnChips:
    """Forward passes on chips, and gradients back to the network, of one training."""

    def __init__(
        self, training: ChipTraining, spec: NetworkOnDevice, runs: tuple[int, ...], seed: int
    ) -> None:
        self.training, self._spec, self._runs, self._seed = training, spec, runs, seed
        self._hardware = replace(training.hardware, sparsity=None, fan_in=None)  # by masks instead
        self._onset = torch.zeros((), device=spec.graph.device)
        n = len(spec.graph)
        self._mask = spec.graph.expand(len(runs), n, n).clone()
        self._weights_mask: Tensor | None = None
        self._draws: dict[tuple[int, int], _Draws] = {}
        self._samples = torch.zeros((), dtype=torch.int64, device=spec.graph.device)
        self._generators: list[torch.Generator] = []
        self._validation: KeptDraws | None = None
        self.settled = False  # whether the last epoch trained what will be built

    @classmethod
    def of(
        cls, training: ChipTraining | None, spec: NetworkOnDevice, runs: tuple[int, ...], seed: int
    ) -> OnChips | None:
        """None for the ideal network, which chips without any effect are too, bit for bit."""
        if training is None:
            return None
        hidden = spec.spec.hidden
        training.hardware.check_training(hidden, len(spec.graph) - hidden)
        return None if training.hardware.is_identity else cls(training, spec, runs, seed)

    def begin_epoch(self, tensors: Tensors, epoch: int, epochs: int) -> None:
        """New generators, the strength of this epoch, and fewer parts where some go."""
        done = done_before(epoch, epochs)
        self.settled = self.training.settled(done)
        device = self._onset.device
        self._onset.fill_(self.training.strength(done))
        self._generators = [
            torch.Generator(device).manual_seed(((self._seed * 1013 + run) * 7919 + epoch) % 2**63)
            for run in self._runs
        ]
        self._samples.fill_(epoch * _SAMPLES % 2**31)  # thermal noise is new in every epoch
        raw = self._raw(tensors)
        graph = self._spec.graph
        hidden = self._spec.spec.hidden
        outputs = len(graph) - hidden
        if self._hardware.wiring is not None:
            graph = graph & self._hardware.wiring.graph_of(hidden, outputs, device)
        self._mask.copy_(largest(raw["couplings"], graph, self.training.kept(done), outputs))
        _keep_only(tensors, "couplings", self._mask)
        weights = raw["input_weights"]
        inputs = self.training.inputs(done, weights.shape[-1])
        if inputs is not None:
            found = largest_inputs(weights, inputs)
            self._weights_mask = (
                found if self._weights_mask is None else self._weights_mask.copy_(found)
            )
            _keep_only(tensors, "input_weights", found)

    def renew(self, tensors: Tensors, rows: Tensor, dynamics: Dynamics) -> None:
        """New chips for the step on the examples `rows` (R, B)."""
        for draws in self._drawn(self._raw(tensors), rows.shape[1], dynamics):
            if isinstance(draws, FreshDraws):
                draws.renew(self._generators)
        self._samples += rows.shape[1]

    def noise(self, rows: int, later: int = 0) -> Noise | None:
        """Thermal noise of this step for so many samples of a chip, other numbers with each
        `later`; None where there is none."""
        thermal = self._hardware.phase_noise
        if thermal is None or thermal.is_identity:
            return None
        samples = self._samples + later * _SAMPLES + torch.arange(rows, device=self._samples.device)
        return Noise(self._seed, thermal.temperature, samples.new_zeros(1), samples % 2**31)

    def forward(
        self, raw: Tensors, inputs: Tensor, dynamics: Dynamics, outputs: int
    ) -> tuple[Tensor, Back]:
        """Activations (R, B, O) of inputs (R, B, D), each on one of the chips; and what turns
        their gradient, over a count, into gradients of the tensors in `raw`."""
        runs, batch, _ = inputs.shape
        model, to_leaves = self._placed(raw, inputs)
        noise = self.noise(model.fields.shape[1])
        phases, pullback = kernels.rollout_with_pullback(model, dynamics, noise=noise)
        ends = (phases if noise is None else phases[:, 0]).detach()
        velocity = None
        reading = self._hardware.readout
        if reading is not None and reading.timing:
            velocity = drift(ends, model, dynamics.mobility)[..., -outputs:]
        read = ends[..., -outputs:].requires_grad_()
        with torch.enable_grad():
            scores = read.cos()
            if reading is not None and not reading.is_identity:
                time = dynamics.observation_time
                scores = reading.scores(read, velocity, time, *self._draws[runs, batch])

        def back(gradient: Tensor, count: int) -> Tensors:
            by_scores = gradient.reshape(scores.shape) / count
            (by_read,) = torch.autograd.grad(scores, read, by_scores)
            by_phases = torch.zeros_like(ends)
            by_phases[..., -outputs:] = by_read
            return to_leaves(pullback(by_phases if noise is None else by_phases[:, None]))

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
        model, to_leaves = self._placed(raw, inputs)
        chips = len(model.fields) // len(inputs)
        dealt = coefficients.reshape(model.fields.shape)
        losses, gradient = kernels.path_loss(model, dealt, dynamics, nodes=nodes)
        found = to_leaves(gradient.map(lambda tensor: tensor / chips))
        return losses.reshape(-1, chips).mean(1), found

    def validation_scores(
        self, parameters: Parameters, inputs: Tensor, dynamics: Dynamics
    ) -> Tensor:
        """Activations (R, M, O) of inputs (M, D), which are dealt to the fixed chips in order."""
        chips = min(self.training.validation_chips, len(inputs))
        first = VALIDATION_CHIPS.start
        if self.training.chip is not None:
            chips, first = 1, self.training.chip
        seeds = range(first, first + chips)
        if self._validation is None:
            draws = ChipDraws(seeds, parameters.biases, len(parameters.biases))
            self._validation = KeptDraws(draws)
        return scores_across_chips(
            parameters, self.training.hardware, seeds, inputs, dynamics, draws=self._validation
        )

    def measured(
        self, raw: Tensors, inputs: Tensor
    ) -> tuple[PhaseModel, Callable[[PhaseModel], Tensors]]:
        """As `_placed`, for what is learnt from the chip's phases alone: the gradient with respect
        to what acts on the chip is taken for that of the numbers it was given."""
        runs, batch, _ = inputs.shape
        chips = self._chips(batch)
        dealt = inputs.reshape(runs * chips, batch // chips, -1)
        realised = self._realised(self._spec.parameters(raw), chips, self._draws[runs, batch][0])

        def to_given(gradient: PhaseModel) -> Tensors:
            lanes = realised.parameters.pullback(gradient, dealt)
            found = {
                name: tensor.reshape(runs, chips, *tensor.shape[1:]).sum(1)
                for name, tensor in lanes.items()
                if name in raw
            }
            return self.masked(found)

        return realised.phase_model(dealt), to_given

    def settled_first(self, merit: Tensor) -> Tensor:
        """`merit` (R, n) with what counts before it: an epoch before the last part went is no
        candidate."""
        return torch.cat([torch.full_like(merit[:, :1], float(self.settled)), merit], dim=1)

    def masked(self, changes: Tensors) -> Tensors:
        """Gradients, or other changes of numbers, without those of parts that went."""
        found = changes | {"couplings": self._mask * changes["couplings"]}
        if self._weights_mask is not None and "input_weights" in changes:
            found["input_weights"] = self._weights_mask * changes["input_weights"]
        return found

    def _placed(
        self, raw: Tensors, inputs: Tensor
    ) -> tuple[PhaseModel, Callable[[PhaseModel], Tensors]]:
        """The phase model of R C lanes, B / C samples each, and what turns its gradient into those
        of the tensors in `raw`."""
        runs, batch, _ = inputs.shape
        chips = self._chips(batch)
        leaves = {name: tensor.detach().requires_grad_() for name, tensor in raw.items()}
        with torch.enable_grad():
            realised = self._realised(
                self._spec.parameters(leaves), chips, self._draws[runs, batch][0]
            )
            model = realised.phase_model(inputs.reshape(runs * chips, batch // chips, -1))

        def to_leaves(gradient: PhaseModel) -> Tensors:
            ours, theirs = model.tensors(), gradient.tensors()
            names = [name for name in ours if ours[name].requires_grad]
            found = torch.autograd.grad(
                [ours[name] for name in names],
                list(leaves.values()),
                [theirs[name].reshape(ours[name].shape) for name in names],
                allow_unused=True,
            )
            by_leaves = {
                name: torch.zeros_like(leaf) if slope is None else slope
                for (name, leaf), slope in zip(leaves.items(), found, strict=True)
            }
            by_couplings = by_leaves["couplings"]
            return self.masked(by_leaves | {"couplings": by_couplings + by_couplings.mT})

        return model.map(torch.Tensor.detach), to_leaves

    def _chips(self, batch: int) -> int:
        """As many chips as asked for, or the most below that share the batch evenly."""
        most = min(self.training.chips, batch) if self.training.chip is None else 1
        return next(c for c in range(most, 0, -1) if batch % c == 0)

    def _new_chips(self, runs: int, chips: int, like: Tensor) -> FreshDraws | KeptDraws:
        """Numbers of new chips for each step, or of the one chip that is learnt on."""
        if self.training.chip is None:
            return FreshDraws(runs * chips, like)
        return KeptDraws(ChipDraws([self.training.chip], like, runs))

    def _realised(self, parameters: Parameters, chips: int, draws: Draws) -> Realised:
        """The network on new chips; below full strength, somewhere between it and them."""
        ideal = parameters.map(lambda tensor: tensor.repeat_interleave(chips, dim=0))
        found = realise(ideal, self._hardware, draws)
        changed = {}
        for name, tensor in found.parameters.tensors().items():
            before = getattr(ideal, name)
            if before is not tensor and name != "start_phases":
                base = torch.zeros_like(tensor) if before is None else before
                changed[name] = base + self._onset * (tensor - base)
        return found.with_numbers(**changed)

    def _raw(self, tensors: Tensors) -> Tensors:
        """The numbers that are stepped, where a running mean stands beside them."""
        names = self._spec.spec.names
        return {name: tensors.get(f"raw.{name}", tensors[name]) for name in names}

    def _drawn(self, raw: Tensors, batch: int, dynamics: Dynamics) -> _Draws:
        """The random numbers of batches of this size; the first time, made by a dry run."""
        runs = len(self._runs)
        if (runs, batch) not in self._draws:
            chips = self._chips(batch)
            like = raw["biases"]
            drawn = self._new_chips(runs, chips, like), FreshDraws(runs * chips, like)
            self._draws[runs, batch] = drawn
            with torch.no_grad():
                parameters = self._spec.parameters(raw)
                self._realised(parameters, chips, drawn[0])
                reading = self._hardware.readout
                if reading is not None:
                    zeros = like.new_zeros(runs * chips, batch // chips, parameters.outputs)
                    reading.scores(zeros, zeros, dynamics.observation_time, *drawn)
        return self._draws[runs, batch]


def _keep_only(tensors: Tensors, name: str, mask: Tensor) -> None:
    """Set what `mask` leaves out to zero, in the network and in what steps it."""
    for prefix in _STEPPED:
        if f"{prefix}{name}" in tensors:
            tensors[f"{prefix}{name}"] *= mask
