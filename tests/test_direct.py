"""Protocol DIRECT: labels, AdamW and the adjoint, against torch's own optimiser and autograd."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from direct_states import equal_states
from entrain import KuramotoNetwork, kernels
from entrain.errors import InputError
from entrain.learning import (
    Augmentation,
    DirectProtocol,
    DirectTask,
    Examples,
    TrainingState,
    network_of,
    pack_state,
    train,
    unpack_state,
)
from entrain.learning.trainer import Parameters, shuffled
from entrain.physics import Dynamics
from networks import random_tensor

INPUTS, H, OUTPUTS, COUNT = 6, 5, 3, 48
DYNAMICS = Dynamics(1.2, 0.5, 10)
SEED = 4
NAMES = ("input_weights", "biases", "couplings")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Tensors this small are not worth a team of threads, and waiting for one takes long."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def examples(count: int = COUNT, seed: int = 1) -> Examples:
    """Inputs with the class and the signed outputs of a fixed random layer."""
    inputs = random_tensor(count, INPUTS, seed=seed)
    said = 2 * torch.softmax(2 * inputs @ random_tensor(INPUTS, OUTPUTS, seed=100), -1) - 1
    return Examples(said.argmax(-1), inputs.float(), said.float())


def task(
    runs: tuple[int, ...] = (0,), *, begin: Parameters | None = None, **changes: Any
) -> DirectTask:
    """A small task; every epoch is fine and the weights are not averaged unless asked."""
    plain: dict[str, Any] = {"epochs": 4, "batch_size": 16, "fine_epochs": 99, "averaging": 0.0}
    return DirectTask(
        DirectProtocol(**(plain | changes)),
        examples(),
        examples(40, 2),
        (INPUTS, H, OUTPUTS),
        DYNAMICS,
        seed=SEED,
        runs=runs,
        start=begin,
    )


def raw(parameters: Parameters, lane: int) -> Parameters:
    return {name: parameters[f"raw.{name}"][lane] for name in NAMES}


def same(ours: Parameters, theirs: Parameters, atol: float = 1e-6) -> bool:
    assert ours.keys() == theirs.keys()
    return all(torch.allclose(ours[k], theirs[k], rtol=1e-5, atol=atol) for k in ours)


def lane_of(parameters: Parameters, lane: int) -> Parameters:
    return {name: tensor[lane : lane + 1] for name, tensor in parameters.items()}


def rise_and_fall(done: float, warm_up: float) -> float:
    """A line to 1 at `warm_up`, from a little above 0; half a cosine from there to 0 at 1."""
    if done < warm_up:
        return (done + 1e-3) / (warm_up + 1e-3)
    return 0.5 + 0.5 * math.cos(math.pi * (done - warm_up) / (1 - warm_up))


def by_torch(network: KuramotoNetwork, protocol: DirectProtocol, lane: int, run: int) -> None:
    """Train one network as the protocol says, with torch's AdamW, clipping and cross-entropy."""

    def own(name: str) -> float:
        value = getattr(protocol, name)
        return value[lane] if isinstance(value, tuple) else value

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
    for epoch in range(protocol.epochs):
        order = shuffled("direct", SEED, (run,), epoch, COUNT)[0]
        for rows in order.split(protocol.batch_size):
            optimiser.zero_grad()
            outputs = network(data.inputs[rows].to(network.input_weights.dtype))
            entropy = functional.cross_entropy(
                own("gain") * outputs, data.labels[rows], label_smoothing=own("smoothing")
            )
            apart = functional.mse_loss(outputs, data.teacher[rows].to(outputs.dtype))
            ((1 - protocol.distillation) * entropy + protocol.distillation * apart).backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), protocol.clip)
            optimiser.step()
            schedule.step()


DIFFERENT: dict[str, Any] = {  # for two runs side by side
    "input_rate": (4e-3, 1e-2),
    "coupling_rate": (3e-2, 1e-2),
    "weight_decay": (0.0, 2.0),
    "gain": (8.0, 3.0),
    "smoothing": (0.0, 0.2),
    "initial_couplings": (0.3, 0.6),
    "warm_up": 0.4,
}


def distance_from_torch(**changes: Any) -> float:
    """The largest difference of any weight from torch's after training two runs side by side."""
    runs = (0, 3)
    ours = task(runs, **(DIFFERENT | changes))
    parameters = ours.initial()
    networks = [network_of(parameters, lane, DYNAMICS).double() for lane in range(2)]
    for epoch in range(ours.epochs):
        ours.run_epoch(parameters, epoch)
    worst = 0.0
    for lane, network in enumerate(networks):
        before = network.input_weights.detach().clone()
        by_torch(network, ours.protocol, lane, runs[lane])
        assert (network.input_weights - before).abs().max() > 1e-4
        found = raw(parameters, lane)
        for name in NAMES:
            worst = max(worst, float((found[name] - getattr(network, name).detach()).abs().max()))
    return worst


@pytest.mark.parametrize("distillation", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("steps", [1, 12])
def test_a_step_is_adamw_on_the_autograd_gradient(steps: int, distillation: float) -> None:
    changes: dict[str, Any] = {"epochs": 4}
    if steps == 1:
        changes = {"epochs": 1, "batch_size": COUNT, "warm_up": 1e-3}  # half way up the line
    assert distance_from_torch(clip=1e9, distillation=distillation, **changes) < 1e-5


def first_moments(**changes: Any) -> list[Tensor]:
    """The (clipped) gradient of the first step of two runs, a tenth of it, as vectors."""
    one = task((0, 3), **(DIFFERENT | {"epochs": 1, "batch_size": COUNT} | changes))
    parameters = one.initial()
    one.run_epoch(parameters, 0)
    return [
        torch.cat([parameters[f"first.{name}"][lane].flatten() for name in NAMES])
        for lane in range(2)
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
    decayed, free = (task(epochs=1, batch_size=COUNT, weight_decay=w) for w in (0.5, 0.0))
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
    one = task(epochs=epochs, warm_up=warm_up, batch_size=COUNT, coupling_rate=0.05, clip=1e9)
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
    one = task(epochs=30, batch_size=COUNT, averaging=averaging)
    parameters = one.initial()
    mean = {name: tensor.double() for name, tensor in lane_of(parameters, 0).items()}
    for epoch in range(one.epochs):
        one.run_epoch(parameters, epoch)
        decay = min(averaging, (2 + epoch) / (11 + epoch))
        for name in NAMES:
            mean[name] = decay * mean[name] + (1 - decay) * parameters[f"raw.{name}"].double()
            assert torch.allclose(parameters[name].double(), mean[name], rtol=0, atol=1e-6)
    apart = float((parameters["couplings"] - parameters["raw.couplings"]).abs().max())
    assert apart > 1e-4 if averaging == 0.999 else apart < 1e-2


@pytest.mark.parametrize("start", ["random", "zero"])
def test_training_keeps_the_constraints_exactly(start: str) -> None:
    state = train(task((0, 1), start=start, averaging=0.9))
    for parameters in (state.current, state.best):
        for name in ("couplings", "raw.couplings"):
            couplings = parameters[name]
            assert couplings.any()
            assert torch.equal(couplings, couplings.transpose(1, 2))
            assert not couplings.diagonal(dim1=1, dim2=2).any()
            assert not couplings[:, H:, H:].any()


def test_from_exact_zero_only_the_output_biases_move_at_first() -> None:
    zero = task(start="zero", epochs=1, batch_size=COUNT)
    parameters = zero.initial()
    assert not any(tensor.any() for tensor in parameters.values())
    zero.run_epoch(parameters, 0)
    assert not parameters["first.couplings"].any()
    assert not parameters["raw.couplings"].any()
    assert not parameters["raw.input_weights"].any()
    assert not parameters["raw.biases"][:, :H].any()
    assert parameters["raw.biases"][:, H:].all()


def test_runs_trained_together_equal_runs_trained_alone() -> None:
    runs = (0, 1, 5)
    together = train(task(runs, averaging=0.9, gain=(8.0, 4.0, 6.0)))
    for lane, (run, gain) in enumerate(zip(runs, (8.0, 4.0, 6.0), strict=True)):
        alone = train(task((run,), averaging=0.9, gain=gain))
        assert same(lane_of(together.current, lane), alone.current)
        assert same(lane_of(together.best, lane), alone.best)
        assert together.best_epoch[lane] == alone.best_epoch[0]


def test_runs_differ_in_their_random_start_and_the_same_run_does_not() -> None:
    start = task((0, 1, 1)).initial()
    for name in ("input_weights", "couplings"):
        assert not torch.isclose(start[name][0], start[name][1]).flatten().all()
        assert torch.equal(start[name][1], start[name][2])
        assert torch.equal(start[name][1], task((1,)).initial()[name][0])


def test_the_random_start_has_the_stated_deviations() -> None:
    many = task(tuple(range(60)), initial_couplings=0.7, initial_weights=0.5).initial()
    allowed = many["couplings"][:, ~torch.eye(H + OUTPUTS, dtype=torch.bool)]
    allowed = allowed[allowed != 0]
    assert float(allowed.std()) == pytest.approx(0.7, rel=0.1)
    assert float(many["input_weights"].std()) == pytest.approx(0.5 / INPUTS**0.5, rel=0.1)
    assert not many["biases"].any()


def test_runs_from_one_start_differ_by_their_order_and_the_same_run_does_not() -> None:
    one = task().initial()
    begin = {name: tensor.repeat(3, *[1] * (tensor.dim() - 1)) for name, tensor in one.items()}
    ours = task((0, 1, 1), begin=begin, epochs=1)
    parameters = ours.initial()
    assert all(torch.equal(raw(parameters, lane)[n], one[n][0]) for lane in range(3) for n in NAMES)
    ours.run_epoch(parameters, 0)
    first, second, third = (raw(parameters, lane) for lane in range(3))
    assert same(second, third)
    assert not torch.allclose(first["couplings"], second["couplings"], atol=1e-5)


def picture_task(runs: tuple[int, ...] = (0,), **changes: Any) -> DirectTask:
    """Small images to be distorted: bright on the left, in the middle, or on the right."""

    def pictures(count: int, seed: int) -> Examples:
        labels = torch.arange(count) % OUTPUTS
        images = 0.3 * torch.rand(count, 4, 6, generator=torch.Generator().manual_seed(seed))
        for label in range(OUTPUTS):
            images[labels == label, :, 2 * label : 2 * label + 2] += 0.5
        return Examples(labels, images=images, mean=0.3, sd=0.4, norm=3.0)

    protocol = DirectProtocol(**({"epochs": 4, "batch_size": 16, "fine_epochs": 2} | changes))
    data = pictures(COUNT, 1), pictures(30, 2)
    return DirectTask(protocol, *data, (24, H, OUTPUTS), DYNAMICS, seed=SEED, runs=runs)


DISTORTED = Augmentation(shift=0.5, rotation=5.0, elastic=0.3, flip=True)


@pytest.mark.parametrize("interruption", [1, 3])
@pytest.mark.parametrize(
    "make",
    [
        lambda: task((0, 3), **DIFFERENT, averaging=0.99, fine_epochs=2, coarse_steps=5),
        lambda: picture_task((0, 3), augmentation=DISTORTED, unaugmented_epochs=1),
    ],
    ids=["inputs", "pictures"],
)
def test_interrupted_training_goes_on_bit_for_bit(
    make: Callable[[], DirectTask], interruption: int
) -> None:
    torch.set_num_threads(2)
    packed: list[bytes] = []

    def keep(state: TrainingState) -> None:
        if state.epoch == interruption:
            packed.append(pack_state(state, {}))

    whole = train(make(), on_epoch=keep)
    saved, _ = unpack_state(packed[0], "memory")
    assert saved.epoch == interruption
    assert equal_states(train(make(), saved), whole)
    assert equal_states(train(make()), whole)


def test_a_diverging_run_keeps_its_best_and_the_others_do_not_notice() -> None:
    changes = {"warm_up": 0.9, "batch_size": COUNT, "epochs": 5}
    calm = train(task(**changes))
    wild = task((0, 1), input_rate=(3e-3, 1e30), coupling_rate=(2e-2, 1e30), **changes)
    bests: list[Parameters] = []
    state = train(wild, on_epoch=lambda s: bests.append({k: v.clone() for k, v in s.best.items()}))
    assert state.epoch == 5
    assert state.diverged.tolist() == [0, 2]
    assert state.best_epoch[1] == 1
    for parameters in (state.current, state.best):
        assert all(torch.equal(parameters[k][1], bests[0][k][1]) for k in parameters)
        assert all(bool(tensor.isfinite().all()) for tensor in parameters.values())
    assert same(lane_of(state.current, 0), calm.current)
    assert same(lane_of(state.best, 0), calm.best)


@pytest.mark.parametrize(("coarse", "seen"), [(4, 4), (50, 10)])
def test_only_the_last_epochs_are_fine_and_every_validation_is(
    monkeypatch: pytest.MonkeyPatch, coarse: int, seen: int
) -> None:
    trained: list[int] = []
    validated: list[int] = []
    for name, record in (("rollout_with_pullback", trained), ("rollout", validated)):
        plain = getattr(kernels, name)

        def recorded(
            fields: Tensor,
            couplings: Tensor,
            dynamics: Dynamics,
            plain: Callable[..., Any] = plain,
            record: list[int] = record,
        ) -> Any:
            assert (dynamics.mobility, dynamics.observation_time) == (1.2, 0.5)
            record.append(dynamics.steps)
            return plain(fields, couplings, dynamics)

        monkeypatch.setattr(kernels, name, recorded)
    train(task(epochs=5, fine_epochs=2, coarse_steps=coarse))
    assert trained == [seen] * 3 * 3 + [10] * 2 * 3  # three batches an epoch
    assert validated == [10] * 5


@torch.no_grad()
def test_the_loss_and_validation_are_those_of_the_network() -> None:
    one = task((0, 3), epochs=1, batch_size=COUNT, gain=(8.0, 3.0), smoothing=(0.0, 0.2))
    parameters = one.initial()
    networks = [network_of(parameters, lane, DYNAMICS) for lane in range(2)]
    found = one.validate(parameters) | one.run_epoch(parameters, 0)
    for lane, network in enumerate(networks):
        gain, smoothing = ((8.0, 0.0), (3.0, 0.2))[lane]
        data, unseen = examples(), examples(40, 2)
        loss = functional.cross_entropy(
            gain * network(data.inputs), data.labels, label_smoothing=smoothing
        )
        assert float(found["loss"][lane]) == pytest.approx(float(loss), rel=1e-5)
        outputs = network(unseen.inputs)
        entropy = functional.cross_entropy(gain * outputs, unseen.labels)
        assert float(found["cross_entropy"][lane]) == pytest.approx(float(entropy), rel=1e-5)
        right = 100 * float((outputs.argmax(1) == unseen.labels).float().mean())
        assert float(found["top1"][lane]) == pytest.approx(right)


def test_selection_takes_the_best_accuracy_and_then_the_smallest_entropy() -> None:
    state = train(task((0, 1), epochs=15, coupling_rate=0.2))
    for lane in range(2):
        pairs = [
            (top1[lane], -entropy[lane])
            for top1, entropy in zip(
                state.history["top1"], state.history["cross_entropy"], strict=True
            )
        ]
        assert int(state.best_epoch[lane]) == pairs.index(max(pairs)) + 1


def test_undistorted_images_train_like_their_inputs() -> None:
    ours = picture_task((0, 1))
    pictures = ours.train
    inputs = Examples(pictures.labels, pictures.of(pictures.images))
    unseen = Examples(ours._validation.labels, pictures.of(ours._validation.images))
    theirs = DirectTask(
        ours.protocol, inputs, unseen, (24, H, OUTPUTS), DYNAMICS, seed=SEED, runs=(0, 1)
    )
    assert equal_states(train(ours), train(theirs))


def test_the_last_epochs_see_the_images_themselves() -> None:
    shifted = Augmentation(shift=0.5)
    plain = train(picture_task()).current
    never, always = (
        train(picture_task(augmentation=shifted, unaugmented_epochs=k)).current for k in (4, 0)
    )
    assert same(never, plain, atol=1e-4)
    assert not torch.allclose(always["raw.couplings"], plain["raw.couplings"], atol=1e-3)


def test_values_for_another_number_of_runs_are_refused() -> None:
    with pytest.raises(InputError, match="gain must be one number or 3, one per run; got 2"):
        task((0, 1, 2), gain=(1.0, 2.0))
