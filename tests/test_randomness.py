"""No result depends on a global random generator, and no global generator is changed."""

from __future__ import annotations

import json
import random
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from command_line import Run, in_process
from global_randomness import uses

pytestmark = pytest.mark.usefixtures("one_thread")

ROOT = Path(__file__).parents[1]
ALLOWED = {
    # None means NumPy's global state, as in every estimator of scikit-learn.
    ("src/entrain/sklearn/estimator.py", "sklearn.utils.check_random_state"),
    ("src/entrain/sklearn/regressor.py", "sklearn.utils.check_random_state"),
}
GLOBAL = [
    "torch.rand(3)",
    "torch.randn(3, generator=None)",
    "torch.rand_like(x)",
    "torch.manual_seed(0)",
    "torch.cuda.manual_seed_all(0)",
    "torch.random.manual_seed(0)",
    "x.normal_()",
    "(x + 1).uniform_(0, 1)",
    "nn.Linear(3, 4)",
    "nn.init.zeros_(x)",
    "torch.nn.functional.dropout(x)",
    "np.random.rand()",
    "np.random.seed(0)",
    "np.random.default_rng()",
    "np.random.default_rng(None)",
    "np.random.Generator(np.random.PCG64())",
    "random.random()",
    "choice([1, 2])",
    "train_test_split(x)",
]
OF_OUR_OWN = [
    "torch.rand(3, generator=g)",
    "torch.Generator().manual_seed(0)",
    "x.normal_(generator=g)",
    "nn.Parameter(x)",
    "nn.ModuleList(modules)",
    "np.random.default_rng([1, 2]).normal()",
    "np.random.Generator(np.random.PCG64(0)).normal()",
    "np.random.RandomState(0).permutation(3)",
    "random.Random(7).random()",
    "train_test_split(x, random_state=state)",
]
HEAD = """
import random
from random import choice
import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch import nn
"""


@pytest.mark.parametrize(
    ("line", "refused"), [*((s, True) for s in GLOBAL), *((s, False) for s in OF_OUR_OWN)]
)
def test_the_check_finds_global_generators(line: str, refused: bool, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HEAD + line)
    assert bool(uses(tmp_path / "a.py")) == refused


def test_no_source_uses_a_global_generator() -> None:
    paths = [
        path for part in ("src", "paper/entrain_paper") for path in (ROOT / part).rglob("*.py")
    ]
    assert len(paths) > 200
    found = {
        (str(path.relative_to(ROOT)), use.partition(": ")[2])
        for path in paths
        for use in uses(path)
    }
    assert found == ALLOWED


def test_commands_give_the_same_bits_from_other_global_states(
    tiny_run: Run, tmp_path: Path
) -> None:
    write_table(tmp_path / "table.csv")
    one, two = (outcome(tmp_path / str(seed), tiny_run.model, seed) for seed in (1, 2))
    assert one == two


def write_table(path: Path) -> None:
    """Three classes around the corners of a cube."""
    draws = random.Random(7)
    rows = [
        f"k{n % 3}," + ",".join(f"{n % 3 + draws.gauss(0, 1)}" for _ in "abc") for n in range(90)
    ]
    path.write_text("\n".join(["label,a,b,c", *rows]) + "\n")


def outcome(folder: Path, model: Path, seed: int) -> list[Any]:
    """What commands print and write, begun with other states of the global generators."""
    folder.mkdir()
    table, readings = folder.parent / "table.csv", folder / "t.npz"
    small, chips = ("--network", 4), ("--hardware", "typical")
    commands: list[tuple[object, ...]] = [
        ("train", table, *small, *chips, "--epochs", 2, "--out", folder / "run"),
        ("yield", model, *chips, "--chips", 2, "--examples", 20),
        ("evaluate", model, "--temperature", 0.3, "--replicates", 2),
        ("evaluate", model, *chips, "--chip", 3),
        ("traces", model, *chips, "--runs", 3, "--noise", 0.1, "--out", readings),
        (
            "calibrate",
            readings,
            "--model",
            model,
            "--iterations",
            2,
            "--out",
            folder / "c.safetensors",
        ),
        ("export", model, "--to", "plain", "--out", folder / "plain"),
    ]
    if find_spec("optuna"):
        trials = ("--trials", 2, "--epochs", 1)
        commands.append(("search", table, "--hidden", 4, *trials, "--out", folder / "found.json"))
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    before = global_states()
    printed = [values_of(command) for command in commands]
    assert global_states() == before
    written = [
        path for path in sorted(folder.rglob("*")) if path.suffix in (".safetensors", ".npz")
    ]
    return printed + [(path.relative_to(folder), arrays(path)) for path in written]


def global_states() -> str:
    return repr((random.getstate(), np.random.get_state(), torch.get_rng_state().tolist()))


def values_of(command: tuple[object, ...]) -> object:
    """The JSON that a command prints, without times and paths."""
    done = in_process(*command, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout, object_hook=timeless)


def timeless(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in values.items()
        if name != "seconds" and not (isinstance(value, str) and Path(value).is_absolute())
    }


def arrays(path: Path) -> dict[str, bytes]:
    found = np.load(path) if path.suffix == ".npz" else load_file(path)
    return {name: found[name].tobytes() for name in found}
