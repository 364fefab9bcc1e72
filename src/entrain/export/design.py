"""The network and the test images of an export.

A design has everything that is exported and that the circuit is compared with: the effective
parameters (those of a chip, if one was named). Fields are the products of input weights and images;
a circuit gets them from outside, other formats include the weights (`input_stage.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain.data import SequenceScaling
from entrain.export.input_stage import InputStage, check_tensor, input_stage_of, split_input_stage
from entrain.export.machine import KINDS, KNOTS, Machine, split_machine
from entrain.hardware import Chip, Realised
from entrain.hardware.chip import on_chips
from entrain.ising import Annealing, Problem
from entrain.ising.machine import Program
from entrain.kernels import reference
from entrain.models.model import Model
from entrain.physics import Dynamics, PhaseModel, readout
from entrain.physics.network_spec import SPEC_TERMS
from entrain.physics.noise import random_phases
from entrain.physics.schedule import Schedule
from entrain.utils.errors import InputError, positive_float, positive_int, reason, seed_number
from entrain.utils.tensor_file import read_tensors, write_tensors

KIND = "design"
FILE = "design.safetensors"
MAX_IMAGES = 4096
_MAX_OSCILLATORS = 1024
_MAX_FIELDS = 2**20
_MAX_WORK = 1e13  # products of one rollout: beyond, it would run for days
_MAX_BYTES = 2**28  # of the file
_MAX_TITLE = 80
_MAX_NAME = 200  # of a class
_STEPS_OF_A_UNIT = 50  # Euler steps of a machine in a unit of time
DYNAMICS = ("mobility", "observation_time", "steps")
_HEADER = ("outputs", "labels", "class_names", "model", "target")


@dataclass(frozen=True)
class Design:
    """One network under the fields of M images, in float64.

    Args:
        phase_model: Fields (1, M, N), couplings (1, N, N) and all else that acts.
        dynamics: Mobility, observation time and Euler steps.
        outputs: O, the last oscillators, which are read.
        labels: Of the images, -1 if unknown.
        class_names: Of the outputs.
        model: The model's name.
        target: The export format and its options as JSON values.
        input_stage: Makes the fields of raw inputs, for formats that hold it.
        machine: The problem and the ramp of an Ising machine; its M images are runs from start
            phases (1, M, N).
    """

    phase_model: PhaseModel
    dynamics: Dynamics
    outputs: int
    labels: tuple[int, ...]
    class_names: tuple[str, ...]
    model: str = ""
    target: dict[str, Any] = field(default_factory=dict)
    input_stage: InputStage | None = None
    machine: Machine | None = None

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
        return self.phase_model.matrix[0].numpy()

    @property
    def title(self) -> str:
        """The model's name as one line without special characters, safe in a comment."""
        return re.sub(r"[^\w .-]", "_", self.model)[:_MAX_TITLE] or "network"

    def shared(self, name: str) -> np.ndarray | None:
        """Values of every oscillator (N,) that all images share; None if the network has none.

        Args:
            name: "frequencies", "injection" or "start".
        """
        values = getattr(self.phase_model, name)
        return None if values is None else values[0, 0].numpy()

    @property
    def start(self) -> np.ndarray:
        """theta(0) (N,), of the first run of a machine."""
        return np.asarray(self.starts[0])

    @property
    def starts(self) -> np.ndarray:
        """theta(0) of every image (M, N)."""
        return np.asarray(self.phase_model.starts()[0].numpy())

    def phases(self) -> np.ndarray:
        """The phases at the end (M, N), by the Euler steps of the network."""
        model = self._scheduled(0.0, 1.0, self.dynamics.steps)
        return reference.rollout(model, self.dynamics)[0].numpy()

    def _scheduled(self, begin: float, end: float, steps: int) -> PhaseModel:
        """The phase model between two shares of the observation time."""
        if self.machine is None:
            return self.phase_model
        middles = begin + (end - begin) * (np.arange(steps) + 0.5) / steps
        factors = {"injection": torch.from_numpy(self.machine.factors(middles))}
        return replace(self.phase_model, schedule=Schedule(factors))

    def trajectory(self, parts: int, steps: int) -> np.ndarray:
        """The phases (parts + 1, M, N) at equally spaced times from 0 to the end.

        Args:
            parts: Intervals between these times.
            steps: The least number of Euler steps in all.
        """
        part = replace(
            self.dynamics,
            observation_time=self.dynamics.observation_time / parts,
            steps=max(1, -(-steps // parts)),
        )
        phases = [self.phase_model.starts()]
        for k in range(parts):
            model = self._scheduled(k / parts, (k + 1) / parts, part.steps)
            phases.append(reference.rollout(replace(model, start=phases[-1]), part))
        return torch.cat(phases).numpy()

    def scores(self, phases: np.ndarray) -> np.ndarray:
        """cos(theta) of the outputs (..., O).

        Args:
            phases: theta (..., N).
        """
        return readout(torch.as_tensor(phases), self.outputs).numpy()

    def under(self, fields: np.ndarray, start: np.ndarray | None = None) -> Design:
        """The same network under other fields, without labels (-1).

        Args:
            fields: b (M, N).
            start: theta(0) (N,). Default: that of this design.
        """
        b = torch.as_tensor(np.array(fields), dtype=torch.float64)
        if b.dim() != 2 or b.shape[1] != self.oscillators or not bool(b.isfinite().all()):
            raise InputError(
                f"fields must be finite, of shape (M, {self.oscillators}), got {tuple(b.shape)}"
            )
        model = replace(self.phase_model, fields=b[None])
        if start is not None:
            phases = torch.as_tensor(np.array(start), dtype=torch.float64)
            model = replace(model, start=phases.reshape(1, 1, self.oscillators))
        return replace(self, phase_model=model, labels=(-1,) * len(b), input_stage=None)

    def first(self, images: int) -> Design:
        """The same network under the first images only.

        Args:
            images: Their number.
        """
        model = self.phase_model.rows(slice(images))
        stage = self.input_stage and replace(self.input_stage, raw=self.input_stage.raw[:images])
        return replace(self, phase_model=model, labels=self.labels[:images], input_stage=stage)


def design_of(
    model: Model,
    pixels: np.ndarray,
    labels: np.ndarray,
    *,
    name: str = "",
    chip: Chip | None = None,
    with_input_stage: bool = False,
) -> Design:
    """The design of a model under test images.

    Args:
        model: A trained model.
        pixels: The images (M, D) or (M, rows, columns), or features.
        labels: Of the images (M,).
        name: The model's name in comments.
        chip: Export the network as this chip realises it. Default: the ideal network.
        with_input_stage: Include preprocessing and input weights, which ONNX needs.

    Examples:
        >>> model = entrain.load("mnist-74")
        >>> test = entrain.load_test_split("mnist").rows(slice(3))
        >>> design = entrain.export.design_of(model, test.features, test.labels)
        >>> design.phases().shape
        (3, 74)
    """
    if isinstance(model.preprocessing, SequenceScaling):
        raise InputError(
            "the model reads sequences: inputs that vary in time cannot be exported; export a "
            "model of images or rows"
        )
    inputs = model.inputs(pixels).double()
    realised = Realised(model.batched_parameters().map(Tensor.double))
    realised.parameters.refuse_other_terms(SPEC_TERMS, "an export")
    if chip is not None:
        realised = on_chips(realised.parameters, chip.hardware, [chip.seed])
    if realised.delay:
        raise InputError("a delay of the couplings cannot be exported")
    stage = None
    if with_input_stage:
        if realised.field_changes:
            raise InputError("this chip changes fields by more than input weights: not in onnx")
        p = realised.parameters.map(lambda tensor: tensor.detach().cpu())
        stage = input_stage_of(
            np.asarray(pixels), model.preprocessing, p.input_weights[0], p.biases[0]
        )
    return Design(
        realised.phase_model(inputs).map(lambda tensor: tensor.detach().cpu()),
        model.network.dynamics,
        model.network.outputs,
        tuple(int(label) for label in labels),
        model.task.output_names,
        name,
        input_stage=stage,
    )


def design_of_problem(
    problem: Problem,
    *,
    restarts: int = 4,
    time: float = 40.0,
    annealing: Annealing | None = None,
    seed: int = 0,
    name: str = "",
) -> Design:
    """The design of an Ising machine: couplings and fields of a problem, runs from random phases.

    The machine is that of `entrain.solve` without noise: its couplings are in units of the root
    mean square row, and its injection is the ramp of `annealing`.

    Args:
        problem: An `Ising`, `Qubo` or `MaxCut`.
        restarts: Number of runs, M.
        time: Duration of a run, in the unit of the phase model.
        annealing: The ramp of the injection; noise and time steps are not used.
        seed: Seed of the start phases.
        name: The problem's name in comments.

    Examples:
        >>> graph = entrain.ising.WeightedGraph(3, np.array([0, 1]), np.array([1, 2]), np.ones(2))
        >>> design = entrain.export.design_of_problem(entrain.ising.MaxCut(graph), restarts=2)
        >>> design.phases().shape
        (2, 3)
    """
    if type(problem) not in KINDS.values():
        raise InputError(
            f"problem must be an Ising, Qubo or MaxCut, got {type(problem).__name__}: oscillators "
            "of a netlist lock to two phases"
        )
    runs = positive_int("restarts", restarts, most=MAX_IMAGES)
    time = positive_float("time", time, least=1e-3, most=1e6)
    if problem.variables > _MAX_OSCILLATORS:
        raise InputError(
            f"the problem has {problem.variables:,} variables, an export at most "
            f"{_MAX_OSCILLATORS:,}"
        )
    if not problem.graph.edges:
        raise InputError("the problem has no edges, and so the circuit no couplings")
    if np.abs(problem.graph.weights).max(initial=0) > 2**53:
        raise InputError("weights of an exported problem must be up to 2^53, where they are exact")
    annealing = Annealing() if annealing is None else annealing
    if annealing.first_coupling != 1.0:
        raise InputError("couplings that vary in time cannot be exported: first_coupling must be 1")
    program, n = Program.of(problem), problem.variables
    shares = torch.linspace(0.0, 1.0, KNOTS + 1, dtype=torch.float64)
    starts = random_phases(seed_number("seed", seed), torch.zeros(runs), torch.arange(runs), n)
    model = PhaseModel(
        torch.from_numpy(program.fields).double().expand(1, runs, n).clone(),
        torch.from_numpy(program.couplings.toarray())[None].double(),
        start=starts[None].double(),
        injection=torch.full((1, 1, n), annealing.injection, dtype=torch.float64),
    )
    return Design(
        model,
        Dynamics(1.0, time, max(1, round(_STEPS_OF_A_UNIT * time))),
        outputs=n,
        labels=(-1,) * runs,
        class_names=tuple(map(str, range(n))),
        model=name,
        machine=Machine(problem, shares**annealing.injection_power),
    )


def write_design(folder: Path, design: Design) -> None:
    """Write the file of a design into its folder."""
    header = {name: getattr(design.dynamics, name) for name in DYNAMICS}
    header |= {name: getattr(design, name) for name in _HEADER}
    tensors = design.phase_model.tensors()
    if design.input_stage is not None:
        tensors |= design.input_stage.tensors()
    if design.machine is not None:
        tensors |= design.machine.tensors()
        header["machine"] = design.machine.to_json()
    write_tensors(folder / FILE, KIND, tensors, header)


def read_design(folder: Path) -> Design:
    """The design of a folder that `entrain export` wrote."""
    path = folder / FILE
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; expected one that entrain export wrote")
    if not path.is_file():
        raise InputError(f"{folder}: has no {FILE}; expected a folder that entrain export wrote")
    if path.stat().st_size > _MAX_BYTES:
        raise InputError(f"{path}: larger than 256 MiB, the most that a design may take")
    tensors, header = read_tensors(path, KIND)
    try:
        if any(tensor.dtype not in (torch.float32, torch.float64) for tensor in tensors.values()):
            raise InputError("numbers must be float32 or float64")
        rest, of_machine = split_machine({k: tensor.double() for k, tensor in tensors.items()})
        acting, stage = split_input_stage(rest)
        machine = None
        if "machine" in header:
            nodes = acting["fields"].shape[-1]
            machine = Machine.from_file(of_machine, header["machine"], nodes)
        design = Design(
            PhaseModel(**acting),
            Dynamics(*(header[name] for name in DYNAMICS)),
            int(header["outputs"]),
            tuple(int(label) for label in header["labels"]),
            tuple(str(name) for name in header["class_names"]),
            str(header["model"]),
            dict(header["target"]),
            stage,
            machine,
        )
        check_design(design)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"{path}: not a readable design ({reason(error)})") from error
    return design


def refuse_terms(design: Design, where: str, terms: Sequence[str]) -> None:
    """Raise for terms of the equation that an export to `where` does not compute."""
    for name in terms:
        if getattr(design.phase_model, name) is not None:
            raise InputError(
                f"the network has {name}, which {where} does not compute; export its equations to "
                "spice at the level phase, to onnx or plain"
            )


def check_design(design: Design) -> None:
    """Raise for oversized designs, inconsistent shapes and numbers that are not finite."""
    model = design.phase_model
    runs, images, n = model.fields.shape
    sizes = 1 <= images <= MAX_IMAGES and 1 <= design.outputs <= n <= _MAX_OSCILLATORS
    if runs != 1 or not sizes or images * n > _MAX_FIELDS:
        raise InputError(
            f"fields of shape {tuple(model.fields.shape)}; expected up to {MAX_IMAGES:,} images "
            f"and {_MAX_OSCILLATORS:,} oscillators, and {_MAX_FIELDS:,} fields"
        )
    if float(images) * n * n * design.dynamics.steps > _MAX_WORK:
        raise InputError(f"{images} images, {n} oscillators and {design.dynamics.steps} steps")
    shapes = {"fields": (1, images, n), "couplings": (1, n, n), "lag": (1,), "harmonic": (1, 2)}
    if design.machine is not None:
        shapes["start"] = (1, images, n)
    for name, tensor in model.tensors().items():
        check_tensor(name, tensor, shapes.get(name, (1, 1, n)))
    classes = range(-1, design.outputs)
    if len(design.labels) != images or any(label not in classes for label in design.labels):
        raise InputError(f"expected a label from -1 to {classes[-1]} of each image")
    if len(design.class_names) != design.outputs or max(map(len, design.class_names)) > _MAX_NAME:
        raise InputError(f"expected {design.outputs} class names of up to {_MAX_NAME} characters")
    if design.input_stage is not None:
        design.input_stage.check(images, n)
