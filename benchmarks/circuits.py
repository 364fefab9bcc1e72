"""How networks do as circuits: `python benchmarks/circuits.py [PART...]`.

`phase`      the equations in ngspice, 20 test images of mnist-74
`lc`         LC oscillators, 50 images at 100 cycles
`cubic`      the same with van der Pol's oscillators and linear couplings
`cycles`     the first 6 of them at 30, 100 and 300 cycles
`words`      accuracy of the integer model on all 10,000 test images against each word length
`core`       1,000 images of mnist-74-direct in Verilator against the integer model
`synthesis`  cells, cycles and frequency of that core with one multiplier lane and with four

Every part that was measured is kept in results/circuits.json; parts that are named, or missing
there, are measured. Half an hour on two cores.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from circuits_figure import draw_circuits

from entrain.data import load_dataset
from entrain.export import Design, Spice, WordLengths, design_of, fixed_point, verify, write_export
from entrain.export.targets import target_to_json
from entrain.models.pretrained import find, load
from entrain.utils.files import write_atomically

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "results" / "circuits.json"
FIGURE = ROOT / "results" / "figures" / "circuits.png"
CORE_MODELS = ("mnist-74-direct", "mnist-74-robust")
SWEEP = {
    "phase": (8, 9, 10, 11, 12, 14, 16),
    "coupling": (3, 4, 5, 6, 7, 8, 10),
    "sine": (3, 4, 5, 6, 8, 10, 12),
    "address": (4, 5, 6, 7, 8, 10),
}
SMALL = WordLengths(phase=11, coupling=8, sine=6, address=6)  # chosen from the sweep


def design(name: str, images: int | None) -> Design:
    """The first test images of a shipped model's dataset, or all."""
    model = load(find(name))
    test = load_dataset(model.dataset).test
    return design_of(model, test.features[:images], test.labels[:images], name=name)


def verified(made: Design, target: Spice | WordLengths, **options: Any) -> dict[str, Any]:
    """What `entrain verify` finds, without the scores."""
    with tempfile.TemporaryDirectory() as folder:
        write_export(Path(folder) / "export", made, target)
        found = verify(Path(folder) / "export", on_progress=_tell, **options)
    off = np.abs(found.scores - found.wanted)
    kept = {k: v for k, v in found.to_json().items() if k not in ("scores", "wanted")}
    return kept | {"largest_of_each_image": off.max(-1).tolist(), "target": target_to_json(target)}


def _tell(fraction: float) -> None:
    sys.stderr.write(f"\r{fraction:6.1%}")


def phase() -> dict[str, Any]:
    return verified(design("mnist-74", 20), Spice("phase"))


def lc() -> dict[str, Any]:
    return verified(design("mnist-74", 50), Spice("lc"))


def cubic() -> dict[str, Any]:
    return verified(design("mnist-74", 50), Spice("lc", oscillator="cubic"))


def cycles() -> dict[str, Any]:
    made = design("mnist-74", 6)
    rows = [verified(made, Spice("lc", cycles=each)) for each in (30.0, 100.0, 300.0)]
    return {"rows": rows}


def words() -> dict[str, Any]:
    """One word length at a time from the default, and a small set that the other model has
    too."""
    rows = []
    for name in CORE_MODELS:
        made = design(name, None)
        labels = np.array(made.labels)
        network = 100.0 * float((made.scores(made.phases()).argmax(-1) == labels).mean())
        tried = [("", WordLengths()), ("", SMALL)]
        for word, bits in SWEEP.items():
            for each in bits:
                address = min(WordLengths().address, each) if word == "phase" else 10
                tried.append((word, replace(WordLengths(), **{"address": address, word: each})))
        for word, lengths in tried if name == CORE_MODELS[0] else tried[:2]:
            whole = fixed_point(made, lengths)
            verdicts = whole.verdicts(whole.phases(whole.fields(made.fields)))
            top1 = 100.0 * float((verdicts == labels).mean())
            row = {"model": name, "swept": word, "float": network, "top1": top1}
            rows.append(row | target_to_json(lengths))
            _tell(len(rows) / (2 + len(tried)))
    return {"images": 10_000, "rows": rows}


def core() -> dict[str, Any]:
    return verified(design("mnist-74-direct", 1000), WordLengths(lanes=8))


def synthesis() -> dict[str, Any]:
    made = design("mnist-74-direct", 2)
    rows = [
        verified(made, replace(base, lanes=lanes), synthesis=True)
        for base, lanes in ((WordLengths(), 1), (SMALL, 1), (SMALL, 4))
    ]
    return {"rows": rows}


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    each.__name__: each for each in (phase, lc, cubic, cycles, words, core, synthesis)
}


def main() -> None:
    """Measure what is named or missing, keep it, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}")
    parser.add_argument("--draw", action="store_true", help="draw what is there")
    given = parser.parse_args()
    found = json.loads(OUT.read_text()) if OUT.exists() else {}
    chosen = given.parts or [name for name in PARTS if name not in found]
    for name in chosen if not given.draw else []:
        measured = PARTS[name]()
        found = json.loads(OUT.read_text()) if OUT.exists() else {}  # another may have written
        found[name] = measured
        text = json.dumps({each: found[each] for each in PARTS if each in found}, indent=1)
        write_atomically(OUT, (text + "\n").encode())
        sys.stderr.write(f"\r{name} measured\n")
    draw_circuits(FIGURE, found)


if __name__ == "__main__":
    main()
