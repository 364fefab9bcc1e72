"""Running netlists in ngspice, and phases from what it wrote."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from entrain.errors import InputError
from entrain.export.design import Design
from entrain.export.simulators import program, run
from entrain.export.spice import REFERENCE, Spice, image_file

TIMES = 50  # at which phases are told, after t = 0


def run_image(folder: Path, image: int, scratch: Path) -> dict[str, np.ndarray]:
    """Simulate one image's netlist; every saved vector by name, and `time`."""
    raw = (scratch / f"{image}.raw").resolve()
    netlist = folder / image_file(image)
    run([program("ngspice"), "-b", "-r", str(raw), netlist.name], folder, str(netlist))
    if not raw.exists():
        raise InputError(f"{netlist}: ngspice failed without a word: nothing was simulated")
    try:
        return read_raw(raw)
    finally:
        raw.unlink()


def read_raw(path: Path) -> dict[str, np.ndarray]:
    """The vectors of a binary raw file of real numbers."""
    content = path.read_bytes()
    head, mark, body = content.partition(b"Binary:\n")
    if not mark:
        raise InputError(f"{path}: not a binary raw file of ngspice")
    lines = head.decode("ascii", "replace").splitlines()
    settings = dict(line.split(":", 1) for line in lines if ":" in line and line[0] != "\t")
    count, points = int(settings["No. Variables"]), int(settings["No. Points"])
    names = [line.split()[1].lower() for line in lines if line.startswith("\t")][:count]
    values = np.frombuffer(body, dtype="<f8", count=count * points).reshape(points, count)
    return dict(zip(names, values.T, strict=True))


def traces(design: Design, spice: Spice, found: dict[str, np.ndarray]) -> np.ndarray:
    """Phases (TIMES + 1, N) at equal times from 0 to the end, from simulated voltages."""
    times = np.linspace(0.0, spice.duration(), TIMES + 1)
    if spice.level == "phase":
        columns = [
            np.interp(times, found["time"], found[f"v(p{i})"]) for i in range(design.oscillators)
        ]
        return np.stack(columns, 1)
    return demodulated(design, spice, found, times)


def demodulated(
    design: Design, spice: Spice, found: dict[str, np.ndarray], times: np.ndarray
) -> np.ndarray:
    """Phases against the reference oscillator: means over a cycle around each time.

    With v = cos(p + theta), and the reference's voltage cos(p) and inductor current sin(p), the
    means are cos(theta) / 2 and -sin(theta) / 2. Continuous over the times.
    """
    omega = 2.0 * math.pi * spice.frequency
    voltage = found[f"v(n{REFERENCE})"]
    current = found[f"i(vsense{REFERENCE})"] / (omega * spice.capacitance)
    half = 0.5 / spice.frequency
    t, result = found["time"], np.empty((len(times), design.oscillators))
    for i in range(design.oscillators):
        v = found[f"v(n{i})"]
        along, across = (_means(t, v * part, times, half) for part in (voltage, current))
        result[:, i] = np.unwrap(np.arctan2(-across, along))
    return result


def _means(t: np.ndarray, values: np.ndarray, times: np.ndarray, half: float) -> np.ndarray:
    """Means of `values` from half a cycle before each time to half a cycle after it."""
    sums = np.concatenate(([0.0], np.cumsum(0.5 * (values[1:] + values[:-1]) * np.diff(t))))
    ends = np.clip(times + half, t[0], t[-1])
    begins = np.clip(times - half, t[0], t[-1])
    return np.asarray((np.interp(ends, t, sums) - np.interp(begins, t, sums)) / (ends - begins))
