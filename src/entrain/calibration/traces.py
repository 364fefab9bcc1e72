"""Measured phases of a device under known fields, and experiments that show what they should."""

from __future__ import annotations

import math
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain import kernels
from entrain.hardware import Chip
from entrain.hardware.chip import on_chips
from entrain.models.model import Model
from entrain.physics import Dynamics, Parameters, PhaseModel
from entrain.utils.errors import InputError, positive_float, positive_int, reason, seed_number
from entrain.utils.files import write_atomically
from entrain.utils.tensor_file import read_tensors, write_tensors

KIND = "traces"
_ARRAYS = ("times", "fields", "phases")
_LARGEST = 2**31  # bytes of a file's arrays
_ROUNDED = 1e-6  # rad: what a reading at the end of a turn may exceed it by
_WEAKER = (0.1, 0.3, 1.0)  # strengths of the planned fields: weak ones leave the couplings room


@dataclass(frozen=True)
class Traces:
    """Phases of N oscillators read at T times in each of M runs.

    `fields` (M, N) are those that were programmed, constant during a run; `times` (T,) are in the
    unit of the network's time, from the start on; `phases` (T, M, N) in rad against the reference,
    NaN where nothing was read. A plan has no phases yet. `noise` is the standard deviation of a
    reading in rad, None where it is not known.
    """

    times: np.ndarray
    fields: np.ndarray
    phases: np.ndarray | None = None
    noise: float | None = None

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            if (values := getattr(self, name)) is not None:
                object.__setattr__(self, name, _numbers(name, values))
        times, fields, phases = self.times, self.fields, self.phases
        if times.ndim != 1 or not len(times) or times[0] <= 0 or (np.diff(times) <= 0).any():
            raise InputError("times must be positive and rising, in the unit of the network's time")
        if fields.ndim != 2 or not fields.size:
            raise InputError(f"fields must be runs x oscillators, got shape {fields.shape}")
        if not np.isfinite(times).all() or not np.isfinite(fields).all():
            raise InputError("times and fields must be finite; only phases may be missing (NaN)")
        if phases is not None:
            wanted = (len(times), *fields.shape)
            if phases.shape != wanted:
                raise InputError(
                    f"phases must be times x runs x oscillators, {' x '.join(map(str, wanted))}, "
                    f"got shape {phases.shape}"
                )
            if np.isinf(phases).any():
                raise InputError("phases must be numbers, or NaN where nothing was read")
            if np.isnan(phases).all():
                raise InputError("phases are all missing: nothing was read")
        if self.noise is not None:
            positive_float("noise", self.noise, zero=True)

    @property
    def runs(self) -> int:
        """M."""
        return len(self.fields)

    @property
    def oscillators(self) -> int:
        """N."""
        return int(self.fields.shape[1])

    def first(self, runs: int) -> Traces:
        """The first runs alone."""
        phases = None if self.phases is None else self.phases[:, :runs]
        return Traces(self.times, self.fields[:runs], phases, self.noise)

    def unwrapped(self, start: np.ndarray) -> np.ndarray:
        """The phases (T, M, N) without jumps of a turn, where they were read modulo a turn: all
        between -pi and pi, or between 0 and 2 pi. Others are taken as they are.
        """
        assert self.phases is not None
        phases = self.phases.copy()
        least, most = float(np.nanmin(phases)), float(np.nanmax(phases))
        if not any(
            start - _ROUNDED <= least and most <= start + 2 * math.pi + _ROUNDED
            for start in (-math.pi, 0.0)
        ):
            return phases
        last = np.broadcast_to(start, phases.shape[1:])
        for now in phases:
            now -= 2 * math.pi * np.round((now - last) / (2 * math.pi))
            last = np.where(np.isnan(now), last, now)
        return phases

    def save(self, path: Path | str) -> None:
        """Write a .safetensors file, or an .npz file for other programs, atomically."""
        path = Path(path)
        arrays = {name: getattr(self, name) for name in _ARRAYS if getattr(self, name) is not None}
        if path.suffix == ".npz":
            import io

            if self.noise is not None:
                arrays["noise"] = np.array(self.noise)
            content = io.BytesIO()
            np.savez_compressed(content, **arrays)
            write_atomically(path, content.getvalue())
        elif path.suffix == ".safetensors":
            tensors = {name: torch.from_numpy(values) for name, values in arrays.items()}
            write_tensors(path, KIND, tensors, {"noise": self.noise})
        else:
            raise InputError(f"{path}: traces are .safetensors or .npz files")


def read_traces(path: Path | str) -> Traces:
    """The traces of a .safetensors file of this package, or of an .npz file with the arrays
    `times`, `fields`, `phases` and, where it is known, `noise`."""
    path = Path(path)
    try:
        arrays, noise = _npz(path) if path.suffix == ".npz" else _safetensors(path)
        unknown = set(arrays) - set(_ARRAYS)
        missing = {"times", "fields"} - set(arrays)
        if unknown or missing:
            raise InputError(
                f"expected the arrays {', '.join(_ARRAYS)}, got {', '.join(sorted(arrays)) or '-'}"
            )
        return Traces(**arrays, noise=None if noise is None else float(noise))
    except InputError as error:
        told = str(error)
        raise InputError(told if told.startswith(str(path)) else f"{path}: {told}") from error
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: not a readable file of traces ({reason(error)})") from error


def _safetensors(path: Path) -> tuple[dict[str, Any], Any]:
    tensors, header = read_tensors(path, KIND)
    return {name: tensor.numpy() for name, tensor in tensors.items()}, header.get("noise")


def _npz(path: Path) -> tuple[dict[str, Any], Any]:
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(each.file_size for each in archive.infolist()) > _LARGEST:
                raise InputError("larger than 2 GiB when unpacked")
        with np.load(path, allow_pickle=False) as content:
            arrays = {name: content[name] for name in content.files}
    except (OSError, EOFError, zipfile.BadZipFile, ValueError, RuntimeError, MemoryError) as error:
        raise InputError(f"not a readable .npz file ({reason(error)})") from error
    noise = arrays.pop("noise", None)
    if noise is not None and np.shape(noise) != ():
        raise InputError(f"noise must be one number, got shape {np.shape(noise)}")
    return arrays, noise


def _numbers(name: str, values: object) -> np.ndarray:
    found = np.asarray(values)
    if found.dtype.kind not in "fiu":
        raise InputError(f"{name} must be real numbers, got {found.dtype}")
    return np.ascontiguousarray(found, dtype=np.float64)


def plan(model: Model, *, runs: int = 200, times: int = 20, seed: int = 0) -> Traces:
    """Experiments that show a device's numbers: fields to program, times to read at.

    The fields of a run are normal numbers times one strength, of a weak, a middling and a strong
    one in turn: under strong fields an oscillator follows its field and tells little of its
    couplings. The strong ones are as large as the couplings' pull, the rms over oscillators of
    sum_j |J_ij|.
    """
    positive_int("runs", runs, most=10**6)
    positive_int("times", times, most=10**5)
    n = model.network.oscillators
    pull = model.batched_parameters().couplings[0].double().abs().sum(-1)
    strength = float(pull.square().mean().sqrt()) or 1.0
    draws = np.random.default_rng(seed_number("seed", seed)).standard_normal((runs, n))
    weaker = np.array(_WEAKER)[np.arange(runs) % len(_WEAKER)]
    end = model.network.dynamics.observation_time
    return Traces(end * np.arange(1, times + 1) / times, strength * weaker[:, None] * draws)


def simulated(
    model: Model, chip: Chip, experiments: Traces, *, noise: float = 0.0, seed: int = 0
) -> Traces:
    """What would be read of a simulated chip in `experiments`, with normal errors of each reading.

    Thermal noise and the readout's own effects of the chip are left out.
    """
    realised = on_chips(model.batched_parameters(), chip.hardware, [chip.seed])
    fields = torch.from_numpy(experiments.fields).to(realised.parameters.biases)[None]
    for change in realised.field_changes:
        fields = change(fields)
    p = realised.parameters
    acting = replace(acting_under(p, fields), delay=realised.delay)
    dynamics = model.network.dynamics
    path = kernels.rollout(acting, dynamics, record=True)[:, 0].double()
    phases = np.tensordot(weights(experiments.times, dynamics), path.cpu().numpy(), 1)
    draws = np.random.default_rng(seed_number("seed", seed)).standard_normal(phases.shape)
    spread = positive_float("noise", noise, zero=True)
    return Traces(experiments.times, experiments.fields, phases + spread * draws, noise)


def acting_under(parameters: Parameters, fields: Tensor) -> PhaseModel:
    """What acts in networks (R, ...) under given fields (R, M, N) in place of inputs."""
    p = parameters
    shared: dict[str, Any] = {
        "frequencies": p.frequencies,
        "injection": p.injection,
        "start": p.start_phases,
    }
    rows: dict[str, Any] = {n: None if t is None else t[:, None] for n, t in shared.items()}
    return PhaseModel(fields, p.couplings, lag=p.lag, harmonic=p.harmonic, **rows)


def weights(times: np.ndarray, dynamics: Dynamics) -> np.ndarray:
    """(T, K + 1): what reads the phases at `times` off the K + 1 of the grid, between two of them
    on a line."""
    end, steps = dynamics.observation_time, dynamics.steps
    if times[-1] > end * (1 + 1e-9):
        raise InputError(
            f"phases were read until {times[-1]:g}, the network's observation time is {end:g}; "
            "are the times in the unit of the network's time?"
        )
    place = np.minimum(times / end * steps, steps)
    before = np.minimum(place.astype(int), steps - 1)
    share = place - before
    found = np.zeros((len(times), steps + 1))
    rows = np.arange(len(times))
    found[rows, before] = 1.0 - share
    found[rows, before + 1] += share
    return found
