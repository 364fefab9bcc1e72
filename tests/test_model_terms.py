"""Training and files of networks with a graph and terms of their own; what a model says of data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import entrain
from entrain.data import load_dataset
from entrain.models.model import Model
from entrain.physics import Dynamics, NetworkSpec
from entrain.physics.network_spec import SPEC_TERMS as TERMS
from entrain.rules import PAPER_PROTOCOLS, Direct, TeacherSpec
from entrain.rules.training_data import TrainingData
from entrain.training import Recipe, Stage, run_pipeline, teacher_stage, train_stage
from networks import random_tensor

pytestmark = pytest.mark.usefixtures("one_thread")

CPU = torch.device("cpu")
H, OUTPUTS = 10, 10
N = H + OUTPUTS
SHORT = Dynamics(1.0, 0.2, 20)
GRAPH = tuple((i, j) for i in range(N) for j in range(i + 1, N) if (i + 2 * j) % 3)
"""Two thirds of all pairs, some of them of two outputs."""

QUICK = Direct(epochs=2, batch_size=64, coarse_steps=10, fine_epochs=1, averaging=0.9)
TEACHER = teacher_stage("digits", TeacherSpec((6, 4), initialisations=1, epochs=3, batch_size=32))


def numbers(size: float, seed: int) -> tuple[float, ...]:
    return tuple((size * random_tensor(N, seed=seed)).tolist())


SPECIAL = NetworkSpec(
    H,
    SHORT,
    graph=GRAPH,
    frequencies=numbers(0.5, 1),
    start_phases=numbers(0.3, 2),
    injection=numbers(0.2, 3),
    lag=0.3,
    harmonic=(0.2, -0.1),
)
START = {
    "frequencies": torch.tensor(SPECIAL.frequencies),
    "start_phases": torch.tensor(SPECIAL.start_phases),
    "injection": torch.tensor(SPECIAL.injection),
    "lag": torch.tensor(SPECIAL.lag),
    "harmonic": torch.tensor(SPECIAL.harmonic),
}


@pytest.fixture(scope="module")
def digits() -> TrainingData:
    return TrainingData(load_dataset("digits"), CPU)


def assert_on_graph(couplings: torch.Tensor) -> None:
    """Exactly zero where there is no coupler, and nowhere else."""
    assert torch.equal(couplings, couplings.mT)
    graph = NetworkSpec(H, graph=GRAPH).graph_of(OUTPUTS)
    assert graph[H:, H:].any()
    for each in couplings:
        assert torch.equal(each != 0, graph)


def test_direct_keeps_the_zeros_of_a_graph(digits: TrainingData) -> None:
    network = NetworkSpec(H, SHORT, graph=GRAPH)
    state = train_stage(Stage(QUICK, "digits", network, runs=(0, 1)), digits, {})
    for tensors in (state.current, state.best):
        assert_on_graph(tensors["couplings"])
    assert_on_graph(state.current["raw.couplings"])


@pytest.mark.parametrize("solver", ["sgd", "exact"])
def test_two_stages_keep_the_zeros_of_a_graph(digits: TrainingData, solver: Any) -> None:
    network = NetworkSpec(H, SHORT, graph=GRAPH)
    first = replace(PAPER_PROTOCOLS["PATH"], epochs=1, learning_rate=1000.0).with_solver(solver)
    path = Stage(first, "digits", network, (TEACHER,), runs=(0, 1))
    second = replace(PAPER_PROTOCOLS["TWO-STAGE-END"], epochs=1, batch_size=64)
    end = Stage(second, "digits", network, (TEACHER,), runs=(0, 1), start=path)
    states = {TEACHER.key: train_stage(TEACHER, digits, {})}
    for stage in (path, end):
        states[stage.key] = train_stage(stage, digits, states)
        assert_on_graph(states[stage.key].best["couplings"])
        for each in stage.networks(states[stage.key], CPU):
            assert each.couplers == len(GRAPH)


def test_a_start_of_more_couplers_is_cut_to_the_graph(digits: TrainingData) -> None:
    path = Stage(
        replace(PAPER_PROTOCOLS["PATH"], epochs=1, learning_rate=1000.0),
        "digits",
        NetworkSpec(H, SHORT),
        (TEACHER,),
    )
    states = {TEACHER.key: train_stage(TEACHER, digits, {})}
    states[path.key] = train_stage(path, digits, states)
    inner = tuple((i, j) for i, j in GRAPH if i < H)
    stage = Stage(
        replace(QUICK, start="PATH"), "digits", NetworkSpec(H, SHORT, graph=inner), start=path
    )
    couplings = train_stage(stage, digits, states).best["couplings"][0]
    assert torch.equal(couplings != 0, stage.network.graph_of(OUTPUTS))


def trained(network: NetworkSpec, **changes: Any) -> Model:
    recipe = Recipe("digits", protocols=(replace(QUICK, **changes),), network=network)
    return run_pipeline(recipe, load_dataset("digits"), device=CPU).model


@pytest.mark.parametrize("term", TERMS)
def test_a_trainable_term_moves_and_is_kept_in_the_file_and_the_others_stay(
    term: str, tmp_path: Path
) -> None:
    model = trained(replace(SPECIAL, trainable=(term,)))
    model.save(tmp_path / "model.safetensors")
    again = entrain.load(tmp_path / "model.safetensors")
    for name, start in START.items():
        found = getattr(model.network, name).detach()
        assert torch.equal(getattr(again.network, name), found)
        apart = (found - start).abs()
        if name == term:
            assert apart.min() > 1e-6
            assert apart.max() < 1.0
        else:
            assert torch.equal(found, start)


@pytest.mark.parametrize(("term", "shape"), [("lag", (2,)), ("harmonic", (2, 2))])
def test_a_lag_or_harmonic_is_trained_from_none(
    digits: TrainingData, term: str, shape: tuple[int, ...]
) -> None:
    spec = NetworkSpec(H, SHORT, trainable=(term,))
    state = train_stage(Stage(QUICK, "digits", spec, runs=(0, 1)), digits, {})
    assert state.best[term].shape == shape
    assert bool((state.best[term] != 0).all())


def test_a_specification_is_written_and_read_with_every_term() -> None:
    terms = {"hidden", "dynamics", "graph", "frequencies", "start_phases", "injection", "lag"}
    assert set(SPECIAL.to_json()) == terms | {"harmonic", "trainable"}
    assert NetworkSpec.from_json(SPECIAL.to_json()) == SPECIAL
    for wrong in ((0.1,), (0.1, 0.2, 0.3), (0.1, float("nan"))):
        with pytest.raises(entrain.InputError, match="harmonic must be"):
            NetworkSpec(H, SHORT, harmonic=wrong)


def test_a_stage_with_terms_has_a_key_of_its_own() -> None:
    networks = [
        NetworkSpec(H, SHORT),
        *(replace(NetworkSpec(H, SHORT), **{name: getattr(SPECIAL, name)}) for name in START),
        NetworkSpec(H, SHORT, graph=GRAPH),
        SPECIAL,
        replace(SPECIAL, trainable=("lag",)),
    ]
    keys = [Stage(QUICK, "digits", network).key for network in networks]
    assert len(set(keys)) == len(keys)
    recipe = Recipe("digits", protocols=(QUICK,), network=networks[-1])
    assert Recipe.from_json(recipe.to_json()) == recipe


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_saved_model_gives_the_same_scores_bit_for_bit(
    tmp_path: Path, dtype: torch.dtype
) -> None:
    model, data = trained(replace(SPECIAL, trainable=TERMS)), load_dataset("digits")
    if dtype == torch.float64:
        model = replace(model, network=model.network.double())
    model.save(tmp_path / "model.safetensors")
    again = entrain.load(tmp_path / "model.safetensors")
    assert torch.equal(again.network.graph, model.network.graph)
    assert again.network.couplers == len(GRAPH)
    inputs = model.inputs(data.test.features).to(dtype)
    assert torch.equal(again.network(inputs), model.network(inputs))
    if dtype == torch.float32:
        assert torch.equal(again.scores(data.test.features), model.scores(data.test.features))
    noisy = [each.network.simulate(inputs[:5], temperature=0.5).final for each in (model, again)]
    assert torch.equal(*noisy)


def test_a_model_on_another_device_is_another_object_with_the_same_numbers() -> None:
    model, pixels = trained(SPECIAL), load_dataset("digits").test.features
    moved = model.to("cpu")
    assert moved.network is not model.network
    assert torch.equal(moved.scores(pixels), model.scores(pixels))
    with torch.no_grad():
        moved.network.biases.zero_()
    assert model.network.biases.any()
    assert (moved.gain, moved.class_names) == (model.gain, model.class_names)


def test_probabilities_are_a_softmax_with_the_gain_of_the_training(tmp_path: Path) -> None:
    model, pixels = trained(NetworkSpec(H, SHORT), gain=5.0), load_dataset("digits").test.features
    assert model.gain == 5.0
    model.save(tmp_path / "model.safetensors")
    for each in (model, entrain.load(tmp_path / "model.safetensors")):
        found = each.probabilities(pixels)
        assert torch.allclose(found.sum(-1), torch.ones(len(pixels)), atol=1e-6)
        assert torch.equal(found, torch.softmax(5.0 * model.scores(pixels), dim=-1))
    signed = replace(model, gain=None).probabilities(pixels)  # as a teacher's outputs 2 p - 1
    assert torch.allclose(signed.sum(-1), torch.ones(len(pixels)), atol=1e-6)
    half = (1 + model.scores(pixels)) / 2
    assert torch.allclose(signed, half / half.sum(-1, keepdim=True), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "gain"), [("mnist-74-direct", 6.0), ("fashion-mnist-74-direct", 6.0)]
)
def test_a_shipped_model_has_the_gain_it_was_trained_with(name: str, gain: float) -> None:
    model = entrain.load(name)
    assert model.details["training"]["gain"] == gain
    assert model.gain == gain
    assert entrain.load(name.removesuffix("-direct")).gain is None


def test_validation_images_give_the_metrics_of_the_training_again() -> None:
    """Fashion-MNIST's test images have a norm of their own; validation images have not."""
    data = load_dataset("fashion-mnist-small")
    assert data.preprocessing.norm != data.preprocessing.test_norm
    recipe = Recipe(data.name, protocols=(QUICK,), network=NetworkSpec(H, SHORT))
    model = run_pipeline(recipe, data, device=CPU).model
    found = model.evaluate(data.validation, unseen=False)
    assert found["top1"] == model.details["validation"]["top1"]
    inputs = [model.inputs(data.validation.features, unseen=unseen) for unseen in (True, False)]
    assert not torch.equal(*inputs)
