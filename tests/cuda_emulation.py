"""CUDA kernels on the CPU: the same source, compiled as C++ behind cuda_emulator.h."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
import torch

from entrain.kernels import gpu, gpu_steps, nvrtc

REAL = torch.cuda.is_available()
DEVICE = torch.device("cuda:0" if REAL else "cpu")


class Emulated:
    """A kernel compiled as C++ for the CPU, called like `nvrtc.Kernel`."""

    def __init__(self, library: Path) -> None:
        self._function = ctypes.CDLL(str(library)).emulate

    def __call__(self, grid, threads, arguments) -> None:
        sizes = [ctypes.c_uint32(size) for size in (*(*grid, 1, 1)[:3], threads)]
        self._function(*sizes, nvrtc.argument_pointers(arguments))


@contextlib.contextmanager
def emulation(folder: Path) -> Iterator[None]:
    """The emulator in the place of the device, where there is none."""
    if REAL:
        yield
        return
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no CUDA device, and no C++ compiler to emulate one")
    numbers = itertools.count()

    def build(output: Path, definitions: dict[str, object], *linked: str) -> None:
        options = ("-std=c++20", "-O1", "-shared", "-fPIC", "-pthread")
        macros = [f"-D{key}={value}" for key, value in definitions.items()]
        emulator = str(Path(__file__).with_name("cuda_emulator.h"))
        command = [compiler, *options, *macros, "-o", str(output), "-x", "c++", emulator]
        subprocess.run([*command, "-x", "none", *linked], check=True, timeout=120)

    runtime = folder / "runtime.so"
    build(runtime, {"RUNTIME": 1})

    def compile_kernel(source, name, definitions, device):
        place = folder / f"{name}{next(numbers)}"
        place.with_suffix(".cu").write_text(source)
        macros = {"KERNEL": name, "KERNELS": f'"{place}.cu"'} | definitions
        build(place.with_suffix(".so"), macros, str(runtime))
        return Emulated(place.with_suffix(".so"))

    with (
        mock.patch.object(gpu, "compile_kernel", compile_kernel),
        mock.patch.object(gpu_steps, "compile_kernel", compile_kernel),
        mock.patch.object(gpu, "_processors", return_value=2),
    ):
        for module in (gpu, gpu_steps):
            module._kernel.cache_clear()
        yield
        for module in (gpu, gpu_steps):
            module._kernel.cache_clear()
