"""Write the bundled Japanese vowels from the .ts files of the archive.

    python tools/bundle_japanese_vowels.py FOLDER

FOLDER holds JapaneseVowels_TRAIN.ts.gz and JapaneseVowels_TEST.ts.gz. Values are rounded to three
decimals, a hundredth of the smallest standard deviation of a channel, and stored as two planes of
bytes, channel by channel.
"""

from __future__ import annotations

import io
import lzma
import sys
from pathlib import Path

import numpy as np

from entrain.data.japanese_vowels import FILE
from entrain.data.own.ts_files import read_ts


def main() -> None:
    """Read, round, pack, write."""
    arrays: dict[str, np.ndarray] = {}
    values, lengths, labels = [], [], []
    for part in ("TRAIN", "TEST"):
        sequences, names = read_ts(Path(sys.argv[1], f"JapaneseVowels_{part}.ts.gz"))
        values += sequences
        lengths += [len(sequence) for sequence in sequences]
        labels += [int(name) - 1 for name in names]
        arrays[part.lower()] = np.array(len(sequences))
    thousandths = np.rint(1000 * np.concatenate(values)).astype("<i2").T
    planes = np.ascontiguousarray(thousandths).view(np.uint8).reshape(-1, 2).T
    arrays |= {"planes": planes, "lengths": np.array(lengths, np.uint8)}
    arrays["labels"] = np.array(labels, np.uint8)
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    FILE.write_bytes(lzma.compress(file.getvalue(), preset=9))
    sys.stdout.write(f"{FILE}: {FILE.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
