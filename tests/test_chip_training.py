"""Training for chips: gradients, pruning, interruptions, runs side by side, and that it helps."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from chips import OTHERS, SMOOTH, measured
from direct_trainings import (
    COUNT,
    DIFFERENT,
    DYNAMICS,
    NAMES,
    OUTPUTS,
    SEED,
    SPEC,
    H,
    check_interruption,
    equal_states,
    examples,
    run_of,
    same,
)
from direct_trainings import training as direct_training
from entrain.data import load_dataset
from entrain.evaluation.chips import accuracies_on_chips
from entrain.hardware import (
    FreshDraws,
    Hardware,
    Mismatch,
    PhaseNoise,
    Sparsity,
    Wiring,
    preset,
    realise,
)
from entrain.kernels import reference
from entrain.physics import Dynamics, NetworkSpec, Noise, drift
from entrain.rules import Direct, from_json
from entrain.rules.chip_training import ChipTraining, unpruned_share
from entrain.rules.direct_training import DirectTraining
from entrain.rules.interface import shuffled
from entrain.rules.training_data import TrainingData
from entrain.training import (
    Recipe,
    Stage,
    TrainingState,
    run_training,
    train_stage,
)
from entrain.training.options import Options
from entrain.utils.errors import InputError

pytestmark = pytest.mark.usefixtures("one_thread")

KINDS = SMOOTH | OTHERS | {"measured": Hardware(measured=measured(H + OUTPUTS))}

MANY = Hardware(
    **{
        name: getattr(kind, name)
        for name, kind in KINDS.items()
        if name not in ("wiring", "stuck", "dead")
    }
)


# The gradient


class Recorded(FreshDraws):
    """Random numbers of new chips, which stay where a test finds them."""

    made: ClassVar[list[Recorded]] = []

    def __init__(self, lanes: int, like: Tensor) -> None:
        super().__init__(lanes, like)
        self.made.append(self)


class Exact:
    """The same numbers in float64."""

    def __init__(self, draws: FreshDraws) -> None:
        self._draws = draws

    def normal(self, tag: str, *shape: int) -> Tensor:
        return self._draws.normal(tag, *shape).double()

    def uniform(self, tag: str, *shape: int) -> Tensor:
        return self._draws.uniform(tag, *shape).double()


def by_autograd(
    first: dict[str, Tensor], hardware: Hardware, noise: Noise | None, chips: int, gain: float
) -> dict[str, Tensor]:
    """The gradient of the mean cross-entropy of one batch that is dealt to `chips` chips, by
    autograd through the reference in float64. The velocity at a late reading is a constant."""
    chip_draws, run_draws = map(Exact, Recorded.made)
    leaves = {name: first[name].double().requires_grad_() for name in NAMES}
    network = SPEC.on(first["biases"].double(), 1, OUTPUTS).parameters(leaves)
    lanes = network.map(lambda tensor: tensor.repeat_interleave(chips, dim=0))
    data = examples()
    rows = shuffled("direct", SEED, (0,), 0, COUNT)[0]
    inputs = data.inputs[rows].double().reshape(chips, COUNT // chips, -1)
    model = realise(lanes, hardware, chip_draws).phase_model(inputs)
    phases = reference.rollout(model, DYNAMICS, noise=noise)
    if noise is not None:
        phases = phases[:, 0]
    scores = phases[..., -OUTPUTS:].cos()
    if hardware.readout is not None:
        velocity = drift(phases, model, DYNAMICS.mobility)[..., -OUTPUTS:].detach()
        scores = hardware.readout.scores(
            phases[..., -OUTPUTS:], velocity, DYNAMICS.observation_time, chip_draws, run_draws
        )
    loss = functional.cross_entropy(gain * scores.reshape(COUNT, OUTPUTS), data.targets[rows])
    loss.backward()
    found = {name: leaf.grad for name, leaf in leaves.items()}
    tied = found["couplings"] + found["couplings"].mT  # J_ij and J_ji are one number
    return found | {"couplings": tied * network.graph}


@pytest.mark.parametrize("name", [*sorted(SMOOTH.keys() - {"sparsity"}), *OTHERS, "many"])
def test_a_step_on_chips_is_the_autograd_gradient(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hardware = MANY if name == "many" else KINDS[name]
    hardware = hardware.without("sparsity")  # which is trained by a schedule
    forcing: list[Noise] = []

    def noise(*numbers: Any) -> Noise:
        forcing.append(Noise(*numbers))
        return forcing[-1]

    monkeypatch.setattr("entrain.rules.on_chips.Noise", noise)
    monkeypatch.setattr("entrain.rules.on_chips.FreshDraws", Recorded)
    monkeypatch.setattr(Recorded, "made", [])
    training = ChipTraining(hardware, chips=4, onset=0.0)
    one = direct_training(epochs=1, batch_size=COUNT, clip=1e9, gain=3.0, chips=training)
    tensors = one.initial()
    first = {each: tensors[f"raw.{each}"].clone() for each in NAMES}
    one.run_epoch(tensors, 0)
    assert len(forcing) == (hardware.phase_noise is not None)
    wanted = by_autograd(first, hardware, forcing[0] if forcing else None, 4, 3.0)
    for each in NAMES:
        found = 10.0 * tensors[f"first.{each}"].double()
        if hardware.wiring is not None and each == "couplings":
            wanted[each] = wanted[each] * hardware.wiring.graph(H + OUTPUTS)
        size = float(wanted[each].abs().max())
        assert size > 1e-3
        assert torch.allclose(found, wanted[each], rtol=0, atol=2e-4 * size)


def test_chips_are_a_function_of_the_epoch_and_new_in_each() -> None:
    """The loss of a network that does not learn shows them: the whole set is one batch."""
    mismatched = ChipTraining(Hardware(mismatch=MANY.mismatch), chips=1, onset=0.0)
    rates = {"input_rate": 1e-30, "coupling_rate": 1e-30}
    still = direct_training(epochs=3, batch_size=COUNT, chips=mismatched, **rates)
    tensors = still.initial()
    losses = [float(still.run_epoch(tensors, epoch)["loss"][0]) for epoch in (0, 1, 1)]
    assert abs(losses[0] - losses[1]) > 1e-4
    assert losses[1] == losses[2]


def test_thermal_noise_is_new_in_every_step_of_every_epoch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[int] = []

    def noise(seed: int, temperature: float, replicates: Tensor, samples: Tensor) -> Noise:
        seen.extend(samples.tolist())
        return Noise(seed, temperature, replicates, samples)

    monkeypatch.setattr("entrain.rules.on_chips.Noise", noise)
    run_training(
        direct_training(
            epochs=3, chips=ChipTraining(Hardware(phase_noise=PhaseNoise(0.5)), chips=4)
        )
    )
    assert len(seen) == 3 * COUNT / 4  # chips share theirs, as compared networks do
    assert len(set(seen)) == len(seen)


def test_imperfections_grow_over_the_onset() -> None:
    """From those of the ideal network; the loss of a network that does not learn shows them."""
    mismatched = Hardware(mismatch=Mismatch(couplings=0.5, input_weights=0.5))
    training = ChipTraining(mismatched, onset=0.5)
    still: dict[str, Any] = {"epochs": 10, "input_rate": 1e-30, "coupling_rate": 1e-30}
    ideal, growing, grown = (
        direct_training(**still, chips=chips)
        for chips in (None, training, ChipTraining(mismatched, onset=0.0))
    )
    tensors = ideal.initial()

    def loss(of: DirectTraining, epoch: int) -> float:
        return float(of.run_epoch(tensors, epoch)["loss"][0])

    assert loss(growing, 0) == pytest.approx(loss(ideal, 0), rel=1e-6)
    assert abs(loss(growing, 1) - loss(ideal, 1)) > 1e-4
    assert loss(growing, 5) == pytest.approx(loss(grown, 5), rel=1e-6)
    assert abs(loss(growing, 5) - loss(ideal, 5)) > 1e-3


def test_trained_for_ideal_chips_it_is_the_ideal_network_bit_for_bit() -> None:
    plain = run_training(direct_training((0, 3), **DIFFERENT))
    off = Hardware(mismatch=Mismatch(0.0), phase_noise=PhaseNoise(0.0))
    for nothing in (Hardware(), off):
        assert equal_states(
            run_training(direct_training((0, 3), chips=ChipTraining(nothing), **DIFFERENT)), plain
        )


# Pruning and selection


@pytest.mark.parametrize("wiring", [None, Wiring("kings")])
def test_pruning_ends_with_the_kept_couplers_and_only_then_an_epoch_is_selected(
    wiring: Wiring | None,
) -> None:
    hardware = Hardware(wiring=wiring, sparsity=Sparsity(0.4))
    training = ChipTraining(hardware, pruning=(0.2, 0.6))
    graph = SPEC.graph_of(OUTPUTS)
    if wiring is not None:
        graph = graph & wiring.graph(H + OUTPUTS)
    couplers = int(graph.triu(1).sum())
    left: list[list[int]] = []

    def count(state: TrainingState) -> None:
        raw = state.current["raw.couplings"]
        assert torch.equal(raw, raw.mT)
        assert torch.equal(raw != 0, state.current["couplings"] != 0)
        assert not raw[:, ~graph].any()
        left.append((raw.triu(1) != 0).sum((1, 2)).tolist())

    one = direct_training((0, 3), epochs=10, averaging=0.9, chips=training)
    state = run_training(one, on_epoch=count)
    assert left[0] == [couplers, couplers]
    assert all(a >= b for a, b in pairwise(left))
    wanted = round(0.4 * couplers)
    assert left[6:] == [[wanted, wanted]] * 4
    assert (state.best["couplings"].triu(1) != 0).sum((1, 2)).tolist() == [wanted, wanted]
    assert all(int(epoch) > 6 for epoch in state.best_epoch)


def test_the_best_epoch_before_the_last_coupler_went_loses_to_the_worst_after() -> None:
    training = ChipTraining(Hardware(sparsity=Sparsity(0.4)), pruning=(0.2, 0.6))
    one = direct_training(epochs=10, chips=training)
    tensors = one.initial()

    def merit(epoch: int, top1: float, entropy: float) -> list[float]:
        one.run_epoch(tensors, epoch)
        metrics = {"top1": torch.tensor([top1]), "cross_entropy": torch.tensor([entropy])}
        return one.merit(metrics)[0].tolist()

    assert merit(5, 100.0, 0.0) < merit(6, 0.0, 9.0) < merit(7, 50.0, 9.0)


def test_the_schedule_of_pruning_is_a_cubic_fall() -> None:
    training = ChipTraining(Hardware(sparsity=Sparsity(0.2)), pruning=(0.1, 0.5))
    shares = [unpruned_share(training, done) for done in (0.0, 0.1, 0.3, 0.5, 0.9)]
    assert shares == pytest.approx([1.0, 1.0, 1 / 8, 0.0, 0.0])


# Interruptions and runs


TRAINED_FOR: dict[str, Any] = {
    "epochs": 6,
    "averaging": 0.99,
    "fine_epochs": 2,
    "coarse_steps": 5,
    "chips": ChipTraining(MANY, chips=4, validation_chips=5),
}


@pytest.mark.parametrize("interruption", [1, 4])
def test_interrupted_training_goes_on_bit_for_bit(interruption: int) -> None:
    check_interruption(
        lambda: direct_training((0, 3), **DIFFERENT, **TRAINED_FOR), after=interruption
    )


def test_runs_trained_together_equal_runs_trained_alone() -> None:
    together = run_training(direct_training((0, 3), **TRAINED_FOR))
    for index, run in enumerate((0, 3)):
        alone = run_training(direct_training((run,), **TRAINED_FOR))
        assert same(run_of(together.current, index), alone.current, atol=1e-5)
        losses = [state.history["loss"] for state in (together, alone)]
        assert torch.allclose(
            torch.as_tensor(losses[0])[:, index], torch.as_tensor(losses[1])[:, 0], atol=1e-5
        )


def test_a_batch_that_chips_cannot_share_evenly_goes_to_fewer() -> None:
    state = run_training(
        direct_training(epochs=2, batch_size=35, chips=ChipTraining(MANY, chips=8))
    )  # 35 and 13
    assert state.epoch == 2
    assert all(bool(tensor.isfinite().all()) for tensor in state.current.values())


# As values


def test_training_for_chips_survives_json_and_has_its_own_key() -> None:
    rule = Direct(chips=ChipTraining(MANY, chips=4, pruning=(0.1, 0.3)))
    assert from_json(json.loads(json.dumps(rule.to_json()))) == rule
    plain = Direct()
    assert plain.to_json()["chips"] is None
    assert from_json(json.loads(json.dumps(plain.to_json()))) == plain
    recipe = Recipe.for_dataset("digits", [rule])
    assert Recipe.from_json(json.loads(json.dumps(recipe.to_json()))) == recipe

    def key(rule: Direct) -> str:
        return Stage(rule, "digits", NetworkSpec(5)).key

    keys = {
        key(plain),
        key(rule),
        key(replace(rule, chips=ChipTraining(MANY, chips=5))),
        key(replace(rule, chips=ChipTraining(MANY.without("mismatch"), chips=4))),
    }
    assert len(keys) == 4
    assert key(replace(rule, chips=None)) == key(plain)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hardware": "typical"}, "hardware must be a Hardware, got 'typical'"),
        ({"chips": 0}, "chips must be a whole number of at least 1"),
        ({"validation_chips": 1.5}, "validation_chips must be a whole number"),
        ({"onset": 1.0}, "onset must be a share from 0 to below 1"),
        ({"pruning": (0.5, 0.2)}, "pruning must be two shares of the training in rising order"),
        ({"pruning": (0.5,)}, "pruning must be two shares of the training in rising order"),
        ({"pruning": "ab"}, "pruning must be numbers, got 'ab'"),
    ],
)
def test_what_cannot_be_trained_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ChipTraining(**({"hardware": Hardware()} | changes))


def test_refusals_of_chips_elsewhere() -> None:
    with pytest.raises(InputError, match="chips must be a ChipTraining, got 5"):
        Direct(chips=5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="unknown entry of chips 'chps'; did you mean 'chips'"):
        ChipTraining.from_json({"hardware": {}, "chps": 3})
    with pytest.raises(InputError, match=r"PATH cannot be trained for hardware; .*'sgd'"):
        Options("PATH", hardware="typical").recipe(load_dataset("digits"))
    with pytest.raises(InputError, match="did you mean 'typical'"):
        Options(hardware="tipical")
    small = ChipTraining(Hardware(oscillators=H + OUTPUTS - 1))
    with pytest.raises(InputError, match="the chip 7: room for 4 hidden"):
        run_training(direct_training(chips=small))


def test_asked_for_hardware_the_default_protocol_is_direct() -> None:
    (rule,) = Options(hardware="typical").recipe(load_dataset("digits")).protocols
    assert rule.hardware == preset("typical")


# That it helps


def test_networks_trained_for_typical_chips_beat_ideal_ones_by_far() -> None:
    digits, typical = TrainingData(load_dataset("digits"), torch.device("cpu")), preset("typical")
    means, worst = [], []
    for chips in (None, ChipTraining(typical)):
        rule = Direct(
            epochs=20,
            batch_size=32,
            input_rate=1e-2,
            coupling_rate=3e-2,
            averaging=0.98,
            coarse_steps=10,
            fine_epochs=1,
            chips=chips,
        )
        stage = Stage(rule, "digits", NetworkSpec(20, Dynamics(1.0, 0.2, 20)))
        network = stage.networks(train_stage(stage, digits, {}), digits.device)[0]
        data = digits.validation
        lane = network.as_parameters().map(lambda tensor: tensor.detach()[None])
        found = accuracies_on_chips(
            lane, typical, range(30), data.inputs, data.targets, network.dynamics
        )[0]
        means.append(float(found.mean()))
        worst.append(float(found.min()))
    assert means[1] > means[0] + 20
    assert worst[1] > means[0]
    assert means[1] > 82
