"""Log-mel frames of sounds: the power in bands of frequencies, every few milliseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from entrain.utils.errors import InputError, positive_float, positive_int

LOWEST_RATE, HIGHEST_RATE = 1_000, 400_000
_FLOOR = 1e-8  # of the power in a band, 80 dB below a full tone


@dataclass(frozen=True)
class LogMel:
    r"""Frames of a sound: log10 of the power in bands that are equally wide in mel.

    A sound x, resampled to `rate` and scaled to a peak of 1, is cut into windows w of Hann. Frame t
    has in band b, with triangles m_b of height 1 whose corners are equidistant in mel,

        log10( sum over f of  m_b(f) |X_t(f)|^2 + 1e-8 ),
        X_t(f) = sum over n of w_n x_(t hop + n) exp(-2 pi i f n) / sum over n of w_n,
        mel = 2595 log10(1 + frequency / 700 Hz).

    Args:
        rate: Samples of a second, in Hz.
        bands: Number of bands, from 0 Hz to half of the rate.
        window: Length of a window in seconds.
        hop: Time between two frames in seconds.

    Examples:
        >>> frames = entrain.data.LogMel(8000)(np.sin(np.arange(8000)), 8000)
        >>> frames.shape
        (98, 24)
    """

    rate: int
    bands: int = 24
    window: float = 0.025
    hop: float = 0.010

    def __post_init__(self) -> None:
        positive_int("rate", self.rate, most=HIGHEST_RATE)
        if self.rate < LOWEST_RATE:
            raise InputError(f"rate must be at least {LOWEST_RATE:,} Hz, got {self.rate}")
        positive_int("bands", self.bands, most=256)
        for name in ("window", "hop"):
            positive_float(name, getattr(self, name), least=1e-3, most=1.0)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> LogMel:
        """The front end of JSON values.

        Args:
            values: `dataclasses.asdict` of one.
        """
        if set(values) != {"rate", "bands", "window", "hop"}:
            raise InputError(f"log-mel frames have a rate, bands, window and hop, got {values}")
        return cls(**values)

    @property
    def channel_names(self) -> tuple[str, ...]:
        """Centres of the bands in Hz."""
        return tuple(f"{centre:.0f} Hz" for centre in self._corners[1:-1])

    @property
    def _corners(self) -> np.ndarray:
        """Corners (bands + 2,) of the triangles in Hz."""
        top = 2595.0 * np.log10(1.0 + 0.5 * self.rate / 700.0)
        mel = np.linspace(0.0, top, self.bands + 2)
        return np.asarray(700.0 * (10.0 ** (mel / 2595.0) - 1.0))

    @property
    def _samples(self) -> tuple[int, int]:
        """Samples of a window, and between two of them."""
        return max(2, round(self.window * self.rate)), max(1, round(self.hop * self.rate))

    @cached_property
    def _filters(self) -> np.ndarray:
        """m (frequencies, bands); a band between two frequencies has the nearest of them."""
        length = _transform_length(self._samples[0])
        frequencies = np.arange(length // 2 + 1)[:, None] * (self.rate / length)
        low, centre, high = (self._corners[i : i + self.bands] for i in range(3))
        rising = (frequencies - low) / (centre - low)
        falling = (high - frequencies) / (high - centre)
        weights = np.clip(np.minimum(rising, falling), 0.0, None)
        for band in np.flatnonzero(weights.sum(axis=0) == 0):
            weights[np.abs(frequencies[:, 0] - centre[band]).argmin(), band] = 1.0
        return np.asarray(weights)

    def __call__(self, samples: np.ndarray, rate: int) -> np.ndarray:
        """Frames (T, bands), float32, of a sound.

        Args:
            samples: Finite samples (n,), not all equal.
            rate: Their number in a second.
        """
        values = resample_sound(np.asarray(samples, dtype=np.float64), rate, self.rate)
        values = values - values.mean()
        values /= max(float(np.abs(values).max()), 1e-30)
        length, hop = self._samples
        values = np.pad(values, (0, max(0, length - len(values))))
        windows = np.lib.stride_tricks.sliding_window_view(values, length)[::hop]
        shape = np.hanning(length + 1)[:-1]
        frames = np.empty((len(windows), self.bands), dtype=np.float32)
        for start in range(0, len(windows), 1024):
            part = windows[start : start + 1024] * shape
            spectrum = np.fft.rfft(part, _transform_length(length)) / shape.sum()
            power = np.square(np.abs(spectrum)) @ self._filters
            frames[start : start + len(part)] = np.log10(power + _FLOOR)
        return frames


def resample_sound(samples: np.ndarray, rate: int, target: int) -> np.ndarray:
    """Samples of a sound at another rate, by a polyphase filter.

    Args:
        samples: Samples (n,).
        rate: Their number in a second.
        target: The rate of the result.
    """
    if rate == target:
        return samples
    from scipy.signal import resample_poly

    ratio = Fraction(target, rate)
    if max(ratio.numerator, ratio.denominator) > 10_000:  # within 1e-4, far below a band
        ratio = ratio.limit_denominator(1_000)
    return np.asarray(resample_poly(samples, ratio.numerator, ratio.denominator))


def _transform_length(window: int) -> int:
    """The power of two from `window` on."""
    return 1 << (window - 1).bit_length()
