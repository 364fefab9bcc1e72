"""WAV files as samples, whose headers are not trusted."""

from __future__ import annotations

import io
import struct
import warnings
from pathlib import Path

import numpy as np

from entrain.data.log_mel import HIGHEST_RATE, LOWEST_RATE
from entrain.utils.errors import InputError
from entrain.utils.files import read_bytes

SUFFIXES = (".wav", ".wave")
LONGEST = 600.0  # seconds
_MOST_BYTES = 400_000_000


def read_sound(path: Path | str) -> tuple[np.ndarray, int]:
    """Samples (n,) from -1 to 1, the mean of all channels, and their rate in Hz.

    PCM of 8, 16, 24 or 32 bits and floats of 32 or 64 bits, as `scipy.io.wavfile` reads them.

    Args:
        path: A WAV file.

    Examples:
        >>> import wave
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "ramp.wav"
        >>> with wave.open(str(path), "wb") as sound:
        ...     sound.setparams((1, 2, 8000, 0, "NONE", ""))
        ...     sound.writeframes(np.arange(800, dtype="<i2").tobytes())
        >>> samples, rate = entrain.data.sounds.read_sound(path)
        >>> samples.shape, rate
        ((800,), 8000)
    """
    content = read_bytes(path, "sound", _MOST_BYTES)
    from scipy.io import wavfile

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about chunks of other kinds
            warnings.filterwarnings("error", message=".*prematurely.*")
            rate, values = wavfile.read(io.BytesIO(content))
    except (Exception, wavfile.WavFileWarning) as error:  # damaged files raise many kinds
        if isinstance(error, MemoryError):
            raise
        what = "an empty file" if not content else f"not a WAV file that can be read ({error})"
        if isinstance(error, wavfile.WavFileWarning | struct.error):
            what = "the WAV file is truncated"
        raise InputError(f"{path}: {what}; expected PCM or floats: write it again") from error
    if _is_truncated(content):
        raise InputError(f"{path}: the WAV file is truncated; write it again")
    return _checked(path, values, int(rate)), int(rate)


def _checked(path: Path | str, values: np.ndarray, rate: int) -> np.ndarray:
    """Samples (n,) of the values of a file, or an `InputError`."""
    frames = values.shape[0] if values.ndim else 0
    if not LOWEST_RATE <= rate <= HIGHEST_RATE:
        raise InputError(
            f"{path}: {rate:,} samples a second; expected {LOWEST_RATE:,} to {HIGHEST_RATE:,}"
        )
    if frames < 2:
        raise InputError(f"{path}: {frames} samples; expected a sound")
    if frames > LONGEST * rate:
        raise InputError(
            f"{path}: {frames / rate:,.0f} seconds; expected at most {LONGEST:g}: cut it"
        )
    # 24 bits come as the upper bits of 32
    zero, most = (128.0, 128.0) if values.dtype == np.uint8 else (0.0, _largest(values.dtype))
    samples = values.reshape(frames, -1).mean(axis=1, dtype=np.float64)
    samples = (samples - zero) / most
    if not (np.abs(samples) < 1e6).all():
        raise InputError(f"{path}: holds NaN, infinity or huge samples; expected -1 to 1")
    if samples.max() == samples.min():
        raise InputError(f"{path}: is silent, every sample {samples[0]:g}; leave it out")
    return np.asarray(samples)


def _largest(dtype: np.dtype) -> float:
    return 1.0 if dtype.kind == "f" else float(2 ** (8 * dtype.itemsize - 1))


def _is_truncated(content: bytes) -> bool:
    """True if the header of a RIFF file claims more samples than follow."""
    position = 12
    order = ">" if content[:4] == b"RIFX" else "<"
    while content[:4] in (b"RIFF", b"RIFX") and position + 8 <= len(content):
        name, size = struct.unpack(f"{order}4sI", content[position : position + 8])
        position += 8 + size
        if name == b"data":  # streams do not know their length and claim the largest one
            return bool(position > len(content) and size < 2**32 - 2**16)
        position += size % 2
    return False
