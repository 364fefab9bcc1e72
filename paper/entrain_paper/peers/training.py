"""Training of a compared system, several runs side by side."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from entrain.hardware import FreshDraws
from entrain.rules import adamw
from entrain.rules.interface import Assignment, Tensors, generators, shuffled
from entrain.rules.repeated_step import RepeatedSteps
from entrain.tasks import metrics
from entrain_paper.peers.draws import SequentialDraws
from entrain_paper.peers.interface import Peer

_BATCH = 1000  # examples scored at once


class PeerTraining:
    """Adam or SGD on a system's gradients.

    Tensors: the system's parameters by name, `first.*` and `second.*` their moments, `adam.count`
    the steps; with averaging `raw.*` are the optimised parameters, and the named ones their
    running mean.

    Random numbers of the dynamics are a pure function of seed, run, epoch and of what they are for:
    training, validation (the same noise after every epoch), test or energy.
    """

    def __init__(self, peer: Peer, assignment: Assignment) -> None:
        self.peer, self.epochs, self.runs = peer, peer.epochs, assignment.runs
        self._seed, data = assignment.seed, assignment.data
        self._classes, self._device = data.outputs, data.device
        train, validation = data.images
        assert train.images is not None
        assert validation.images is not None
        self._mean = float(train.images.mean()) if peer.standardised else 0.0
        self._deviation = float(train.images.std()) if peer.standardised else 1.0
        spacing = max(1, len(train.targets) // (peer.examples or len(train.targets)))
        self._images = train.images[::spacing][: peer.examples]
        self._labels = train.targets[::spacing][: peer.examples]
        self._validation, self._validation_labels = validation.images, validation.targets
        self._targets = torch.nn.functional.one_hot(self._labels, self._classes).float()
        self._total = torch.zeros(len(self.runs), device=self._device)
        self._schedule = torch.zeros((), device=self._device)
        self._distortions: Tensor | None = None
        self._steps = RepeatedSteps()
        self._draws: dict[int, FreshDraws] = {}  # by examples in a batch
        self._names = tuple(self._init_parameters(0))

    def _init_parameters(self, run: int) -> Tensors:
        generator = torch.Generator().manual_seed(self._seed * 1_000_003 + run)
        return self.peer.init_parameters(self._images[0].numel(), self._classes, generator)

    def initial(self) -> Tensors:
        runs = [self._init_parameters(run) for run in self.runs]
        parameters = {
            name: torch.stack([run[name] for run in runs]).to(self._device) for name in self._names
        }
        tensors = {name: tensor.clone() for name, tensor in parameters.items()}
        for name, tensor in parameters.items():
            if name in self.peer.fixed:
                continue
            if self.peer.averaging:
                tensors[f"raw.{name}"] = tensor
            tensors[f"first.{name}"] = torch.zeros_like(tensor)
            tensors[f"second.{name}"] = torch.zeros_like(tensor)
        tensors["adam.count"] = torch.zeros(len(self.runs), 1, device=self._device)
        return tensors

    def run_epoch(self, tensors: Tensors, epoch: int) -> Tensors:
        count = len(self._labels)
        order = shuffled("peer", self._seed, self.runs, epoch, count).to(self._device)
        self._sample_distortions(epoch, count)
        step = self._steps.get(tensors, self._step, self._total)
        self._total.zero_()
        streams = generators("peer", self._seed, self.runs, epoch, self._device)
        batches = torch.split(order, self.peer.batch_size, dim=1)
        for index, rows in enumerate(batches):
            done = (epoch + index / len(batches)) / self.epochs
            self._schedule.fill_(adamw.cosine_schedule(done))
            self._draws_of(tensors, rows).renew(streams)
            step(rows)
        return {"loss": self._total / count}

    def _sample_distortions(self, epoch: int, count: int) -> None:
        """Sample new distortions for this epoch, a function of seed, run and epoch."""
        augmentation = self.peer.augmentation
        if augmentation is None or augmentation.is_identity:
            return
        distortions = augmentation.draw_epoch(count, self._seed, self.runs, epoch, self._device)
        if self._distortions is None:
            self._distortions = distortions
        else:
            self._distortions.copy_(distortions)

    def _draws_of(self, tensors: Tensors, rows: Tensor) -> FreshDraws:
        """Random numbers of a step on examples `rows` (R, B)."""
        batch = rows.shape[1]
        if batch not in self._draws:
            self._draws[batch] = FreshDraws(len(self.runs), self._total)
            self._gradients(self._parameters(tensors), rows)  # requests all that it will use
        return self._draws[batch]

    def _parameters(self, tensors: Tensors) -> Tensors:
        """The optimised parameters, in the order of `init_parameters`, in which the norm of the
        gradient is summed; a checkpoint has another."""
        return {name: tensors.get(f"raw.{name}", tensors[name]) for name in self._names}

    def _gradients(self, parameters: Tensors, rows: Tensor) -> tuple[Tensor, Tensors]:
        inputs, target = self._inputs(rows), self._targets[rows]
        return self.peer.gradients(parameters, inputs, target, self._draws[rows.shape[1]])

    def _step(self, tensors: Tensors, rows: Tensor) -> None:
        parameters = self._parameters(tensors)
        loss, gradients = self._gradients(parameters, rows)
        self._update(tensors, parameters, gradients)
        self.peer.project(parameters)
        self._total += loss * rows.shape[1]

    def _inputs(self, rows: Tensor) -> Tensor:
        """Inputs (R, B, D) of the examples `rows` (R, B), distorted by the augmentation."""
        images = self._images[rows].flatten(0, 1)
        if self._distortions is not None:
            assert self.peer.augmentation is not None
            runs = torch.arange(len(rows), device=rows.device)[:, None]
            full = torch.ones((), device=rows.device)
            distortions = self._distortions[runs, rows].flatten(0, 1)
            images = self.peer.augmentation(images, distortions, full)
        return self._standardise(images).reshape(*rows.shape, -1)

    def _standardise(self, images: Tensor) -> Tensor:
        return (images - self._mean) / self._deviation

    def _update(self, tensors: Tensors, parameters: Tensors, gradients: Tensors) -> None:
        peer, count = self.peer, tensors["adam.count"]
        count += 1.0
        factor: Tensor | None = None
        if peer.clip is not None:
            factor = adamw.clip_factor(gradients, peer.clip)
        biases = adamw.moment_biases(count)
        weight = adamw.mean_weight(count, peer.averaging)
        for name, gradient in gradients.items():
            if factor is not None:
                gradient = gradient * adamw.per_tensor(factor, gradient)
            parameter, first = parameters[name], tensors[f"first.{name}"]
            rate = peer.rate * peer.rates.get(name, 1.0) * self._schedule
            if peer.optimiser == "sgd":
                first.mul_(peer.momentum).add_(gradient)
                step = first
            else:
                step = adamw.adam_direction(gradient, first, tensors[f"second.{name}"], biases)
            if peer.decay:
                parameter.mul_(1.0 - rate * peer.decay)
            parameter.sub_(rate * step)
            if peer.averaging:
                adamw.update_mean(tensors[name], parameter, weight)

    def validate(self, tensors: Tensors) -> Tensors:
        parameters = {name: tensor for name, tensor in tensors.items() if "." not in name}
        scores = self.scores(parameters, self._validation, "validation")
        labels = self._validation_labels.expand(len(self.runs), -1)[..., None]
        entropy = -scores.log_softmax(-1).gather(-1, labels)[..., 0]
        return {
            "top1": metrics.top_k(scores, self._validation_labels),
            "cross_entropy": entropy.double().mean(1),
        }

    @torch.no_grad()
    def scores(self, parameters: Tensors, images: Tensor, purpose: str = "test") -> Tensor:
        """Scores (R, M, O) of images (M, rows, columns), with the random numbers of `purpose`."""
        draws = self._sequential_draws(purpose)
        scores = [self.peer.scores(parameters, inputs, draws) for inputs in self._batches(images)]
        return torch.cat(scores, dim=1)

    @torch.no_grad()
    def energy(self, parameters: Tensors, images: Tensor) -> float | None:
        """Dissipated energy of one inference, mean over images (M, rows, columns) and runs."""
        total, draws = 0.0, self._sequential_draws("energy")
        for inputs in self._batches(images):
            energy = self.peer.dissipated_energy(parameters, inputs, draws)
            if energy is None:
                return None
            total += float(energy.double().mean()) * inputs.shape[1]
        return total / len(images)

    def _sequential_draws(self, purpose: str) -> SequentialDraws:
        streams = generators(f"peer {purpose}", self._seed, self.runs, 0, self._device)
        return SequentialDraws(streams, self._total)

    def _batches(self, images: Tensor) -> Iterator[Tensor]:
        """Inputs (R, B, D) of images (M, rows, columns), the same for every run."""
        for batch in torch.split(images, _BATCH):
            inputs = self._standardise(batch).flatten(1)
            yield inputs.expand(len(self.runs), *inputs.shape)

    def merit(self, metrics: Tensors) -> Tensor:
        return metrics["top1"][:, None]
