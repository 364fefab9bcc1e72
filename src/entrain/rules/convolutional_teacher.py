"""A small convolutional network as the teacher of images, trained by the package."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from entrain.data import Dataset, ImageDataset, Preprocessing
from entrain.rules import adamw
from entrain.rules.augmentation import Augmentation
from entrain.rules.direct import augmentation_of
from entrain.rules.external_teacher import ExternalTeacher
from entrain.rules.interface import Assignment, Rule, Tensors, generators, shuffled
from entrain.rules.repeated_step import RepeatedSteps
from entrain.rules.training_data import Examples, TrainingData
from entrain.tasks import metrics
from entrain.utils.errors import InputError, check_ranges, store_plain_numbers
from entrain.utils.hashing import sha256

NAME = "convolutional"
_CONVOLUTIONS, _HIDDEN = 4, 128  # layers, and units of the layer behind them
_GROUPS = 4  # of normalised channels
_CLIP = 1.0
_WARM_UP = 0.05
_CHUNK = 1024  # examples at a time


@dataclass(frozen=True)
class ConvolutionalTeacher(Rule):
    """Convolutional networks, whose mean probabilities teach; AdamW on the cross-entropy.

    Each has four convolutions and two linear layers, is trained on the distortions tuned for
    DIRECT, and is selected by validation accuracy.

    Args:
        networks: Networks, each with its own initialisation and order of examples.
        channels: Channels of the first two convolutions; the others have twice as many.
        epochs: Passes over the training examples.
        batch_size: Examples of a step.
        learning_rate: Largest rate of AdamW.
        weight_decay: Decoupled decay of every parameter.
        averaging: Largest decay of the running mean that is validated.
    """

    kind: ClassVar[str] = NAME
    name: ClassVar[str] = NAME  # type: ignore[misc]
    start: ClassVar[str] = "random"  # type: ignore[misc]
    is_prerequisite = True  # of students
    trains_networks = False
    takes_examples: ClassVar[bool] = True

    networks: int = 2
    channels: int = 32
    epochs: int = 30
    batch_size: int = 128
    learning_rate: float = 2e-3
    weight_decay: float = 0.05
    averaging: float = 0.99

    def __post_init__(self) -> None:
        store_plain_numbers(self)
        check_ranges(
            self,
            whole=("networks", "channels", "epochs", "batch_size"),
            positive=("learning_rate",),
            non_negative=("weight_decay",),
            shares=("averaging",),
            prefix="teacher ",
        )
        if self.channels % _GROUPS:
            raise InputError(f"teacher channels must be a multiple of {_GROUPS}")

    @property
    def digest(self) -> str:
        """Identifies the teacher in rules: the name, and a digest of other settings."""
        is_default = self == ConvolutionalTeacher()
        return NAME if is_default else f"{NAME}-{sha256(repr(self))[:16]}"

    def parallel_runs(self, runs: int) -> int:
        return self.networks

    def check_data(self, data: Dataset) -> None:
        super().check_data(data)
        if not isinstance(data, ImageDataset) or not data.task.has_classes:
            raise InputError(
                "the convolutional teacher learns classes of images; for other data give a fitted "
                "classifier or a module as the teacher"
            )
        if min(data.image_shape) < 4:
            raise InputError(
                f"the convolutional teacher takes images of at least 4 x 4 pixels, got "
                f"{data.image_shape[0]} x {data.image_shape[1]}"
            )

    def trained(self, tensors: Tensors, data: TrainingData) -> ExternalTeacher:
        """The teacher of selected networks.

        Args:
            tensors: Tensors of the selected epochs.
            data: The data that trained them.
        """
        constants = data.data.preprocessing
        assert isinstance(constants, Preprocessing)
        names = _shapes(constants.image_shape, data.outputs, self.channels)
        networks = [{name: tensors[name][run] for name in names} for run in range(self.networks)]
        return TrainedConvolutional(networks, constants, self.digest)

    def training(self, assignment: Assignment) -> ConvolutionalTraining:
        data = assignment.data
        distortions = augmentation_of(data.data.name)
        return ConvolutionalTraining(self, *data.images, data.outputs, distortions, assignment.seed)


class ConvolutionalTraining:
    """AdamW on the cross-entropy; tensors as in `adamw`, each with an axis of networks."""

    def __init__(
        self,
        rule: ConvolutionalTeacher,
        train: Examples,
        validation: Examples,
        outputs: int,
        augmentation: Augmentation,
        seed: int,
    ) -> None:
        self.rule, self.epochs, self.runs = rule, rule.epochs, tuple(range(rule.networks))
        self._train, self._validation, self._seed = train, validation, seed
        self._augmentation = augmentation
        self._distortions: Tensor | None = None
        assert train.preprocessing is not None
        self._constants = train.preprocessing
        self._shapes = _shapes(self._constants.image_shape, outputs, rule.channels)
        self._device = train.targets.device
        self._total = torch.zeros(len(self.runs), device=self._device)
        self._rate = torch.zeros((), device=self._device)
        self._steps = RepeatedSteps()

    def initial(self) -> Tensors:
        parameters: Tensors = {}
        # Drawn on the CPU, so that every device starts from the same numbers.
        streams = generators(NAME, self._seed, self.runs, 0, torch.device("cpu"))
        for name, shape in self._shapes.items():
            bound = math.sqrt(6.0 / math.prod(shape[1:])) if len(shape) > 1 else 0.0
            draws = [torch.rand(shape, generator=stream) for stream in streams]
            tensor = bound * (2.0 * torch.stack(draws) - 1.0) + name.startswith("scale")
            parameters[name] = tensor.to(self._device)
        return adamw.with_moments(parameters)

    def run_epoch(self, tensors: Tensors, epoch: int) -> Tensors:
        count, rule = len(self._train.targets), self.rule
        rows = shuffled(NAME, self._seed, self.runs, epoch, count).to(self._device)
        if not self._augmentation.is_identity:
            draws = self._augmentation.draw_epoch(count, self._seed, self.runs, epoch, self._device)
            buffer = self._distortions
            self._distortions = draws if buffer is None else buffer.copy_(draws)
        step = self._steps.get(tensors, self._step, self._total)
        self._total.zero_()
        batches = torch.split(rows, rule.batch_size, dim=1)
        with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True):
            for index, batch in enumerate(batches):
                done = (epoch + index / len(batches)) / rule.epochs
                self._rate.fill_(rule.learning_rate * adamw.cosine_schedule(done, _WARM_UP))
                step(batch)
        return {"loss": self._total / count}

    def _step(self, tensors: Tensors, rows: Tensor) -> None:
        """One step on the examples `rows` (R, B); adds B times the loss to the total."""
        by_run: list[tuple[Tensor, ...]] = []
        for run, batch in enumerate(rows):
            raw = {n: tensors[f"raw.{n}"][run].detach().requires_grad_() for n in self._shapes}
            with torch.enable_grad():
                answers = logits(raw, self._images(run, batch), self._constants)
                loss = functional.cross_entropy(answers, self._train.targets[batch])
            by_run.append(torch.autograd.grad(loss, list(raw.values())))
            self._total[run] += loss.detach() * len(batch)
        gradients = dict(
            zip(self._shapes, map(torch.stack, zip(*by_run, strict=True)), strict=True)
        )
        adamw.step(
            tensors,
            gradients,
            lambda *_: (self._rate, self.rule.weight_decay),
            clip=_CLIP,
            averaging=self.rule.averaging,
        )

    def _images(self, run: int, rows: Tensor) -> Tensor:
        """Grey levels (B, rows, columns), distorted."""
        assert self._train.images is not None
        images = self._train.images[rows]
        if self._distortions is None:
            return images
        return self._augmentation(images, self._distortions[run, rows])

    def validate(self, tensors: Tensors) -> Tensors:
        labels, images = self._validation.targets, self._validation.images
        assert images is not None
        answers = _of_all(self._networks(tensors), images, self._constants)
        expanded = labels.expand(len(answers), -1)
        entropy = functional.cross_entropy(answers.movedim(-1, 1), expanded, reduction="none")
        return {"top1": metrics.top_k(answers, labels), "cross_entropy": entropy.mean(1).double()}

    def merit(self, metrics: Tensors) -> Tensor:
        entropy = -metrics["cross_entropy"].nan_to_num(math.inf, math.inf)
        return torch.stack([metrics["top1"], entropy], dim=1)

    def _networks(self, tensors: Tensors) -> list[Tensors]:
        return [{name: tensors[name][run] for name in self._shapes} for run in self.runs]


class TrainedConvolutional(ExternalTeacher):
    """The mean probabilities of trained networks.

    Args:
        networks: Their parameters.
        constants: Preprocessing of the dataset, for the scale of its pixels.
        digest: That of the rule that trained them.
    """

    def __init__(self, networks: list[Tensors], constants: Preprocessing, digest: str) -> None:
        super().__init__(digest)
        self._networks, self._constants = networks, constants

    def log_probabilities(self, examples: Tensor) -> Tensor:
        """See `ExternalTeacher`."""
        images = examples.float() / self._constants.pixel_max
        return _of_all(self._networks, images, self._constants).log_softmax(-1).logsumexp(0)


def logits(parameters: Tensors, images: Tensor, constants: Preprocessing) -> Tensor:
    """Logits (n, O) of grey levels (n, rows, columns) from 0 to 1 by one network."""
    state = ((images - constants.mean) / constants.sd)[:, None]
    for layer in range(_CONVOLUTIONS):
        weight, bias = parameters[f"weight{layer}"], parameters[f"bias{layer}"]
        state = functional.conv2d(state, weight, bias, padding=1)
        scale, shift = parameters[f"scale{layer}"], parameters[f"shift{layer}"]
        state = functional.group_norm(state, _GROUPS, scale, shift).relu()
        if layer % 2:
            state = functional.avg_pool2d(state, 2, ceil_mode=True)
    first, last = _CONVOLUTIONS, _CONVOLUTIONS + 1
    state = functional.linear(
        state.flatten(1), parameters[f"weight{first}"], parameters[f"bias{first}"]
    ).relu()
    return functional.linear(state, parameters[f"weight{last}"], parameters[f"bias{last}"])


def _of_all(networks: list[Tensors], images: Tensor, constants: Preprocessing) -> Tensor:
    """Logits (R, n, O) of all networks, some images at a time."""
    with torch.no_grad():
        chunks = torch.split(images, _CHUNK)
        return torch.stack(
            [
                torch.cat([logits(network, part, constants) for part in chunks])
                for network in networks
            ]
        )


def _shapes(shape: tuple[int, int], outputs: int, channels: int) -> dict[str, tuple[int, ...]]:
    """Shapes of the parameters of one network by name."""
    widths = (1, channels, channels, 2 * channels, 2 * channels)
    shapes: dict[str, tuple[int, ...]] = {}
    for layer in range(_CONVOLUTIONS):
        shapes[f"weight{layer}"] = (widths[layer + 1], widths[layer], 3, 3)
        for name in ("bias", "scale", "shift"):
            shapes[f"{name}{layer}"] = (widths[layer + 1],)
    area = math.prod(math.ceil(side / 4) for side in shape)
    sizes = (area * widths[-1], _HIDDEN, outputs)
    for layer, (fan_in, fan_out) in enumerate(itertools.pairwise(sizes), _CONVOLUTIONS):
        shapes |= {f"weight{layer}": (fan_out, fan_in), f"bias{layer}": (fan_out,)}
    return shapes
