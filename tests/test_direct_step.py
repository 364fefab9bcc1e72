"""A step of protocol DIRECT, against torch's own optimiser and autograd."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from direct_trainings import (
    COUNT,
    DIFFERENT,
    NAMES,
    SEED,
    H,
    examples,
    network_of,
    raw,
    rise_and_fall,
    run_of,
    signed_outputs,
    training,
)
from entrain import KuramotoNetwork
from entrain.rules import Direct
from entrain.rules.interface import shuffled
from entrain.training import run_training
from entrain.utils.errors import InputError

pytestmark = pytest.mark.usefixtures("one_thread")


def by_torch(network: KuramotoNetwork, protocol: Direct, index: int, run: int) -> None:
    """Train one network as the protocol says, with torch's AdamW, clipping and cross-entropy."""

    def own(name: str) -> float:
        value = getattr(protocol, name)
        return value[index] if isinstance(value, tuple) else value

    rest = [parameter for name, parameter in network.named_parameters() if name != "input_weights"]
    groups = [
        {
            "params": [network.input_weights],
            "lr": own("input_rate"),
            "weight_decay": own("weight_decay"),
        },
        {"params": rest, "lr": own("coupling_rate"), "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(groups)
    batches = math.ceil(COUNT / protocol.batch_size)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda k: rise_and_fall(k / batches / protocol.epochs, protocol.warm_up)
    )
    data = examples()
    weights = torch.tensor(protocol.class_weights or (1.0, 1.0, 1.0))[data.targets]
    weights = weights / weights.mean()
    for epoch in range(protocol.epochs):
        order = shuffled("direct", SEED, (run,), epoch, COUNT)[0]
        for rows in order.split(protocol.batch_size):
            optimiser.zero_grad()
            outputs = network(data.inputs[rows].to(network.input_weights.dtype))
            entropy = functional.cross_entropy(
                own("gain") * outputs,
                data.targets[rows],
                label_smoothing=own("smoothing"),
                reduction="none",
            )
            taught = signed_outputs(data.inputs[rows]).to(outputs.dtype)
            apart = functional.mse_loss(outputs, taught, reduction="none").mean(1)
            each = (1 - protocol.distillation) * entropy + protocol.distillation * apart
            (weights[rows] * each).mean().backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), protocol.clip)
            optimiser.step()
            schedule.step()


def distance_from_torch(**changes: Any) -> float:
    """The largest difference of any weight from torch's after training two runs side by side."""
    runs = (0, 3)
    ours = training(runs, **(DIFFERENT | changes))
    parameters = ours.initial()
    networks = [network_of(parameters, index).double() for index in range(2)]
    for epoch in range(ours.epochs):
        ours.run_epoch(parameters, epoch)
    worst = 0.0
    for index, network in enumerate(networks):
        before = network.input_weights.detach().clone()
        by_torch(network, ours.protocol, index, runs[index])
        assert (network.input_weights - before).abs().max() > 1e-4
        found = raw(parameters, index)
        for name in NAMES:
            worst = max(worst, float((found[name] - getattr(network, name).detach()).abs().max()))
    return worst


@pytest.mark.parametrize("distillation", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("steps", [1, 12])
@pytest.mark.parametrize("class_weights", [None, (0.5, 0.0, 4.0)])
def test_a_step_is_adamw_on_the_autograd_gradient(
    steps: int, distillation: float, class_weights: tuple[float, ...] | None
) -> None:
    changes: dict[str, Any] = {"epochs": 4, "class_weights": class_weights}
    if steps == 1:
        changes |= {"epochs": 1, "batch_size": COUNT, "warm_up": 1e-3}  # half way up the line
    assert distance_from_torch(clip=1e9, distillation=distillation, **changes) < 1e-5


def first_moments(**changes: Any) -> list[Tensor]:
    """The (clipped) gradient of the first step of two runs, a tenth of it, as vectors."""
    one = training((0, 3), **(DIFFERENT | {"epochs": 1, "batch_size": COUNT} | changes))
    parameters = one.initial()
    one.run_epoch(parameters, 0)
    return [
        torch.cat([parameters[f"first.{name}"][index].flatten() for name in NAMES])
        for index in range(2)
    ]


def test_clipping_shortens_each_long_gradient_and_turns_none() -> None:
    free = first_moments(clip=1e9)
    lengths = sorted(float(moment.norm()) * 10 for moment in free)
    assert lengths[1] > 2 * lengths[0]
    clip = (lengths[0] * lengths[1]) ** 0.5
    for before, after in zip(free, first_moments(clip=clip), strict=True):
        factor = float(after.norm() / before.norm())
        assert torch.allclose(after, factor * before, rtol=1e-4, atol=1e-8)
        if float(before.norm()) * 10 < clip:
            assert factor == pytest.approx(1.0, rel=1e-6)
        else:
            assert factor < 0.9


def test_weight_decay_shrinks_the_input_weights_alone() -> None:
    decayed, free = (training(epochs=1, batch_size=COUNT, weight_decay=w) for w in (0.5, 0.0))
    start = decayed.initial()
    ours, theirs = decayed.initial(), free.initial()
    decayed.run_epoch(ours, 0)
    free.run_epoch(theirs, 0)
    shrunk = theirs["raw.input_weights"] - ours["raw.input_weights"]
    factor = 3e-3 * rise_and_fall(0.0, 0.03) * 0.5
    assert torch.allclose(shrunk, factor * start["raw.input_weights"], rtol=1e-2, atol=1e-7)
    for name in ("biases", "couplings"):
        assert torch.equal(ours[f"raw.{name}"], theirs[f"raw.{name}"])


def test_the_rates_rise_in_a_line_and_fall_to_zero_as_a_cosine() -> None:
    """The factor is read off the biases: they move by rate times factor times Adam's step."""
    epochs, warm_up = 20, 0.25
    one = training(epochs=epochs, warm_up=warm_up, batch_size=COUNT, coupling_rate=0.05, clip=1e9)
    parameters, factors = one.initial(), []
    for epoch in range(epochs):
        before = parameters["raw.biases"].double()
        one.run_epoch(parameters, epoch)
        first = parameters["first.biases"].double() / (1 - 0.9 ** (epoch + 1))
        second = parameters["second.biases"].double() / (1 - 0.999 ** (epoch + 1))
        moved = (before - parameters["raw.biases"].double()).norm()
        factors.append(float(moved / (0.05 * first / (second.sqrt() + 1e-8)).norm()))
    wanted = [rise_and_fall(epoch / epochs, warm_up) for epoch in range(epochs)]
    assert factors == pytest.approx(wanted, rel=1e-3, abs=1e-4)
    assert factors == sorted(factors[:6]) + sorted(factors[6:], reverse=True)
    assert max(factors) == pytest.approx(1.0, abs=1e-3)
    assert 0 < factors[0] < 0.01
    assert factors[-1] < 0.012  # the last of 15 steps down


@pytest.mark.parametrize("averaging", [0.0, 0.5, 0.999])
def test_what_is_kept_is_the_running_mean_of_the_weights(averaging: float) -> None:
    """Of decay `averaging` a step, less in the first steps: (1 + k) / (10 + k) after k."""
    one = training(epochs=30, batch_size=COUNT, averaging=averaging)
    parameters = one.initial()
    mean = {name: tensor.double() for name, tensor in run_of(parameters, 0).items()}
    for epoch in range(one.epochs):
        one.run_epoch(parameters, epoch)
        decay = min(averaging, (2 + epoch) / (11 + epoch))
        for name in NAMES:
            mean[name] = decay * mean[name] + (1 - decay) * parameters[f"raw.{name}"].double()
            assert torch.allclose(parameters[name].double(), mean[name], rtol=0, atol=1e-6)
    apart = float((parameters["couplings"] - parameters["raw.couplings"]).abs().max())
    assert apart > 1e-4 if averaging == 0.999 else apart < 1e-2


@torch.no_grad()
def test_the_loss_and_validation_are_those_of_the_network() -> None:
    one = training((0, 3), epochs=1, batch_size=COUNT, gain=(8.0, 3.0), smoothing=(0.0, 0.2))
    parameters = one.initial()
    networks = [network_of(parameters, index) for index in range(2)]
    found = one.validate(parameters) | one.run_epoch(parameters, 0)
    for index, network in enumerate(networks):
        gain, smoothing = ((8.0, 0.0), (3.0, 0.2))[index]
        data, unseen = examples(), examples(40, 2)
        loss = functional.cross_entropy(
            gain * network(data.inputs), data.targets, label_smoothing=smoothing
        )
        assert float(found["loss"][index]) == pytest.approx(float(loss), rel=1e-5)
        outputs = network(unseen.inputs)
        entropy = functional.cross_entropy(gain * outputs, unseen.targets)
        assert float(found["cross_entropy"][index]) == pytest.approx(float(entropy), rel=1e-5)
        right = 100 * float((outputs.argmax(1) == unseen.targets).float().mean())
        assert float(found["top1"][index]) == pytest.approx(right)


@pytest.mark.parametrize("start", ["random", "zero"])
def test_training_keeps_the_constraints_exactly(start: str) -> None:
    state = run_training(training((0, 1), start=start, averaging=0.9))
    for parameters in (state.current, state.best):
        for name in ("couplings", "raw.couplings"):
            couplings = parameters[name]
            assert couplings.any()
            assert torch.equal(couplings, couplings.transpose(1, 2))
            assert not couplings.diagonal(dim1=1, dim2=2).any()
            assert not couplings[:, H:, H:].any()


def test_from_exact_zero_only_the_output_biases_move_at_first() -> None:
    zero = training(start="zero", epochs=1, batch_size=COUNT)
    parameters = zero.initial()
    assert not any(tensor.any() for tensor in parameters.values())
    zero.run_epoch(parameters, 0)
    assert not parameters["first.couplings"].any()
    assert not parameters["raw.couplings"].any()
    assert not parameters["raw.input_weights"].any()
    assert not parameters["raw.biases"][:, :H].any()
    assert parameters["raw.biases"][:, H:].all()


def test_equal_class_weights_are_none() -> None:
    plain, weighted = (
        run_training(training((0, 3))),
        run_training(training((0, 3), class_weights=(3.0, 3.0, 3.0))),
    )
    assert all(torch.equal(plain.best[name], weighted.best[name]) for name in plain.best)
    assert plain.history["loss"] == weighted.history["loss"]
    assert weighted.history["weighted_top1"] == plain.history["top1"]


def test_class_weights_turn_the_network_to_a_class() -> None:
    """A class of weight 0 is as good as absent; one of great weight is never missed."""
    data = examples(40, 2)
    for weights, wanted in (((1.0, 1e4, 1.0), 1.0), ((1.0, 0.0, 1.0), 0.0)):
        best = run_training(training(epochs=20, coupling_rate=0.1, class_weights=weights)).best
        found = network_of(best, 0)(data.inputs).argmax(-1)
        assert float((found[data.targets == 1] == 1).double().mean()) == wanted


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ((1.0, 2.0), "class_weights must be 3 numbers, one for each class, got 2"),
        ((0.0, 0.0, 0.0), "must not all be 0"),
        ((1.0, -1.0, 1.0), "class_weights must be finite and at least 0"),
        ((), "must be numbers, one for each class"),
        (3.0, "must be numbers, one for each class"),
        (("a", "b", "c"), "class_weights must be a number"),
    ],
)
def test_class_weights_that_cannot_be_used(weights: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        training(class_weights=weights)
