"""Teachers from outside the package: modules, classifiers, models and tables of probabilities.

A teacher gets raw examples, as the data were given: images (n, rows, columns) as pixel values from
0 to `pixel_max` of the dataset, distorted ones too; rows of features (n, D) before scaling;
sequences (n, T, D) of equal length.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from entrain.data import Dataset, ImageDataset, SequenceDataset
from entrain.data.preprocessing import grey_levels
from entrain.evaluation import scores_of
from entrain.models.model import Model
from entrain.rules.pretrained import digest_of
from entrain.tasks.labels import label_texts
from entrain.utils.errors import InputError, reason
from entrain.utils.hashing import sha256, tensor_bytes

_CHUNK = 1024  # examples at a time
_SMALLEST = 1e-12  # probability whose logarithm is finite
_PROBES = 256  # training examples whose probabilities identify a classifier


class ExternalTeacher(ABC):
    """Log-probabilities of the classes of examples, in a fixed state.

    Args:
        digest: Identifies the teacher: equal weights or probabilities have equal digests.
    """

    def __init__(self, digest: str) -> None:
        self.digest = digest

    @property
    def takes_examples(self) -> bool:
        """True if it answers for any example, also a distorted one."""
        return True

    @abstractmethod
    def log_probabilities(self, examples: Tensor) -> Tensor:
        """Logarithms (n, O) of probabilities, up to a constant of each example, float32.

        Args:
            examples: Raw examples on the device of the training, of any float type.
        """

    def on_training_examples(self, data: Dataset, device: torch.device) -> Tensor:
        """Those (M, O) of all training examples.

        Args:
            data: The dataset.
            device: Where the training is.
        """
        return self._on(raw_examples(data), device)

    def on_validation_examples(self, data: Dataset, device: torch.device) -> Tensor:
        """Those (M, O) of all validation examples; of a table, those of their labels.

        Args:
            data: The dataset.
            device: Where the training is.
        """
        return self._on(raw_examples(data, data.validation.features), device)

    def _on(self, examples: np.ndarray, device: torch.device) -> Tensor:
        return self.log_probabilities(torch.from_numpy(examples).to(device, torch.float64))


class ModuleTeacher(ExternalTeacher):
    """A copy of a `torch.nn.Module` in evaluation mode, without gradients: examples to logits.

    Args:
        module: The module.
        outputs: O, the number of classes.
        digest: That of its parameters and buffers by default.
    """

    def __init__(self, module: nn.Module, outputs: int, digest: str | None = None) -> None:
        try:
            self._module = copy.deepcopy(module).eval()
        except Exception as error:
            raise InputError(f"the teacher cannot be copied: {reason(error)}") from error
        parts: list[str | memoryview] = [type(module).__qualname__]
        for name, tensor in sorted(self._module.state_dict().items()):
            parts += [name, tensor_bytes(tensor)]
        super().__init__(digest or sha256(*parts)[:16])
        self._outputs = outputs

    def log_probabilities(self, examples: Tensor) -> Tensor:
        """See `ExternalTeacher`."""
        module = self._module.to(examples.device)
        logits = []
        with torch.no_grad():
            for part in torch.split(examples.float(), _CHUNK):
                try:
                    answer = module(part)
                except Exception as error:
                    raise InputError(
                        f"the teacher fails on {part.dtype} examples of shape "
                        f"{tuple(part.shape)}: {reason(error)}"
                    ) from error
                logits.append(checked_logits(answer, len(part), self._outputs))
        return torch.cat(logits)


class FunctionTeacher(ExternalTeacher):
    """Probabilities from a function of arrays, such as `predict_proba`.

    Args:
        probabilities: From raw examples, float64, to probabilities (n, classes of the teacher).
        columns: Its columns of the O classes of the data.
        digest: Identifies the teacher.
    """

    def __init__(
        self,
        probabilities: Callable[[np.ndarray], np.ndarray],
        columns: Sequence[int],
        digest: str,
    ) -> None:
        super().__init__(digest)
        self._probabilities, self._columns = probabilities, list(columns)

    def log_probabilities(self, examples: Tensor) -> Tensor:
        """See `ExternalTeacher`."""
        logits = []
        for part in torch.split(examples, _CHUNK):
            rows = part.cpu().numpy().astype(np.float64)
            try:
                answer = np.asarray(self._probabilities(rows), dtype=np.float64)
            except Exception as error:
                raise InputError(
                    f"the teacher fails on an array of shape {rows.shape}: {reason(error)}"
                ) from error
            logits.append(_logarithms(answer, len(rows), len(self._columns))[:, self._columns])
        return torch.from_numpy(np.concatenate(logits)).float().to(examples.device)


class TableTeacher(ExternalTeacher):
    """Probabilities (M, O) of the training examples in their order.

    Args:
        table: The probabilities.
        data: The dataset whose training examples they are of.
    """

    def __init__(self, table: Any, data: Dataset) -> None:
        values = _numbers(table)
        expected = len(data.train), data.task.outputs
        if values.shape != expected:
            raise InputError(
                f"a table of teacher probabilities must be (training examples, classes) = "
                f"{expected}, in the order of data.train, got {values.shape}"
            )
        self._logits = torch.from_numpy(_logarithms(values, *expected)).float()
        super().__init__(sha256(tensor_bytes(self._logits))[:16])

    @property
    def takes_examples(self) -> bool:
        """False: it knows the undistorted training examples alone."""
        return False

    def log_probabilities(self, examples: Tensor) -> Tensor:
        """See `ExternalTeacher`."""
        raise InputError(f"a table has no probabilities of other examples: {len(examples)}")

    def on_training_examples(self, data: Dataset, device: torch.device) -> Tensor:
        """See `ExternalTeacher`."""
        return self._logits.to(device)

    def on_validation_examples(self, data: Dataset, device: torch.device) -> Tensor:
        """See `ExternalTeacher`."""
        labels = np.eye(data.task.outputs)[data.validation.labels]
        return torch.from_numpy(_logarithms(labels, *labels.shape)).float().to(device)


def external_teacher(value: Any, data: Dataset) -> ExternalTeacher:
    """The teacher of a module, a fitted classifier, a model or a table, checked on `data`.

    Args:
        value: A `torch.nn.Module` from raw examples to logits; a fitted scikit-learn classifier
            with `predict_proba`; an `entrain.Model`; or a table of probabilities (M, O).
        data: The dataset that it teaches.
    """
    if not data.task.has_classes:
        raise InputError(
            f"a teacher gives probabilities of classes, but the data have {data.task.description}; "
            "train without a teacher"
        )
    if isinstance(value, ExternalTeacher):
        return value
    if isinstance(value, nn.Module):
        teacher: ExternalTeacher = ModuleTeacher(value, data.task.outputs)
    elif isinstance(value, Model):
        teacher = _of_model(value, data)
    elif hasattr(value, "predict_proba"):
        teacher = _of_classifier(value, data)
    elif isinstance(value, np.ndarray | Tensor | Sequence) or hasattr(value, "__array__"):
        return TableTeacher(value, data)
    else:
        raise TypeError(
            "teacher must be a TeacherSpec, 'convolutional', the path of a file, a torch module, a "
            "fitted classifier with predict_proba, a Model, or a table of probabilities, got "
            f"{type(value).__name__}"
        )
    teacher.log_probabilities(torch.from_numpy(raw_examples(data)[:2]).double())
    return teacher


def raw_examples(data: Dataset, features: np.ndarray | None = None) -> np.ndarray:
    """Raw training examples, or other `features`, as a teacher gets them."""
    features = data.train.features if features is None else features
    if isinstance(data, ImageDataset):
        return grey_levels(features, data.pixel_max).reshape(-1, *data.image_shape)
    if (
        isinstance(data, SequenceDataset)
        and features.dtype.kind == "f"
        and np.isnan(features).any()
    ):
        raise InputError(
            "a teacher of sequences needs equal lengths: give a table of its probabilities"
        )
    return features


def checked_logits(answer: object, count: int, outputs: int) -> Tensor:
    """The answer of a module, if it is logits (count, outputs), as float32."""
    if not isinstance(answer, Tensor) or not answer.is_floating_point():
        kind = answer.dtype if isinstance(answer, Tensor) else type(answer).__name__
        raise InputError(f"the teacher must give a tensor of logits (n, {outputs}), got {kind}")
    if answer.shape != (count, outputs):
        raise InputError(
            f"the teacher must give logits of shape {(count, outputs)}, one for each class of the "
            f"data, got {tuple(answer.shape)}"
        )
    if not bool(answer.isfinite().all()):
        row = int((~answer.isfinite().all(1)).nonzero()[0, 0])
        raise InputError(f"the teacher gives NaN or infinite logits, first for example {row}")
    return answer.detach().float()


def _numbers(table: Any) -> np.ndarray:
    try:
        plain = table.detach().cpu().numpy() if isinstance(table, Tensor) else table
        return np.asarray(plain, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"a teacher table must hold numbers: {reason(error)}") from error


def _logarithms(probabilities: np.ndarray, count: int, outputs: int) -> np.ndarray:
    """Logarithms of checked probabilities (n, O)."""
    if probabilities.shape != (count, outputs):
        raise InputError(
            f"the teacher must give probabilities of shape {(count, outputs)}, got "
            f"{probabilities.shape}"
        )
    is_valid = np.isfinite(probabilities).all(1) & (probabilities >= 0).all(1)
    is_valid &= np.abs(probabilities.sum(1) - 1.0) < 1e-3
    if not is_valid.all():
        row = int(np.argmin(is_valid))
        values = ", ".join(f"{value:.4g}" for value in probabilities[row][:10])
        raise InputError(
            f"teacher probabilities must be from 0 to 1 with the sum 1, got {values} for example "
            f"{row}"
        )
    logarithms: np.ndarray = np.log(np.maximum(probabilities, _SMALLEST))
    return logarithms


def _of_classifier(classifier: Any, data: Dataset) -> ExternalTeacher:
    """A scikit-learn classifier, which gets images as rows of pixels."""
    if not hasattr(classifier, "classes_"):
        raise InputError(f"the teacher {type(classifier).__name__} has no classes_: fit it first")
    columns = _columns(label_texts(np.asarray(classifier.classes_), "classes_"), data)

    def probabilities(rows: np.ndarray) -> np.ndarray:
        flat = rows.reshape(len(rows), -1) if isinstance(data, ImageDataset) else rows
        return np.asarray(classifier.predict_proba(flat))

    teacher = FunctionTeacher(probabilities, columns, "")
    probes = torch.from_numpy(raw_examples(data)[:_PROBES]).double()
    answers = teacher.log_probabilities(probes).double().exp().numpy()
    # Rounded: another machine adds in another order.
    teacher.digest = sha256(np.round(answers, 4).tobytes())[:16]
    return teacher


def _of_model(model: Model, data: Dataset) -> ExternalTeacher:
    """A model of this package; images as fractions of their largest value."""
    if not model.task.has_classes:
        raise InputError(f"the teacher model predicts {model.task.description}; expected classes")
    columns = _columns(list(model.class_names), data)
    if model.preprocessing.inputs != data.preprocessing.inputs:
        raise InputError(
            f"the teacher model takes {model.preprocessing.inputs} inputs, the data have "
            f"{data.preprocessing.inputs}"
        )
    scale = data.pixel_max if isinstance(data, ImageDataset) else 1.0

    def probabilities(rows: np.ndarray) -> np.ndarray:
        inputs = model.inputs(rows / scale, unseen=False)
        scores = scores_of(model.network, inputs, task=model.task)
        answers: np.ndarray = model.probabilities_of(scores).double().cpu().numpy()
        return answers

    return FunctionTeacher(probabilities, columns, digest_of(model))


def _columns(names: list[str], data: Dataset) -> list[int]:
    """Positions of the classes of the data among those of a teacher."""
    classes = [name.strip() for name in data.class_names]
    if sorted(names) != sorted(classes):
        raise InputError(
            f"the teacher has the classes {_some(names)}; the data have {_some(classes)}"
        )
    return [names.index(name) for name in classes]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + ", ..." * (len(names) > 10)
