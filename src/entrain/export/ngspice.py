"""Running netlists in ngspice, and phases from what it wrote."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from entrain.export.design import Design
from entrain.export.lc_netlist import REFERENCE
from entrain.export.netlists import image_file, netlists
from entrain.export.simulators import program, run
from entrain.export.spice import Spice
from entrain.utils.errors import InputError
from entrain.utils.threads import cpu_share

Progress = Callable[[float], None]
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


def simulate(
    design: Design,
    spice: Spice,
    *,
    times: int = TIMES,
    at_once: int | None = None,
    on_progress: Progress | None = None,
) -> np.ndarray:
    """Phases (times + 1, M, N) at equal times from 0 to the end of M runs in ngspice, one under
    each of the design's fields (`Design.under` gives it others).

    The device is a function of `spice` alone: its components are those of the chip `spice.seed`,
    for all runs and in every call. 26 oscillators over 100 cycles take about a second of one core;
    `at_once` runs go side by side, by default one on each core.
    """
    with tempfile.TemporaryDirectory(prefix="entrain-ngspice-") as name:
        folder = Path(name)
        for each, text in netlists(design, spice).items():
            (folder / each).write_text(text, encoding="utf-8")
        return run_images(
            folder, design, spice, folder, times=times, at_once=at_once, on_progress=on_progress
        )


def run_images(
    folder: Path,
    design: Design,
    spice: Spice,
    scratch: Path,
    *,
    times: int = TIMES,
    at_once: int | None = None,
    on_progress: Progress | None = None,
) -> np.ndarray:
    """The netlists of a folder, all images of the design: phases (times + 1, M, N)."""
    done = 0

    def one(image: int) -> np.ndarray:
        nonlocal done
        found = traces(design, spice, run_image(folder, image, scratch), times)
        done += 1
        if on_progress is not None:
            on_progress(done / design.images)
        return found

    with ThreadPoolExecutor(at_once or cpu_share()) as pool:
        return np.stack(list(pool.map(one, range(design.images))), 1)


def traces(
    design: Design, spice: Spice, found: dict[str, np.ndarray], count: int = TIMES
) -> np.ndarray:
    """Phases (count + 1, N) at equal times from 0 to the end, from simulated voltages."""
    times = np.linspace(0.0, spice.duration(), count + 1)
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

    With v = cos(p + theta), and the reference's voltage cos(p) and inductor current sin(p), each
    divided by its own size, the means go as cos(theta) and -sin(theta). Continuous over the times.
    """
    voltage, current = found[f"v(n{REFERENCE})"], found[f"i(vsense{REFERENCE})"]
    voltage, current = (each / each.std() for each in (voltage, current))
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
