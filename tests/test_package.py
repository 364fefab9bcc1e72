"""What a user meets first: the README's example, the shipped models, lean imports."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import entrain
from entrain.data import load_test_split
from entrain.hardware import preset
from entrain.models.pretrained import card, shipped

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.parametrize("page", ["README.md", "docs/results.md"])
def test_the_first_table_equals_the_results(page: str) -> None:
    rows = json.loads((README.parent / "results" / "records.json").read_text())["values"]["rows"]
    table = (README.parent / page).read_text().replace("*", "")
    by_size: dict[tuple[int, bool], list[str]] = {}
    for row in rows:
        cell = f"{row['mean']['top1']:.2f} ± {row['sd']['top1']:.2f} %"
        by_size.setdefault((row["N"], row["augmented"]), []).append(cell)
    assert len(by_size) == 5
    for (size, augmented), cells in by_size.items():
        title = f"{size}" if augmented else f"{size}, no augmentation"
        assert f"| {title} | {' | '.join(cells)} |" in table


def test_tables_of_chips_and_compared_systems_equal_the_results() -> None:
    results = README.parent / "results"
    rows = json.loads((results / "trained-for-chips.json").read_text())["values"]["rows"]
    overview = (README.parent / "docs" / "results.md").read_text()
    chips = (README.parent / "docs" / "hardware.md").read_text()
    shown: dict[str, list[dict[str, dict[str, float]]]] = {}
    for row in rows:
        trained, other = row["trained"], row["not_trained"]
        assert f"{trained['mean']:.2f} ± {trained['sd']:.2f} |" in chips
        assert f"| {other['mean']:.2f} |" in chips
        shown.setdefault(row["constraint"].split(":")[0].split(" at once")[0], []).append(row)
    for name in ("all of typical", "4 bits, 10 % mismatch, half of the couplers", "lo-2023"):
        for kind in ("trained", "not_trained"):
            means = " / ".join(f"{row[kind]['mean']:.2f}" for row in shown[name])
            assert f"| {means} % |" in overview
    systems = json.loads((results / "bake-off.json").read_text())["values"]["rows"]
    text = (README.parent / "docs" / "bake-off.md").read_text()
    for row in systems:
        if row["system"] not in ("ep", "gower-bits", "rbf"):
            assert f"{row['measured_mean']:.2f}" in text, row["system"]


def test_the_readme_example_runs(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    for block in blocks:
        assert len([line for line in block.splitlines() if line.strip()]) <= 12
    code = "\n".join(blocks)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    digits, on_chips, cuts = done.stdout.splitlines()
    assert float(digits) > 94
    assert float(on_chips) == pytest.approx(98.1, abs=0.3)
    ideal, on_chip = map(int, cuts.split())
    assert ideal >= 136
    assert 115 <= on_chip <= ideal


def stated(name: str) -> str:
    """The accuracy of a shipped model in the table of docs/results.md."""
    rows = (README.parent / "docs" / "results.md").read_text().splitlines()
    (row,) = [row for row in rows if row.startswith(f"| `{name}` |")]
    return row.split("|")[-2].strip()


ACCURACY = {
    "mnist-74": 96.85,
    "mnist-74-direct": 98.97,
    "mnist-74-distilled": 98.94,
    "mnist-74-path": 87.07,
    "fashion-mnist-74": 86.13,
    "fashion-mnist-74-direct": 89.02,
    "fashion-mnist-74-distilled": 89.40,
    "fashion-mnist-74-path": 81.03,
}


@pytest.mark.parametrize("name", ACCURACY)
def test_shipped_models_have_the_accuracy_that_docs_and_card_state(name: str) -> None:
    model = entrain.load(name)
    assert model.network.oscillators == 74
    protocols = {"path": "PATH", "direct": "DIRECT", "distilled": "DIRECT"}
    assert model.protocol == protocols.get(name.rpartition("-")[2], "TWO-STAGE-END")
    found = model.evaluate(load_test_split(model.dataset))
    assert found["top1"] == pytest.approx(ACCURACY[name], abs=0.02)
    assert stated(name) == f"{ACCURACY[name]:.2f} %"
    text = card(name)
    assert f"| test top-1 | {ACCURACY[name]:.2f} % |" in text
    for heading in ("Data", "Training", "Seeds", "Limits"):
        assert f"**{heading}" in text
    of_the_paper = model.protocol != "DIRECT"
    assert ("**Not selected**" if of_the_paper else "**Selected**") in text
    assert f"epoch {model.details['epoch']}" in text


FOR_CHIPS = {"mnist-74-robust": "typical", "fashion-mnist-74-robust": "typical"} | {
    "mnist-48-chip": "lo-2023"
}


@pytest.mark.parametrize("name", FOR_CHIPS)
def test_models_for_chips_have_the_yield_that_docs_and_card_state(name: str) -> None:
    model = entrain.load(name)
    assert model.hardware == preset(FOR_CHIPS[name])
    assert model.network.oscillators == int(name.removeprefix("fashion-").split("-")[1])
    measured = model.details["on_chips"]
    assert measured["chips"] == 1000
    found = entrain.yield_of(model, model.hardware, load_test_split(model.dataset), chips=3)
    assert found.summary()["mean"] == pytest.approx(measured["mean"], abs=0.6)
    assert stated(name) == f"{measured['mean']:.2f} %"
    text = card(name)
    assert f"| test top-1, mean over 1,000 chips | {measured['mean']:.2f} % |" in text
    assert f"| the worst chip | {measured['worst']:.2f} % |" in text


def test_every_shipped_model_is_small_and_named() -> None:
    assert {*ACCURACY, *FOR_CHIPS} == set(shipped())
    folder = Path(entrain.__file__).parent / "models"
    assert sum(file.stat().st_size for file in folder.glob("*.safetensors")) < 4_000_000


def loaded_by(statement: str) -> set[str]:
    """The modules that a fresh interpreter has after `statement`."""
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return set(done.stdout.split())


def test_imports_load_no_optional_packages() -> None:
    assert not loaded_by("import entrain") & {"numpy", "torch", "typer", "scipy", "numba"}
    playing = loaded_by("from entrain.playground import PageServer, page_files; page_files()")
    assert not playing & {"torch", "numpy"}
    learning = loaded_by(
        "import entrain; entrain.train, entrain.KuramotoNetwork, entrain.load\n"
        "entrain.load_dataset('digits')"
    )
    optional = {"matplotlib", "pooch", "typer", "jax", "diffrax", "torchdiffeq", "PIL", "numba"}
    assert not learning & optional
    assert not learning & {"sklearn", "scipy.stats", "scipy.ndimage"}  # each takes long to load


COMMAND = """
import io, sys
from entrain.cli import main
sys.argv[1:], sys.stdout = {arguments!r}, io.StringIO()
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
sys.stdout = sys.__stdout__
"""


def test_commands_load_only_what_they_need(tmp_path: Path) -> None:
    slow = {"matplotlib", "sklearn", "scipy.sparse", "scipy.ndimage", "PIL.Image", "pandas"}
    slow |= {"rich.markdown", "entrain.training", "entrain.rules", "entrain.plots"}
    slow -= loaded_by("import scipy.linalg")  # older SciPy: sparse, too
    help_text = loaded_by(COMMAND.format(arguments=["--help"]))
    assert not help_text & {*slow, "numpy", "torch", "numba"}
    show = loaded_by(COMMAND.format(arguments=["show", "mnist-74-direct"]))
    assert not show & {*slow, "numba"}
    rows = tmp_path / "rows.csv"
    rows.write_text("\n".join(",".join(["0"] * 783 + ["9"]) for _ in range(2)), encoding="utf-8")
    predict = loaded_by(COMMAND.format(arguments=["predict", "mnist-74-direct", str(rows)]))
    assert "torch" in predict
    assert not predict & (slow - {"PIL.Image"})


# Imports every module of the package, where the package's own files find no module of POSIX alone.
ELSEWHERE = """
import builtins, importlib, pathlib, pkgutil
import entrain

POSIX = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
HOME = pathlib.Path(entrain.__file__).parent
ordinary = builtins.__import__

def as_on_windows(name, globals=None, *others):
    asking = pathlib.Path((globals or {}).get("__file__") or ".")
    if name.split(".")[0] in POSIX and asking.is_relative_to(HOME):
        raise ModuleNotFoundError(f"{asking.relative_to(HOME)} imports {name}")
    return ordinary(name, globals, *others)

builtins.__import__ = as_on_windows
for module in pkgutil.walk_packages([HOME], "entrain."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        print(module.name)
"""


def test_every_module_can_be_imported_without_posix_modules() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert {
        "entrain.training.run_folder",
        "entrain.cli.train",
        "entrain.cluster.ray_engine",
    } <= set(done.stdout.split())


def test_the_public_names_are_all_there() -> None:
    assert all(getattr(entrain, name) is not None for name in entrain.__all__)
    assert set(entrain._ATTRIBUTES) == set(entrain.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        entrain.nothing  # noqa: B018
