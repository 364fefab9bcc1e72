"""What a circuit has to compute: the numbers of one network, and the fields of some images.

A design is all that is exported, and all that is needed to check the circuit afterwards: the
effective numbers (those of a chip, where one was named). Fields are what the input weights make of
an image; a circuit gets them from outside, other formats hold the weights too (`input_stage.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain.data import Preprocessing
from entrain.data.preprocessing import grey_levels
from entrain.export.input_stage import InputStage, input_stage_of, split_input_stage
from entrain.hardware import Chip, Realised
from entrain.hardware.chip import on_chips
from entrain.kernels import reference
from entrain.models.model import Model
from entrain.physics import Dynamics, PhaseModel, readout
from entrain.utils.errors import InputError, reason
from entrain.utils.tensor_file import read_tensors, write_tensors

KIND = "design"
FILE = "design.safetensors"
MOST_IMAGES = 4096
_MOST_OSCILLATORS = 1024
_MOST_FIELDS = 2**20
_MOST_WORK = 1e13  # products of one rollout: beyond, it would run for days
_MOST_BYTES = 2**28  # of the file
_LONGEST_TITLE = 80
_LONGEST_NAME = 200  # of a class
_SHARED = ("frequencies", "injection", "start")


@dataclass(frozen=True)
class Design:
    """One network under the fields of M images, in float64.

    `phase_model` has one lane: fields (1, M, N), couplings (1, N, N) and what else acts. The last
    `outputs` oscillators are read. `target` says what it was exported to, and how (JSON values).
    `front` makes the fields of raw inputs, for formats that hold it.
    """

    phase_model: PhaseModel
    dynamics: Dynamics
    outputs: int
    labels: tuple[int, ...]
    class_names: tuple[str, ...]
    model: str = ""
    target: dict[str, Any] = field(default_factory=dict)
    front: InputStage | None = None

    @property
    def images(self) -> int:
        """M."""
        return self.phase_model.fields.shape[1]

    @property
    def oscillators(self) -> int:
        """N."""
        return self.phase_model.fields.shape[-1]

    @property
    def fields(self) -> np.ndarray:
        """b of every image (M, N)."""
        return self.phase_model.fields[0].numpy()

    @property
    def couplings(self) -> np.ndarray:
        """J (N, N); row i acts on oscillator i."""
        return self.phase_model.couplings[0].numpy()

    @property
    def title(self) -> str:
        """The model's name as a comment may hold it: in one line, so that a name is no command."""
        return re.sub(r"[^\w .-]", "_", self.model)[:_LONGEST_TITLE] or "network"

    def shared(self, name: str) -> np.ndarray | None:
        """Frequencies, injection or start of every oscillator (N,), alike for all images."""
        values = getattr(self.phase_model, name)
        return None if values is None else values[0, 0].numpy()

    @property
    def start(self) -> np.ndarray:
        """theta(0) (N,)."""
        return self.phase_model.starts()[0, 0].numpy()

    def phases(self) -> np.ndarray:
        """The phases at the end (M, N), by the Euler steps of the network."""
        return reference.rollout(self.phase_model, self.dynamics)[0].numpy()

    def trajectory(self, parts: int, steps: int) -> np.ndarray:
        """The phases at `parts` + 1 equal times from 0 to the end, (parts + 1, M, N), by `steps` or
        more Euler steps in all."""
        whole = self.dynamics
        part = replace(
            whole,
            observation_time=whole.observation_time / parts,
            steps=max(1, -(-steps // parts)),
        )
        found = [self.phase_model.starts()]
        for _ in range(parts):
            found.append(reference.rollout(replace(self.phase_model, start=found[-1]), part))
        return torch.cat(found).numpy()

    def scores(self, phases: np.ndarray) -> np.ndarray:
        """cos(theta) of the outputs: (..., N) -> (..., O)."""
        return readout(torch.as_tensor(phases), self.outputs).numpy()

    def under(self, fields: np.ndarray, start: np.ndarray | None = None) -> Design:
        """The same network under other fields (M, N), from `start` (N,) where it is given; without
        labels (-1)."""
        b = torch.as_tensor(np.array(fields), dtype=torch.float64)
        if b.dim() != 2 or b.shape[1] != self.oscillators or not bool(b.isfinite().all()):
            raise InputError(
                f"fields must be finite, of shape (M, {self.oscillators}), got {tuple(b.shape)}"
            )
        model = replace(self.phase_model, fields=b[None])
        if start is not None:
            begun = torch.as_tensor(np.array(start), dtype=torch.float64)
            model = replace(model, start=begun.reshape(1, 1, self.oscillators))
        return replace(self, phase_model=model, labels=(-1,) * len(b), front=None)

    def first(self, images: int) -> Design:
        """The same with the first images only."""
        kept = replace(self.phase_model, fields=self.phase_model.fields[:, :images])
        front = None if self.front is None else replace(self.front, raw=self.front.raw[:images])
        return replace(self, phase_model=kept, labels=self.labels[:images], front=front)


def design_of(
    model: Model,
    pixels: np.ndarray,
    labels: np.ndarray,
    *,
    name: str = "",
    chip: Chip | None = None,
    with_front: bool = False,
) -> Design:
    """The design of a model, or of what `chip` makes of it, under some images; `with_front` with
    what makes fields of these."""
    inputs = model.inputs(pixels).double()
    realised = Realised(model.one_run().map(Tensor.double))
    if chip is not None:
        realised = on_chips(realised.parameters, chip.hardware, [chip.seed])
    if realised.delay:
        raise InputError("a delay of the couplings cannot be exported")
    found, front = realised.phase_model(inputs), None
    if with_front:
        if realised.field_changes:
            raise InputError("this chip changes fields by more than input weights: not in onnx")
        p = realised.parameters.map(lambda tensor: tensor.detach().cpu())
        levels = _levels(model, pixels)
        front = input_stage_of(levels, model.preprocessing, p.input_weights[0], p.biases[0])
    return Design(
        found.map(lambda tensor: tensor.detach().cpu()),
        model.network.dynamics,
        model.network.outputs,
        tuple(int(label) for label in labels),
        model.class_names,
        name,
        front=front,
    )


def _levels(model: Model, pixels: np.ndarray) -> np.ndarray:
    """Pixels as grey levels up to the largest one; features as they are."""
    if isinstance(model.preprocessing, Preprocessing):
        return grey_levels(np.asarray(pixels), model.preprocessing.pixel_max)
    return np.asarray(pixels)


def write_design(folder: Path, design: Design) -> None:
    """Keep a design in its folder."""
    dynamics = design.dynamics
    header = {
        "mobility": dynamics.mobility,
        "observation_time": dynamics.observation_time,
        "steps": dynamics.steps,
        "outputs": design.outputs,
        "labels": list(design.labels),
        "class_names": list(design.class_names),
        "model": design.model,
        "target": design.target,
    }
    front = {} if design.front is None else design.front.tensors()
    write_tensors(folder / FILE, KIND, design.phase_model.tensors() | front, header)


def read_design(folder: Path) -> Design:
    """The design of a folder that `entrain export` wrote."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; expected one that entrain export wrote")
    if not (folder / FILE).is_file():
        raise InputError(f"{folder}: has no {FILE}; expected a folder that entrain export wrote")
    if (folder / FILE).stat().st_size > _MOST_BYTES:
        raise InputError(f"{folder / FILE}: larger than 256 MiB, which no design is")
    tensors, header = read_tensors(folder / FILE, KIND)
    try:
        if any(tensor.dtype not in (torch.float32, torch.float64) for tensor in tensors.values()):
            raise InputError("numbers must be float32 or float64")
        doubles = {name: tensor.double() for name, tensor in tensors.items()}
        numbers, front = split_input_stage(doubles)
        design = Design(
            PhaseModel(**numbers),
            Dynamics(*(header[n] for n in ("mobility", "observation_time", "steps"))),
            int(header["outputs"]),
            tuple(int(label) for label in header["labels"]),
            tuple(str(each) for each in header["class_names"]),
            str(header["model"]),
            dict(header["target"]),
            front,
        )
        check_design(design)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"{folder / FILE}: not a readable design ({reason(error)})") from error
    return design


def check_design(design: Design) -> None:
    """Refuse sizes beyond any use, shapes that do not go together, and numbers that are none."""
    model = design.phase_model
    lanes, images, n = model.fields.shape
    sizes = 1 <= images <= MOST_IMAGES and 1 <= design.outputs <= n <= _MOST_OSCILLATORS
    if lanes != 1 or not sizes or images * n > _MOST_FIELDS:
        raise InputError(
            f"fields of shape {tuple(model.fields.shape)}; expected up to {MOST_IMAGES:,} images "
            f"and {_MOST_OSCILLATORS:,} oscillators, and {_MOST_FIELDS:,} fields"
        )
    if float(images) * n * n * design.dynamics.steps > _MOST_WORK:
        raise InputError(f"{images} images, {n} oscillators and {design.dynamics.steps} steps")
    wanted = {"fields": (1, images, n), "couplings": (1, n, n), "lag": (1,), "harmonic": (1, 2)}
    wanted |= dict.fromkeys(_SHARED, (1, 1, n))
    for name, tensor in model.tensors().items():
        if tuple(tensor.shape) != wanted[name] or not bool(tensor.isfinite().all()):
            raise InputError(f"{name} of shape {tuple(tensor.shape)}, or not finite")
    if len(design.labels) != images or len(design.class_names) != design.outputs:
        raise InputError("labels or class names of another number")
    if not all(-1 <= label < design.outputs for label in design.labels):
        raise InputError(f"labels beyond the {design.outputs} classes")
    if max(map(len, design.class_names)) > _LONGEST_NAME:
        raise InputError(f"a class name of more than {_LONGEST_NAME} characters")
    if design.front is not None:
        design.front.check(images, n)
