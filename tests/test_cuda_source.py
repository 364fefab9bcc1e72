"""The CUDA source of every kernel, with absent and with all terms, compiles for a GPU."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import model_facts as facts
from entrain.kernels import gpu
from entrain.kernels.components import Components
from entrain.kernels.cuda_program import Program

compiler = shutil.which("nvcc")
pytestmark = pytest.mark.skipif(compiler is None, reason="needs nvcc")

LAYOUTS = {"held": gpu.Layout(74, 1), "few": gpu.Layout(200, 2), "many": gpu.Layout(1000, 4)}
OPTIONS = {
    "rollout": ("TAPE", "RECORD", "NOISE", "NOISE_VARIES"),
    "adjoint": ("PATH_GRADIENT",),
    "path": (),
    "step_forward": ("TAPE", "NOISE", "NOISE_VARIES"),
    "step_back": (),
}
BLOCKS = ("rollout", "adjoint", "path")
STEPS = ("step_forward", "step_back")


def program_of(terms: tuple[str, ...], degree: float | None = None) -> Program:
    model = facts.model_of((1, 2, 7, 4), terms, degree=degree, start=bool(terms))
    if terms:
        model = facts.varied(model, 4, facts.all_names(model), hold=2)
    return Program.of(model, Components(model))


def check(source: str, definitions: dict[str, int], folder: Path) -> None:
    """Compile without warnings, but of the sine or cosine that a term computes and does not use."""
    path = folder / "kernel.cu"
    path.write_text(source)
    macros = [f"-D{name}={value}" for name, value in definitions.items()]
    options = ["-ptx", "-arch=sm_90", "-std=c++17", "-Werror", "all-warnings"]
    options += ["-diag-suppress", "177"]
    command = [str(compiler), *options, *macros, "-o", str(folder / "kernel.ptx"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("terms", [(), facts.EVERY_TERM], ids=["plain", "all terms"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", BLOCKS)
def test_kernels_of_a_block_compile(
    tmp_path: Path, name: str, layout: str, terms: tuple[str, ...]
) -> None:
    if name == "path" and (terms or layout != "held"):
        pytest.skip("the path loss is of held couplings without terms")
    program = program_of(terms)
    options = dict.fromkeys(OPTIONS[name] if terms else (), 1)
    definitions = LAYOUTS[layout].definitions | dict(program.macros) | options
    check(program.source("common.cuh", "block.cuh", f"{name}.cu"), definitions, tmp_path)


@pytest.mark.parametrize("terms", [(), facts.EVERY_TERM], ids=["plain", "all terms"])
@pytest.mark.parametrize("degree", [None, 3.0], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", STEPS)
def test_kernels_of_a_step_compile(
    tmp_path: Path, name: str, degree: float | None, terms: tuple[str, ...]
) -> None:
    program = program_of(terms, degree)
    options = dict.fromkeys(OPTIONS[name] if terms else (), 1)
    definitions = dict(program.macros) | options | {"WARPS": 4, "SPARSE": int(degree is not None)}
    check(program.source("common.cuh", "steps.cu"), definitions, tmp_path)
