"""A user's own sounds: WAV files in a folder for each class, or named LABEL_*.wav."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np

from entrain.data.log_mel import LogMel
from entrain.data.own.examples import classes_of, safe_name, three_splits
from entrain.data.own.folders import check_link, class_files, visible
from entrain.data.own.targets import WINDOW
from entrain.data.sequence_scaling import pad
from entrain.data.sequences import SequenceDataset
from entrain.data.sounds import SUFFIXES, read_sound
from entrain.tasks import Classification
from entrain.utils.errors import InputError

_HIGHEST = 16_000  # Hz: speech has little above half of it


def holds_sounds(path: Path) -> bool:
    """True if a folder, or one of its folders, holds a WAV file.

    Args:
        path: A folder.
    """
    entries = visible(path)
    folders = [entry for entry in entries if entry.is_dir()]
    inside = (file for folder in folders for file in visible(folder))
    return any(file.suffix.lower() in SUFFIXES for file in itertools.chain(entries, inside))


def from_sounds(
    path: Path, frames: int, seed: int, on_progress: Callable[[float], None] | None = None
) -> SequenceDataset:
    """The log-mel frames of the sounds in a folder.

    All are resampled to the lowest rate among them, at most 16 kHz: a rate that goes with a class
    is not its mark.

    Args:
        path: A folder of WAV files LABEL_*.wav, or with a folder of them for each class.
        frames: Frames to which they are interpolated.
        seed: Seed of the split.
        on_progress: Called with the share that is read.
    """
    files, labels = labelled_sounds(path)
    names, codes = classes_of(labels, "sounds", 3)
    rates = [read_sound(file)[1] for file in files]
    front_end = LogMel(min(_HIGHEST, *rates))
    sequences = []
    for number, file in enumerate(files, 1):
        sequences.append(front_end(*read_sound(file)))  # again, as all may not fit into memory
        if on_progress is not None:
            on_progress(number / len(files))
    splits = three_splits(pad(sequences).astype(np.float32), codes, seed)
    task = Classification(names, window=WINDOW)
    channels = front_end.channel_names
    return SequenceDataset(
        safe_name(path), *splits, task, channels, frames, _notes(rates), front_end
    )


def labelled_sounds(path: Path) -> tuple[list[Path], list[str]]:
    """The WAV files of a folder, and the label of each.

    Args:
        path: As for `from_sounds`.
    """
    entries = visible(path)
    if any(entry.is_dir() for entry in entries):
        files = class_files(path, SUFFIXES, "WAV files")
        labels = [file.parent.name.strip() for file in files]
    else:
        files, labels = entries, [entry.stem.partition("_")[0].strip() for entry in entries]
        for file in files:
            check_link(file, path.resolve())
            if "_" not in file.stem:
                raise InputError(
                    f"{file}: no label; expected LABEL_NAME.wav, or a folder for each class"
                )
    for file in files:
        if file.suffix.lower() not in SUFFIXES:
            raise InputError(f"{file}: not a .wav file; expected WAV files alone: move it away")
    return files, labels


def _notes(rates: list[int]) -> tuple[str, ...]:
    different = sorted(set(rates))
    if len(different) == 1:
        return ()
    return (
        f"the sounds have rates from {different[0]:,} to {different[-1]:,} Hz; all are resampled "
        f"to {min(_HIGHEST, different[0]):,}",
    )
