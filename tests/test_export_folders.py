"""Exports as folders: written by a command, read again, run, and refused if they are none."""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import entrain
from circuits import SPREAD, every_term, small
from command_line import Invoke, Refuse, Run, cli, printed
from entrain.data import FeatureScaling
from entrain.export import Design, Onnx, Plain, Spice, WordLengths, design_of, verify, write_export
from entrain.export.design import FILE, read_design, write_design
from entrain.export.folder import checked_files, files_of, read_export
from entrain.export.input_stage import input_stage_of
from entrain.export.targets import Target
from entrain.hardware import Chip, Hardware, Mismatch, preset
from entrain.physics import Dynamics, PhaseModel
from entrain.playground import export
from entrain.utils.errors import InputError

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.usefixtures("one_thread")]


# Folders


@pytest.mark.parametrize(
    "target",
    [
        Spice("phase"),
        Spice("lc", cycles=30.0),
        Spice("lc", spread=SPREAD, seed=7, oscillator="cubic"),
        WordLengths(lanes=2),
        Plain(),
    ],
)
def test_an_export_is_read_as_it_was_written(tmp_path: Path, target: Target) -> None:
    folder = tmp_path / "export"
    names = write_export(folder, small(), target)
    assert sorted(names) == sorted(path.name for path in folder.iterdir())
    design, found = read_export(folder)
    assert found == target
    assert checked_files(folder, design, found) == files_of(design, found)
    with pytest.raises(InputError, match="not empty"):
        write_export(folder, small(), target)


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from circuits import small
from entrain.export import Plain, write_export
from entrain.utils import files
if sys.argv[2] == "page":
    from entrain.playground import export as write
else:
    write = lambda folder: write_export(folder, small(), Plain())
replace, writes = files._replace, []

def counted(path, content):
    replace(path, content)
    writes.append(path)
    if len(writes) == 2:
        os.kill(os.getpid(), signal.SIGKILL)

files._replace = counted
write(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("what", ["circuit", "page"])
def test_killed_export_leaves_no_folder_and_can_be_repeated(what: str, tmp_path: Path) -> None:
    program = ("-c", KILLED)
    folder, helpers = tmp_path / "export", str(Path(__file__).parent)
    assert cli(folder, what, helpers, program=program).returncode == -signal.SIGKILL
    assert not folder.exists()
    if what == "page":
        export(folder)
    else:
        write_export(folder, small(), Plain())
    assert list(tmp_path.iterdir()) == [folder]


def test_changed_and_missing_files_are_not_run(tmp_path: Path) -> None:
    write_export(tmp_path, small(), Spice())
    design, target = read_export(tmp_path)
    path = tmp_path / "image-0001.cir"
    path.write_text(path.read_text() + ".control\nshell touch /tmp/never\n.endc\n")
    with pytest.raises(InputError, match="allow edited files"):
        checked_files(tmp_path, design, target)
    path.unlink()
    with pytest.raises(InputError, match="no such file"):
        checked_files(tmp_path, design, target)


def test_oversized_designs_raise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = replace(small(), phase_model=PhaseModel(torch.zeros(1, 1, 1025), torch.zeros(1, 1, 1)))
    with pytest.raises(InputError, match="1,024 oscillators"):
        write_export(tmp_path / "x", wide, Spice())
    crowd = replace(small(n=60).under(np.zeros((4000, 60))), dynamics=Dynamics(steps=1_000_000))
    with pytest.raises(InputError, match="4000 images, 60 oscillators and 1000000 steps"):
        write_export(tmp_path / "x", crowd, Spice())
    with pytest.raises(InputError, match="cycles must be from 1 to 10000"):
        Spice("lc", cycles=1e9)
    assert not (tmp_path / "x").exists()
    write_export(tmp_path / "y", small(), Spice())
    monkeypatch.setattr("entrain.export.design._MAX_BYTES", 100)
    with pytest.raises(InputError, match="larger than 256 MiB"):
        read_export(tmp_path / "y")


@pytest.mark.parametrize("target", [Spice(), Spice("lc"), WordLengths()])
def test_model_names_are_written_as_comments(target: Target) -> None:
    """Designs may come from anywhere; simulators run the files made of them."""
    hostile = "x\n.control\nshell touch never\n.endc\ninitial $system(1);\r`include"
    files = files_of(replace(small(), model=hostile), target)
    lines = [line for content in files.values() for line in content.decode().splitlines()]
    held = [line for line in lines if "never" in line]
    assert held
    assert all(line.startswith(("*", "//")) for line in held)
    assert not any(line.startswith((".control", "initial $system")) for line in lines)


def test_folders_without_an_export_raise(tmp_path: Path, refuse: Refuse) -> None:
    assert "no design.safetensors" in refuse("verify", str(tmp_path))
    assert "no such folder" in refuse("verify", str(tmp_path / "none"))
    (tmp_path / FILE).write_bytes(b"not safetensors")
    assert "not a readable design" in refuse("verify", str(tmp_path))
    write_design(tmp_path, replace(small(), target={"to": "abacus"}))
    assert "'abacus'" in refuse("verify", str(tmp_path))
    write_design(tmp_path, replace(small(), target={"to": "spice", "level": "phase", "ohms": 3}))
    assert "not a readable design" in refuse("verify", str(tmp_path))


# JSON and NumPy


def test_plain_export_reproduces_the_phases(tmp_path: Path) -> None:
    for name, design in (("plain", small()), ("all", small(**every_term()))):
        write_export(tmp_path / name, design, Plain())
        found = verify(tmp_path / name)
        assert found.agree == found.images == 3
        assert found.max_difference < 1e-12
        with np.load(tmp_path / name / "network.npz", allow_pickle=False) as arrays:
            assert np.array_equal(arrays["couplings"], design.couplings)
            assert np.array_equal(arrays["fields"], design.fields)
            assert arrays["scores"] == pytest.approx(design.scores(design.phases()))


def test_invalid_or_oversized_descriptions_raise(tmp_path: Path) -> None:
    """Files of a plain folder are read, not run, and may have been edited."""
    write_export(tmp_path, small(), Plain())
    path = tmp_path / "network.json"
    whole = json.loads(path.read_text())
    changes: list[object] = [
        {"oscillators": 3},
        whole | {"oscillators": 10**9},
        whole | {"dynamics": whole["dynamics"] | {"steps": 10**12}},
        whole | {"dynamics": whole["dynamics"] | {"steps": 1e400}},
        whole | {"dynamics": whole["dynamics"] | {"mobility": 1e308}},
        whole | {"couplers": [[0, 99, 1.0, 1.0]]},
        whole | {"test_vectors": whole["test_vectors"] * 3},
        [],
    ]
    texts = [json.dumps(each) for each in changes]
    for text in (*texts, "[" * 100_000, "\xff"):
        path.write_text(text, encoding="latin-1")
        with pytest.raises(InputError), np.errstate(all="ignore"):
            verify(tmp_path)


# ONNX


def trained(tiny_run: Run, images: int = 40, chip: Chip | None = None) -> Design:
    model, split = entrain.load(tiny_run.model), entrain.load_dataset("digits").test
    features, labels = split.features[:images], split.labels[:images]
    return design_of(model, features, labels, chip=chip, with_input_stage=True)


def test_an_onnx_graph_gives_the_scores_of_raw_pixels(tiny_run: Run, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime not installed (pip install onnxruntime)")
    for name, chip in (("ideal", None), ("chip", preset("ark").sample(3))):
        design = trained(tiny_run, chip=chip)
        write_export(tmp_path / name, design, Onnx())
        found = verify(tmp_path / name)
        assert found.agree == found.images == 40
        assert 0.0 < found.max_difference < 1e-4


def test_an_onnx_graph_has_every_term_of_the_equations(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime not installed (pip install onnxruntime)")
    scaling = FeatureScaling((0.5, -1.0, 40.0), (1.0, 2.0, 10.0), 3.5)
    rows = np.random.RandomState(0).normal(size=(3, 3)) * (1.0, 2.0, 10.0)
    weights = torch.randn(4, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    stage = input_stage_of(rows, scaling, weights, torch.linspace(-1, 1, 6, dtype=torch.float64))
    fields = np.zeros((3, 6))
    fields[:, :4] = scaling(rows).double().numpy() @ weights.numpy().T
    fields += np.linspace(-1, 1, 6)
    terms = every_term()
    for name in ("", *terms, "all"):
        chosen = terms if name == "all" else {k: v for k, v in terms.items() if k == name}
        design = replace(small(**chosen).under(fields), input_stage=stage)
        write_export(tmp_path / f"x{name}", design, Onnx())
        found = verify(tmp_path / f"x{name}")
        assert found.max_difference < 1e-4, name
    with pytest.raises(InputError, match="no input weights"):
        files_of(small(), Onnx())


def test_onnx_raises_for_chips_that_change_fields(tiny_run: Run) -> None:
    chip = Hardware(mismatch=Mismatch(fields=0.1)).sample(0)
    with pytest.raises(InputError, match="changes fields by more than"):
        trained(tiny_run, chip=chip)


def test_onnx_without_its_packages_names_the_extra(
    tiny_run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(InputError, match=r"pip install '\.\[onnx\]' adds it"):
        files_of(trained(tiny_run), Onnx())


def test_invalid_graph_raises(tiny_run: Run, tmp_path: Path, refuse: Refuse) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime not installed (pip install onnxruntime)")
    write_export(tmp_path, trained(tiny_run), Onnx())
    (tmp_path / "network.onnx").write_bytes(b"nonsense")
    assert "run entrain verify --edited" in refuse("verify", str(tmp_path))
    assert "cannot run the graph" in refuse("verify", str(tmp_path), "--edited")


# The command line


def test_export_command_writes_a_folder(tiny_run: Run, tmp_path: Path, invoke: Invoke) -> None:
    folder = tmp_path / "circuit"
    given = ("export", str(tiny_run.model), "--to=spice", "--images=2", f"--out={folder}")
    done = invoke(*given)
    assert "entrain verify" in done.stdout
    assert (folder / "image-0001.cir").is_file()
    found = printed(
        invoke, "export", str(tiny_run.model), "--to=verilog", f"--out={tmp_path / 'v'}"
    )
    assert found["oscillators"] == read_design(tmp_path / "v").oscillators
    assert found["target"]["to"] == "verilog"
    given = ("--to=spice", "--level=lc", "--spread=typical", "--seed=5", f"--out={tmp_path / 'c'}")
    found = printed(invoke, "export", str(tiny_run.model), *given)
    assert found["target"]["seed"] == 5
    assert found["target"]["spread"]["transconductance"] == 0.05


def test_export_command_raises_for_invalid_options(
    tiny_run: Run, tmp_path: Path, refuse: Refuse
) -> None:
    model = str(tiny_run.model)
    assert "did you mean 'spice'" in refuse("export", model, "--to=spyce")
    assert "did you mean 'phase'" in refuse("export", model, "--to=spice", "--level=phases")
    assert "--cycles must be" in refuse("export", model, "--to=spice", "--cycles=0")
    assert "--images must be" in refuse("export", model, "--to=spice", "--images=-1")
    lc = ("export", model, "--to=spice", "--level=lc", "--spread=ark")
    assert "no section [components]" in refuse(*lc)
    assert "--to plain" in refuse("export", model, "--to=plain", "--spread=typical")
    assert "address bits" in refuse("export", model, "--to=verilog", "--address=2")
    assert "lanes must be" in refuse("export", model, "--to=verilog", "--lanes=0")
    verilog = ("export", model, "--to=verilog", f"--out={tmp_path / 'v'}")
    assert "--level is for --to spice, got --to verilog" in refuse(*verilog, "--level=lc")
    assert "--lanes is for --to verilog" in refuse("export", model, "--to=onnx", "--lanes=2")
    (tmp_path / "there").write_text("something")
    assert "not empty" in refuse("export", model, "--to=spice", f"--out={tmp_path}")


def test_verify_raises_for_options_of_other_formats(tmp_path: Path, refuse: Refuse) -> None:
    write_export(tmp_path / "s", small(images=2), Spice())
    write_export(tmp_path / "v", small(images=2), WordLengths())
    assert "has 2 images" in refuse("verify", str(tmp_path / "s"), "--images=3")
    assert "only a Verilog core" in refuse("verify", str(tmp_path / "s"), "--synthesis")
    assert "chosen for netlists" in refuse("verify", str(tmp_path / "v"), "--images=1")


def test_killed_export_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(folder: Path, design: Design) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("entrain.export.folder.write_design", killed)
    with pytest.raises(KeyboardInterrupt):
        write_export(tmp_path / "s", small(), Spice())
    assert not list(tmp_path.iterdir())
    monkeypatch.undo()
    write_export(tmp_path / "s", small(), Spice())
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_missing_simulator_names_its_package(
    tiny_run: Run, tmp_path: Path, refuse: Refuse, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_export(tmp_path / "s", small(), Spice())
    write_export(tmp_path / "v", small(), WordLengths())
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "apt-get install ngspice" in refuse("verify", str(tmp_path / "s"))
    assert "verilator, or iverilog" in refuse("verify", str(tmp_path / "v"))
