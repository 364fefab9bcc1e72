"""Networks as circuits: `python benchmarks/circuits.py [PART...]`.

`phase`      the equations in ngspice, 20 test images of mnist-74
`lc`         LC oscillators, 50 images at 100 cycles
`cubic`      the same with van der Pol oscillators and linear couplings
`cycles`     the first 6 of these images at 30, 100 and 300 cycles
`words`      accuracy of the integer model on all 10,000 test images against each word length
`core`       1,000 images of mnist-74-direct in Verilator against the integer model
`synthesis`  cells, cycles and frequency of that core with one multiplier lane and with four

Results go to results/circuits.json. Measures the named parts, or those that are missing there.
Half an hour on two cores.
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


def verified(exported: Design, target: Spice | WordLengths, **options: Any) -> dict[str, Any]:
    """The result of `entrain verify` without the scores."""
    with tempfile.TemporaryDirectory() as folder:
        write_export(Path(folder) / "export", exported, target)
        result = verify(Path(folder) / "export", on_progress=_print_progress, **options)
    errors = np.abs(result.scores - result.wanted)
    values = {k: v for k, v in result.to_json().items() if k not in ("scores", "wanted")}
    return values | {
        "largest_of_each_image": errors.max(-1).tolist(),
        "target": target_to_json(target),
    }


def _print_progress(fraction: float) -> None:
    sys.stderr.write(f"\r{fraction:6.1%}")


def phase() -> dict[str, Any]:
    return verified(design("mnist-74", 20), Spice("phase"))


def lc() -> dict[str, Any]:
    return verified(design("mnist-74", 50), Spice("lc"))


def cubic() -> dict[str, Any]:
    return verified(design("mnist-74", 50), Spice("lc", oscillator="cubic"))


def cycles() -> dict[str, Any]:
    exported = design("mnist-74", 6)
    rows = [verified(exported, Spice("lc", cycles=count)) for count in (30.0, 100.0, 300.0)]
    return {"rows": rows}


def words() -> dict[str, Any]:
    """Accuracy with one word length at a time changed from the default, and with a small set of
    word lengths, which the second model has as well."""
    rows = []
    for name in CORE_MODELS:
        exported = design(name, None)
        labels = np.array(exported.labels)
        network = 100.0 * float((exported.scores(exported.phases()).argmax(-1) == labels).mean())
        tried = [("", WordLengths()), ("", SMALL)]
        for word, bits in SWEEP.items():
            for length in bits:
                address = min(WordLengths().address, length) if word == "phase" else 10
                tried.append((word, replace(WordLengths(), **{"address": address, word: length})))
        for word, lengths in tried if name == CORE_MODELS[0] else tried[:2]:
            model = fixed_point(exported, lengths)
            verdicts = model.verdicts(model.phases(model.fields(exported.fields)))
            top1 = 100.0 * float((verdicts == labels).mean())
            row = {"model": name, "swept": word, "float": network, "top1": top1}
            rows.append(row | target_to_json(lengths))
            _print_progress(len(rows) / (2 + len(tried)))
    return {"images": 10_000, "rows": rows}


def core() -> dict[str, Any]:
    return verified(design("mnist-74-direct", 1000), WordLengths(lanes=8))


def synthesis() -> dict[str, Any]:
    exported = design("mnist-74-direct", 2)
    rows = [
        verified(exported, replace(base, lanes=lanes), synthesis=True)
        for base, lanes in ((WordLengths(), 1), (SMALL, 1), (SMALL, 4))
    ]
    return {"rows": rows}


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    part.__name__: part for part in (phase, lc, cubic, cycles, words, core, synthesis)
}


def main() -> None:
    """Measure the named or missing parts, write them, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}")
    parser.add_argument("--draw", action="store_true", help="draw the results without measurements")
    arguments = parser.parse_args()
    results = json.loads(OUT.read_text()) if OUT.exists() else {}
    selected = arguments.parts or [name for name in PARTS if name not in results]
    for name in selected if not arguments.draw else []:
        measured = PARTS[name]()
        results = json.loads(OUT.read_text()) if OUT.exists() else {}  # of other processes
        results[name] = measured
        text = json.dumps({part: results[part] for part in PARTS if part in results}, indent=1)
        write_atomically(OUT, (text + "\n").encode())
        sys.stderr.write(f"\r{name} measured\n")
    draw_circuits(FIGURE, results)


if __name__ == "__main__":
    main()
