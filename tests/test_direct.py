"""Training by protocol DIRECT: runs side by side, interruptions, divergence, pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from command_line import threads
from direct_trainings import (
    CLASSES,
    COUNT,
    DIFFERENT,
    INPUTS,
    NAMES,
    OUTPUTS,
    SEED,
    SPEC,
    H,
    equal_states,
    raw,
    run_of,
    same,
    training,
)
from entrain import kernels
from entrain.data import Preprocessing
from entrain.physics import Dynamics, PhaseModel
from entrain.rules import Augmentation, Direct, Tensors
from entrain.rules.direct_training import DirectTraining
from entrain.rules.training_data import Examples
from entrain.training import TrainingState, pack_state, run_training, unpack_state
from entrain.utils.errors import InputError

pytestmark = pytest.mark.usefixtures("one_thread")


def test_runs_trained_together_equal_runs_trained_alone() -> None:
    runs = (0, 1, 5)
    together = run_training(training(runs, averaging=0.9, gain=(8.0, 4.0, 6.0)))
    for index, (run, gain) in enumerate(zip(runs, (8.0, 4.0, 6.0), strict=True)):
        alone = run_training(training((run,), averaging=0.9, gain=gain))
        assert same(run_of(together.current, index), alone.current)
        assert same(run_of(together.best, index), alone.best)
        assert together.best_epoch[index] == alone.best_epoch[0]


def test_runs_differ_in_their_random_start_and_the_same_run_does_not() -> None:
    start = training((0, 1, 1)).initial()
    for name in ("input_weights", "couplings"):
        assert not torch.isclose(start[name][0], start[name][1]).flatten().all()
        assert torch.equal(start[name][1], start[name][2])
        assert torch.equal(start[name][1], training((1,)).initial()[name][0])


def test_the_random_start_has_the_stated_deviations() -> None:
    many = training(tuple(range(60)), initial_couplings=0.7, initial_weights=0.5).initial()
    allowed = many["couplings"][:, ~torch.eye(H + OUTPUTS, dtype=torch.bool)]
    allowed = allowed[allowed != 0]
    assert float(allowed.std()) == pytest.approx(0.7, rel=0.1)
    assert float(many["input_weights"].std()) == pytest.approx(0.5 / INPUTS**0.5, rel=0.1)
    assert not many["biases"].any()


def test_runs_from_one_start_differ_by_their_order_and_the_same_run_does_not() -> None:
    one = training().initial()
    begin = {name: tensor.repeat(3, *[1] * (tensor.dim() - 1)) for name, tensor in one.items()}
    ours = training((0, 1, 1), begin=begin, epochs=1)
    parameters = ours.initial()
    assert all(
        torch.equal(raw(parameters, index)[n], one[n][0]) for index in range(3) for n in NAMES
    )
    ours.run_epoch(parameters, 0)
    first, second, third = (raw(parameters, index) for index in range(3))
    assert same(second, third)
    assert not torch.allclose(first["couplings"], second["couplings"], atol=1e-5)


PREPARED = Preprocessing((4, 6), 1.0, 0.3, 0.4, 3.0, 3.0)


def picture_training(runs: tuple[int, ...] = (0,), **changes: Any) -> DirectTraining:
    """Small images to be distorted: bright on the left, in the middle, or on the right."""

    def pictures(count: int, seed: int) -> Examples:
        labels = torch.arange(count) % OUTPUTS
        images = 0.3 * torch.rand(count, 4, 6, generator=torch.Generator().manual_seed(seed))
        for label in range(OUTPUTS):
            images[labels == label, :, 2 * label : 2 * label + 2] += 0.5
        return Examples(labels, images=images, preprocessing=PREPARED)

    protocol = Direct(**({"epochs": 4, "batch_size": 16, "fine_epochs": 2} | changes))
    data = pictures(COUNT, 1), pictures(30, 2)
    return DirectTraining(protocol, *data, SPEC, CLASSES, seed=SEED, runs=runs)


DISTORTED = Augmentation(shift=0.5, rotation=5.0, elastic=0.3, flip=True)


@pytest.mark.parametrize("interruption", [1, 3])
@pytest.mark.parametrize(
    "make",
    [
        lambda: training((0, 3), **DIFFERENT, averaging=0.99, fine_epochs=2, coarse_steps=5),
        lambda: picture_training((0, 3), augmentation=DISTORTED, unaugmented_epochs=1),
    ],
    ids=["inputs", "pictures"],
)
def test_interrupted_training_goes_on_bit_for_bit(
    make: Callable[[], DirectTraining], interruption: int
) -> None:
    packed: list[bytes] = []

    def keep(state: TrainingState) -> None:
        if state.epoch == interruption:
            packed.append(pack_state(state, {}))

    with threads(2):
        whole = run_training(make(), on_epoch=keep)
        saved, _ = unpack_state(packed[0], "memory")
        assert saved.epoch == interruption
        assert equal_states(run_training(make(), saved), whole)
        assert equal_states(run_training(make()), whole)


def test_a_diverging_run_keeps_its_best_and_the_others_do_not_notice() -> None:
    changes = {"warm_up": 0.9, "batch_size": COUNT, "epochs": 5}
    calm = run_training(training(**changes))
    wild = training((0, 1), input_rate=(3e-3, 1e30), coupling_rate=(2e-2, 1e30), **changes)
    bests: list[Tensors] = []
    state = run_training(
        wild, on_epoch=lambda s: bests.append({k: v.clone() for k, v in s.best.items()})
    )
    assert state.epoch == 5
    assert state.diverged.tolist() == [0, 2]
    assert state.best_epoch[1] == 1
    for parameters in (state.current, state.best):
        assert all(torch.equal(parameters[k][1], bests[0][k][1]) for k in parameters)
        assert all(bool(tensor.isfinite().all()) for tensor in parameters.values())
    assert same(run_of(state.current, 0), calm.current)
    assert same(run_of(state.best, 0), calm.best)


@pytest.mark.parametrize(("coarse", "seen"), [(4, 4), (50, 10)])
def test_only_the_last_epochs_are_fine_and_every_validation_is(
    monkeypatch: pytest.MonkeyPatch, coarse: int, seen: int
) -> None:
    trained: list[int] = []
    validated: list[int] = []
    for name, record in (("rollout_with_pullback", trained), ("rollout", validated)):
        plain = getattr(kernels, name)

        def recorded(
            model: PhaseModel,
            dynamics: Dynamics,
            plain: Callable[..., Any] = plain,
            seen: list[int] = record,
            **options: Any,
        ) -> Any:
            assert (dynamics.mobility, dynamics.observation_time) == (1.2, 0.5)
            seen.append(dynamics.steps)
            return plain(model, dynamics, **options)

        monkeypatch.setattr(kernels, name, recorded)
    with kernels.use("reference"):
        run_training(training(epochs=5, fine_epochs=2, coarse_steps=coarse))
    assert trained == [seen] * 3 * 3 + [10] * 2 * 3  # three batches an epoch
    assert validated == [10] * 5


def test_selection_takes_the_best_accuracy_and_then_the_smallest_entropy() -> None:
    state = run_training(training((0, 1), epochs=15, coupling_rate=0.2))
    for index in range(2):
        pairs = [
            (top1[index], -entropy[index])
            for top1, entropy in zip(
                state.history["top1"], state.history["cross_entropy"], strict=True
            )
        ]
        assert int(state.best_epoch[index]) == pairs.index(max(pairs)) + 1


def test_undistorted_images_train_like_their_inputs() -> None:
    ours = picture_training((0, 1))
    pictures = ours.train
    inputs = Examples(pictures.targets, pictures.all_inputs())
    unseen = Examples(ours._validation.targets, ours._validation.all_inputs())
    theirs = DirectTraining(ours.protocol, inputs, unseen, SPEC, CLASSES, seed=SEED, runs=(0, 1))
    assert equal_states(run_training(ours), run_training(theirs))


def test_the_last_epochs_see_the_images_themselves() -> None:
    shifted = Augmentation(shift=0.5)
    plain = run_training(picture_training()).current
    never, always = (
        run_training(picture_training(augmentation=shifted, unaugmented_epochs=k)).current
        for k in (4, 0)
    )
    assert same(never, plain, atol=1e-4)
    assert not torch.allclose(always["raw.couplings"], plain["raw.couplings"], atol=1e-3)


def test_values_for_another_number_of_runs_are_refused() -> None:
    with pytest.raises(InputError, match="gain must be one number or 3, one per run; got 2"):
        training((0, 1, 2), gain=(1.0, 2.0))
