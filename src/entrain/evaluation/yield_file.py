"""The file of a yield: accuracies of the chips measured so far and, in the end, the result.

JSON, replaced at each save: {..., "measured": {"version", "model", "data", "examples",
"noise_seed", "hardware", "kinds"}, "digest"}. "kinds" lists variants of the hardware with seeds and
accuracies, the hardware itself also with the "correct" examples of each chip, eight to a byte in
base64; the entries before "measured" are those of `entrain yield --json`, once all chips are
measured. Version 1 had one draw of noise for all chips.
"""

from __future__ import annotations

import base64
import contextlib
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor

from entrain.hardware import Hardware
from entrain.utils.errors import InputError, reason
from entrain.utils.files import (
    file_lock,
    read_json_with_digest,
    remove_temporary_files,
    strict_json,
    with_digest,
    write_atomically,
)
from entrain.utils.hashing import sha256, tensor_bytes

if TYPE_CHECKING:
    from entrain.evaluation.chip_yield import ChipTest

SECONDS_BETWEEN_SAVES = 2.0

_WHAT = "a file of entrain yield"
_UNREADABLE = (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError)
_VERSION = 2
_Accuracies = dict[int, float]  # of chips by seed, percent
_Correct = dict[int, bytes]  # examples of chips by seed, eight to a byte


class YieldFile:
    """Accuracies by hardware and seed; stored in a file if there is a path.

    Args:
        path: The file, if there is one.
        hardware: The hardware whose `correct` examples are stored; of its variants, they are not.
        examples: Number of test examples.
        key: Digests of all that determines the accuracies.
    """

    def __init__(
        self, path: Path | None, hardware: Hardware, examples: int, key: dict[str, Any]
    ) -> None:
        self._path, self._hardware, self.examples, self._key = path, hardware, examples, key
        self._accuracies: dict[Hardware, _Accuracies] = {}
        self._correct: _Correct = {}
        self._saved_at, self._unsaved = -math.inf, False
        if path is not None and path.exists():
            self._accuracies, self._correct = _read(path, key)

    def of(self, hardware: Hardware) -> _Accuracies:
        """Accuracies of the chips of a hardware measured so far."""
        return self._accuracies.setdefault(hardware, {})

    def correct_of(self, hardware: Hardware) -> _Correct:
        """Correct examples of the chips measured so far; none of a variant."""
        return self._correct if hardware == self._hardware else {}

    def add(
        self,
        hardware: Hardware,
        seeds: Sequence[int],
        accuracies: Sequence[float],
        correct: Sequence[bytes],
    ) -> None:
        """Add chips; they are saved at most every `SECONDS_BETWEEN_SAVES`."""
        self.of(hardware).update(zip(seeds, accuracies, strict=True))
        self.correct_of(hardware).update(zip(seeds, correct, strict=True))
        self._unsaved = True
        if time.monotonic() - self._saved_at >= SECONDS_BETWEEN_SAVES:
            self.save()

    def save(self) -> None:
        """Write the file if accuracies were added."""
        if self._path is None or not self._unsaved:
            return
        variants = [
            {
                "hardware": without_name(hardware),
                "seeds": sorted(known),
                "accuracies": [known[seed] for seed in sorted(known)],
            }
            | self._correct_entry(hardware, sorted(known))
            for hardware, known in self._accuracies.items()
            if known
        ]
        write(self._path, {"measured": self._key | {"kinds": variants}})
        self._saved_at, self._unsaved = time.monotonic(), False

    def _correct_entry(self, hardware: Hardware, seeds: Sequence[int]) -> dict[str, Any]:
        correct = self.correct_of(hardware)
        texts = [base64.b64encode(correct[seed]).decode() for seed in seeds if correct]
        return {"correct": texts} if texts else {}


@contextlib.contextmanager
def open_yield_file(path: Path | None, test: ChipTest, hardware: Hardware) -> Iterator[YieldFile]:
    """The file of a test on one hardware and its variants, locked against other processes; a file
    of another test is refused."""
    examples = len(test.labels)
    if path is None:
        yield YieldFile(None, hardware, examples, {})
        return
    with locked(path):
        file = YieldFile(path, hardware, examples, _key(test, hardware))
        try:
            yield file
        finally:
            file.save()


def keep_result(path: Path, result: dict[str, Any]) -> None:
    """Add the result to the file of a finished yield."""
    with locked(path):
        measured = read_json_with_digest(path, _WHAT)["measured"]
        write(path, result | {"measured": measured})


def check_path(path: Path) -> None:
    """Refuse a path that cannot be such a file."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder, expected a file such as {path / 'yield.json'}")
    if path.suffix.lower() != ".json":
        raise InputError(f"{path}: the file of a yield ends in .json")
    if path.exists():
        read_json_with_digest(path, _WHAT)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """The file of a yield, locked against other processes, without what killed writes left."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with file_lock(path.with_name(path.name + ".lock")) as locked:
        if not locked:
            raise InputError(
                f"{path}: another process is measuring into it; wait for it, or choose another file"
            )
        remove_temporary_files(path.parent, path.name)
        yield


def write(path: Path, values: dict[str, Any]) -> None:
    """Write these values and their digest."""
    write_atomically(path, (strict_json(with_digest(values), 1) + "\n").encode())


def _read(path: Path, key: dict[str, Any]) -> tuple[dict[Hardware, _Accuracies], _Correct]:
    """The accuracies and correct examples in the file of a test, which must have the same key."""
    content = read_json_with_digest(path, _WHAT)
    correct: _Correct = {}
    try:
        measured = content["measured"]
        same = {name: measured.get(name) == value for name, value in key.items()}
        accuracies = {
            Hardware.from_json(variant["hardware"]): {
                int(seed): float(accuracy)
                for seed, accuracy in zip(variant["seeds"], variant["accuracies"], strict=True)
            }
            for variant in measured["kinds"]
        }
        for variant in measured["kinds"]:
            if variant["hardware"] == measured["hardware"] and same["version"]:
                rows = [base64.b64decode(text, validate=True) for text in variant["correct"]]
                if any(len(row) != -(-measured["examples"] // 8) for row in rows):
                    raise ValueError("examples are missing")
                correct = dict(zip(map(int, variant["seeds"]), rows, strict=True))
    except _UNREADABLE as error:
        raise InputError(f"{path}: not {_WHAT} ({reason(error)}); move it away") from error
    for name, words in _DIFFERENCES.items():
        if not same[name]:
            raise InputError(
                f"{path}: holds the yield {words}, and nothing is overwritten; choose another "
                "file or move it away"
            )
    return accuracies, correct


_DIFFERENCES = {
    "version": "of an earlier version of entrain, which drew the noise of all chips once",
    "model": "of another model",
    "data": "on other examples, or on another number of them",
    "examples": "on another number of examples",
    "hardware": "on other hardware",
    "noise_seed": "with another seed of the noise",
}


def _key(test: ChipTest, hardware: Hardware) -> dict[str, Any]:
    """Digests of all that determines the accuracies."""
    graph = {"graph": test.parameters.graph}
    network = _digest(test.parameters.tensors() | graph, str(asdict(test.dynamics)))
    return {
        "version": _VERSION,
        "model": network,
        "data": _digest({"inputs": test.inputs, "labels": test.labels}),
        "examples": len(test.labels),
        "noise_seed": test.noise_seed,
        "hardware": without_name(hardware),
    }


def _digest(tensors: dict[str, Tensor], text: str = "") -> str:
    parts: list[str | memoryview] = [text]
    for name, tensor in tensors.items():
        dtype = str(tensor.dtype).removeprefix("torch.")
        parts += [f"\n{name} {dtype} {tuple(tensor.shape)}\n", tensor_bytes(tensor)]
    return sha256(*parts)


def without_name(hardware: Hardware) -> dict[str, Any]:
    """JSON values of a hardware; a copy of a preset under another name has the same."""
    values: dict[str, Any] = with_digest(hardware.to_json())
    return {name: value for name, value in values.items() if name not in ("name", "digest")}
