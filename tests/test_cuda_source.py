"""The CUDA source of every kernel, with absent and with all terms, compiles for a GPU.

Terms that are absent cost no registers, which limit the blocks that share a processor.
"""

from __future__ import annotations

import re
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


def build(source: str, definitions: dict[str, int], folder: Path, *options: str) -> str:
    """Output of the compiler with these options."""
    path = folder / "kernel.cu"
    path.write_text(source)
    macros = [f"-D{name}={value}" for name, value in definitions.items()]
    command = [str(compiler), "-arch=sm_90", "-std=c++17", *options, *macros]
    command += ["-o", str(folder / "kernel"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def check(source: str, definitions: dict[str, int], folder: Path) -> None:
    """Compile without warnings, but of the sine or cosine that a term computes and does not use."""
    build(source, definitions, folder, "-ptx", "-Werror", "all-warnings", "-diag-suppress", "177")


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


@pytest.mark.parametrize(
    ("name", "oscillators", "samples", "registers"),
    [
        ("rollout", 74, 1, 40),
        ("rollout", 74, 2, 56),
        ("rollout", 256, 2, 32),
        ("rollout", 512, 4, 64),
        ("adjoint", 74, 1, 68),
        ("adjoint", 74, 2, 80),
        ("adjoint", 512, 4, 64),
    ],
)
def test_a_model_without_terms_takes_few_registers(
    tmp_path: Path, name: str, oscillators: int, samples: int, registers: int
) -> None:
    """At most those of the kernels before there were terms, with CUDA 13.0, and none spilled."""
    program = program_of(())
    for tape in (0, 1) if name == "rollout" else (0,):
        definitions = gpu.Layout(oscillators, samples).definitions | dict(program.macros)
        definitions |= {"TAPE": tape}
        source = program.source("common.cuh", "block.cuh", f"{name}.cu")
        printed = build(source, definitions, tmp_path, "-cubin", "--ptxas-options=-v")
        used = re.search(r"Used (\d+) registers", printed)
        assert used is not None, printed
        assert int(used[1]) <= registers
        assert " 0 bytes spill stores, 0 bytes spill loads" in printed
