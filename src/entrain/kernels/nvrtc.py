"""CUDA source to a launchable kernel, by NVRTC, the run-time compiler that comes with PyTorch.

NVRTC and the driver are called through their C interfaces: a CUDA build of PyTorch suffices.
"""

from __future__ import annotations

import ctypes
import functools
import glob
import os
from collections.abc import Sequence

import torch
from torch import Tensor

# A tuple of tensors becomes a struct of their addresses.
Argument = Tensor | int | float | None | tuple[Tensor | None, ...]


class CudaUnavailable(RuntimeError):
    """The run-time compiler or the driver cannot be used."""


class Kernel:
    """A compiled kernel on a device; ints and floats among its arguments have 32 bits."""

    def __init__(
        self, function: ctypes.c_void_p, name: str, device: torch.device, context: ctypes.c_void_p
    ) -> None:
        self._function, self._name = function, name
        self._device, self._context = device, context

    def __call__(self, grid: tuple[int, ...], threads: int, arguments: Sequence[Argument]) -> None:
        """Launch on the device's current stream."""
        pointers = argument_pointers(arguments)
        x, y, z = (*grid, 1, 1)[:3]
        stream = ctypes.c_void_p(torch.cuda.current_stream(self._device).cuda_stream)
        with _Current(self._context):
            _check_driver(
                _driver().cuLaunchKernel(
                    self._function, x, y, z, threads, 1, 1, 0, stream, pointers, None
                ),
                f"launching {self._name}",
            )


def argument_pointers(
    arguments: Sequence[Argument],
) -> ctypes.Array[ctypes.c_void_p]:
    """The addresses of a kernel's arguments, valid as long as the array lives."""
    values = [_argument(argument) for argument in arguments]
    pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
    pointers.values = values  # type: ignore[attr-defined]
    return pointers


class _Current:
    """Makes a driver context current, for a `with` statement.

    Usually it is current already, and the query costs less than `torch.cuda.device`. It is not
    where the thread works on another device or has not used CUDA yet.
    """

    def __init__(self, context: ctypes.c_void_p) -> None:
        self._context, self._before = context, ctypes.c_void_p()

    def __enter__(self) -> None:
        _check_driver(_driver().cuCtxGetCurrent(ctypes.byref(self._before)), "getting the context")
        if self._before.value != self._context.value:
            _check_driver(_driver().cuCtxSetCurrent(self._context), "setting the context")

    def __exit__(self, *_: object) -> None:
        if self._before.value != self._context.value:
            _check_driver(_driver().cuCtxSetCurrent(self._before), "setting the context")


def compile_kernel(
    source: str, name: str, definitions: dict[str, int], device: torch.device
) -> Kernel:
    """The kernel `name` of CUDA `source` for `device`, compiled with the macros `definitions`.

    The macro REGISTERS limits the registers of a thread.
    """
    torch.cuda.init()  # type: ignore[no-untyped-call]
    major, minor = torch.cuda.get_device_capability(device)
    options = [f"--gpu-architecture=sm_{major}{minor}", "--std=c++17"]
    options += [f"-D{key}={value}" for key, value in definitions.items()]
    if "REGISTERS" in definitions:
        options.append(f"--maxrregcount={definitions['REGISTERS']}")
    image = _compile(source, options)
    with torch.cuda.device(device):
        torch.cuda.current_stream().synchronize()  # makes the device's context current
        module, function, context = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        _check_driver(_driver().cuCtxGetCurrent(ctypes.byref(context)), "getting the context")
        _check_driver(_driver().cuModuleLoadData(ctypes.byref(module), image), "loading a module")
        _check_driver(
            _driver().cuModuleGetFunction(ctypes.byref(function), module, name.encode()),
            f"finding {name}",
        )
    return Kernel(function, name, device, context)


def _compile(source: str, options: list[str]) -> bytes:
    library = _nvrtc()
    program = ctypes.c_void_p()
    _check_nvrtc(
        library.nvrtcCreateProgram(
            ctypes.byref(program), source.encode(), b"entrain.cu", 0, None, None
        ),
        "creating a program",
    )
    try:
        encoded = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        if library.nvrtcCompileProgram(program, len(options), encoded):
            raise CudaUnavailable(f"NVRTC refused the kernel: {_log(program)}")
        size = ctypes.c_size_t()
        _check_nvrtc(
            library.nvrtcGetCUBINSize(program, ctypes.byref(size)), "getting the size of the image"
        )
        image = ctypes.create_string_buffer(size.value)
        _check_nvrtc(library.nvrtcGetCUBIN(program, image), "getting the image")
        return image.raw
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _log(program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    _nvrtc().nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    _nvrtc().nvrtcGetProgramLog(program, log)
    return log.value.decode(errors="replace")


def _argument(value: Argument) -> ctypes._CDataType:
    if isinstance(value, tuple):
        addresses = [0 if tensor is None else tensor.data_ptr() for tensor in value]
        return (ctypes.c_void_p * max(len(value), 1))(*addresses)
    if isinstance(value, Tensor):
        return ctypes.c_void_p(value.data_ptr())
    if value is None:
        return ctypes.c_void_p(0)
    return ctypes.c_float(value) if isinstance(value, float) else ctypes.c_uint32(value)


@functools.cache
def _driver() -> ctypes.CDLL:
    return _first_library(["libcuda.so.1", "nvcuda.dll"])


@functools.cache
def _nvrtc() -> ctypes.CDLL:
    major = (torch.version.cuda or "0").split(".")[0]
    name = f"libnvrtc.so.{major}"
    packages = os.path.join(os.path.dirname(os.path.dirname(torch.__file__)), "nvidia")
    beside = glob.glob(os.path.join(packages, "*", "lib", name))
    return _first_library([name, *beside, "libnvrtc.so", f"nvrtc64_{major}0_0.dll"])


def _first_library(names: list[str]) -> ctypes.CDLL:
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise CudaUnavailable(f"none of {', '.join(names)} can be loaded")


def _check_nvrtc(code: int, action: str) -> None:
    if code:
        raise CudaUnavailable(f"NVRTC error {code} while {action}")


def _check_driver(code: int, action: str) -> None:
    if code:
        text = ctypes.c_char_p()
        _driver().cuGetErrorString(code, ctypes.byref(text))
        raise CudaUnavailable(f"CUDA error {code} while {action}: {(text.value or b'').decode()}")
