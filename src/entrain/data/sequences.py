"""Datasets of sequences: frames of several channels in time."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from entrain.data.datasets import Split, check_parts, class_names_of
from entrain.data.log_mel import LogMel
from entrain.data.sequence_scaling import SequenceScaling, lengths
from entrain.tasks import Task
from entrain.utils.errors import positive_int
from entrain.utils.summary import Summary


@dataclass(frozen=True, repr=False)
class SequenceDataset(Summary):
    """Training, validation and test sequences.

    Args:
        name: Name of the data.
        train: Training sequences (n, T, D).
        validation: Sequences that select the epoch.
        test: Sequences for the final measurement.
        task: What is predicted; its window is the part at the end in which outputs are read.
        channel_names: Names of the D channels.
        frames: Frames F to which each sequence is interpolated.
        notes: Remarks of the reader.
        sound: Made the frames of sounds; None if the sequences are no sounds.
        source: Where it was read, such as {"path": "flowers.csv", "label": "species"}, so that a
            run folder can read it again; None for arrays.
    """

    name: str
    train: Split
    validation: Split
    test: Split
    task: Task
    channel_names: tuple[str, ...]
    frames: int = 32
    notes: tuple[str, ...] = ()
    sound: LogMel | None = None
    source: dict[str, Any] | None = field(default=None, compare=False)

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        sizes = (f"{len(split):,}" for split in (self.train, self.validation, self.test))
        frames = lengths(self.train.features)
        return {
            "named": repr(self.name),
            "examples": " / ".join(sizes),
            "frames": f"{frames.min():,} to {frames.max():,}, as {self.frames}",
            "channels": f"{len(self.channel_names):,}",
            "predicts": self.task.description,
        }

    def __post_init__(self) -> None:
        width = len(self.channel_names)
        positive_int("frames", self.frames)
        check_parts(self, width, f"{width} channels, as there are so many channel names")

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes 0, 1, ...; empty without classes."""
        return class_names_of(self.task)

    @property
    def image_shape(self) -> tuple[int, int]:
        """(F, D), the shape of a sequence as a picture."""
        return self.frames, len(self.channel_names)

    @cached_property
    def preprocessing(self) -> SequenceScaling:
        """Scaling by the constants of the training sequences."""
        return SequenceScaling.fit(self.train.features, self.frames, sound=self.sound)
