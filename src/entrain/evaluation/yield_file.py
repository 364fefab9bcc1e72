"""The file of a yield: accuracies of the chips measured so far and, in the end, the result.

JSON, replaced at each save: {..., "measured": {"model", "data", "noise_seed", "hardware", "kinds"},
"digest"}. "kinds" lists variants of the hardware with seeds and accuracies; the entries before
"measured" are those of `entrain yield --json`, once all chips are measured.
"""

from __future__ import annotations

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
_Accuracies = dict[int, float]  # of chips by seed, percent


class YieldFile:
    """Accuracies by hardware and seed; stored in a file if there is a path."""

    def __init__(self, path: Path | None, key: dict[str, Any]) -> None:
        self._path, self._key = path, key
        self._accuracies: dict[Hardware, _Accuracies] = {}
        self._saved_at, self._unsaved = -math.inf, False
        if path is not None and path.exists():
            self._accuracies = _read(path, key)

    def of(self, hardware: Hardware) -> _Accuracies:
        """Accuracies of the chips of a hardware measured so far."""
        return self._accuracies.setdefault(hardware, {})

    def add(self, hardware: Hardware, seeds: Sequence[int], accuracies: Sequence[float]) -> None:
        """Add accuracies of chips; they are saved at most every `SECONDS_BETWEEN_SAVES`."""
        self.of(hardware).update(zip(seeds, accuracies, strict=True))
        self._unsaved = True
        if time.monotonic() - self._saved_at >= SECONDS_BETWEEN_SAVES:
            self.save()

    def save(self) -> None:
        """Write the file if accuracies were added."""
        if self._path is None or not self._unsaved:
            return
        variants = [
            {
                "hardware": _without_name(hardware),
                "seeds": sorted(known),
                "accuracies": [known[seed] for seed in sorted(known)],
            }
            for hardware, known in self._accuracies.items()
            if known
        ]
        _write(self._path, {"measured": self._key | {"kinds": variants}})
        self._saved_at, self._unsaved = time.monotonic(), False


@contextlib.contextmanager
def open_yield_file(path: Path | None, test: ChipTest, hardware: Hardware) -> Iterator[YieldFile]:
    """The file of a test on one hardware and its variants, locked against other processes; a file
    of another test is refused."""
    if path is None:
        yield YieldFile(None, {})
        return
    with _locked(path):
        file = YieldFile(path, _key(test, hardware))
        try:
            yield file
        finally:
            file.save()


def keep_result(path: Path, result: dict[str, Any]) -> None:
    """Add the result to the file of a finished yield."""
    with _locked(path):
        measured = read_json_with_digest(path, _WHAT)["measured"]
        _write(path, result | {"measured": measured})


def check_path(path: Path) -> None:
    """Refuse a path that cannot be such a file."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder, expected a file such as {path / 'yield.json'}")
    if path.suffix.lower() != ".json":
        raise InputError(f"{path}: the file of a yield ends in .json")
    if path.exists():
        read_json_with_digest(path, _WHAT)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with file_lock(path.with_name(path.name + ".lock")) as locked:
        if not locked:
            raise InputError(
                f"{path}: another process is measuring into it; wait for it, or choose another file"
            )
        remove_temporary_files(path.parent, path.name)
        yield


def _write(path: Path, values: dict[str, Any]) -> None:
    write_atomically(path, (strict_json(with_digest(values), 1) + "\n").encode())


def _read(path: Path, key: dict[str, Any]) -> dict[Hardware, _Accuracies]:
    """The accuracies in the file of a test, which must have the same key."""
    content = read_json_with_digest(path, _WHAT)
    try:
        measured = content["measured"]
        same = {name: measured[name] == value for name, value in key.items()}
        accuracies = {
            Hardware.from_json(variant["hardware"]): {
                int(seed): float(accuracy)
                for seed, accuracy in zip(variant["seeds"], variant["accuracies"], strict=True)
            }
            for variant in measured["kinds"]
        }
    except _UNREADABLE as error:
        raise InputError(f"{path}: not {_WHAT} ({reason(error)}); move it away") from error
    for name, words in _DIFFERENCES.items():
        if not same[name]:
            raise InputError(
                f"{path}: holds the yield {words}, and nothing is overwritten; choose another "
                "file or move it away"
            )
    return accuracies


_DIFFERENCES = {
    "model": "of another model",
    "data": "on other examples, or on another number of them",
    "hardware": "on other hardware",
    "noise_seed": "with another seed of the noise",
}


def _key(test: ChipTest, hardware: Hardware) -> dict[str, Any]:
    """Digests of all that determines the accuracies."""
    graph = {"graph": test.parameters.graph}
    network = _digest(test.parameters.tensors() | graph, str(asdict(test.dynamics)))
    return {
        "model": network,
        "data": _digest({"inputs": test.inputs, "labels": test.labels}),
        "noise_seed": test.noise_seed,
        "hardware": _without_name(hardware),
    }


def _digest(tensors: dict[str, Tensor], text: str = "") -> str:
    parts: list[str | memoryview] = [text]
    for name, tensor in tensors.items():
        dtype = str(tensor.dtype).removeprefix("torch.")
        parts += [f"\n{name} {dtype} {tuple(tensor.shape)}\n", tensor_bytes(tensor)]
    return sha256(*parts)


def _without_name(hardware: Hardware) -> dict[str, Any]:
    """JSON values of a hardware; a copy of a preset under another name has the same."""
    values: dict[str, Any] = with_digest(hardware.to_json())
    return {name: value for name, value in values.items() if name not in ("name", "digest")}
