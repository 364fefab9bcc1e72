"""Recall by oscillators and by Hopfield networks against load, and on imperfect chips.

    python benchmarks/memory.py [--sets 5] [--trained-sets 3]

256 oscillators, random patterns. A Hopfield network has the same couplings and cues: one spin after
the other takes the sign of its local field until none changes. Writes results/memory.json, and the
figure docs/images/memory-capacity.png; 15 minutes of two cores.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.progress import track

import entrain
from entrain import InputError
from entrain.hardware import Hardware, presets
from entrain.memory import LoadedRate, RecallRate, capacity, corrupt, overlaps, random_patterns
from entrain.plots.memory import draw_capacity

ROOT = Path(__file__).resolve().parent.parent
OUT, FIGURE = ROOT / "results" / "memory.json", ROOT / "docs" / "images" / "memory-capacity.png"
N, CUES, CORRUPTION = 256, 64, (0.0, 0.1, 0.2, 0.3)
LOADS = {
    "hebbian": (0.02, 0.04, 0.06, 0.08, 0.1, 0.14, 0.2, 0.4),
    "pseudo-inverse": (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8),
    "trained": (0.2, 0.4, 0.6, 0.8, 1.0),
}
SPINS_ON_CHIPS = 48  # as many as the oscillators of lo-2023
CHIPS = 20


def main() -> None:
    """Measure, write and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=5)
    parser.add_argument("--trained-sets", type=int, default=3)
    options = parser.parse_args()
    rows = list[dict[str, Any]]()
    tasks = [(rule, load) for rule, loads in LOADS.items() for load in loads]
    for rule, load in track(tasks, "spins", transient=True):
        rows += spins(rule, load, options.trained_sets if rule == "trained" else options.sets)
    result = {
        "oscillators": N,
        "cues": CUES,
        "sets": options.sets,
        "trained_sets": options.trained_sets,
        "rows": rows,
        "phases": phases(options.sets),
        "chips": on_chips(),
    }
    OUT.write_text(json.dumps(result, indent=1) + "\n")
    draw_capacity(FIGURE, rows)


def spins(rule: str, load: float, sets: int) -> list[dict[str, Any]]:
    """Rates of oscillators, and of a Hopfield network with the same couplings and cues."""
    memories = list[entrain.Memory]()
    rates = capacity(
        N, [load], CORRUPTION, rule=rule, sets=sets, cues=CUES, on_memory=memories.append
    )
    rows = [row(rule, "oscillators", rate) for rate in rates]
    for share in CORRUPTION:
        measured = torch.stack([hopfield(m, share, seed) for seed, m in enumerate(memories)])
        rate = LoadedRate(rates[0].load, share, RecallRate(measured))
        rows.append(row(rule, "Hopfield network", rate))
    return rows


def hopfield(memory: entrain.Memory, corruption: float, seed: int) -> torch.Tensor:
    """Overlaps (M,) that sign updates reach from the cues of `recall_rate`."""
    indices = torch.arange(CUES) % len(memory.patterns)
    targets = memory.patterns[indices]
    cues = corrupt(targets, corruption, seed=seed).numpy()
    states = torch.from_numpy(sign_updates(memory.couplings.double().numpy(), cues, seed))
    return overlaps(states, targets).diagonal()


def sign_updates(couplings: np.ndarray, spins: np.ndarray, seed: int = 0) -> np.ndarray:
    """Spins (B, N) after sweeps of s_i = sign(sum_j J_ij s_j) in random order, until none changes.

    A field of zero keeps the spin.
    """
    generator, states = np.random.default_rng(seed), spins.copy()
    for _ in range(100):
        before = states.copy()
        for i in generator.permutation(states.shape[1]):
            signs = np.sign(states @ couplings[i])
            states[:, i] = np.where(signs == 0, states[:, i], signs)
        if np.array_equal(before, states):
            break
    return states


def row(rule: str, system: str, loaded: LoadedRate) -> dict[str, Any]:
    """The values of a rate."""
    rate = loaded.rate
    return {
        "rule": rule,
        "system": system,
        "load": loaded.load,
        "corruption": loaded.corruption,
        "rate": rate.rate,
        "rate_interval": rate.rate_interval,
        "overlap": rate.overlap,
        "overlap_interval": rate.overlap_interval,
    }


def phases(sets: int) -> list[dict[str, Any]]:
    """Recall of phases, of which a fifth is replaced."""
    loads = {"hebbian": (0.01, 0.02, 0.04, 0.06), "pseudo-inverse": (0.1, 0.2, 0.4, 0.6)}
    return [
        row(rule, "oscillators", rate)
        for rule, of_rule in loads.items()
        for rate in capacity(N, of_rule, [0.2], rule=rule, phases=True, sets=sets, cues=CUES)
    ]


def on_chips() -> list[dict[str, Any]]:
    """Recall on chips of every preset, from cues with 20 and 30 % of the spins wrong."""
    rows = []
    for rule, count in (("hebbian", 3), ("pseudo-inverse", 8)):
        memory = entrain.Memory.store(random_patterns(count, SPINS_ON_CHIPS, seed=0), rule)
        for share in (0.2, 0.3):
            for name in ("ideal", *sorted(presets())):
                hardware = Hardware() if name == "ideal" else name
                shared = {"rule": rule, "patterns": count, "corruption": share, "chip": name}
                try:
                    rate = memory.evaluate(share, hardware=hardware, chips=CHIPS, cues=CUES)
                except InputError as error:
                    rows.append(shared | {"refused": str(error)})
                    continue
                interval = rate.rate_interval
                measured = {"rate": rate.rate, "interval": interval, "overlap": rate.overlap}
                rows.append(shared | measured | {"worst": float(rate.rates.min())})
    return rows


if __name__ == "__main__":
    main()
