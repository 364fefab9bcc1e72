"""Japanese vowels: nine speakers, told by 12 coefficients of their voices over time.

640 utterances of "ae" by nine men, each as 7 to 29 frames of 12 LPC cepstrum coefficients: 270 to
train (30 of each speaker) and 370 to test. Kudo, Toyama and Shimbo, Pattern Recognition Letters 20
(1999) 1103; UCI Machine Learning Repository, CC BY 4.0. The bundled copy is rounded to 0.001.
"""

from __future__ import annotations

import io
import lzma
from pathlib import Path

import numpy as np

from entrain.data.sequence_scaling import pad

FILE = Path(__file__).parent / "bundled" / "japanese-vowels.npz.xz"
NAMES = tuple(f"speaker {number}" for number in range(1, 10))
CHANNELS = tuple(f"c{number}" for number in range(1, 13))


def read_japanese_vowels() -> tuple[np.ndarray, np.ndarray, int]:
    """Sequences (640, 29, 12), labels (640,), and the number of those to train, the first ones."""
    with np.load(io.BytesIO(lzma.decompress(FILE.read_bytes()))) as file:
        planes, lengths = file["planes"], file["lengths"].astype(np.int64)
        labels, train = file["labels"].astype(np.int64), int(file["train"])
    values = np.ascontiguousarray(planes.T).view("<i2").reshape(len(CHANNELS), -1).T / 1000.0
    return pad(np.split(values, np.cumsum(lengths)[:-1])), labels, train
