"""Files of models: weights, dynamics, preprocessing and reject option in one safetensors file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor
from torch.nn import Parameter

from entrain.data import FeatureScaling, Preprocessing, SequenceScaling
from entrain.evaluation import RejectOption
from entrain.hardware import Hardware
from entrain.models.network import KuramotoNetwork
from entrain.models.teacher import Teacher, layer_sizes
from entrain.physics import TERMS, TRAINED, Dynamics, layered_graph
from entrain.tasks import Classification, Task, from_json
from entrain.utils.errors import InputError, positive_float, reason
from entrain.utils.tensor_file import read_tensors, write_tensors

if TYPE_CHECKING:
    from entrain.models.model import Model

T = TypeVar("T")

_KINDS = ("weight", "bias")
_REJECT = "reject."
_REJECT_TENSORS = ("mean", "directions", "variances")


def write_model(model: Model, path: Path) -> None:
    """Write a model, atomically."""
    if model.chip is not None:
        raise InputError("a file cannot hold the chip of a model; save the model without it")
    network = model.network
    tensors = network.as_parameters().tensors()
    if not torch.equal(network.graph.cpu(), layered_graph(network.hidden, network.outputs)):
        tensors["graph"] = network.graph.to(torch.uint8)
    if model.teacher is not None:
        for kind, layers in zip(_KINDS, (model.teacher.weights, model.teacher.biases), strict=True):
            tensors |= {f"teacher.{kind}{i}": layer for i, layer in enumerate(layers)}
    if model.reject is not None:
        tensors |= {_REJECT + name: getattr(model.reject, name) for name in _REJECT_TENSORS}
    header = {
        "dataset": model.dataset,
        "protocol": model.protocol,
        **_task_header(model.task),
        "dynamics": asdict(network.dynamics),
        "preprocessing": asdict(model.preprocessing),
        "teacher_widths": None if model.teacher is None else list(model.teacher.widths),
        "details": model.details,
        "gain": model.gain,
        "reject": None if model.reject is None else model.reject.header(),
        "trainable": [term for term in TERMS if isinstance(getattr(network, term), Parameter)],
    }
    if model.hardware is not None:
        header["hardware"] = model.hardware.to_json()
    write_tensors(path, "model", tensors, header)


def read_model_file(path: Path, make: Callable[..., T]) -> T:
    """The model that `make` constructs of the fields in a file written by `Model.save`."""
    tensors, header = read_tensors(path, "model")
    try:
        expected = set(TRAINED)
        widths = header["teacher_widths"]
        if widths is not None:
            expected |= {f"teacher.{kind}{i}" for i in range(len(widths) + 1) for kind in _KINDS}
        if header["reject"] is not None:
            expected |= {_REJECT + name for name in _REJECT_TENSORS}
        optional = {"graph", *TERMS}
        _check_names(set(tensors) - optional, expected)
        for name, tensor in tensors.items():
            _check_tensor(name, tensor)
        terms: dict[str, Any] = {name: tensors[name] for name in optional if name in tensors}
        network = KuramotoNetwork.from_arrays(
            *(tensors[name] for name in TRAINED),
            trainable=header["trainable"],
            **terms | asdict(Dynamics(**header["dynamics"])),
        )
        gain, hardware = header["gain"], header.get("hardware")
        return make(
            network=network,
            preprocessing=_preprocessing(dict(header["preprocessing"])),
            task=_task(header),
            dataset=str(header["dataset"]),
            protocol=str(header["protocol"]),
            teacher=None if widths is None else _teacher(tensors, widths, network),
            details=dict(header["details"]),
            gain=None if gain is None else positive_float("gain", gain, least=1e-6, most=1e6),
            reject=_reject(tensors, header["reject"], network),
            hardware=None if hardware is None else Hardware.from_json(hardware),
        )
    except InputError as error:
        raise InputError(f"{path}: {reason(error)}") from error
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: not a complete model file ({reason(error)})") from error


def _task_header(task: Task) -> dict[str, Any]:
    """The entry of a task; that of a plain classification is its class names."""
    if isinstance(task, Classification) and task.is_default_reading:
        return {"class_names": list(task.class_names)}
    return {"task": task.to_json()}


def _task(header: dict[str, Any]) -> Task:
    if "task" in header:
        return from_json(header["task"])
    return Classification(tuple(str(name) for name in header["class_names"]))


def _reject(
    tensors: dict[str, Tensor], values: Any, network: KuramotoNetwork
) -> RejectOption | None:
    if values is None:
        return None
    option = RejectOption(
        margin=values["margin"],
        distance=values["distance"],
        **{name: tensors[_REJECT + name] for name in _REJECT_TENSORS},
        rest=values["rest"],
        measured=dict(values["measured"]),
        contrast=values.get("contrast", 0.0),  # files of earlier versions have none
    )
    if len(option.mean) != network.inputs:
        raise InputError(f"reject: {len(option.mean)} means for {network.inputs} inputs")
    return option


def _preprocessing(
    values: dict[str, Any],
) -> Preprocessing | FeatureScaling | SequenceScaling:
    if "frames" in values:
        return SequenceScaling.from_json(values)
    if "image_shape" not in values:
        return FeatureScaling.from_json(values)
    return Preprocessing(**values | {"image_shape": tuple(values["image_shape"])})


def _check_names(names: set[str], expected: set[str]) -> None:
    if names != expected:
        foreign, missing = ", ".join(sorted(names - expected)), ", ".join(sorted(expected - names))
        parts = [f"foreign tensors {foreign}"] * bool(foreign)
        parts += [f"missing tensors {missing}"] * bool(missing)
        raise InputError(f"unexpected content: {'; '.join(parts)}")


def _check_tensor(name: str, tensor: Tensor) -> None:
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
            shape = " x ".join(map(str, weights[layer].shape))
            raise InputError(
                f"teacher layer {layer} must be {fan_out} x {fan_in} with {fan_out} biases, "
                f"got {shape} with {biases[layer].numel()}"
            )
    return Teacher(weights, biases)
