"""Training oscillator networks by protocol DIRECT."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import torch
from torch import Tensor

from entrain import kernels
from entrain.evaluation import metrics
from entrain.evaluation.measure import chunks
from entrain.learning.direct import DirectProtocol
from entrain.learning.graphs import RepeatedStep
from entrain.learning.protocols import per_run
from entrain.learning.student_task import PARAMETER_NAMES
from entrain.learning.trainer import Parameters, shuffled
from entrain.physics import Dynamics, coupling_mask, local_fields

_MOMENTS = (0.9, 0.999)
_EPSILON = 1e-8


@dataclass(frozen=True)
class Examples:
    """Labelled examples on a device: network inputs (M, D), or images and how they become inputs.

    With `images` (M, rows, columns), grey levels from 0 to 1, inputs are made of them on the fly:
    z = (p - mean) / sd, u = norm z / |z|. `teacher` (M, O) are signed outputs to distil.
    """

    labels: Tensor
    inputs: Tensor | None = None
    teacher: Tensor | None = None
    images: Tensor | None = None
    mean: float = 0.0
    sd: float = 1.0
    norm: float = 1.0

    def of(self, images: Tensor) -> Tensor:
        """Inputs (n, D) of images (n, rows, columns)."""
        z = (images.flatten(1) - self.mean) / self.sd
        length: Tensor = torch.linalg.vector_norm(z, dim=1, keepdim=True)
        return z * (self.norm / length)


class DirectTask:
    """AdamW on the cross-entropy, several runs side by side.

    Parameters: `input_weights`, `biases`, `couplings` are the averaged network; `raw.*` the
    weights that are stepped, `first.*` and `second.*` their moments, `adam.count` the steps.
    """

    def __init__(
        self,
        protocol: DirectProtocol,
        train: Examples,
        validation: Examples,
        sizes: tuple[int, int, int],
        dynamics: Dynamics,
        *,
        seed: int,
        runs: tuple[int, ...] = (0,),
        start: Parameters | None = None,
    ) -> None:
        """`sizes` are inputs, hidden and output oscillators; `start` where the protocol asks."""
        self.protocol, self.epochs = protocol, protocol.epochs
        self.train, self._validation = train, validation
        self._sizes, self._dynamics, self._seed, self.runs = sizes, dynamics, seed, runs
        self._start = start
        _, hidden, outputs = sizes
        device = train.labels.device
        self._mask = coupling_mask(hidden, outputs, device)
        self._targets = torch.nn.functional.one_hot(train.labels, outputs).float()

        def lanes(name: str) -> Tensor:
            values = per_run(name, getattr(protocol, name), len(runs))
            return torch.tensor(values, dtype=torch.float32, device=device)[:, None, None]

        self._rates = {
            "input_weights": lanes("input_rate"),
            "biases": lanes("coupling_rate")[:, 0],
            "couplings": lanes("coupling_rate"),
        }
        self._decay, self._gain = lanes("weight_decay"), lanes("gain")
        self._smoothing = lanes("smoothing")
        self._schedule = torch.zeros((), device=device)
        self._strength = torch.ones((), device=device)
        self._total = torch.zeros(len(runs), device=device)
        self._drawn: Tensor | None = None
        self._repeated: dict[int, RepeatedStep] = {}
        self._owner: Parameters | None = None

    def initial(self) -> Parameters:
        inputs, hidden, outputs = self._sizes
        n, device = hidden + outputs, self._mask.device
        if self._start is not None:
            raw = {name: self._start[name].clone() for name in PARAMETER_NAMES}
        else:
            drawn = [self._random(lane, inputs, hidden, n) for lane in range(len(self.runs))]
            raw = {
                name: torch.stack([each[name] for each in drawn]).to(device)
                for name in PARAMETER_NAMES
            }
        parameters = {name: tensor.clone() for name, tensor in raw.items()}
        for name, tensor in raw.items():
            parameters[f"raw.{name}"] = tensor
            parameters[f"first.{name}"] = torch.zeros_like(tensor)
            parameters[f"second.{name}"] = torch.zeros_like(tensor)
        parameters["adam.count"] = torch.zeros(len(self.runs), 1, device=device)
        return parameters

    def _random(self, lane: int, inputs: int, hidden: int, n: int) -> Parameters:
        if self.protocol.start == "zero":
            return {
                "input_weights": torch.zeros(hidden, inputs),
                "biases": torch.zeros(n),
                "couplings": torch.zeros(n, n),
            }
        generator = torch.Generator().manual_seed(self._seed * 1_000_003 + self.runs[lane])
        lanes = len(self.runs)
        weights = per_run("initial_weights", self.protocol.initial_weights, lanes)[lane]
        couplings = per_run("initial_couplings", self.protocol.initial_couplings, lanes)[lane]
        upper = torch.randn(n, n, generator=generator).triu(1) * couplings
        mask = coupling_mask(hidden, n - hidden)
        return {
            "input_weights": torch.randn(hidden, inputs, generator=generator)
            * (weights / math.sqrt(inputs)),
            "biases": torch.zeros(n),
            "couplings": (upper + upper.T) * mask,
        }

    def run_epoch(self, parameters: Parameters, epoch: int) -> dict[str, Tensor]:
        protocol, count = self.protocol, len(self.train.labels)
        order = shuffled("direct", self._seed, self.runs, epoch, count).to(self._total.device)
        self._prepare(epoch, count)
        steps = self._dynamics.steps
        if epoch < protocol.epochs - protocol.fine_epochs:
            steps = min(protocol.coarse_steps, steps)
        if self._owner is not parameters:
            self._owner, self._repeated = parameters, {}
        if steps not in self._repeated:
            changed = [*parameters.values(), self._total]
            step = functools.partial(self._step, parameters, steps)
            self._repeated[steps] = RepeatedStep(step, changed)
        self._total.zero_()
        batches = torch.split(order, protocol.batch_size, dim=1)
        for index, rows in enumerate(batches):
            self._schedule.fill_(self._factor(epoch + index / len(batches)))
            self._repeated[steps](rows)
        return {"loss": self._total / count}

    def _prepare(self, epoch: int, count: int) -> None:
        """New random numbers for the images of this epoch, a function of seed, runs and epoch."""
        protocol = self.protocol
        if self.train.images is None or protocol.augmentation.is_nothing:
            return
        last = epoch >= protocol.epochs - protocol.unaugmented_epochs
        self._strength.fill_(0.0 if last else 1.0)
        device = self._total.device
        drawn = torch.stack(
            [
                protocol.augmentation.draw(
                    (count,),
                    torch.Generator(device).manual_seed(
                        (self._seed * 1009 + run) * 100_003 + epoch
                    ),
                )
                for run in self.runs
            ]
        )
        if self._drawn is None:
            self._drawn = drawn
        else:
            self._drawn.copy_(drawn)

    def _factor(self, epoch: float) -> float:
        """What the rates are multiplied with: a linear rise, then a cosine to zero."""
        done = epoch / self.protocol.epochs
        if done < self.protocol.warm_up:
            return (done + 1e-3) / (self.protocol.warm_up + 1e-3)
        rest = (done - self.protocol.warm_up) / (1.0 - self.protocol.warm_up)
        return 0.5 * (1.0 + math.cos(math.pi * rest))

    def _inputs(self, rows: Tensor) -> Tensor:
        """Inputs (R, B, D) of the examples `rows` (R, B), distorted where asked."""
        train = self.train
        if train.images is None:
            assert train.inputs is not None
            return train.inputs[rows]
        images = train.images[rows].flatten(0, 1)
        if self._drawn is not None:
            lanes = torch.arange(len(rows), device=rows.device)[:, None]
            drawn = self._drawn[lanes, rows].flatten(0, 1)
            images = self.protocol.augmentation(images, drawn, self._strength)
        return train.of(images).reshape(*rows.shape, -1)

    def _step(self, parameters: Parameters, steps: int, rows: Tensor) -> None:
        """One step on the examples `rows` (R, B); adds B times the loss to the total."""
        weights, biases, couplings = (parameters[f"raw.{name}"] for name in PARAMETER_NAMES)
        inputs = self._inputs(rows)
        fields = local_fields(weights, biases, inputs)
        dynamics = Dynamics(self._dynamics.mobility, self._dynamics.observation_time, steps)
        phases, pullback = kernels.rollout_with_pullback(fields, couplings, dynamics)
        outputs, hidden = self._sizes[2], self._sizes[1]
        final = phases[..., -outputs:]
        readout = torch.polar(torch.ones_like(final), final)
        likely = _log_softmax(self._gain * readout.real)
        target = self._targets[rows] * (1.0 - self._smoothing) + self._smoothing / outputs
        by_outputs = self._gain * (likely.exp() - target)  # times B
        loss = -(target * likely).sum((1, 2))
        if share := self.protocol.distillation:
            assert self.train.teacher is not None
            apart = readout.real - self.train.teacher[rows]
            by_outputs = (1.0 - share) * by_outputs + share * (2.0 / outputs) * apart
            loss = (1.0 - share) * loss + share * apart.square().mean(2).sum(1)
        gradient = torch.zeros_like(phases)
        gradient[..., -outputs:] = -by_outputs * readout.imag / rows.shape[1]
        by_fields, by_couplings = pullback(gradient)
        gradients = {
            "input_weights": by_fields[..., :hidden].transpose(1, 2) @ inputs,
            "biases": by_fields.sum(1),
            "couplings": self._mask * (by_couplings + by_couplings.transpose(1, 2)),
        }
        self._update(parameters, gradients)
        self._total += loss

    def _update(self, parameters: Parameters, gradients: Parameters) -> None:
        """AdamW with clipped gradients, then the running mean."""
        squares = sum(g.square().flatten(1).sum(1) for g in gradients.values())
        assert isinstance(squares, Tensor)
        scale = (self.protocol.clip / (squares.sqrt() + 1e-12)).clamp(max=1.0)
        count = parameters["adam.count"]
        count += 1.0
        first_bias = 1.0 - _MOMENTS[0] ** count
        second_bias = 1.0 - _MOMENTS[1] ** count
        decay = self.protocol.averaging
        mixing = 1.0 - torch.clamp((1.0 + count) / (10.0 + count), max=decay)
        for name, gradient in gradients.items():
            raw, first, second = (parameters[f"{k}.{name}"] for k in ("raw", "first", "second"))
            shape = (-1,) + (1,) * (gradient.dim() - 1)
            clipped = gradient * scale.reshape(shape)
            first.lerp_(clipped, 1.0 - _MOMENTS[0])
            second.lerp_(clipped.square(), 1.0 - _MOMENTS[1])
            step = (first / first_bias.reshape(shape)) / (
                (second / second_bias.reshape(shape)).sqrt() + _EPSILON
            )
            rate = self._rates[name] * self._schedule
            if name == "input_weights":
                raw.mul_(1.0 - rate * self._decay)
            raw.sub_(rate * step)
            mean = parameters[name]
            mean.add_((raw - mean) * mixing.reshape(shape))

    def validate(self, parameters: Parameters) -> dict[str, Tensor]:
        weights, biases, couplings = (parameters[name] for name in PARAMETER_NAMES)
        data = self._validation
        if data.inputs is not None:
            inputs = data.inputs
        else:
            assert data.images is not None
            inputs = data.of(data.images)
        scores = torch.cat(
            [
                kernels.rollout(local_fields(weights, biases, chunk), couplings, self._dynamics)[
                    ..., self._sizes[1] :
                ].cos()
                for _, chunk in chunks(inputs)
            ],
            dim=1,
        )
        likely = _log_softmax(self._gain * scores)
        labels = data.labels.expand(len(self.runs), -1)[..., None]
        return {
            "top1": metrics.top_k(scores, data.labels),
            "cross_entropy": -likely.gather(-1, labels)[..., 0].double().mean(1),
        }

    def merit(self, metrics: dict[str, Tensor]) -> Tensor:
        entropy = -metrics["cross_entropy"].nan_to_num(math.inf, math.inf)
        return torch.stack([metrics["top1"], entropy], dim=1)


def _log_softmax(values: Tensor) -> Tensor:
    """In operations that take one thread for so few numbers: PyTorch's own starts a team whose
    spinning would go on into the adjoint."""
    shifted = values - values.amax(-1, keepdim=True)
    return shifted - shifted.exp().sum(-1, keepdim=True).log()
