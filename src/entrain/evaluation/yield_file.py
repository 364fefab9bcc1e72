"""The file of a yield: accuracies of the chips measured so far, and in the end the result.

JSON, replaced as a whole: {..., "measured": {"model", "data", "noise_seed", "hardware", "kinds"},
"digest"}, where "kinds" lists kinds of chips with seeds and accuracies, and the entries before it
are what `entrain yield --json` prints, once all is measured.
"""

from __future__ import annotations

import contextlib
import hashlib
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

if TYPE_CHECKING:
    from entrain.evaluation.chip_yield import ChipTest

SECONDS_BETWEEN_SAVES = 2.0

_WHAT = "a file of entrain yield"
_UNREADABLE = (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError)
_Accuracies = dict[int, float]  # of chips by seed, percent


class YieldFile:
    """Accuracies by kind of chip and seed; kept in a file if there is a path."""

    def __init__(self, path: Path | None, belongs_to: dict[str, Any]) -> None:
        self._path, self._belongs_to = path, belongs_to
        self._kinds: dict[Hardware, _Accuracies] = {}
        self._saved_at, self._unsaved = -math.inf, False
        if path is not None and path.exists():
            self._kinds = _read(path, belongs_to)

    def of(self, kind: Hardware) -> _Accuracies:
        """Of the chips of one kind that were measured."""
        return self._kinds.setdefault(kind, {})

    def add(self, kind: Hardware, seeds: Sequence[int], accuracies: Sequence[float]) -> None:
        """Keep those of some more chips, now and then in the file."""
        self.of(kind).update(zip(seeds, accuracies, strict=True))
        self._unsaved = True
        if time.monotonic() - self._saved_at >= SECONDS_BETWEEN_SAVES:
            self.save()

    def save(self) -> None:
        """Write what is not in the file yet."""
        if self._path is None or not self._unsaved:
            return
        kinds = [
            {
                "hardware": _plain(kind),
                "seeds": sorted(known),
                "accuracies": [known[seed] for seed in sorted(known)],
            }
            for kind, known in self._kinds.items()
            if known
        ]
        _write(self._path, {"measured": self._belongs_to | {"kinds": kinds}})
        self._saved_at, self._unsaved = time.monotonic(), False


@contextlib.contextmanager
def open_yield_file(path: Path | None, test: ChipTest, kind: Hardware) -> Iterator[YieldFile]:
    """The file of a test on one kind of chip (and on variations of it), held against other
    processes; a file that belongs to another test is refused."""
    if path is None:
        yield YieldFile(None, {})
        return
    with _held(path):
        file = YieldFile(path, _belongs_to(test, kind))
        try:
            yield file
        finally:
            file.save()


def keep_result(path: Path, result: dict[str, Any]) -> None:
    """Add the result to a file in which everything is measured."""
    with _held(path):
        measured = read_json_with_digest(path, {"measured"}, _WHAT)["measured"]
        _write(path, result | {"measured": measured})


def check_path(path: Path) -> None:
    """Refuse what cannot be such a file, before anything is computed."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder, expected a file such as {path / 'yield.json'}")
    if path.suffix.lower() != ".json":
        raise InputError(f"{path}: the file of a yield ends in .json")
    if path.exists():
        read_json_with_digest(path, {"measured"}, _WHAT)


@contextlib.contextmanager
def _held(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with file_lock(path.with_name(path.name + ".lock")) as ours:
        if not ours:
            raise InputError(
                f"{path}: another process is measuring into it; wait for it, or choose another file"
            )
        remove_temporary_files(path.parent, path.name)
        yield


def _write(path: Path, values: dict[str, Any]) -> None:
    write_atomically(path, (strict_json(with_digest(values), 1) + "\n").encode())


def _read(path: Path, belongs_to: dict[str, Any]) -> dict[Hardware, _Accuracies]:
    content = read_json_with_digest(path, {"measured"}, _WHAT)
    try:
        found = content["measured"]
        theirs = {name: found[name] for name in belongs_to}
        kinds = {
            Hardware.from_json(each["hardware"]): {
                int(seed): float(accuracy)
                for seed, accuracy in zip(each["seeds"], each["accuracies"], strict=True)
            }
            for each in found["kinds"]
        }
    except _UNREADABLE as error:
        raise InputError(f"{path}: not {_WHAT} ({reason(error)}); move it away") from error
    for name, words in _OTHERS.items():
        if theirs[name] != belongs_to[name]:
            raise InputError(
                f"{path}: holds the yield {words}, and nothing is overwritten; choose another "
                "file or move it away"
            )
    return kinds


_OTHERS = {
    "model": "of another model",
    "data": "on other examples, or on another number of them",
    "hardware": "on another kind of chip",
    "noise_seed": "with another seed of the noise",
}


def _belongs_to(test: ChipTest, kind: Hardware) -> dict[str, Any]:
    """What decides the accuracies; the inputs are as the network gets them."""
    graph = {"graph": test.parameters.graph}
    network = _digest(test.parameters.tensors() | graph, str(asdict(test.dynamics)))
    return {
        "model": network,
        "data": _digest({"inputs": test.inputs, "labels": test.labels}),
        "noise_seed": test.noise_seed,
        "hardware": _plain(kind),
    }


def _digest(tensors: dict[str, Tensor], *others: str) -> str:
    found = hashlib.sha256("\n".join(others).encode())
    for name, tensor in tensors.items():
        values = tensor.detach().cpu().contiguous().numpy()
        found.update(f"\n{name} {values.dtype} {values.shape}\n".encode())
        found.update(values.tobytes())
    return found.hexdigest()


def _plain(kind: Hardware) -> dict[str, Any]:
    """A kind without its name, as JSON has it: the file of a preset may be called otherwise."""
    plain: dict[str, Any] = with_digest(kind.to_json())
    return {name: value for name, value in plain.items() if name not in ("name", "digest")}
