"""The folder of an export: the design, and its files for one simulator."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from entrain.export.design import FILE, Design, check_design, read_design, write_design
from entrain.export.netlists import netlists
from entrain.export.onnx_graph import FILE as ONNX_FILE
from entrain.export.onnx_graph import onnx_file
from entrain.export.plain import plain_files
from entrain.export.targets import Onnx, Plain, Spice, Target, target_from_json, target_to_json
from entrain.export.verilog import verilog_files
from entrain.utils.errors import InputError, reason
from entrain.utils.files import read_bytes, write_atomically
from entrain.utils.new_files import new_folder

_MAX_BYTES = 2**29  # of a file


class EditedFileError(InputError):
    """A file of an export was changed after it was written."""


def files_of(design: Design, target: Target) -> dict[str, bytes]:
    """The files for a simulator, by name."""
    if design.machine is not None and not isinstance(target, Spice):
        raise InputError("an Ising machine is exported to spice alone")
    if isinstance(target, Plain):
        return plain_files(design)
    if isinstance(target, Onnx):
        return {ONNX_FILE: onnx_file(design)}
    texts = netlists(design, target) if isinstance(target, Spice) else verilog_files(design, target)
    return {name: text.encode() for name, text in texts.items()}


def write_export(folder: Path, design: Design, target: Target) -> list[str]:
    """Write a design and its files into a new folder; the names of the files.

    Args:
        folder: A path that does not exist, or an empty folder.
        design: The network and its test images.
        target: The format: `Spice`, `WordLengths`, `Onnx` or `Plain`.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> test = entrain.load_test_split("mnist").rows(slice(3))
        >>> model = entrain.load("mnist-74")
        >>> design = entrain.export.design_of(model, test.features, test.labels)
        >>> folder = Path(mkdtemp()) / "mnist"
        >>> sorted(entrain.export.write_export(folder, design, entrain.export.Plain()))
        ['design.safetensors', 'network.json', 'network.npz']
    """
    with new_folder(folder) as part:
        check_design(design)  # so that it can be read again
        design = replace(design, target=target_to_json(target))
        files = files_of(design, target)
        for name, content in files.items():
            write_atomically(part / name, content)
        write_design(part, design)
    return [*files, FILE]


def read_export(folder: Path) -> tuple[Design, Target]:
    """The design of an exported folder, and the format that it was exported to.

    Args:
        folder: A folder that `write_export` or `entrain export` wrote.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> test = entrain.load_test_split("mnist").rows(slice(3))
        >>> model = entrain.load("mnist-74")
        >>> design = entrain.export.design_of(model, test.features, test.labels)
        >>> folder = Path(mkdtemp()) / "mnist"
        >>> files = entrain.export.write_export(folder, design, entrain.export.Plain())
        >>> again, target = entrain.export.read_export(folder)
        >>> bool(np.array_equal(again.phases(), design.phases()))
        True
    """
    design = read_design(folder)
    try:
        return design, target_from_json(design.target)
    except (TypeError, ValueError) as error:
        raise InputError(f"{folder / FILE}: not a readable design ({reason(error)})") from error


def read_file(path: Path) -> bytes:
    """The content of one file of an export, of limited size; a link is refused."""
    if path.is_symlink():
        raise InputError(f"{path}: is a link, which is not followed; export the model again")
    return read_bytes(path, "file of an export", _MAX_BYTES)


def checked_files(
    folder: Path, design: Design, target: Target, *, edited: bool = False
) -> dict[str, bytes]:
    """The files of an export by name. They must be those of `write_export`, unless `edited` ones
    are allowed: netlists can hold any command."""
    files = {}
    for name, content in files_of(design, target).items():
        files[name] = read_file(folder / name)
        if files[name] != content and not edited:
            raise EditedFileError(
                f"{folder / name}: was changed after the export. Simulators run the commands in a "
                "file, shell commands included: if the change is yours, allow edited files"
            )
    return files
