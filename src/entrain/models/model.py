"""A trained model: network, preprocessing and class names in one file; it takes raw pixels."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from entrain.data import FeatureScaling, Preprocessing, Split
from entrain.data.own.arrays import label_texts
from entrain.data.own.examples import codes_of
from entrain.data.preprocessing import as_array
from entrain.evaluation import (
    ClassReport,
    RejectOption,
    check_finite,
    evaluate,
    scores_of,
)
from entrain.evaluation.chips import scores_on_chips, scores_on_target
from entrain.evaluation.reject import MOST_ROWS
from entrain.hardware import Chip, Hardware
from entrain.models.model_file import read_model_file, write_model
from entrain.models.network import KuramotoNetwork
from entrain.models.on_chip import chip_for
from entrain.models.teacher import Teacher
from entrain.physics import Parameters
from entrain.utils.errors import InputError, seed_number
from entrain.utils.summary import Summary


@dataclass(frozen=True, repr=False)
class Model(Summary):
    """A trained network with its preprocessing and class names.

    Args:
        network: The oscillators, a single run.
        preprocessing: Turns raw pixels or rows of features into network inputs.
        class_names: One name for each output oscillator.
        dataset: Name of the training data.
        protocol: Name of the training rule.
        teacher: Measures agreement and endpoint error, where there was one.
        details: JSON values of the training: run, seed, selected epoch, metrics.
        gain: Gain of the softmax in training; None if the outputs were trained to be a teacher's
            signed probabilities 2 p - 1.
        reject: Decides which answers are unsure.
        hardware: The chips that the model was trained for; None for the ideal network.
        chip: The chip that answers, see `on`; None for the ideal network.
        noise_seed: Seed of the noise of the chip.
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
    chip: Chip | None = None
    noise_seed: int = 0

    def __post_init__(self) -> None:
        if self.network.runs is not None:
            raise InputError(
                f"a model holds one network, got {self.network.runs} runs; take one with "
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

        names = Counter(name.strip() for name in self.class_names)
        if len(names) < len(self.class_names):
            raise InputError(
                f"class names must differ, apart from blanks; got {names.most_common(1)[0][0]!r} "
                "more than once"
            )

    @classmethod
    def from_network(
        cls,
        network: KuramotoNetwork,
        X: Any,
        *,
        class_names: Sequence[Any],
        y: ArrayLike | None = None,
        preprocessing: Preprocessing | FeatureScaling | None = None,
        dataset: str = "data",
        gain: float | None = None,
    ) -> Model:
        """The model of a network that was trained in a loop of your own.

        Args:
            network: The trained network, a single run.
            X: The rows or images that it was trained on, which tell what is unlike them.
            class_names: A name, or a label, for each output oscillator.
            y: Labels of X, as in `class_names`: answers with a small margin are unsure, too.
            preprocessing: Turned X into the network's inputs; None if X were the inputs.
            dataset: Name of the data.
            gain: Gain of the softmax in the loss, if it had one.
        """
        if preprocessing is None:
            ones = (1.0,) * network.inputs
            preprocessing = FeatureScaling((0.0,) * network.inputs, ones, 1.0)
        names = tuple(str(name) for name in class_names)
        columns = [str(name) for name in getattr(X, "columns", ())]
        details = {"feature_names": columns} if columns else {}
        model = cls(network, preprocessing, names, dataset, "own loop", details=details, gain=gain)
        rows = model._array(X)
        labels = model.predict_indices(rows) if y is None else model.label_indices(y, len(rows))
        unseen = np.arange(len(rows)) % 7 == 0  # of which 1 % will be unlike the others
        return model.with_reject_option(rows[~unseen], Split(rows[unseen], labels[unseen]))

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        network = self.network
        top1 = self.details.get("validation", {}).get("top1")
        return {
            "by": self.protocol,
            "on": repr(self.dataset),
            "oscillators": f"{network.oscillators} ({network.outputs} outputs)",
            "inputs": str(network.inputs),
            "classes": ", ".join(self.class_names),
            "validation top-1": "not measured" if top1 is None else f"{top1:.2f} %",
        }

    def __repr__(self) -> str:
        network = self.network
        sizes = f"{network.hidden + network.outputs} oscillators, {network.inputs} inputs"
        chips = "" if self.hardware is None else f", for {self.hardware.name or 'chips'!r}"
        return (
            f"Model({self.protocol!r}, {sizes}, {network.outputs} classes, {self.dataset!r}{chips})"
        )

    def to(self, device: torch.device | str) -> Model:
        """A copy of this model on another device.

        Args:
            device: A torch device, such as "cuda".
        """
        return replace(self, network=copy.deepcopy(self.network).to(device))

    @property
    def classes(self) -> np.ndarray:
        """Labels of the classes (O,): integers if every class name is one, else the names."""
        integers = all(re.fullmatch("0|-?[1-9][0-9]*", name) for name in self.class_names)
        return np.array([int(name) if integers else name for name in self.class_names])

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of the training table; empty for pictures."""
        names = self.details.get("feature_names")
        if not isinstance(names, list) or len(names) != self.network.inputs:
            return ()
        return tuple(map(str, names))

    def inputs(self, pixels: np.ndarray, *, unseen: bool = True) -> Tensor:
        """Network inputs (n, D) on the network's device.

        Args:
            pixels: Raw pixels (n, D), (n, rows, columns) or one image; or rows of features.
            unseen: False for training and validation images. Fashion-MNIST scales unseen images
                to another norm.
        """
        return self.preprocessing(self._array(pixels), unseen=unseen).to(self.network.input_weights)

    def _array(self, values: Any) -> np.ndarray:
        """Pixels or rows as an array; columns of a data frame by name."""
        names = list(self.feature_names)
        if names and hasattr(values, "columns") and set(names) & set(map(str, values.columns)):
            values = values.rename(columns=str)
            missing = [name for name in names if name not in values.columns]
            if missing:
                raise InputError(f"no column {missing[0]!r}, which the model was trained with")
            values = values[names]
        return as_array(values)

    def scores(self, pixels: np.ndarray) -> Tensor:
        """Output activations (n, O); an `InputError` if a phase became infinite or NaN.

        Args:
            pixels: As for `inputs`.
        """
        inputs = self.inputs(pixels)
        scores = self._scores(inputs)
        check_finite(scores, inputs)
        return scores

    def _scores(self, inputs: Tensor) -> Tensor:
        """Activations (n, O) of the ideal network, or as the chip reads them."""
        if self.chip is None:
            return scores_of(self.network, inputs)
        return scores_on_chips(
            self.batched_parameters(),
            self.chip.hardware,
            [self.chip.seed],
            inputs,
            self.network.dynamics,
            noise_seed=self.noise_seed,
        )[0, 0]

    def predict(self, pixels: np.ndarray) -> np.ndarray:
        """Predicted labels (n,), elements of `classes`.

        Args:
            pixels: As for `inputs`.
        """
        labels: np.ndarray = self.classes[self.predict_indices(pixels)]
        return labels

    def predict_indices(self, pixels: np.ndarray) -> np.ndarray:
        """Indices (n,) of the predicted classes in `class_names`; the first of equal outputs.

        Args:
            pixels: As for `inputs`.
        """
        return np.asarray(self.scores(pixels).argmax(-1).cpu())

    def score(self, X: np.ndarray, y: ArrayLike) -> float:
        """Fraction of correctly predicted labels, from 0 to 1.

        Args:
            X: Raw pixels or rows of features, as for `inputs`.
            y: True labels (n,), as in `classes`.
        """
        predicted = self.predict_indices(X)
        return float(np.mean(predicted == self.label_indices(y, len(predicted))))

    def report(self, X: np.ndarray, y: ArrayLike) -> ClassReport:
        """Confusion matrix, and precision, recall and F1 of every class.

        Args:
            X: Raw pixels or rows of features, as for `inputs`.
            y: True labels (n,), as in `classes`.
        """
        predicted = self.predict_indices(X)
        labels = self.label_indices(y, len(predicted))
        return ClassReport.of(labels, predicted, self.class_names)

    def label_indices(self, y: ArrayLike, count: int) -> np.ndarray:
        """Indices (n,) of labels in `class_names`.

        Args:
            y: Labels (n,), as in `classes`.
            count: Number n of labels that is expected.
        """
        labels = label_texts(as_array(y), "y")
        names = [name.strip() for name in self.class_names]
        if len(labels) != count:
            raise InputError(f"expected {count} labels, one for each example, got {len(labels)}")
        if foreign := sorted(set(labels) - set(names)):
            raise InputError(
                f"y holds the label {foreign[0]!r}; expected the classes of the model: "
                f"{', '.join(names[:10])}{', ...' * (len(names) > 10)}"
            )
        return codes_of(labels, names)

    def trajectory(self, pixels: np.ndarray) -> Tensor:
        """Phases (K + 1, n, N) at every grid time from 0 to t_f, the outputs last.

        Args:
            pixels: As for `inputs`.
        """
        if self.chip is not None:
            raise InputError("phases over time are those of the ideal network; use it off the chip")
        inputs = self.inputs(pixels)
        path = self.network.simulate(inputs, record=1).phases.detach()
        check_finite(path[-1], inputs)
        return path

    def pictures(self, pixels: np.ndarray) -> np.ndarray:
        """Pixels (n, rows, columns), or rows of features (n, 1, D) in standard deviations.

        Args:
            pixels: As for `inputs`.
        """
        scaling, values = self.preprocessing, self._array(pixels)
        if isinstance(scaling, FeatureScaling):
            values = scaling(values).numpy() / scaling.factor
        return values.reshape(-1, *scaling.image_shape)

    def probabilities(self, pixels: np.ndarray) -> Tensor:
        """Class probabilities (n, O): softmax(gain cos theta_out).

        Without a gain the outputs were trained to be signed probabilities: (1 + cos theta_out) / 2,
        divided by their sum.

        Args:
            pixels: As for `inputs`.
        """
        return self.probabilities_of(self.scores(pixels))

    def probabilities_of(self, scores: Tensor) -> Tensor:
        """Class probabilities (n, O) of output activations.

        Args:
            scores: Output activations (n, O).
        """
        if self.gain is not None:
            return torch.softmax(self.gain * scores, dim=-1)
        positive = 1.0 + scores
        return positive / positive.sum(-1, keepdim=True)

    def rejected(self, pixels: np.ndarray) -> np.ndarray:
        """True (n,) where an answer is unsure, see `reject_reasons`.

        Args:
            pixels: As for `inputs`.
        """
        return np.array([reason is not None for reason in self.reject_reasons(pixels)], dtype=bool)

    def reject_reasons(self, pixels: np.ndarray, scores: Tensor | None = None) -> list[str | None]:
        """Reasons why answers are unsure, None where they are sure.

        An answer is unsure if its margin is small, its input unlike the training data or, of an
        image, fainter than these. Without
        a reject option, only activations that are not finite are unsure.

        Args:
            pixels: As for `inputs`.
            scores: Their output activations, if known.
        """
        if scores is None:
            scores = self.scores(pixels)
        finite = scores.isfinite().all(-1).tolist()
        reasons: list[str | None] = [None] * len(finite)
        if self.reject is not None:
            inputs = self.normalised_inputs(pixels)
            reasons = self.reject.reasons(inputs, scores, self._contrasts(pixels))
        return [why if ok else "not finite" for ok, why in zip(finite, reasons, strict=True)]

    def normalised_inputs(self, pixels: np.ndarray) -> Tensor:
        """Inputs (n, D) of the reject option, float64: images of length 1, features of SD 1.

        Args:
            pixels: As for `inputs`.
        """
        inputs = self.preprocessing(self._array(pixels)).double()
        if isinstance(self.preprocessing, FeatureScaling):
            return inputs / self.preprocessing.factor
        length: Tensor = torch.linalg.vector_norm(inputs, dim=-1, keepdim=True)
        return inputs / length

    def _contrasts(self, pixels: np.ndarray) -> Tensor | None:
        """Contrasts (n,) of images; None for features."""
        if isinstance(self.preprocessing, FeatureScaling):
            return None
        return self.preprocessing.contrast(self._array(pixels))

    def with_reject_option(self, train: np.ndarray, validation: Split) -> Model:
        """This model with a reject option.

        A model trained for chips is fitted on chips, where its margins are smaller.

        Args:
            train: Training pixels or rows.
            validation: Labelled examples, which count as unseen.
        """
        inputs = self.inputs(validation.features)
        scores = scores_on_target(self.network, self.hardware, inputs).cpu()
        splits = train[:MOST_ROWS], validation.features
        contrasts = [c for pixels in splits if (c := self._contrasts(pixels)) is not None]
        option = RejectOption.fit(
            self.normalised_inputs(splits[0]),
            self.normalised_inputs(splits[1]),
            scores,
            torch.from_numpy(validation.labels),
            torch.cat(contrasts) if contrasts else None,
        )
        return replace(self, reject=option)

    def evaluate(
        self, X: Split | np.ndarray, y: ArrayLike | None = None, *, unseen: bool = True
    ) -> dict[str, float]:
        """Percentages top1, top2 and agreement with the teacher, and the endpoint errors.

        `evaluate(X, y)` or, of a dataset or a training, `evaluate(trained.test)`.

        Validation images with `unseen` False reproduce `details["validation"]` of a model trained
        for the ideal network.

        Args:
            X: Labelled examples; or raw pixels or rows of features, as for `inputs`.
            y: Their true labels (n,), as in `classes`.
            unseen: As for `inputs`.
        """
        inputs, labels = self.examples(self._split(X, y), unseen=unseen)
        targets = None if self.teacher is None else self.teacher.targets(inputs)
        return evaluate(self._scores(inputs), labels, targets)

    def _split(self, X: Split | np.ndarray, y: ArrayLike | None) -> Split:
        """The labelled examples of the arguments of `evaluate`."""
        if isinstance(X, Split):
            if y is not None:
                raise InputError("y belongs to arrays, a Split has its labels; leave it out")
            return X
        if y is None:
            raise InputError("the labels are missing: give one for each example, evaluate(X, y)")
        rows = self._array(X)
        rows = rows.reshape(len(rows), -1) if rows.ndim == 3 else rows  # images
        return Split(rows, self.label_indices(y, len(rows)))

    def examples(self, split: Split, *, unseen: bool = True) -> tuple[Tensor, Tensor]:
        """Network inputs (n, D) and labels (n,) on the network's device.

        Args:
            split: Labelled examples.
            unseen: As for `inputs`.
        """
        inputs = self.inputs(split.features, unseen=unseen)
        labels = torch.from_numpy(split.labels).to(inputs.device)
        if int(labels.max()) >= self.network.outputs:
            raise InputError(
                f"labels reach {int(labels.max())}, the model has {self.network.outputs} classes"
            )
        return inputs, labels

    @property
    def couplers_used(self) -> int:
        """Number of couplers whose coupling is not zero."""
        return int(self.network.coupler_strengths.count_nonzero())

    def batched_parameters(self) -> Parameters:
        """Parameters of the network with an axis of one run, without gradients."""
        return self.network.as_parameters().map(lambda tensor: tensor.detach()[None])

    def on(self, chip: Chip | int, *, noise_seed: int = 0) -> Model:
        """This model as a chip runs it; warns if it was trained for other hardware.

        Args:
            chip: A chip, `hardware.sample(seed)`, or the seed of one of the model's own hardware.
            noise_seed: Seed of the noise.
        """
        chip = chip_for(chip, self.network, self.hardware)
        return replace(self, chip=chip, noise_seed=seed_number("noise_seed", noise_seed))

    def save(self, path: Path | str) -> None:
        """Write one safetensors file, atomically.

        Args:
            path: The file.
        """
        write_model(self, Path(path))


def read_model(path: Path | str) -> Model:
    """The model of a file written by `Model.save`."""
    return read_model_file(Path(path), Model)
