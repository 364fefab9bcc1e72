"""Simulation of an exported core in Verilator or Icarus Verilog, and synthesis by Yosys."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from entrain.export.simulators import program, run, scratch_folder
from entrain.export.verilog import CORE, TESTBENCH, TOP
from entrain.utils.errors import InputError

Simulator = Literal["verilator", "iverilog"]
_SYNTHESIS = {
    "ice40": "synth_ice40 -top entrain_top -json ice40.json",
    "xilinx": "synth_xilinx -family xc7 -top entrain_top",
}
_HARMLESS = "Warning: Resizing cell port"  # of Yosys, if a memory is narrower than its block


def simulator() -> Simulator:
    """Verilator if it is installed, otherwise Icarus Verilog."""
    for name in ("verilator", "iverilog"):
        if shutil.which(name) is not None:
            return name
    raise InputError(
        "neither verilator nor iverilog is installed; on Debian and Ubuntu: apt-get install "
        "verilator, or iverilog, which is smaller and slower"
    )


def simulate(files: Mapping[str, bytes], name: Simulator) -> np.ndarray:
    """Verdict, cycles and phases of each image (M, 2 + N), from the testbench of a core's files."""
    with scratch_folder(files) as scratch:
        if name == "verilator":
            build = ["verilator", "--binary", "--timing", "-O3", "-Wno-fatal", "-Wno-WIDTH"]
            run([*build, "--top-module", "testbench", "-o", "sim", TESTBENCH, CORE], scratch)
            run([str(scratch / "obj_dir/sim")], scratch)
        else:
            run(["iverilog", "-g2005", "-o", "sim", TESTBENCH, CORE], scratch)
            run(["vvp", "sim"], scratch)
        return np.loadtxt(scratch / "results.txt", dtype=np.int64, ndmin=2)


def synthesise(
    files: Mapping[str, bytes], families: Sequence[str] = tuple(_SYNTHESIS)
) -> dict[str, Any]:
    """Cells of a core's files by Yosys for iCE40 and Xilinx 7, and its share of an iCE40 HX8K and
    highest frequency by nextpnr, if it fits."""
    result: dict[str, Any] = {"warnings": []}
    with scratch_folder(files) as scratch:
        for family in families:
            command = f"{_SYNTHESIS[family]}; tee -o {family}.txt stat -json"
            output = run(["yosys", "-p", f"read_verilog {CORE} {TOP}; {command}"], scratch)
            lines = {line for line in output.splitlines() if line.startswith("Warning:")}
            result["warnings"] += sorted(line for line in lines if not line.startswith(_HARMLESS))
            text = (scratch / f"{family}.txt").read_text()
            cells = json.loads(text[text.index("{") :])["design"]["num_cells_by_type"]
            result[family] = dict(sorted(cells.items(), key=lambda item: -item[1]))
        result["nextpnr"] = _place(scratch) if "ice40" in families else None
    return result


def _place(scratch: Path) -> dict[str, Any] | None:
    """Share and frequency after place and route on an iCE40 HX8K; None if it does not fit."""
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
        "used": {name: [int(count), int(total)] for name, count, total in used},
    }
