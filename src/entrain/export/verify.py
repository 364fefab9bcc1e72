"""Comparison of an exported design in its simulator with Python."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from entrain.export import digital
from entrain.export.design import Design
from entrain.export.fixed_point import fixed_point
from entrain.export.folder import checked_files, read_export, read_file
from entrain.export.machine import Machine
from entrain.export.ngspice import TIMES, Progress, simulate
from entrain.export.onnx_graph import FILE as ONNX_FILE
from entrain.export.onnx_graph import run_onnx
from entrain.export.plain import JSON, recompute
from entrain.export.targets import Plain, Spice, WordLengths
from entrain.utils.errors import InputError, reason

_STEPS = 10_000  # Euler steps of the trajectory that circuits are compared with


@dataclass(frozen=True)
class Verification:
    """Results of a simulator compared with Python.

    Differences are those of the output cosines over all images: from a fine rollout for circuits,
    from the integer model for a core, where 0 is exact.

    Args:
        simulator: Name of the program.
        images: Simulated images.
        agree: Images with the same prediction as in Python; of an Ising machine, runs with the
            same states, or opposite ones of a problem without fields.
        right: Images whose prediction is the label; of a machine, runs with the value of Python.
        max_difference: Largest difference of a cosine.
        median_difference: Median difference of the cosines.
        seconds: Duration of the simulation.
        labels: Of the images; of a machine, values of the runs in Python.
        verdicts: Predictions, or values, of the simulator.
        scores: Cosines of the simulator (M, O).
        wanted: Cosines of Python (M, O).
        simulated_phases: Phases of the first image over time (T, N), of circuits only.
        python_phases: The same in Python.
        details: Further results of the simulator, as JSON values.
    """

    simulator: str
    images: int
    agree: int
    right: int
    max_difference: float
    median_difference: float
    seconds: float
    labels: list[int]
    verdicts: list[int]
    scores: np.ndarray = field(repr=False)
    wanted: np.ndarray = field(repr=False)
    simulated_phases: np.ndarray | None = field(default=None, repr=False)
    python_phases: np.ndarray | None = field(default=None, repr=False)
    details: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """All but the phases, as JSON values."""
        values = asdict(self)
        del values["simulated_phases"], values["python_phases"]
        return values | {"scores": self.scores.tolist(), "wanted": self.wanted.tolist()}


def verify(
    folder: Path,
    *,
    images: int | None = None,
    edited: bool = False,
    synthesis: bool = False,
    on_progress: Progress | None = None,
) -> Verification:
    """An export run in its simulator and compared with Python.

    Args:
        folder: A folder that `write_export` or `entrain export` wrote.
        images: Netlists only: the number of images, the first ones. Default: all.
        edited: Run files that were changed after the export.
        synthesis: Verilog only: also synthesise the core.
        on_progress: Called with the completed fraction of the netlists.
    """
    design, target = read_export(folder)
    if images is not None and not isinstance(target, Spice):
        raise InputError("images are chosen for netlists; other exports run all images at once")
    if images is not None and images > design.images:
        raise InputError(f"{folder}: has {design.images} images, asked for the first {images}")
    if synthesis and not isinstance(target, WordLengths):
        raise InputError(f"{folder}: only a Verilog core can be synthesised")
    if isinstance(target, Plain):  # which is read, not run
        return _arrays(folder, design)
    files = checked_files(folder, design, target, edited=edited)
    if isinstance(target, WordLengths):
        return _core(files, design, target, synthesis)
    if isinstance(target, Spice):
        design = design if images is None else design.first(images)
        return _circuits(files, design, target, on_progress)
    return _graph(files[ONNX_FILE], folder, design)


def _circuits(
    files: dict[str, bytes], design: Design, spice: Spice, on_progress: Progress | None
) -> Verification:
    """The netlists of all images, as many in parallel as there are cores."""
    began = time.monotonic()
    simulated = simulate(design, spice, on_progress=on_progress, files=files)
    seconds = time.monotonic() - began
    steps = max(_STEPS, 4 * design.dynamics.steps)
    python = design.trajectory(TIMES, steps)
    details = {"level": spice.level, "euler_steps": steps}
    if design.machine is None:
        result = _compare(design, "ngspice", seconds, simulated[-1], python[-1], details)
    else:
        result = _machines(design, design.machine, seconds, simulated[-1], python[-1], details)
    return replace(result, simulated_phases=simulated[:, 0], python_phases=python[:, 0])


def _machines(
    design: Design,
    machine: Machine,
    seconds: float,
    simulated: np.ndarray,
    python: np.ndarray,
    details: dict[str, Any],
) -> Verification:
    """Runs of an Ising machine: their states, values and phases at the end (M, N)."""
    states, expected = machine.states(simulated), machine.states(python)
    agree = machine.agreement(states, expected)
    values, wanted = machine.problem.values(states), machine.problem.values(expected)
    off = np.abs(np.sin(simulated - python))[agree]  # of the line, whose ends are two states
    result = _compare(design, "ngspice", seconds, simulated, python, details)
    return replace(
        result,
        agree=int(agree.sum()),
        right=int((values == wanted).sum()),
        labels=wanted.tolist(),
        verdicts=values.tolist(),
        details=details
        | {
            "measure": machine.problem.measure,
            "goal": machine.problem.goal,
            "max_phase_difference": float(np.arcsin(off).max()) if len(off) else None,
        },
    )


def _arrays(folder: Path, design: Design) -> Verification:
    """The description computed by a second implementation, in NumPy alone."""
    began, content = time.monotonic(), read_file(folder / JSON)
    try:
        phases = recompute(json.loads(content.decode("utf-8")), design)
    except (ValueError, ArithmeticError, LookupError, TypeError, RecursionError) as error:
        raise InputError(f"{folder / JSON}: not a network ({reason(error)})") from error
    return _compare(design, "NumPy", time.monotonic() - began, phases, design.phases())


def _graph(content: bytes, folder: Path, design: Design) -> Verification:
    """The graph in onnxruntime under the raw inputs."""
    if design.input_stage is None:
        raise InputError(f"{folder}: has no raw inputs; export the model to onnx again")
    began = time.monotonic()
    phases = run_onnx(content, design.input_stage.raw.numpy())
    if phases.shape != (design.images, design.oscillators):
        raise InputError(f"{folder / ONNX_FILE}: gives phases of shape {phases.shape}")
    return _compare(design, "onnxruntime", time.monotonic() - began, phases, design.phases())


def _core(
    files: dict[str, bytes], design: Design, lengths: WordLengths, synthesis: bool
) -> Verification:
    """The testbench compared with the integer model, and with the network in floating point."""
    began, simulator = time.monotonic(), digital.simulator()
    verdicts, cycles, phases = np.split(digital.simulate(files, simulator), [1, 2], axis=1)
    seconds, verdicts = time.monotonic() - began, verdicts[:, 0]
    network = fixed_point(design, lengths)
    wanted = network.phases(network.fields(design.fields))
    radians, predictions = network.radians(phases), network.verdicts(wanted)
    floating = design.scores(design.phases())
    details: dict[str, Any] = {
        "bit_exact": bool((phases == wanted).all() and (verdicts == predictions).all()),
        "cycles_per_inference": int(cycles.max()),
        "agree_with_float": int((floating.argmax(-1) == verdicts).sum()),
        "max_difference_from_float": float(np.abs(floating - design.scores(radians)).max()),
    }
    if synthesis:
        details["synthesis"] = digital.synthesise(files)
    python, both = network.radians(wanted), (verdicts, predictions)
    return _compare(design, simulator, seconds, radians, python, details, both)


def _compare(
    design: Design,
    simulator: str,
    seconds: float,
    simulated: np.ndarray,
    python: np.ndarray,
    details: dict[str, Any] | None = None,
    predictions: tuple[np.ndarray, np.ndarray] | None = None,
) -> Verification:
    """Differences of scores and predictions, from the phases of both at the end (M, N)."""
    scores, wanted = design.scores(simulated), design.scores(python)
    if not (np.isfinite(scores).all() and np.isfinite(wanted).all()):
        raise InputError("phases overflowed: the simulation cannot be compared")
    verdicts, expected = predictions or (scores.argmax(-1), wanted.argmax(-1))
    differences = np.abs(scores - wanted)
    return Verification(
        simulator,
        design.images,
        int((verdicts == expected).sum()),
        int((verdicts == np.array(design.labels)).sum()),
        float(differences.max()),
        float(np.median(differences)),
        seconds,
        list(design.labels),
        verdicts.tolist(),
        scores,
        wanted,
        details=details or {},
    )
