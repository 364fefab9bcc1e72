"""A trained model: network, preprocessing and class names in one file that accepts raw pixels."""

from __future__ import annotations

import copy
import warnings
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import Parameter

from entrain.data import FeatureScaling, Preprocessing, Split
from entrain.data.preprocessing import as_array
from entrain.evaluation import RejectOption, check_finite, evaluate, scores_of
from entrain.evaluation.chips import scores_on_target
from entrain.evaluation.reject import MOST_ROWS
from entrain.hardware import Chip, Hardware
from entrain.models.network import KuramotoNetwork
from entrain.models.on_chip import ModelOnChip, chip_of, hardware_mismatch_message
from entrain.models.teacher import Teacher, layer_sizes
from entrain.physics import TERMS, TRAINED, Parameters, layered_graph
from entrain.utils.errors import InputError, positive_float, reason, seed_number
from entrain.utils.tensor_file import read_tensors, write_tensors


@dataclass(frozen=True)
class Model:
    """A network with what it takes to use it on raw pixels, and where it comes from.

    `teacher` is kept where there was one, so that agreement and endpoint error can be measured
    again; `details` (JSON values) records protocol, run, seed, selected epoch and metrics.
    `gain` is that of the softmax a network was trained with, None where its outputs were trained
    to be a teacher's signed probabilities 2 p - 1. `reject` says which answers are unsure; models
    of earlier versions have none. `hardware` is the kind of chip it was trained for, None for the
    ideal network.
    """

    network: KuramotoNetwork
    preprocessing: Preprocessing | FeatureScaling
    class_names: tuple[str, ...]
    dataset: str
    protocol: str
    teacher: Teacher | None = None
    details: dict[str, Any] = field(default_factory=dict)
    gain: float | None = None
    reject: RejectOption | None = None
    hardware: Hardware | None = None

    def __post_init__(self) -> None:
        if self.network.runs is not None:
            raise InputError(
                f"a model holds one network, got one of {self.network.runs} runs; take one with "
                "KuramotoNetwork.from_parameters(network.as_parameters().run(0), network.dynamics)"
            )
        if self.preprocessing.inputs != self.network.inputs:
            raise InputError(
                f"the preprocessing makes {self.preprocessing.inputs} inputs, "
                f"the network takes {self.network.inputs}"
            )
        if len(self.class_names) != self.network.outputs:
            raise InputError(
                f"there must be one class name per output oscillator ({self.network.outputs}), "
                f"got {len(self.class_names)}"
            )

    def __repr__(self) -> str:
        """One line; `entrain show` has the rest."""
        network = self.network
        sizes = f"{network.hidden + network.outputs} oscillators, {network.inputs} inputs"
        chips = "" if self.hardware is None else f", for {self.hardware.name or 'chips'!r}"
        return (
            f"Model({self.protocol!r}, {sizes}, {network.outputs} classes, {self.dataset!r}{chips})"
        )

    def to(self, device: torch.device | str) -> Model:
        """This model with its network on another device."""
        return replace(self, network=copy.deepcopy(self.network).to(device))

    def inputs(self, pixels: np.ndarray, *, unseen: bool = True) -> Tensor:
        """Network inputs (n, D) of raw pixels, on the network's device.

        Images of the training and validation sets are prepared with `unseen` False: where a
        dataset's protocol takes another norm for its test images, theirs is the training norm.
        """
        return self.preprocessing(self._array(pixels), unseen=unseen).to(self.network.input_weights)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What the columns of the training table are called, in their order; none of pictures."""
        names = self.details.get("feature_names")
        known = isinstance(names, list) and len(names) == self.network.inputs
        return tuple(map(str, names)) if known and names is not None else ()

    def _array(self, values: Any) -> np.ndarray:
        """Pixels or rows as an array; of a data frame that names them, the columns by name."""
        names = list(self.feature_names)
        if names and hasattr(values, "columns") and set(names) & set(map(str, values.columns)):
            values = values.rename(columns=str)
            lost = [name for name in names if name not in values.columns]
            if lost:
                raise InputError(f"no column {lost[0]!r}, which the model was trained with")
            values = values[names]
        return as_array(values)

    def scores(self, pixels: np.ndarray) -> Tensor:
        """Output activations (n, O) of raw pixels (n, D), (n, rows, columns) or one image,
        or of rows of features.

        Where a phase has left the range of numbers there is no answer: an `InputError`.
        """
        inputs = self.inputs(pixels)
        scores = scores_of(self.network, inputs)
        check_finite(scores, inputs)
        return scores

    def predict(self, pixels: np.ndarray) -> np.ndarray:
        """Predicted class indices (n,)."""
        return np.asarray(self.scores(pixels).argmax(-1).cpu())

    def probabilities(self, pixels: np.ndarray) -> Tensor:
        """Class probabilities (n, O): softmax(gain cos theta_out).

        Without a gain, (1 + cos theta_out) / 2 over its sum, since the outputs were trained to be
        signed probabilities.
        """
        return self.probabilities_of(self.scores(pixels))

    def probabilities_of(self, scores: Tensor) -> Tensor:
        """The probabilities (n, O) that belong to `scores`."""
        if self.gain is not None:
            return torch.softmax(self.gain * scores, dim=-1)
        positive = 1.0 + scores
        return positive / positive.sum(-1, keepdim=True)

    def rejected(self, pixels: np.ndarray) -> np.ndarray:
        """Which answers should not be believed (n,): those with a small margin, and those to inputs
        unlike the training data. Without a reject option, those that are not finite."""
        return np.array([reason is not None for reason in self.reject_reasons(pixels)], dtype=bool)

    def reject_reasons(self, pixels: np.ndarray, scores: Tensor | None = None) -> list[str | None]:
        """Why each answer is unsure, None where it is sure; `scores` spares computing them."""
        if scores is None:
            scores = self.scores(pixels)
        finite = scores.isfinite().all(-1).tolist()
        if self.reject is None:
            found: list[str | None] = [None] * len(finite)
        else:
            found = self.reject.reasons(self.normalised_inputs(pixels), scores)
        return [why if ok else "not finite" for ok, why in zip(finite, found, strict=True)]

    def normalised_inputs(self, pixels: np.ndarray) -> Tensor:
        """Inputs (n, D) in float64 without their common scale: images have length 1, features
        standard deviation 1. What the reject option takes distances of."""
        inputs = self.preprocessing(self._array(pixels)).double()
        if isinstance(self.preprocessing, FeatureScaling):
            return inputs / self.preprocessing.factor
        length: Tensor = torch.linalg.vector_norm(inputs, dim=-1, keepdim=True)
        return inputs / length

    def with_reject_option(self, train: np.ndarray, validation: Split) -> Model:
        """This model with a reject option of training pixels (or rows) and labelled validation
        examples, which are taken as unseen ones are. One that was trained for chips is asked on
        chips: its margins are smaller there."""
        inputs = self.inputs(validation.features)
        scores = scores_on_target(self.network, self.hardware, inputs).cpu()
        option = RejectOption.fit(
            self.normalised_inputs(train[:MOST_ROWS]),
            self.normalised_inputs(validation.features),
            scores,
            torch.from_numpy(validation.labels),
        )
        return replace(self, reject=option)

    def evaluate(self, split: Split, *, unseen: bool = True) -> dict[str, float]:
        """Metrics on labelled images: top1, top2 and, with a teacher, agreement and errors.

        Those of the ideal network, whatever hardware it was trained for: see `on` for a chip.
        With `unseen` False as for validation images in training (see `inputs`): the metrics in
        `details["validation"]` come out again.
        """
        inputs, labels = self.examples(split, unseen=unseen)
        targets = None if self.teacher is None else self.teacher.targets(inputs)
        return evaluate(scores_of(self.network, inputs), labels, targets)

    def examples(self, split: Split, *, unseen: bool = True) -> tuple[Tensor, Tensor]:
        """Network inputs (n, D) and labels (n,) of labelled images, on the network's device."""
        inputs = self.inputs(split.features, unseen=unseen)
        labels = torch.from_numpy(split.labels).to(inputs.device)
        if int(labels.max()) >= self.network.outputs:
            raise InputError(
                f"labels reach {int(labels.max())}, the model has {self.network.outputs} classes"
            )
        return inputs, labels

    @property
    def couplers_used(self) -> int:
        """Couplers whose coupling is not zero."""
        return int(self.network.coupler_strengths.count_nonzero())

    def one_run(self) -> Parameters:
        """The network's numbers with an axis of one run, without gradients."""
        return self.network.as_parameters().map(lambda tensor: tensor.detach()[None])

    def on(self, chip: Chip | int, *, noise_seed: int = 0) -> ModelOnChip:
        """This model as `chip` runs it, as `hardware.sample(seed)` gives one; a whole number is the
        seed of a chip of the kind that the model was trained for.

        The noise of its runs is drawn by `noise_seed`. A model that was trained for chips of
        another kind warns.
        """
        chip = chip_of(chip, self.hardware)
        chip.hardware.check(self.network.hidden, self.network.outputs)
        if self.hardware is not None and (
            said := hardware_mismatch_message(self.hardware, chip.hardware)
        ):
            warnings.warn(said, stacklevel=2)
        return ModelOnChip(self, chip, seed_number("noise_seed", noise_seed))

    def save(self, path: Path | str) -> None:
        """Write one safetensors file, atomically."""
        network = self.network
        tensors = network.as_parameters().tensors()
        if not torch.equal(network.graph.cpu(), layered_graph(network.hidden, network.outputs)):
            tensors["graph"] = network.graph.to(torch.uint8)
        if self.teacher is not None:
            layers = zip(self.teacher.weights, self.teacher.biases, strict=True)
            for layer, (weight, bias) in enumerate(layers):
                tensors[f"teacher.weight{layer}"] = weight
                tensors[f"teacher.bias{layer}"] = bias
        if self.reject is not None:
            tensors |= {_REJECT + name: each for name, each in self.reject.tensors().items()}
        header = {
            "dataset": self.dataset,
            "protocol": self.protocol,
            "class_names": list(self.class_names),
            "dynamics": asdict(network.dynamics),
            "preprocessing": asdict(self.preprocessing),
            "teacher_widths": None if self.teacher is None else list(self.teacher.widths),
            "details": self.details,
            "gain": self.gain,
            "reject": None if self.reject is None else self.reject.header(),
            "trainable": [term for term in TERMS if isinstance(getattr(network, term), Parameter)],
        }
        if self.hardware is not None:  # files of ideal networks are as they were
            header["hardware"] = self.hardware.to_json()
        write_tensors(Path(path), "model", tensors, header)


def read_model(path: Path | str) -> Model:
    """The model of a file written by `Model.save`."""
    path = Path(path)
    tensors, header = read_tensors(path, "model")
    try:
        expected = set(TRAINED)
        widths = header["teacher_widths"]
        if widths is not None:
            expected |= {f"teacher.{kind}{i}" for i in range(len(widths) + 1) for kind in _KINDS}
        if header.get("reject") is not None:
            expected |= {_REJECT + name for name in _REJECT_TENSORS}
        optional = {"graph", *TERMS}
        _check_names(set(tensors) - optional, expected)
        for name, tensor in tensors.items():
            _check_numbers(name, tensor)
        given: dict[str, Any] = {name: tensors[name] for name in optional if name in tensors}
        network = KuramotoNetwork.from_arrays(
            *(tensors[name] for name in TRAINED),
            trainable=header.get("trainable", ()),
            **given | dict(header["dynamics"]),
        )
        return Model(
            network=network,
            preprocessing=_preprocessing(dict(header["preprocessing"])),
            class_names=tuple(str(name) for name in header["class_names"]),
            dataset=str(header["dataset"]),
            protocol=str(header["protocol"]),
            teacher=None if widths is None else _teacher(tensors, widths, network),
            details=dict(header["details"]),
            gain=_gain(header),
            reject=_reject(tensors, header, network),
            hardware=_hardware(header.get("hardware")),
        )
    except InputError as error:
        raise InputError(f"{path}: {reason(error)}") from error
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: not a complete model file ({reason(error)})") from error


_KINDS = ("weight", "bias")
_REJECT = "reject."
_REJECT_TENSORS = ("mean", "directions", "variances")


def _reject(
    tensors: dict[str, Tensor], header: dict[str, Any], network: KuramotoNetwork
) -> RejectOption | None:
    values = header.get("reject")
    if values is None:
        return None
    option = RejectOption(
        margin=values["margin"],
        distance=values["distance"],
        mean=tensors[_REJECT + "mean"],
        directions=tensors[_REJECT + "directions"],
        variances=tensors[_REJECT + "variances"],
        rest=values["rest"],
        measured=dict(values["measured"]),
    )
    if len(option.mean) != network.inputs:
        raise InputError(f"reject: {len(option.mean)} means for {network.inputs} inputs")
    return option


def _gain(header: dict[str, Any]) -> float | None:
    """The model's gain; files of version 0.1 have it in the recipe of their training alone."""
    gain = header.get("gain")
    if "gain" not in header:
        details = header["details"]
        trained = [details.get("training", {}), *details.get("recipe", {}).get("protocols", ())]
        found = [rule for rule in trained if rule.get("name") == header["protocol"]]
        gain = found[0].get("gain") if found else None
        if isinstance(gain, list):
            gain = gain[int(header["details"]["run"])]
    return None if gain is None else positive_float("gain", gain, least=1e-6, most=1e6)


def _hardware(values: object) -> Hardware | None:
    return None if values is None else Hardware.from_json(values)


def _preprocessing(values: dict[str, Any]) -> Preprocessing | FeatureScaling:
    if "image_shape" not in values:
        return FeatureScaling.from_json(values)
    return Preprocessing(**values | {"image_shape": tuple(values["image_shape"])})


def _check_names(found: set[str], expected: set[str]) -> None:
    if found != expected:
        foreign, missing = sorted(found - expected), sorted(expected - found)
        raise InputError(
            "unexpected content: "
            + "; ".join(
                f"{what} {', '.join(names)}"
                for what, names in (("foreign tensors", foreign), ("missing tensors", missing))
                if names
            )
        )


def _check_numbers(name: str, tensor: Tensor) -> None:
    if name == "graph" and tensor.dtype == torch.uint8:
        return
    if tensor.dtype not in (torch.float32, torch.float64):
        raise InputError(f"tensor {name} must be float32 or float64, got {tensor.dtype}")
    if not tensor.isfinite().all():
        raise InputError(f"tensor {name} must be finite, got NaN or infinity")


def _teacher(tensors: dict[str, Tensor], widths: list[int], network: KuramotoNetwork) -> Teacher:
    weights, biases = (
        tuple(tensors[f"teacher.{kind}{i}"] for i in range(len(widths) + 1)) for kind in _KINDS
    )
    sizes = layer_sizes(network.inputs, widths, network.outputs)
    for layer, (fan_in, fan_out) in enumerate(sizes):
        if weights[layer].shape != (fan_out, fan_in) or biases[layer].shape != (fan_out,):
            found = " x ".join(map(str, weights[layer].shape))
            raise InputError(
                f"teacher layer {layer} must be {fan_out} x {fan_in} with {fan_out} biases, "
                f"got {found} with {biases[layer].numel()}"
            )
    return Teacher(weights, biases)
