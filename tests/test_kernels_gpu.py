"""The CUDA kernels against the reference, on outputs and on every gradient.

For real where there is a CUDA device; elsewhere the same source and the same wrapper run on the
CPU through a small emulator (a thread for each CUDA thread), which needs a C++ compiler.
"""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
from pathlib import Path

import pytest
import torch
from torch import Tensor

from entrain.kernels import gpu, nvrtc, reference
from entrain.physics import Dynamics, Noise
from networks import random_couplings, random_tensor

REAL = torch.cuda.is_available()
DEVICE = torch.device("cuda:0" if REAL else "cpu")

# runs, batch, hidden, outputs, steps: one sample, odd sizes, one output, many runs, one step
SHAPES = [(1, 1, 5, 3, 7), (2, 5, 8, 1, 9), (3, 9, 21, 4, 5), (1, 3, 2, 2, 1), (1, 2, 30, 7, 6)]
LARGE = [(1, 3, 128, 10, 3), (1, 3, 190, 10, 2), (1, 2, 246, 10, 2)]
if REAL:
    SHAPES += [(1, 256, 64, 10, 200), (10, 100, 64, 10, 50), (2, 33, 16, 10, 200)]
    LARGE = [(2, 40, 128, 10, 60), (1, 37, 190, 10, 40), (2, 33, 246, 10, 40)]


class Emulated:
    """A kernel compiled as C++ for the CPU, called like `nvrtc.Kernel`."""

    def __init__(self, library: Path, name: str) -> None:
        self._function = getattr(ctypes.CDLL(str(library)), f"emulate_{name}")

    def __call__(self, grid, threads, arguments) -> None:
        x, y, z = (*grid, 1, 1)[:3]
        sizes = [ctypes.c_uint32(size) for size in (x, y, z, threads)]
        self._function(*sizes, *(nvrtc._argument(argument) for argument in arguments))


@pytest.fixture(autouse=True, scope="module")
def _device(tmp_path_factory):
    """The emulator in the place of the device, where there is none."""
    if REAL:
        yield
        return
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no CUDA device, and no C++ compiler to emulate one")
    folder = tmp_path_factory.mktemp("emulated")
    here = Path(__file__).parent

    @functools.cache
    def kernel(name, layout, flags, device):
        macros = layout.definitions | {"TAPE": 0, "RECORD": 0, "NOISE": 0} | dict(flags)
        library = folder / f"{abs(hash((layout, flags)))}.so"
        if not library.exists():
            source = Path(gpu.__file__).with_name("oscillators.cu")
            subprocess.run(
                [
                    *(compiler, "-x", "c++", "-std=c++20", "-O1", "-shared", "-fPIC", "-pthread"),
                    *(f"-D{key}={int(value)}" for key, value in macros.items()),
                    f'-DKERNELS="{source}"',
                    *("-o", str(library), str(here / "cuda_emulator.h")),
                ],
                check=True,
                timeout=120,
            )
        return Emulated(library, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu, "_kernel", kernel)
        patch.setattr(gpu, "_processors", lambda device: 2)
        yield


def example(shape: tuple[int, ...], scale: float = 1.0) -> dict[str, Tensor]:
    runs, batch, hidden, outputs, _ = shape
    n = hidden + outputs
    return {
        "fields": scale * 4 * random_tensor(runs, batch, n, seed=1),
        "couplings": scale * random_couplings(runs, hidden, outputs, seed=2),
        "coefficients": 3 * random_tensor(runs, batch, n, seed=3),
        "gradient": random_tensor(runs, batch, n, seed=4),
    }


def single(tensor: Tensor) -> Tensor:
    return tensor.float().to(DEVICE)


def close(found: Tensor, exact: Tensor, tolerance: float = 1e-4) -> bool:
    """Relative error of float32 against float64 in the largest norm; exact may be all zero."""
    found = found.double().cpu()
    return bool((found - exact).abs().max() <= tolerance * exact.abs().max() + 1e-12)


def tied(gradient: Tensor) -> Tensor:
    return gradient + gradient.transpose(1, 2)


@pytest.mark.parametrize("shape", SHAPES + LARGE, ids=str)
def test_rollout_and_every_gradient_equal_the_reference(shape: tuple[int, ...]) -> None:
    data, dynamics = example(shape), Dynamics(1.1, 0.2, shape[-1])
    exact, exact_pullback = reference.rollout_with_pullback(
        data["fields"], data["couplings"], dynamics
    )
    fields, couplings = single(data["fields"]), single(data["couplings"])
    phases, pullback = gpu.rollout_with_pullback(fields, couplings, dynamics)
    assert close(phases, exact, 1e-5)
    assert torch.equal(gpu.rollout(fields, couplings, dynamics), phases)
    by_fields, by_couplings = pullback(single(data["gradient"]))
    exact_fields, exact_couplings = exact_pullback(data["gradient"])
    assert close(by_fields, exact_fields)
    assert close(tied(by_couplings), tied(exact_couplings))


@pytest.mark.parametrize("shape", SHAPES[:3], ids=str)
def test_recorded_rollouts_equal_the_reference(shape: tuple[int, ...]) -> None:
    data, dynamics = example(shape, 3.0), Dynamics(1.0, 0.5, shape[-1])
    exact = reference.rollout(data["fields"], data["couplings"], dynamics, record=True)
    found = gpu.rollout(single(data["fields"]), single(data["couplings"]), dynamics, record=True)
    assert close(found, exact, 1e-5)


@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize("shape", SHAPES[:3], ids=str)
def test_noisy_rollouts_receive_the_same_increments(shape: tuple[int, ...], record: bool) -> None:
    data, dynamics = example(shape), Dynamics(1.0, 0.2, shape[-1])
    indices = (torch.tensor([0, 3, 4]), torch.arange(shape[1]) + 1000)
    exact = reference.noisy_rollout(
        data["fields"], data["couplings"], dynamics, Noise(9, 0.7, *indices), record=record
    )
    found = gpu.noisy_rollout(
        single(data["fields"]),
        single(data["couplings"]),
        dynamics,
        Noise(9, 0.7, *(index.to(DEVICE) for index in indices)),
        record=record,
    )
    assert found.shape == exact.shape
    assert close(found, exact, 1e-5)


@pytest.mark.parametrize("nodes", [None, 4])
@pytest.mark.parametrize("shape", SHAPES + LARGE[:1], ids=str)
def test_path_loss_and_every_gradient_equal_the_reference(
    shape: tuple[int, ...], nodes: int | None
) -> None:
    data, dynamics = example(shape), Dynamics(1.1, 0.2, shape[-1])
    names = ("fields", "couplings", "coefficients")
    exact = reference.path_loss(*(data[name] for name in names), dynamics, nodes=nodes)
    found = gpu.path_loss(*(single(data[name]) for name in names), dynamics, nodes=nodes)
    assert close(found[0], exact[0])
    assert close(found[1], exact[1])
    assert close(tied(found[2]), tied(exact[2]))


def test_a_run_that_is_not_finite_does_not_disturb_the_others() -> None:
    data, dynamics = example((3, 5, 8, 3, 6)), Dynamics(steps=6)
    fields, couplings = single(data["fields"]), single(data["couplings"])
    clean = gpu.rollout(fields, couplings, dynamics)
    couplings[1] = torch.nan
    dirty = gpu.rollout(fields, couplings, dynamics)
    assert torch.equal(clean[[0, 2]], dirty[[0, 2]])
    assert bool(dirty[1].isnan().all())
