"""Small networks on chips, for the tests of imperfect hardware."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from entrain.evaluation.chips import scores_on_chips
from entrain.hardware import (
    Asymmetry,
    CouplingFunction,
    Dead,
    Delay,
    FrequencySpread,
    Hardware,
    Levels,
    Measured,
    Mismatch,
    Offset,
    PhaseNoise,
    Readout,
    Sparsity,
    Stuck,
    Wiring,
    on_chips,
)
from entrain.kernels import reference
from entrain.physics import Dynamics, Parameters, PhaseModel
from networks import random_network, random_tensor

INPUTS, HIDDEN, OUTPUTS = 6, 9, 3
N = HIDDEN + OUTPUTS
DYNAMICS = Dynamics(1.0, 0.4, 40)


def parameters(dtype: torch.dtype = torch.float64, *, seed: int = 0, **terms: Tensor) -> Parameters:
    """One random network with a run axis, without gradients."""
    network = random_network(INPUTS, HIDDEN, OUTPUTS, seed=seed, dtype=dtype)
    found = network.as_parameters().map(lambda tensor: tensor.detach()[None])
    return replace(found, **{name: term.to(dtype)[None] for name, term in terms.items()})


def inputs(count: int = 5, dtype: torch.dtype = torch.float64) -> Tensor:
    return random_tensor(count, INPUTS, seed=1).to(dtype)


def made(hardware: Hardware, *seeds: int, of: Parameters | None = None) -> Parameters:
    """The numbers of a network on the chips of these seeds."""
    return on_chips(parameters() if of is None else of, hardware, seeds or (0,)).parameters


def model_on(hardware: Hardware, seed: int = 0, of: Parameters | None = None) -> PhaseModel:
    """What acts on the phases of a network on one chip."""
    return on_chips(parameters() if of is None else of, hardware, (seed,)).phase_model(inputs())


def phases_on(hardware: Hardware, seed: int = 0, **others: Any) -> Tensor:
    """Final phases (B, N) on one chip, by the reference."""
    return reference.rollout(model_on(hardware, seed, **others), DYNAMICS)[0]


def scores(hardware: Hardware, *seeds: int, of: Parameters | None = None, **others: Any) -> Tensor:
    """Activations (C, B, O) on chips."""
    of = parameters() if of is None else of
    dtype = of.biases.dtype
    dynamics = others.pop("dynamics", DYNAMICS)
    return scores_on_chips(of, hardware, seeds or (0,), inputs(dtype=dtype), dynamics, **others)[0]


def measured(n: int) -> Measured:
    """A device of n oscillators whose numbers all differ."""
    return Measured(
        couplings=tuple(tuple(1.0 + 0.01 * (i - 2 * j) for j in range(n)) for i in range(n)),
        fields=tuple(1.0 + 0.03 * i for i in range(n)),
        offsets=tuple(0.1 * i - 0.5 for i in range(n)),
        frequencies=tuple(0.2 * (i % 5) for i in range(n)),
        lag=0.1,
    )


OFF: dict[str, Hardware] = {
    "nothing": Hardware(),
    "all-to-all": Hardware(wiring=Wiring("all-to-all")),
    "layered": Hardware(wiring=Wiring("layered")),
    "sparsity": Hardware(sparsity=Sparsity(1.0)),
    "mismatch": Hardware(mismatch=Mismatch()),
    "offset": Hardware(offset=Offset()),
    "asymmetry": Hardware(asymmetry=Asymmetry()),
    "dead": Hardware(dead=Dead()),
    "stuck": Hardware(stuck=Stuck()),
    "frequency_spread": Hardware(frequency_spread=FrequencySpread()),
    "coupling_function": Hardware(coupling_function=CouplingFunction()),
    "measured": Hardware(measured=Measured()),
    "delay": Hardware(delay=Delay()),
    "phase_noise": Hardware(phase_noise=PhaseNoise()),
    "readout": Hardware(readout=Readout()),
    "oscillators": Hardware(oscillators=N),
}
"""Every effect that can be off, off."""

SMOOTH: dict[str, Hardware] = {
    "wiring": Hardware(wiring=Wiring("kings")),
    "sparsity": Hardware(sparsity=Sparsity(0.5)),
    "mismatch": Hardware(
        mismatch=Mismatch(couplings=0.2, input_weights=0.1, biases=0.3, fields=0.2)
    ),
    "offset": Hardware(offset=Offset(couplings=0.2, input_weights=0.1, fields=0.3)),
    "asymmetry": Hardware(asymmetry=Asymmetry(0.3)),
    "dead": Hardware(dead=Dead(couplers=0.2, oscillators=0.2)),
    "stuck": Hardware(stuck=Stuck(0.3)),
    "frequency_spread": Hardware(frequency_spread=FrequencySpread(2.0)),
    "coupling_function": Hardware(
        coupling_function=CouplingFunction(0.4, second=0.3, second_even=-0.2)
    ),
    "measured": Hardware(measured=measured(N)),
    "delay": Hardware(delay=Delay(0.2)),
}
"""Effects that are differentiable functions of the parameters."""

OTHERS: dict[str, Hardware] = {
    "coupling_levels": Hardware(coupling_levels=Levels(bits=3)),
    "weight_levels": Hardware(weight_levels=Levels(bits=4, part="input_weights")),
    "bias_levels": Hardware(bias_levels=Levels(bits=4, part="biases", rule="couplings")),
    "field_levels": Hardware(field_levels=Levels(bits=5, part="fields", rule="absolute")),
    "phase_noise": Hardware(phase_noise=PhaseNoise(0.2)),
    "readout": Hardware(readout=Readout(bits=4, noise=0.1, offset=0.1, jitter=0.1, spread=0.1)),
}

EVERYTHING = Hardware(**{name: getattr(kind, name) for name, kind in (SMOOTH | OTHERS).items()})
