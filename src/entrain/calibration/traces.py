"""Measured phases of a chip under known fields, and experiments that determine its parameters."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from entrain import kernels
from entrain.data.own.arrays import Headers, read_npz
from entrain.hardware import Chip
from entrain.hardware.chip import on_chips
from entrain.models.model import Model
from entrain.physics import Dynamics
from entrain.utils.errors import InputError, positive_float, positive_int, reason, seed_number
from entrain.utils.files import write_atomically
from entrain.utils.tensor_file import read_tensors, write_tensors

KIND = "traces"
_ARRAYS = ("times", "fields", "phases")
_MOST_NUMBERS = 2**27  # of a file
_ROUNDING = 1e-6  # rad by which a reading at the end of a period may exceed it
_STRENGTHS = (0.1, 0.3, 1.0)  # of the planned fields: under weak ones couplings dominate


@dataclass(frozen=True)
class Traces:
    """Phases of N oscillators read at T times in each of M runs.

    Args:
        times: (T,) after the start, in the unit of the network's time.
        fields: (M, N) as programmed, constant during a run.
        phases: (T, M, N) in rad against the reference, NaN if not read. A plan has none.
        noise: Standard deviation of a reading in rad, if known.
    """

    times: np.ndarray
    fields: np.ndarray
    phases: np.ndarray | None = None
    noise: float | None = None

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            if (values := getattr(self, name)) is not None:
                array = np.asarray(values)
                if array.dtype.kind not in "fiu":
                    raise InputError(f"{name} must be real numbers, got {array.dtype}")
                object.__setattr__(self, name, np.ascontiguousarray(array, dtype=np.float64))
        times, fields, phases = self.times, self.fields, self.phases
        if times.ndim != 1 or not len(times) or times[0] <= 0 or (np.diff(times) <= 0).any():
            raise InputError("times must be positive and rising, in the unit of the network's time")
        if fields.ndim != 2 or not fields.size:
            raise InputError(f"fields must be runs x oscillators, got shape {fields.shape}")
        if not np.isfinite(times).all() or not np.isfinite(fields).all():
            raise InputError("times and fields must be finite; only phases may be missing (NaN)")
        if phases is not None:
            shape = (len(times), *fields.shape)
            if phases.shape != shape:
                raise InputError(
                    f"phases must be times x runs x oscillators, {' x '.join(map(str, shape))}, "
                    f"got shape {phases.shape}"
                )
            if np.isinf(phases).any() or np.isnan(phases).all():
                raise InputError("phases must be numbers, or NaN if not read, and not all missing")
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

    def unwrapped(self, start: np.ndarray) -> np.ndarray:
        """The phases (T, M, N) without jumps of 2 pi, if they were read modulo 2 pi: all between
        -pi and pi, or between 0 and 2 pi. Other phases are not changed.

        Args:
            start: theta(0) (M, N).
        """
        assert self.phases is not None
        phases, turn = self.phases.copy(), 2 * math.pi
        least, most = float(np.nanmin(phases)), float(np.nanmax(phases))
        if not any(
            first - _ROUNDING <= least and most <= first + turn + _ROUNDING
            for first in (-math.pi, 0.0)
        ):
            return phases
        last = np.broadcast_to(start, phases.shape[1:])
        for row in phases:
            row -= turn * np.round((row - last) / turn)
            last = np.where(np.isnan(row), last, row)
        return phases

    def save(self, path: Path | str) -> None:
        """Write the traces atomically.

        Args:
            path: A .safetensors file, or an .npz file for other programs.
        """
        path = Path(path)
        arrays = {name: getattr(self, name) for name in _ARRAYS if getattr(self, name) is not None}
        if path.suffix == ".npz":
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
    """The traces of a file.

    Args:
        path: A .safetensors file of `Traces.save`, or an .npz file with the arrays `times`,
            `fields`, `phases` and, if known, `noise`.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "traces.npz"
        >>> times = np.array([0.1, 0.2])
        >>> np.savez(path, times=times, fields=np.zeros((1, 2)), phases=np.zeros((2, 1, 2)))
        >>> entrain.calibration.read_traces(path).phases.shape
        (2, 1, 2)
    """
    path = Path(path)
    try:
        if path.suffix == ".npz":
            arrays: dict[str, Any] = dict(
                read_npz(path, ("times", "fields"), ("phases", "noise"), _check_sizes)
            )
        else:
            tensors, header = read_tensors(path, KIND)
            arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
            arrays["noise"] = header.get("noise")
        noise = arrays.pop("noise", None)
        if np.shape(noise) != ():
            raise InputError(f"noise must be one number, got shape {np.shape(noise)}")
        if not {"times", "fields"} <= set(arrays) <= set(_ARRAYS):
            raise InputError(
                f"expected the arrays {', '.join(_ARRAYS)}, got {', '.join(sorted(arrays)) or '-'}"
            )
        return Traces(**arrays, noise=None if noise is None else float(noise))
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(str(path)) else f"{path}: {text}") from error
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: not a readable file of traces ({reason(error)})") from error


def _check_sizes(headers: Headers) -> None:
    """Refuse arrays that take too much memory as float64."""
    numbers = sum(math.prod(shape) for shape, _ in headers.values())
    if numbers > _MOST_NUMBERS:
        raise InputError(
            f"{numbers:,} numbers; expected at most {_MOST_NUMBERS:,}: read fewer runs or times"
        )


def plan(model: Model, *, runs: int = 200, times: int = 20, seed: int = 0) -> Traces:
    """Experiments that determine a chip's parameters: fields to program, times to read at.

    The fields of a run are normal numbers times a weak, a medium or a strong factor, in turn: under
    strong fields an oscillator follows its field, and its phase depends little on its couplings.
    The strong factor is the pull of the couplings, the rms over oscillators of sum_j |J_ij|.

    Args:
        model: The model that the chip is programmed with.
        runs: M.
        times: T, equally spaced within the observation time.
        seed: Of the fields.

    Examples:
        >>> entrain.calibration.plan(entrain.load("mnist-74"), runs=10, times=5).times
        array([0.04, 0.08, 0.12, 0.16, 0.2 ])
    """
    positive_int("runs", runs, most=10**6)
    positive_int("times", times, most=10**5)
    n = model.network.oscillators
    pull = model.batched_parameters().couplings[0].double().abs().sum(-1)
    strength = float(pull.square().mean().sqrt()) or 1.0
    draws = np.random.default_rng(seed_number("seed", seed)).standard_normal((runs, n))
    factors = np.array(_STRENGTHS)[np.arange(runs) % len(_STRENGTHS)]
    end = model.network.dynamics.observation_time
    return Traces(end * np.arange(1, times + 1) / times, strength * factors[:, None] * draws)


def simulated(
    model: Model, chip: Chip, experiments: Traces, *, noise: float = 0.0, seed: int = 0
) -> Traces:
    """Readings of a simulated chip, without its thermal noise and readout effects.

    Args:
        model: The model that the chip is programmed with.
        chip: One sampled chip.
        experiments: Fields and times, such as those of `plan`.
        noise: Standard deviation of the normal errors of the readings, in rad.
        seed: Of these errors.

    Examples:
        >>> from entrain.calibration import plan, simulated
        >>> model = entrain.load("mnist-48-chip")
        >>> chip = entrain.hardware.preset("lo-2023").sample(0)
        >>> traces = simulated(model, chip, plan(model, runs=10, times=5))
        >>> traces.phases.shape
        (5, 10, 48)
    """
    realised = on_chips(model.batched_parameters(), chip.hardware, [chip.seed])
    fields = torch.from_numpy(experiments.fields).to(realised.parameters.biases)[None]
    for change in realised.field_changes:
        fields = change(fields)
    phase_model = replace(realised.parameters.under_fields(fields), delay=realised.delay)
    dynamics = model.network.dynamics
    path = kernels.rollout(phase_model, dynamics, record=True)[:, 0].double()
    phases = np.tensordot(weights(experiments.times, dynamics), path.cpu().numpy(), 1)
    draws = np.random.default_rng(seed_number("seed", seed)).standard_normal(phases.shape)
    spread = positive_float("noise", noise, zero=True)
    return Traces(experiments.times, experiments.fields, phases + spread * draws, noise)


def weights(times: np.ndarray, dynamics: Dynamics) -> np.ndarray:
    """(T, K + 1): weights of the K + 1 grid times that interpolate phases linearly at `times`."""
    end, steps = dynamics.observation_time, dynamics.steps
    if times[-1] > end * (1 + 1e-9):
        raise InputError(
            f"phases were read until {times[-1]:g}, the network's observation time is {end:g}; "
            "are the times in the unit of the network's time?"
        )
    position = np.minimum(times / end * steps, steps)
    before = np.minimum(position.astype(int), steps - 1)
    share = position - before
    result = np.zeros((len(times), steps + 1))
    rows = np.arange(len(times))
    result[rows, before] = 1.0 - share
    result[rows, before + 1] += share
    return result
