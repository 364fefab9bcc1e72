"""Running an exported core in Verilator or Icarus Verilog, and putting it through Yosys."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from entrain.export.simulators import program, run
from entrain.export.verilog import CORE, TESTBENCH, TOP
from entrain.utils.errors import InputError

Simulator = Literal["verilator", "iverilog"]
RESULTS = "results.txt"
_SYNTHESIS = {
    "ice40": "synth_ice40 -top entrain_top -json ice40.json",
    "xilinx": "synth_xilinx -family xc7 -top entrain_top",
}
_HARMLESS = "Warning: Resizing cell port"  # Yosys's own, where a memory is narrower than its block


def simulator() -> Simulator:
    """Verilator where it is installed, Icarus otherwise."""
    for found in ("verilator", "iverilog"):
        if shutil.which(found) is not None:
            return found
    raise InputError(
        "neither verilator nor iverilog is installed; on Debian and Ubuntu: apt-get install "
        "verilator, or iverilog, which is smaller and slower"
    )


def simulate(folder: Path, scratch: Path, chosen: Simulator) -> np.ndarray:
    """Run the testbench; of each image its verdict, cycles and phases (M, 2 + N)."""
    _copied(folder, scratch)
    if chosen == "verilator":
        build = [program("verilator"), "--binary", "--timing", "-O3", "-Wno-fatal", "-Wno-WIDTH"]
        build += ["--top-module", "testbench", "-o", "sim", TESTBENCH, CORE]
        runs = [build, ["./obj_dir/sim"]]
    else:
        build = [program("iverilog"), "-g2005", "-o", "sim", TESTBENCH, CORE]
        runs = [build, [program("vvp"), "sim"]]
    for command in runs:
        run(command, scratch)
    return np.loadtxt(scratch / RESULTS, dtype=np.int64, ndmin=2)


def synthesise(
    folder: Path, scratch: Path, families: Sequence[str] = tuple(_SYNTHESIS)
) -> dict[str, Any]:
    """What the core takes: cells by Yosys for iCE40 and Xilinx 7, and where nextpnr finds room on
    an iCE40 HX8K its share and the highest frequency."""
    _copied(folder, scratch)
    found: dict[str, Any] = {"warnings": []}
    for family in families:
        command = _SYNTHESIS[family]
        script = f"read_verilog {CORE} {TOP}; {command}; tee -o {family}.txt stat -json"
        said = run([program("yosys"), "-p", script], scratch)
        lines = {line for line in said.splitlines() if line.startswith("Warning:")}
        found["warnings"] += sorted(line for line in lines if not line.startswith(_HARMLESS))
        found[family] = _cells((scratch / f"{family}.txt").read_text())
    found["nextpnr"] = _place(scratch) if "ice40" in families else None
    return found


def _copied(folder: Path, scratch: Path) -> None:
    """The design's files beside what programs write."""
    for path in folder.iterdir():
        if path.suffix in (".v", ".vh", ".hex"):
            shutil.copy(path, scratch / path.name)


def _cells(text: str) -> dict[str, int]:
    """Cells by type, of the whole design."""
    values = json.loads(text[text.index("{") :])
    cells: dict[str, int] = values["design"]["num_cells_by_type"]
    return dict(sorted(cells.items(), key=lambda item: -item[1]))


def _place(scratch: Path) -> dict[str, Any] | None:
    """Place and route on an iCE40 HX8K; None where it does not fit."""
    command = [program("nextpnr-ice40"), "--hx8k", "--package", "ct256", "--json", "ice40.json"]
    command += ["--pcf-allow-unconstrained", "--seed", "1"]
    try:
        text = run(command, scratch)
    except InputError:
        return None
    speeds = re.findall(r"Max frequency for clock .*?: ([0-9.]+) MHz", text)
    used = re.findall(r"(ICESTORM_LC|ICESTORM_RAM|ICESTORM_DSP|SB_IO):\s+(\d+)/\s*(\d+)", text)
    return {
        "device": "iCE40 HX8K",
        "megahertz": float(speeds[-1]) if speeds else None,
        "used": {name: [int(part), int(whole)] for name, part, whole in used},
    }
