"""From sequences of frames to network inputs: each channel standardised, a fixed number of frames.

Sequences (n, T, D) are T frames of D channels; those that are shorter have NaN after their end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain.data.features import NORM, FeatureScaling
from entrain.data.log_mel import LogMel
from entrain.data.sounds import read_sound
from entrain.utils.errors import InputError, positive_int
from entrain.utils.summary import Summary

MOST_FRAMES = 100_000


@dataclass(frozen=True, repr=False)
class SequenceScaling(Summary):
    r"""Scaling of sequences of D channels to inputs u (F, D) in time.

    Each frame x is scaled as a row, u = factor (x - mean) / sd; then F frames at equal distances
    from the first to the last are interpolated linearly.

    Args:
        channels: Scaling of a frame.
        frames: F.
        sound: Makes the frames of sounds; None if the sequences are no sounds.

    Examples:
        >>> waves = np.sin(np.arange(40.0)).reshape(2, 10, 2)
        >>> entrain.SequenceScaling.fit(waves, frames=8)(waves).shape
        torch.Size([2, 8, 2])
    """

    channels: FeatureScaling
    frames: int
    sound: LogMel | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.channels, FeatureScaling):
            raise InputError(f"channels must be a FeatureScaling, got {self.channels!r}")
        positive_int("frames", self.frames)
        if self.sound is not None and self.sound.bands != self.inputs:
            raise InputError(f"{self.sound.bands} bands of sound for {self.inputs} channels")

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        return {"channels": f"{self.inputs:,}", "frames": f"{self.frames:,}"}

    @property
    def inputs(self) -> int:
        """D, the number of channels."""
        return self.channels.inputs

    @property
    def image_shape(self) -> tuple[int, int]:
        """(F, D), the shape of a sequence as a picture."""
        return self.frames, self.inputs

    @classmethod
    def fit(
        cls, train: np.ndarray, frames: int, norm: float = NORM, sound: LogMel | None = None
    ) -> SequenceScaling:
        """The scaling of training sequences.

        Args:
            train: Training sequences (n, T, D).
            frames: F.
            norm: Mean length of the input of a frame.
            sound: Made the frames, of sounds.
        """
        rows = checked_sequences(train)
        return cls(FeatureScaling.fit(rows[~np.isnan(rows[..., 0])], norm), frames, sound)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> SequenceScaling:
        """The scaling of JSON values.

        Args:
            values: `dataclasses.asdict` of a scaling.
        """
        if set(values) - {"sound"} != {"channels", "frames"}:
            raise InputError(f"a sequence scaling holds channels and frames, got {sorted(values)}")
        sound = values.get("sound")
        return cls(
            FeatureScaling.from_json(values["channels"]),
            values["frames"],
            None if sound is None else LogMel.from_json(sound),
        )

    def __call__(self, sequences: np.ndarray, *, unseen: bool = True) -> Tensor:
        """Inputs (n, F, D), float32; `unseen` makes no difference.

        Args:
            sequences: Sequences (n, T, D), or one (T, D).
            unseen: As of `Preprocessing`.
        """
        rows = np.asarray(sequences)
        rows = checked_sequences(rows[None] if rows.ndim == 2 else rows, self.inputs)
        flat = rows.reshape(-1, self.inputs)
        present = ~np.isnan(flat[:, 0])
        scaled = np.zeros(flat.shape, dtype=np.float32)
        scaled[present] = self.channels(flat[present]).numpy()
        return torch.from_numpy(resample(scaled.reshape(rows.shape), lengths(rows), self.frames))

    def read_sounds(self, paths: Iterable[Path | str]) -> np.ndarray:
        """Sequences (n, T, D) of sounds, frames as of those in training.

        Args:
            paths: WAV files of any rate.
        """
        if self.sound is None:
            raise InputError("the model was not trained on sounds; give sequences of numbers")
        return pad([self.sound(*read_sound(path)) for path in paths])

    def check(self, sequences: np.ndarray) -> None:
        """Raise the `InputError` that a call would raise.

        Args:
            sequences: Sequences (n, T, D).
        """
        self(sequences)


def lengths(sequences: np.ndarray) -> np.ndarray:
    """Number of frames (n,) of each sequence of (n, T, D)."""
    return np.asarray((~np.isnan(sequences[..., 0])).sum(1))


def resample(sequences: np.ndarray, counts: np.ndarray, frames: int) -> np.ndarray:
    """Sequences (n, F, D), interpolated linearly between their first and last frame.

    Args:
        sequences: Sequences (n, T, D).
        counts: Frames of each (n,).
        frames: F.
    """
    at = np.linspace(0.0, 1.0, frames) * (counts[:, None] - 1)
    before = np.minimum(at.astype(np.int64), np.maximum(counts[:, None] - 2, 0))
    after = np.minimum(before + 1, counts[:, None] - 1)
    part = (at - before)[..., None].astype(sequences.dtype)
    rows = np.arange(len(sequences))[:, None]
    return np.asarray(sequences[rows, before] * (1 - part) + sequences[rows, after] * part)


def pad(sequences: Sequence[Any], name: str = "X") -> np.ndarray:
    """Sequences of different lengths as one array (n, T, D), float64, NaN after their ends.

    Args:
        sequences: Arrays (T_i, D).
        name: Name of the argument, for errors.
    """
    arrays = [np.asarray(sequence) for sequence in sequences]
    if not arrays:
        raise InputError(f"{name} holds no sequence; expected at least one")
    channels = arrays[0].shape[-1] if arrays[0].ndim == 2 else 0
    for row, array in enumerate(arrays):
        if array.ndim != 2 or array.dtype.kind not in "buif":
            raise InputError(
                f"{name}: sequence {row} (from 0) has shape {array.shape} of {array.dtype}; "
                "expected numbers (frames, channels)"
            )
        if array.shape[1] != channels or channels == 0:
            raise InputError(
                f"{name}: sequence {row} (from 0) has {array.shape[1]} channels; expected "
                f"{channels or 'at least one'}, as in the first"
            )
        if len(array) == 0:
            raise InputError(f"{name}: sequence {row} (from 0) is empty; leave it out")
        if not np.isfinite(array).all():
            raise InputError(
                f"{name}: sequence {row} (from 0) holds {array[~np.isfinite(array)][0]}; expected "
                "finite numbers: fill in missing values"
            )
    longest = max(map(len, arrays))
    _check_size(len(arrays), longest, channels)
    padded = np.full((len(arrays), longest, channels), np.nan)
    for values, array in zip(padded, arrays, strict=True):
        values[: len(array)] = array
    return padded


def checked_sequences(sequences: np.ndarray, inputs: int | None = None) -> np.ndarray:
    """Sequences (n, T, D) of floats, NaN only after their ends, each of at least one frame.

    Args:
        sequences: The array.
        inputs: D, if known.
    """
    rows = np.asarray(sequences)
    if rows.dtype.kind not in "buif" or rows.ndim != 3 or rows.size == 0:
        raise InputError(
            f"sequences must be numbers of shape (n, frames, channels), got {rows.dtype} of shape "
            f"{rows.shape}"
        )
    if inputs is not None and rows.shape[2] != inputs:
        raise InputError(
            f"sequences must have {inputs} channels, as in training; got {rows.shape[2]}"
        )
    _check_size(*rows.shape)
    if rows.dtype.kind != "f":
        return rows.astype(np.float32)
    missing = np.isnan(rows)
    ended = missing.all(axis=2)
    if np.isinf(rows).any() or (missing.any(axis=2) & ~ended).any():
        row = int(np.argwhere(np.isinf(rows).any((1, 2)) | (missing.any(2) & ~ended).any(1))[0, 0])
        raise InputError(
            f"sequence {row} (from 0) holds NaN or infinity; expected finite numbers, and NaN in "
            "all channels only after the end of a shorter sequence"
        )
    if ended[:, 0].any() or (np.diff(ended.astype(np.int8), axis=1) < 0).any():
        row = int(
            np.argwhere(ended[:, 0] | (np.diff(ended.astype(np.int8), axis=1) < 0).any(1))[0, 0]
        )
        raise InputError(
            f"sequence {row} (from 0) is empty or has missing frames before its end; leave it out "
            "or fill them in"
        )
    return rows


def _check_size(count: int, frames: int, channels: int) -> None:
    if frames > MOST_FRAMES:
        raise InputError(
            f"a sequence has {frames:,} frames; expected at most {MOST_FRAMES:,}: take every n-th"
        )
    if count * frames * channels * 8 > 4 * 10**9:
        raise InputError(
            f"{count:,} sequences of up to {frames:,} frames of {channels:,} channels take "
            f"{math.prod((count, frames, channels, 8)):,} bytes; expected at most 4 GB"
        )
