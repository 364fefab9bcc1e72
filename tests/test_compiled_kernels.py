"""Where the machine code of the kernels is stored, and what Entrain needs of Numba."""

from __future__ import annotations

import ast
import concurrent.futures
import os
import stat
from pathlib import Path

import pytest

from command_line import cli

numba = pytest.importorskip("numba")
SOURCE = Path(__file__).parent.parent / "src" / "entrain"
TINY = """
import torch, warnings
warnings.simplefilter("error")
from entrain import kernels
from entrain.kernels import reference
from entrain.physics import Dynamics, PhaseModel
model = PhaseModel(torch.linspace(-1, 1, 6).view(1, 2, 3), torch.zeros(1, 3, 3))
"""
ROLLOUT = """
from entrain.kernels import compiled
compiled.on_compilation(lambda: print("compiled"))
phases = kernels.rollout(model, Dynamics())
assert kernels.select_backend(model) is not reference
torch.testing.assert_close(phases, reference.rollout(model, Dynamics()))
"""


def run(cache: Path, lines: str = ROLLOUT, before: str = "") -> set[str]:
    """The lines that a process with this cache prints; it has no folder of Numba's choice."""
    result = cli(program=["-c", before + TINY + lines], env={"ENTRAIN_CACHE": str(cache)})
    assert result.returncode == 0, result.stderr
    return set(result.stdout.splitlines())


def test_machine_code_is_stored_once_and_replaced_if_damaged(tmp_path: Path) -> None:
    assert run(tmp_path) == {"compiled"}
    assert run(tmp_path) == set()
    (folder,) = (tmp_path / "kernels").iterdir()
    (code,) = folder.glob("*.nbc")
    content = code.read_bytes()
    code.write_bytes(content[: len(content) // 2])
    assert run(tmp_path) == {"compiled"}
    assert run(tmp_path) == set()


BITS = """
import hashlib
from entrain.kernels import blocks
torch.manual_seed(0)
digest = hashlib.sha256()
for n in (1, 7, 26, 74):
    wide = PhaseModel(torch.randn(1, 11, n), torch.randn(1, n, n))
    phases, pullback = kernels.rollout_with_pullback(wide, Dynamics(steps=20))
    for tensor in (phases, *pullback(phases.cos()).tensors().values()):
        digest.update(tensor.numpy().tobytes())
print(blocks.BLOCK_LANES, digest.hexdigest())
"""


def test_the_width_of_vectors_is_stored_and_changes_no_bit(tmp_path: Path) -> None:
    (first,) = run(tmp_path, BITS)
    (stored,) = tmp_path.rglob("block-lanes")
    assert first.startswith(f"{stored.read_text()} ")
    other = {"8": "16", "16": "8"}[stored.read_text()]
    stored.write_text(other)
    (second,) = run(tmp_path, BITS)
    assert second.split() == [other, first.split()[1]]


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_machine_code_that_others_can_write_is_not_run(tmp_path: Path) -> None:
    folder = "from entrain.kernels import compiled; print(compiled.kernel_folder())"
    (path,) = run(tmp_path, folder)
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o700
    Path(path).chmod(0o777)
    assert run(tmp_path, folder) == {"None"}


def test_a_copy_of_the_package_elsewhere_shares_the_machine_code(tmp_path: Path) -> None:
    """Two environments of one version: the same sources in two folders."""
    copy = tmp_path / "site"
    copy.mkdir()
    ignored = {"__pycache__", "page", "bundled"}
    for path in SOURCE.rglob("*"):
        parts = path.relative_to(SOURCE.parent).parts
        if path.suffix in (".py", ".cu", ".cuh", ".toml") and not ignored & set(parts):
            target = copy.joinpath(*parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    cache = tmp_path / "cache"
    assert run(cache) == {"compiled"}
    elsewhere = f"import sys; sys.path.insert(0, {str(copy)!r})\n"
    lines = f"assert kernels.__file__.startswith({str(copy)!r})\n{ROLLOUT}"
    assert run(cache, lines, elsewhere) == set()


def test_processes_that_start_at_once_agree(tmp_path: Path) -> None:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for printed in pool.map(lambda _: run(tmp_path), range(2)):
            assert printed <= {"compiled"}
    assert run(tmp_path) == set()


def test_machine_code_of_two_processes_runs_in_a_third(tmp_path: Path) -> None:
    """Their closures have names of their own; those by one name would call one another."""
    sets = [("frequencies", "injection", "injection_4"), ("injection", "injection_4")]
    lines = """
from entrain.kernels import cpu
import kernel_facts, torch
for terms in {sets}:
    kernel_facts.check_terms(cpu, torch.device("cpu"), (2, 11, 7, 12), terms)
"""
    for chosen in (sets[:1], sets[1:], sets, sets[::-1]):
        tests = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        run(tmp_path, lines.format(sets=chosen), tests)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_names_its_closures_differently(tmp_path: Path) -> None:
    """Machine code of both is stored; closures of one name would call one another."""
    lines = """
import os
from numba.core.bytecode import FunctionIdentity
from entrain.kernels import cpu
from entrain.kernels.workers import forked
numbers = lambda: {next(FunctionIdentity._unique_ids) for _ in range(1000)}
with forked(lambda: open("child", "w").write(" ".join(map(str, numbers())))):
    here = numbers()
there = set(map(int, open("child").read().split()))
assert len(there) == 1000, "the task did not run"
assert not here & there
"""
    run(tmp_path, lines, f"import os; os.chdir({str(tmp_path)!r})\n")


@pytest.mark.parametrize("error", ["ENOSPC", "EROFS"])
def test_a_full_or_read_only_disk_only_costs_time(tmp_path: Path, error: str) -> None:
    before = f"""
import builtins, errno
plain_open = builtins.open
def fail(file, mode="r", *args, **kwargs):
    if ".nbi.tmp." in str(file) or ".nbc.tmp." in str(file):
        raise OSError(errno.{error}, "no")
    return plain_open(file, mode, *args, **kwargs)
builtins.open = fail
"""
    assert run(tmp_path, before=before) == {"compiled"}
    assert not list(tmp_path.rglob("*.nbc"))


def test_undocumented_parts_of_numba_are_used_in_one_file() -> None:
    documented = {"numba", "numba.types", "numba.extending"}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            private = {n for n in names if n.split(".")[0] == "numba"} - documented
            assert not private or path.name == "compiled.py", f"{path}: {private}"


# What `kernels/compiled.py` takes from Numba beside its documented interface, and what is lost
# where another version lacks it.
NEEDED = {
    "numba.core.bytecode:FunctionIdentity._unique_ids": "kernels are compiled in each process",
    "numba.core.caching:FunctionCache.load_overload": "kernels are compiled in each process",
    "numba.core.caching:FunctionCache.save_overload": "kernels are compiled in each process",
    "numba.core.caching:FunctionCache.flush": "damaged machine code is not replaced",
    "numba.core.caching:CompileResultCacheImpl._locator_classes": "environments share nothing",
    "numba.core.event:register": "compiling is not announced",
    "numba.core.event:Listener": "compiling is not announced",
    "numba.core.options:DefaultOptions.no_cpython_wrapper": "compiling takes a fifth longer",
    "numba.core.options:DefaultOptions.no_cfunc_wrapper": "compiling takes a fifth longer",
    "numba.extending:intrinsic": "no CPU kernels: the reference computes, four times slower",
    "numba.extending:type_callable": "no CPU kernels: the reference computes, four times slower",
    "numba.extending:lower_builtin": "no CPU kernels: the reference computes, four times slower",
    "numba.extending:register_model": "no CPU kernels: the reference computes, four times slower",
    "numba.extending:models.PrimitiveModel": "no CPU kernels: the reference computes",
    "numba.extending:overload": "no CPU kernels: the reference computes, four times slower",
}


@pytest.mark.parametrize("place", NEEDED)
def test_this_numba_has_what_the_kernels_need(place: str) -> None:
    module, _, path = place.partition(":")
    value = pytest.importorskip(module, reason=f"Numba {numba.__version__}: {NEEDED[place]}")
    for name in path.split("."):
        assert hasattr(value, name), f"Numba {numba.__version__} lacks {place}: {NEEDED[place]}"
        value = getattr(value, name)


def test_without_numbas_cache_the_kernels_compile_in_each_process(tmp_path: Path) -> None:
    before = "import numba.core.caching as caching; del caching.CompileResultCacheImpl\n"
    assert run(tmp_path, before=before) == {"compiled"}
    assert not list(tmp_path.rglob("*.nbc"))


@pytest.mark.parametrize(
    "change",
    [
        "import numba.extending; del numba.extending.lower_builtin",
        "import sys; sys.modules['numba'] = None",
        "import sys; sys.modules['llvmlite.ir'] = None",
        "import llvmlite.ir as ir; ir.IRBuilder.fadd = None",
    ],
    ids=["no lower_builtin", "no Numba", "no llvmlite", "another llvmlite"],
)
def test_with_another_numba_the_reference_computes_and_one_warning_says_so(
    tmp_path: Path, change: str
) -> None:
    lines = """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        phases, pullback = kernels.rollout_with_pullback(model, Dynamics())
        pullback(phases)
assert kernels.select_backend(model) is reference
assert torch.equal(phases, reference.rollout(model, Dynamics()))
print(*[str(w.message).replace("\\n", " ") for w in caught if w.category is RuntimeWarning])
"""
    (printed,) = run(tmp_path, lines, f"{change}\n")
    assert printed.startswith("the CPU kernels")
    assert printed.count("PyTorch operations compute the rollouts") == 1


def test_compiling_is_announced_once_and_stored_by_two_processes_at_once(tmp_path: Path) -> None:
    lines = """
kernels.announce(torch.device("cpu"), print)
phases, pullback = kernels.rollout_with_pullback(model, Dynamics())
pullback(phases)
"""
    printed = [
        cli(program=["-c", TINY + lines], env={"NUMBA_CACHE_DIR": str(tmp_path)}).stdout
        for _ in range(2)
    ]
    assert printed == ["compiling the CPU kernels, once (2 to 6 s)\n", ""]
    compiled = {path.name.partition("-")[0] for path in tmp_path.rglob("*.nbc")}
    assert compiled == {"tiles_forward.forward_tile", "tiles_adjoint.backward_tile"}


def test_one_of_two_processes_that_start_at_once_compiles_for_both(tmp_path: Path) -> None:
    lines = """
from entrain.kernels import compiled
compiled.on_compilation(lambda: print("compiled"))
phases, pullback = kernels.rollout_with_pullback(model, Dynamics())
pullback(phases)
"""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        printed = list(pool.map(lambda _: run(tmp_path, lines), range(2)))
    assert sorted(printed, key=len) == [set(), {"compiled"}]


def test_a_rollout_without_gradients_compiles_no_adjoint(tmp_path: Path) -> None:
    lines = """
import torch
from entrain import kernels
from entrain.physics import Dynamics, PhaseModel
model = PhaseModel(torch.ones(1, 2, 3), torch.zeros(1, 3, 3))
kernels.rollout(model, Dynamics())
"""
    cli(program=["-c", lines], env={"NUMBA_CACHE_DIR": str(tmp_path)})
    compiled = {path.name.partition("-")[0] for path in tmp_path.rglob("*.nbc")}
    assert compiled == {"tiles_forward.forward_tile"}
