"""Write the hardware presets of the web page, and reference numbers of its computations.

    python tools/playground_chips.py

Writes playground/src/presets.json (the presets of the package, by `Hardware.to_json`),
playground/src/networks.json (measured accuracy of the shipped models) and
tests/vectors/hardware.json: couplers of every wiring, and the parameters and scores on chips of a
small network (each effect alone, and each preset) and of a shipped one (each preset). Float64, by
the reference kernels.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

import entrain
from entrain import kernels
from entrain.data import load_test_split
from entrain.evaluation.chips import scores_on_chips
from entrain.hardware import (
    Asymmetry,
    CouplingFunction,
    Dead,
    FanIn,
    FrequencySpread,
    Hardware,
    Levels,
    Mismatch,
    Offset,
    PhaseNoise,
    Readout,
    Sparsity,
    Stuck,
    Wiring,
    describe,
    on_chips,
    preset,
    presets,
)
from entrain.physics import Dynamics, Parameters, layered_graph
from entrain.playground.files import MODELS
from entrain.utils.errors import InputError
from entrain.utils.files import write_atomically

ROOT = Path(__file__).parents[1]
NETWORKS = ROOT / "playground" / "src" / "networks.json"
PRESETS = ROOT / "playground" / "src" / "presets.json"
VECTORS = ROOT / "tests" / "vectors" / "hardware.json"

INPUTS, HIDDEN, OUTPUTS = 5, 9, 3
N = HIDDEN + OUTPUTS
DYNAMICS = Dynamics(1.5, 0.6, 18)
SEEDS = (3, 4_294_967_291)
NOISE_SEED = 7
SHIPPED, EXAMPLE = "mnist-74", 8  # a model and its test image
COUPLINGS_STRIDE, STRIDE = 83, 5  # through the parameters of the shipped network

ALONE: dict[str, Hardware] = {
    "wiring": Hardware(wiring=Wiring("kings")),
    "wiring, outputs spread": Hardware(wiring=Wiring("hexagonal", outputs="spread")),
    "wiring, mask": Hardware(wiring=Wiring(mask=((0, 9), (2, 5), (3, 11), (8, 10)))),
    "sparsity": Hardware(sparsity=Sparsity(0.5)),  # 31.5 of 63 couplers, rounded up
    "sparsity, down": Hardware(sparsity=Sparsity(1 / 6)),  # 10.5 of 63, rounded down
    "fan_in": Hardware(fan_in=FanIn(2)),
    "coupling_levels": Hardware(coupling_levels=Levels(bits=4)),
    "coupling_levels, max": Hardware(coupling_levels=Levels(bits=3, range=1.0, rule="max")),
    "coupling_levels, list": Hardware(
        coupling_levels=Levels(levels=(-1.0, -0.25, 0.5), range=1.25, rule="absolute")
    ),
    "weight_levels": Hardware(weight_levels=Levels(part="input_weights", bits=5, range=2.0)),
    "bias_levels": Hardware(bias_levels=Levels(part="biases", bits=4, rule="couplings")),
    "bias_levels, halves of steps": Hardware(
        bias_levels=Levels(part="biases", bits=3, range=1.5, rule="absolute")
    ),
    "bias_levels, between levels": Hardware(
        bias_levels=Levels(part="biases", levels=(-1.0, -0.25, 0.5), range=1.0, rule="absolute")
    ),
    "mismatch": Hardware(mismatch=Mismatch(0.1, 0.2, 0.3, 0.15)),
    "offset": Hardware(offset=Offset(0.1, 0.2, 0.3)),
    "asymmetry": Hardware(asymmetry=Asymmetry(0.2)),
    "field_levels": Hardware(
        field_levels=Levels(part="fields", bits=4, range=2.0, rule="couplings")
    ),
    "field_levels, list": Hardware(
        field_levels=Levels(
            part="fields", levels=(-1.0, -0.5, 0.0, 0.5, 1.0), range=2.5, rule="absolute"
        )
    ),
    "dead": Hardware(dead=Dead(0.2, 0.3)),
    "stuck": Hardware(stuck=Stuck(0.3)),
    "frequency_spread": Hardware(frequency_spread=FrequencySpread(1.0)),
    "coupling_function": Hardware(coupling_function=CouplingFunction(0.3)),
    "coupling_function, second": Hardware(coupling_function=CouplingFunction(second=-0.4)),
    "coupling_function, second_even": Hardware(coupling_function=CouplingFunction(second_even=0.5)),
    "phase_noise": Hardware(phase_noise=PhaseNoise(0.2)),
    "readout": Hardware(readout=Readout(bits=4)),
    "readout, comparators": Hardware(readout=Readout(noise=0.1, offset=0.2)),
    "readout, timing": Hardware(readout=Readout(jitter=0.1, spread=0.2)),
}
EVERYTHING = Hardware(
    wiring=Wiring("ring", degree=8),
    sparsity=Sparsity(0.75),
    fan_in=FanIn(4),
    coupling_levels=Levels(bits=4, range=2.0),
    weight_levels=Levels(part="input_weights", bits=6, rule="max", range=1.0),
    bias_levels=Levels(part="biases", bits=6),
    mismatch=Mismatch(0.1, 0.1, 0.1, 0.1),
    offset=Offset(0.1, 0.1, 0.1),
    asymmetry=Asymmetry(0.1),
    field_levels=Levels(part="fields", bits=6, range=5.0, rule="couplings"),
    dead=Dead(0.1, 0.1),
    stuck=Stuck(0.2),
    frequency_spread=FrequencySpread(0.5),
    coupling_function=CouplingFunction(-0.2, 0.3, -0.25),
    phase_noise=PhaseNoise(0.1),
    readout=Readout(5, 0.05, 0.05, 0.05, 0.05),
)
WITH_TERMS = ("dead", "stuck", "readout, timing")  # effects that meet a network's own terms
WIRINGS = (
    Wiring("kings"),
    Wiring("hexagonal"),
    Wiring("chimera"),
    Wiring("ring", degree=4),
    Wiring("all-to-all"),
    Wiring(mask=((0, 3), (1, 2))),
    Wiring("kings", outputs="spread"),
    Wiring("ring", degree=4, outputs="spread"),
)
SIZES = (5, 12, 41)


def main() -> None:
    torch.set_num_threads(1)  # products this small are slower on several
    write_atomically(PRESETS, presets_text().encode())
    write_atomically(NETWORKS, networks_text().encode())
    text = json.dumps(vectors(), separators=(",", ":"), allow_nan=False)
    write_atomically(VECTORS, f"{text}\n".encode())
    for path in (PRESETS, NETWORKS, VECTORS):
        print(f"{path.name}: {path.stat().st_size:,} bytes")  # noqa: T201


def presets_text() -> str:
    """playground/src/presets.json: name, title and hardware of each preset, one a line."""
    described = (describe(name) for name in presets())
    lines = (
        json.dumps({"name": d.name, "title": d.title, "hardware": d.hardware.to_json()})
        for d in described
    )
    return "[\n" + ",\n".join(lines) + "\n]\n"


def networks_text() -> str:
    """playground/src/networks.json: test top-1 in percent of each model, and its mean over chips of
    its hardware, from the model files."""
    networks = {}
    for name in MODELS:
        details = entrain.load(name).details
        networks[name] = {"test": details["test"]["top1"]}
        if "on_chips" in details:
            networks[name]["onChips"] = round(details["on_chips"]["mean"], 4)
    return json.dumps(networks, indent=1) + "\n"


def vectors() -> dict[str, Any]:
    """The content of tests/vectors/hardware.json."""
    plain, terms, inputs = small_network()
    hardware = ALONE | {name: preset(name) for name in presets()}
    with kernels.use("reference"):
        cases = [_case(name, h, plain, inputs, DYNAMICS) for name, h in hardware.items()]
        with_terms = {name: ALONE[name] for name in WITH_TERMS} | {"everything": EVERYTHING}
        termed = [_case(name, h, terms, inputs, DYNAMICS) for name, h in with_terms.items()]
        return {
            "noise_seed": NOISE_SEED,
            "graphs": [_couplers(wiring, n) for wiring in WIRINGS for n in SIZES],
            "small": {
                "dynamics": {
                    "mobility": DYNAMICS.mobility,
                    "observation_time": DYNAMICS.observation_time,
                    "steps": DYNAMICS.steps,
                },
                "inputs": inputs.tolist(),
                "numbers": {name: tensor[0].tolist() for name, tensor in terms.tensors().items()},
                "cases": cases,
                "with_terms": termed,
            },
            "shipped": _shipped(),
        }


def small_network() -> tuple[Parameters, Parameters, Tensor]:
    """A network with a run axis, the same with every optional term, and inputs (2, D).

    Multiples of 2^-20, exact in float32, and no two couplings alike. Some biases are half way
    between levels.
    """
    halves = torch.tensor([-0.625, 0.125, 0.25, -0.25, 0.75, -0.75], dtype=torch.float64)
    upper = _waves(N * N, 2.0).reshape(N, N).triu(1)
    graph = layered_graph(HIDDEN, OUTPUTS)
    plain = Parameters(
        input_weights=_waves(HIDDEN * INPUTS, 0.0).reshape(1, HIDDEN, INPUTS),
        biases=torch.cat([halves, _waves(N - len(halves), 1.0)])[None],
        couplings=((upper + upper.T) * graph)[None],
        graph=graph,
    )
    terms = replace(
        plain,
        frequencies=_waves(N, 3.0)[None],
        start_phases=2 * _waves(N, 4.0)[None],  # some of them beyond pi
        injection=_waves(N, 5.0)[None],
        lag=torch.tensor([0.4375], dtype=torch.float64),
        harmonic=torch.tensor([[-0.375, 0.625]], dtype=torch.float64),
    )
    return plain, terms, _waves(2 * INPUTS, 6.0).reshape(2, INPUTS)


def _waves(count: int, shift: float) -> Tensor:
    """Numbers from -2 to 2 without a pattern."""
    places = torch.arange(count, dtype=torch.float64)
    return ((places * places + 7 * shift + 1).sin() * 2**21).round() / 2**20


def _couplers(wiring: Wiring, n: int) -> dict[str, Any]:
    """Pairs (i, j), i < j, flattened."""
    pairs = wiring.graph_of(n - OUTPUTS, OUTPUTS).triu(1).nonzero().flatten().tolist()
    values = Hardware(wiring=wiring).to_json()["wiring"]
    return {"wiring": values, "oscillators": n, "outputs": OUTPUTS, "couplers": pairs}


def _case(
    name: str, hardware: Hardware, parameters: Parameters, inputs: Tensor, dynamics: Dynamics
) -> dict[str, Any]:
    """Parameters, fields and scores on chips; unchanged parameters are left out."""
    chips = []
    for seed in SEEDS:
        realised = on_chips(parameters, hardware, [seed])
        chip: dict[str, Any] = {"seed": seed}
        before = parameters.tensors()
        for part, tensor in realised.parameters.tensors().items():
            if part not in before or not torch.equal(tensor, before[part]):
                chip[part] = tensor[0].flatten().tolist()
        chip["fields"] = realised.phase_model(inputs).fields[0, 0].tolist()
        scores = scores_on_chips(
            parameters, hardware, [seed], inputs, dynamics, noise_seed=NOISE_SEED
        )
        chip["scores"] = scores[0, 0].tolist()
        chips.append(chip)
        if {**chips[0], "seed": seed} == chip and len(chips) > 1:
            chips.pop()  # the same for every chip
    return {"name": name, "hardware": hardware.to_json(), "chips": chips}


def _shipped() -> dict[str, Any]:
    """A shipped model on each preset, thinned out, or the reason that it does not fit."""
    model = entrain.load(SHIPPED)
    test = load_test_split(model.dataset)
    index = int(np.flatnonzero(test.labels == EXAMPLE // 3)[EXAMPLE % 3])
    inputs = model.inputs(test.features[index]).double()
    parameters = model.batched_parameters().map(lambda tensor: tensor.double())
    cases: list[dict[str, Any]] = []
    for name in presets():
        try:
            case = _case(name, preset(name), parameters, inputs, model.network.dynamics)
        except InputError as error:
            cases.append({"name": name, "refused": str(error)})
            continue
        for chip in case["chips"]:
            chip.pop("input_weights", None)  # in the fields
            for part in ("couplings", "fields", "frequencies"):
                if part in chip:
                    chip[part] = chip[part][:: COUPLINGS_STRIDE if part == "couplings" else STRIDE]
        cases.append(case)
    return {
        "model": SHIPPED,
        "place": EXAMPLE,
        "couplings_stride": COUPLINGS_STRIDE,
        "stride": STRIDE,
        "cases": cases,
    }


if __name__ == "__main__":
    main()
