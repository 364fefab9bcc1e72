"""The folder of an export: the design, and the files made of it for one simulator."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from entrain.export.design import FILE, Design, check_design, read_design, write_design
from entrain.export.fixed_point import WordLengths, word_lengths_from_json
from entrain.export.netlists import netlists
from entrain.export.onnx_graph import FILE as ONNX_FILE
from entrain.export.onnx_graph import Onnx, onnx_file
from entrain.export.plain import Plain, plain_files
from entrain.export.spice import Spice, spice_from_json
from entrain.export.verilog import verilog_files
from entrain.utils.errors import InputError, reason, short_repr
from entrain.utils.files import write_atomically

Target = Spice | WordLengths | Plain | Onnx


class EditedFileError(InputError):
    """A file of an export that is not as it was written."""


def files_of(design: Design, target: Target) -> dict[str, bytes]:
    """Every file that a simulator reads, by name."""
    if isinstance(target, Plain):
        return plain_files(design)
    if isinstance(target, Onnx):
        return {ONNX_FILE: onnx_file(design)}
    if isinstance(target, Spice):
        return _encoded(netlists(design, target))
    return _encoded(verilog_files(design, target))


def _encoded(texts: dict[str, str]) -> dict[str, bytes]:
    return {name: text.encode() for name, text in texts.items()}


def write_export(folder: Path, design: Design, target: Target) -> list[str]:
    """Write a design and its files into a new folder; the names of the files."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: is there and not empty; name a new folder")
    check_design(design)  # what is written can be read
    kept = replace(design, target=target.to_json())
    files = files_of(kept, target)
    # A new folder appears when it is complete: a killed export can be repeated.
    place = folder if folder.exists() else folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        for name, content in files.items():
            write_atomically(place / name, content)
        write_design(place, kept)
        if place != folder:
            place.rename(folder)
    except BaseException:
        if place != folder:
            shutil.rmtree(place, ignore_errors=True)
        raise
    return [*files, FILE]


def read_export(folder: Path) -> tuple[Design, Target]:
    """The design of a folder and what it was exported to."""
    design = read_design(folder)
    makers: dict[Any, Callable[[dict[str, Any]], Target]] = {
        "spice": spice_from_json,
        "verilog": word_lengths_from_json,
        "plain": lambda _: Plain(),
        "onnx": lambda _: Onnx(),
    }
    kind = design.target.get("to")
    if not isinstance(kind, str) or kind not in makers:
        raise InputError(
            f"{folder / FILE}: exported to {short_repr(kind)}, which this release cannot"
        )
    try:
        return design, makers[kind](design.target)
    except (TypeError, ValueError) as error:
        raise InputError(f"{folder / FILE}: not a readable design ({reason(error)})") from error


def refuse_edited(folder: Path, design: Design, target: Target) -> None:
    """Refuse files that are not as `write_export` wrote them: a netlist may hold any command."""
    for name, content in files_of(design, target).items():
        path = folder / name
        if not path.is_file():
            raise InputError(f"{path}: is missing; export the model again")
        if path.stat().st_size != len(content) or path.read_bytes() != content:
            raise EditedFileError(
                f"{path}: is not as entrain export wrote it. Simulators obey what files say, shell "
                "commands included: if the change is yours, allow edited files"
            )
