"""Phases of netlists simulated in ngspice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from entrain.export.design import Design
from entrain.export.lc_netlist import REFERENCE
from entrain.export.netlists import image_file, netlists
from entrain.export.simulators import run, scratch_folder
from entrain.export.targets import Spice
from entrain.utils.errors import InputError
from entrain.utils.threads import cpu_share

Progress = Callable[[float], None]
TIMES = 50  # of the phases, after t = 0


def read_raw(path: Path) -> dict[str, np.ndarray]:
    """The vectors of a binary raw file of real numbers."""
    content = path.read_bytes()
    head, separator, body = content.partition(b"Binary:\n")
    if not separator:
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
    files: Mapping[str, bytes] | None = None,
) -> np.ndarray:
    """Phases (times + 1, M, N) of M simulations in ngspice, at equally spaced times.

    The components are a function of `spice` alone: those of the chip `spice.seed`, in every
    simulation and every call. 26 oscillators over 100 cycles take about a second of one core.

    Args:
        design: The network under M fields; `Design.under` replaces these.
        spice: Options of the netlists.
        times: Intervals between the times, from 0 to the end.
        at_once: Simulations in parallel. Default: one per core.
        on_progress: Called with the completed fraction.
        files: Netlists of this design by name. Default: those of `netlists`.
    """
    grid = np.linspace(0.0, spice.duration(), times + 1)
    if files is None:
        files = {name: text.encode() for name, text in netlists(design, spice).items()}
    with scratch_folder(files) as folder:

        def simulate_image(image: int) -> np.ndarray:
            raw, netlist = folder / f"{image}.raw", image_file(design, image)
            run(["ngspice", "-n", "-b", "-r", str(raw), netlist], folder, netlist)  # -n: no init
            if not raw.exists():
                raise InputError(f"{netlist}: ngspice failed without an error message")
            vectors = read_raw(raw)
            raw.unlink()
            return phases_of(design, spice, vectors, grid)

        phases = []
        with ThreadPoolExecutor(at_once or cpu_share()) as pool:
            for result in pool.map(simulate_image, range(design.images)):
                phases.append(result)
                if on_progress is not None:
                    on_progress(len(phases) / design.images)
    return np.stack(phases, 1)


def phases_of(
    design: Design, spice: Spice, vectors: dict[str, np.ndarray], times: np.ndarray
) -> np.ndarray:
    """Phases (T, N) at `times`, from simulated voltages and currents.

    LC oscillators are demodulated against the reference, by means over a cycle around each time.
    With v = cos(p + theta), and the reference's voltage cos(p) and inductor current sin(p), both
    divided by their standard deviations, the means are proportional to cos(theta) and -sin(theta).
    """
    t, oscillators = vectors["time"], range(design.oscillators)
    if spice.level == "phase":
        return np.stack([np.interp(times, t, vectors[f"v(p{i})"]) for i in oscillators], 1)
    voltage, current = vectors[f"v(n{REFERENCE})"], vectors[f"i(vsense{REFERENCE})"]
    references = voltage / voltage.std(), current / current.std()
    half = 0.5 / spice.frequency
    phases = []
    for i in oscillators:
        v = vectors[f"v(n{i})"]
        cosine, sine = (_means(t, v * reference, times, half) for reference in references)
        phases.append(np.unwrap(np.arctan2(-sine, cosine)))
    return np.stack(phases, 1)


def _means(t: np.ndarray, values: np.ndarray, times: np.ndarray, half: float) -> np.ndarray:
    """Means of `values` from half a cycle before each time to half a cycle after it."""
    sums = np.concatenate(([0.0], np.cumsum(0.5 * (values[1:] + values[:-1]) * np.diff(t))))
    ends = np.clip(times + half, t[0], t[-1])
    begins = np.clip(times - half, t[0], t[-1])
    return np.asarray((np.interp(ends, t, sums) - np.interp(begins, t, sums)) / (ends - begins))
