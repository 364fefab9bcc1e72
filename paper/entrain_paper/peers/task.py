"""Training of a compared system, several runs side by side."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from entrain.evaluation import metrics
from entrain.rules import adamw
from entrain.rules.interface import Assignment, Tensors, shuffled
from entrain.rules.repeated_step import RepeatedSteps
from entrain_paper.peers.interface import Peer

_BATCH = 1000  # examples scored at once


class PeerTask:
    """Adam or SGD on a system's gradients.

    Tensors: the system's parameters by name, `first.*` and `second.*` their moments, `adam.count`
    the steps; with averaging `raw.*` are the optimised parameters, and the named ones their
    running mean.
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
        spacing = max(1, len(train.labels) // (peer.examples or len(train.labels)))
        self._images = train.images[::spacing][: peer.examples]
        self._labels = train.labels[::spacing][: peer.examples]
        self._validation, self._validation_labels = validation.images, validation.labels
        self._targets = torch.nn.functional.one_hot(self._labels, self._classes).float()
        self._total = torch.zeros(len(self.runs), device=self._device)
        self._schedule = torch.zeros((), device=self._device)
        self._distortions: Tensor | None = None
        self._steps = RepeatedSteps()

    def initial(self) -> Tensors:
        inputs = self._images[0].numel()
        generators = [torch.Generator().manual_seed(self._seed * 1_000_003 + r) for r in self.runs]
        runs = [self.peer.init_parameters(inputs, self._classes, each) for each in generators]
        parameters = {
            name: torch.stack([run[name] for run in runs]).to(self._device) for name in runs[0]
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
        torch.manual_seed(self._seed)  # for the random numbers of the dynamics
        return tensors

    def run_epoch(self, tensors: Tensors, epoch: int) -> Tensors:
        count = len(self._labels)
        order = shuffled("peer", self._seed, self.runs, epoch, count).to(self._device)
        self._sample_distortions(epoch, count)
        step = self._steps.get(tensors, self._step, self._total)
        self._total.zero_()
        batches = torch.split(order, self.peer.batch_size, dim=1)
        for index, rows in enumerate(batches):
            done = (epoch + index / len(batches)) / self.epochs
            self._schedule.fill_(adamw.cosine_schedule(done))
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

    def _step(self, tensors: Tensors, rows: Tensor) -> None:
        names = [n for n in tensors if "." not in n]
        parameters = {name: tensors.get(f"raw.{name}", tensors[name]) for name in names}
        loss, gradients = self.peer.gradients(parameters, self._inputs(rows), self._targets[rows])
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
        scores = self.scores(parameters, self._validation)
        labels = self._validation_labels.expand(len(self.runs), -1)[..., None]
        entropy = -scores.log_softmax(-1).gather(-1, labels)[..., 0]
        return {
            "top1": metrics.top_k(scores, self._validation_labels),
            "cross_entropy": entropy.double().mean(1),
        }

    @torch.no_grad()
    def scores(self, parameters: Tensors, images: Tensor) -> Tensor:
        """Scores (R, M, O) of images (M, rows, columns)."""
        scores = [self.peer.scores(parameters, inputs) for inputs in self._batches(images)]
        return torch.cat(scores, dim=1)

    @torch.no_grad()
    def energy(self, parameters: Tensors, images: Tensor) -> float | None:
        """Dissipated energy of one inference, mean over images (M, rows, columns) and runs."""
        total = 0.0
        for inputs in self._batches(images):
            energy = self.peer.dissipated_energy(parameters, inputs)
            if energy is None:
                return None
            total += float(energy.double().mean()) * inputs.shape[1]
        return total / len(images)

    def _batches(self, images: Tensor) -> Iterator[Tensor]:
        """Inputs (R, B, D) of images (M, rows, columns), the same for every run."""
        for batch in torch.split(images, _BATCH):
            inputs = self._standardise(batch).flatten(1)
            yield inputs.expand(len(self.runs), *inputs.shape)

    def merit(self, metrics: Tensors) -> Tensor:
        return metrics["top1"][:, None]
