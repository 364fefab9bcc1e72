"""Exported circuits in real simulators; skipped if the simulator is not installed."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from circuits import column, every_term, small
from command_line import Invoke, Run, printed
from entrain.export import (
    Design,
    Spice,
    WordLengths,
    digital,
    fixed_point,
    simulators,
    verify,
    write_export,
)
from entrain.export.folder import files_of
from entrain.export.ngspice import simulate
from entrain.hardware import Components

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.usefixtures("one_thread")]


def needs(*names: str) -> pytest.MarkDecorator:
    missing = [name for name in names if shutil.which(name) is None]
    words = f"{', '.join(missing)} not installed (apt-get install {' '.join(missing)})"
    return pytest.mark.skipif(bool(missing), reason=words)


def exported(folder: Path, design: Design, target: Spice | WordLengths) -> Path:
    write_export(folder, design, target)
    return folder


def make_hostile(folder: Path, proof: Path) -> None:
    """Add files that run commands, never end or lead elsewhere to an export."""
    (folder / ".spiceinit").write_text(f"shell touch {proof}\n")
    (folder / "spice.rc").write_text(f"shell touch {proof}\n")
    for name in ("x.hex", "x.v", "0.raw", "sim", "results.txt"):
        (folder / name).symlink_to("/dev/zero")
    os.mkfifo(folder / "y.v")
    (folder / "obj_dir").mkdir()
    (folder / "obj_dir" / "sim").write_text(f"#!/bin/sh\ntouch {proof}\n")
    (folder / "obj_dir" / "sim").chmod(0o755)


@pytest.mark.parametrize(
    ("simulator", "target"),
    [
        ("ngspice", Spice()),
        ("iverilog", WordLengths()),
        ("verilator", WordLengths()),
        pytest.param("yosys", WordLengths(), marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("edited", [False, True])
def test_verify_runs_nothing_that_lies_in_a_received_folder(
    simulator: str,
    target: Spice | WordLengths,
    edited: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if shutil.which(simulator) is None:
        pytest.skip(f"{simulator} is not installed (apt-get install {simulator})")
    folder, proof = exported(tmp_path / "export", small(images=1), target), tmp_path / "proof"
    make_hostile(folder, proof)
    before = sorted(folder.rglob("*"))
    if simulator in ("iverilog", "verilator"):
        monkeypatch.setattr(digital, "simulator", lambda: simulator)
    found = verify(folder, edited=edited, synthesis=simulator == "yosys")
    assert found.agree == found.images == 1
    assert not proof.exists()
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("target", [Spice(), WordLengths()])
def test_verify_follows_no_link_in_place_of_a_file(
    target: Spice | WordLengths, tmp_path: Path, refuse
) -> None:
    folder = exported(tmp_path / "export", small(), target)
    name = "network.inc" if isinstance(target, Spice) else "core.v"
    (folder / name).rename(tmp_path / name)
    (folder / name).symlink_to(tmp_path / name)
    for options in ((), ("--edited",)):
        assert "is a link, which is not followed" in refuse("verify", str(folder), *options)


# ngspice


@needs("ngspice")
def test_the_equations_in_ngspice_are_the_phase_model(tmp_path: Path) -> None:
    for name, design in (("plain", small()), ("all", small(**every_term()))):
        found = verify(exported(tmp_path / name, design, Spice()))
        assert found.agree == found.images == 3
        assert found.max_difference < 1e-3


@needs("ngspice")
def test_lc_oscillators_approach_the_phase_model_with_more_cycles(tmp_path: Path) -> None:
    design = small(n=4, images=2, frequencies=column(2, 0, 0, -3))
    off = {}
    for kind, cycles in (("levelled", 20.0), ("levelled", 80.0), ("cubic", 80.0)):
        spice = Spice("lc", cycles=cycles, oscillator=kind)
        found = verify(exported(tmp_path / f"{kind}-{cycles:g}", design, spice))
        off[kind, cycles] = found.max_difference
    assert off["levelled", 80.0] < off["levelled", 20.0] < 0.2
    assert off["levelled", 80.0] < off["cubic", 80.0] < 0.05


@needs("ngspice")
def test_components_differ_between_chips_and_not_between_runs() -> None:
    design = small(n=4, images=2)
    spread = Components(inductance=0.02, tuning=1e-3, negative_conductance=0.05)
    spice = Spice("lc", cycles=40.0, spread=replace(spread, transconductance=0.05))
    found = simulate(design, spice, times=8)
    assert found.shape == (9, 2, 4)
    assert found[0] == pytest.approx(np.full((2, 4), np.pi / 2), abs=0.2)
    assert np.array_equal(simulate(design.first(1), spice, times=8), found[:, :1])
    ideal = simulate(design, Spice("lc", cycles=40.0), times=8)
    off = np.abs(found - ideal)[-1].max(0)
    assert ((off > 1e-3) & (off < 1.0)).all()


@needs("ngspice")
def test_a_netlist_that_fails_is_an_error_that_names_it(tmp_path: Path, refuse) -> None:
    exported(tmp_path, small(), Spice())
    path = tmp_path / "image-0000.cir"
    path.write_text("title\nnonsense 1 2 3\n.end\n")
    said = refuse("verify", str(tmp_path), "--edited")
    assert "image-0000.cir: ngspice failed" in said


@needs("ngspice")
def test_verify_reports_agreement_with_python(
    tiny_run: Run, tmp_path: Path, invoke: Invoke
) -> None:
    folder = tmp_path / "circuit"
    invoke("export", str(tiny_run.model), "--to=spice", "--images=3", f"--out={folder}")
    found = printed(invoke, "verify", str(folder), "--images=2")
    assert found["images"] == found["agree"] == 2
    assert found["max_difference"] < 1e-3
    kept = json.loads((folder / "verify.json").read_text())
    assert kept["scores"] == found["scores"]
    assert (folder / "verify.png").stat().st_size > 5_000
    assert "same class as in Python" in invoke("verify", str(folder)).stdout


# Verilog


LENGTHS = [
    WordLengths(),
    WordLengths(phase=12, coupling=6, sine=8, address=8, lanes=1),
    WordLengths(phase=10, coupling=5, sine=6, address=10, lanes=8),
    WordLengths(phase=20, coupling=12, sine=14, address=11, lanes=3),
]


@pytest.mark.parametrize(
    ("chosen", "lengths"),
    [
        *(("iverilog", lengths) for lengths in LENGTHS),
        ("verilator", LENGTHS[0]),
        # Icarus runs these, too; Verilator takes ten seconds to compile one.
        *(pytest.param("verilator", each, marks=pytest.mark.slow) for each in LENGTHS[1:]),
    ],
)
def test_the_core_equals_its_integer_model_in_every_bit(
    chosen: digital.Simulator, lengths: WordLengths
) -> None:
    if shutil.which(chosen) is None:
        pytest.skip(f"{chosen} is not installed (apt-get install {chosen})")
    design = small(n=7, images=4, outputs=3, frequencies=column(1, -2, 0, 3, 0, 0, 5))
    table = digital.simulate(files_of(design, lengths), chosen)
    found = fixed_point(design, lengths)
    phases = found.phases(found.fields(design.fields))
    assert np.array_equal(table[:, 2:], phases)
    assert np.array_equal(table[:, 0], found.verdicts(phases))
    assert len(set(table[:, 1])) == 1  # every inference takes the same time


@needs("iverilog")
def test_core_predicts_the_first_of_equal_outputs() -> None:
    """The last two oscillators are twins, so that their phases are equal in every bit."""
    design = small(outputs=2)
    couplings, fields = design.phase_model.couplings, design.phase_model.fields
    couplings[..., 5] = couplings[..., 4]
    couplings[:, 5] = couplings[:, 4]
    couplings[:, 4:, 4:] = 0.0
    fields[..., 5] = fields[..., 4]
    table = digital.simulate(files_of(design, WordLengths()), "iverilog")
    assert np.array_equal(table[:, -1], table[:, -2])
    assert table[:, 0].tolist() == [0, 0, 0]


@needs("verilator")
def test_verify_runs_the_core_of_a_trained_network(
    tiny_run: Run, tmp_path: Path, invoke: Invoke
) -> None:
    folder = tmp_path / "core"
    invoke("export", str(tiny_run.model), "--to=verilog", "--images=20", f"--out={folder}")
    found = printed(invoke, "verify", str(folder))
    assert found["agree"] == found["images"] == 20
    assert found["max_difference"] == 0.0
    assert found["details"]["bit_exact"] is True
    assert found["details"]["agree_with_float"] >= 18
    assert (folder / "verify.png").is_file()


@needs("yosys")
@pytest.mark.parametrize("lanes", [1, 4])
def test_yosys_reads_a_core_of_any_lanes_without_a_warning(tmp_path: Path, lanes: int) -> None:
    """With default parameters, with its memories, and with the parameters of the top module."""
    folder = exported(tmp_path / "core", small(n=7, outputs=3), WordLengths(lanes=lanes))
    script = "read_verilog core.v; read_verilog top.v; hierarchy -check -top entrain_top; proc"
    said = simulators.run(["yosys", "-p", script], folder)
    assert "entrain_top" in said
    assert [line for line in said.splitlines() if "Warning" in line] == []


@pytest.mark.slow
@needs("yosys", "nextpnr-ice40")
@pytest.mark.parametrize("lanes", [1, 4])
def test_a_core_is_synthesised_placed_and_routed(lanes: int) -> None:
    lengths = WordLengths(phase=10, coupling=5, sine=6, address=6, lanes=lanes)
    found = digital.synthesise(files_of(small(), lengths), ["ice40"])
    assert found["warnings"] == []
    assert found["ice40"]["SB_LUT4"] > 50
    assert found["nextpnr"]["megahertz"] > 10.0


@pytest.mark.slow
@needs("yosys", "nextpnr-ice40", "verilator")
def test_verify_reports_synthesis_results(tmp_path: Path, invoke: Invoke) -> None:
    lengths = WordLengths(phase=10, coupling=5, sine=6, address=6, lanes=1)
    folder = exported(tmp_path / "core", small(), lengths)
    found = printed(invoke, "verify", str(folder), "--synthesis")["details"]["synthesis"]
    assert found["warnings"] == []
    assert found["xilinx"]["FDRE"] > 50
    assert "cells, xilinx" in invoke("verify", str(folder), "--synthesis").stdout
