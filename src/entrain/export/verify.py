"""An exported design in its simulator, beside Python."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from entrain.export import digital
from entrain.export.design import Design
from entrain.export.fixed_point import WordLengths, fixed_point
from entrain.export.folder import read_export, refuse_edited
from entrain.export.ngspice import TIMES, Progress, run_images
from entrain.export.onnx_graph import FILE as ONNX_FILE
from entrain.export.onnx_graph import Onnx, run_onnx
from entrain.export.plain import JSON, Plain, recomputed
from entrain.export.spice import Spice
from entrain.utils.errors import InputError, reason

_MOST_BYTES = 2**29  # of a file
_FINE = 10_000  # Euler steps of the trajectory that circuits are compared with


@dataclass(frozen=True)
class Verification:
    """What a simulator gave, beside Python.

    `agree` images of `images` have the verdict that Python gives. Differences are those of the
    output cosines, over all images: from a fine rollout for circuits, from the integer model for a
    core, which has none where it is exact. `scores` and `wanted` (M, O); of one image the phases of
    both at equal times, (T, N), where the simulator told them.
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
        """Everything but the phases."""
        found = asdict(self)
        for name in ("simulated_phases", "python_phases"):
            del found[name]
        return found | {"scores": self.scores.tolist(), "wanted": self.wanted.tolist()}


def verify(
    folder: Path,
    *,
    images: int | None = None,
    edited: bool = False,
    synthesis: bool = False,
    on_progress: Progress | None = None,
) -> Verification:
    """Run an export in its simulator, all of its images or the first ones, and compare."""
    design, target = read_export(folder)
    if not edited and not isinstance(target, Plain):  # which is read, not run
        refuse_edited(folder, design, target)
    if images is not None and not isinstance(target, Spice):
        raise InputError("images are chosen for netlists; other exports run all of theirs at once")
    if images is not None and images > design.images:
        raise InputError(f"{folder}: has {design.images} images, asked for the first {images}")
    if synthesis and not isinstance(target, WordLengths):
        raise InputError(f"{folder}: only a Verilog core can be synthesised")
    tell = on_progress or (lambda fraction: None)
    with tempfile.TemporaryDirectory(prefix="entrain-verify-") as name:
        scratch = Path(name)
        if isinstance(target, Spice):
            some = design if images is None else design.first(images)
            return _circuits(folder, some, target, scratch, tell)
        if isinstance(target, Plain):
            return _plain(folder, design)
        if isinstance(target, Onnx):
            return _onnx(folder, design)
        return _core(folder, design, target, scratch, synthesis)


def _circuits(
    folder: Path, design: Design, spice: Spice, scratch: Path, tell: Progress
) -> Verification:
    """Every image's netlist, as many at once as there are cores."""
    began = time.monotonic()
    simulated = run_images(folder, design, spice, scratch, on_progress=tell)
    seconds = time.monotonic() - began
    python = design.trajectory(TIMES, _FINE)
    return _compared(
        design,
        "ngspice",
        simulated[-1],
        python[-1],
        seconds,
        simulated_phases=simulated[:, 0],
        python_phases=python[:, 0],
        details={"level": spice.level, "euler_steps": _FINE},
    )


def _plain(folder: Path, design: Design) -> Verification:
    """The description recomputed by a second implementation, in NumPy alone."""
    began = time.monotonic()
    try:
        text = _bounded(folder / JSON).decode("utf-8")
        phases = recomputed(json.loads(text), design)
    except (ValueError, ArithmeticError, LookupError, TypeError, RecursionError) as error:
        raise InputError(f"{folder / JSON}: not a network ({reason(error)})") from error
    seconds = time.monotonic() - began
    return _compared(design, "NumPy", phases, design.phases(), seconds)


def _onnx(folder: Path, design: Design) -> Verification:
    """The graph in onnxruntime, from raw inputs on."""
    if design.front is None:
        raise InputError(f"{folder}: has no raw inputs; export the model to onnx again")
    began = time.monotonic()
    phases = run_onnx(_bounded(folder / ONNX_FILE), design.front.raw.numpy())
    if phases.shape != (design.images, design.oscillators):
        raise InputError(f"{folder / ONNX_FILE}: gives phases of shape {phases.shape}")
    seconds = time.monotonic() - began
    return _compared(design, "onnxruntime", phases, design.phases(), seconds)


def _bounded(path: Path) -> bytes:
    """A file that is read as it is, of a size that an export has."""
    if not path.is_file():
        raise InputError(f"{path}: is missing; export the model again")
    if path.stat().st_size > _MOST_BYTES:
        raise InputError(f"{path}: larger than 512 MiB, which no export is")
    return path.read_bytes()


def _core(
    folder: Path, design: Design, lengths: WordLengths, scratch: Path, synthesis: bool
) -> Verification:
    """The testbench, against the integer model; and the network itself beside both."""
    began, chosen = time.monotonic(), digital.simulator()
    table = digital.simulate(folder, scratch, chosen)
    seconds = time.monotonic() - began
    found = fixed_point(design, lengths)
    phases = found.phases(found.fields(design.fields))
    exact = bool((table[:, 2:] == phases).all() and (table[:, 0] == found.verdicts(phases)).all())
    floating = design.scores(design.phases())
    details: dict[str, Any] = {
        "bit_exact": exact,
        "cycles_per_inference": int(table[:, 1].max()),
        "agree_with_float": int((floating.argmax(-1) == table[:, 0]).sum()),
        "max_difference_from_float": float(
            np.abs(floating - design.scores(found.radians(table[:, 2:]))).max()
        ),
    }
    if synthesis:
        details["synthesis"] = digital.synthesise(folder, scratch)
    return _compared(
        design,
        chosen,
        found.radians(table[:, 2:]),
        found.radians(phases),
        seconds,
        details=details,
        verdicts=(table[:, 0], found.verdicts(phases)),
    )


def _compared(
    design: Design,
    simulator: str,
    simulated: np.ndarray,
    python: np.ndarray,
    seconds: float,
    *,
    verdicts: tuple[np.ndarray, np.ndarray] | None = None,
    **others: Any,
) -> Verification:
    """Scores and verdicts of both, from phases at the end (M, N)."""
    scores, wanted = design.scores(simulated), design.scores(python)
    if not (np.isfinite(scores).all() and np.isfinite(wanted).all()):
        raise InputError("phases left the range of numbers: there is nothing to compare")
    ours, theirs = verdicts or (scores.argmax(-1), wanted.argmax(-1))
    off = np.abs(scores - wanted)
    return Verification(
        simulator,
        design.images,
        int((ours == theirs).sum()),
        int((ours == np.array(design.labels)).sum()),
        float(off.max()),
        float(np.median(off)),
        seconds,
        list(design.labels),
        [int(each) for each in ours],
        scores,
        wanted,
        **others,
    )
