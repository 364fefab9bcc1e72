"""Recipes and the one call that trains: presets go to names, objects are used as they are."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import entrain
from entrain.data import load_own
from entrain.physics import Dynamics, NetworkSpec
from entrain.rules import PAPER_PROTOCOLS, PROTOCOLS, Direct, TeacherSpec, from_json
from entrain.training import Recipe
from entrain.utils.errors import InputError

DATASETS = ("digits", "mnist", "fashion-mnist-small", "my-own")


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_protocol_given_as_an_object_is_used_exactly_as_it_is(dataset: str, name: str) -> None:
    rule = replace(PROTOCOLS[name], batch_size=77)
    for given in (rule, PROTOCOLS[name]):
        recipe = Recipe.for_dataset(dataset, [given], examples=100)
        assert recipe.protocols[-1] is given


def test_presets_go_to_protocols_given_by_name() -> None:
    (digits,) = Recipe.for_dataset("digits", ["direct"]).protocols
    assert (digits.batch_size, digits.epochs) == (32, 60)
    (mnist,) = Recipe.for_dataset("mnist", "DIRECT").protocols
    assert isinstance(mnist, Direct)
    assert (mnist.epochs, mnist.gain, mnist.augmentation.elastic) == (150, 6.0, 0.5)
    (own,) = Recipe.for_dataset("my-own", "DIRECT", examples=100).protocols
    assert (own.batch_size, own.epochs) == (16, 142)
    path, end = Recipe.for_dataset("digits", "TWO-STAGE-END").protocols
    assert (path.solver, path.path_nodes, end.path_nodes, end.batch_size) == ("exact", 32, 32, 32)


def test_what_an_object_starts_from_is_added_as_if_named() -> None:
    end = PAPER_PROTOCOLS["TWO-STAGE-END"]
    path, same = Recipe.for_dataset("digits", [end]).protocols
    assert (path.name, path.solver, path.batch_size) == ("PATH", "exact", 32)
    assert same is end
    assert Recipe("digits", protocols=(end,)).protocols == (path, end)
    direct = Direct("MINE", start="PATH")
    assert Recipe("mnist", protocols=(direct,)).protocols[0].solver == "exact"


def test_a_field_cannot_lead_to_a_protocol_that_is_not_trained() -> None:
    with pytest.raises(InputError, match="DIRECT would start from PATH, which is not trained"):
        Recipe.for_dataset("digits", "DIRECT").with_field("DIRECT", "start", "PATH")
    both = Recipe.for_dataset("digits", ["PATH", "DIRECT"]).with_field("direct", "start", "PATH")
    assert [(rule.name, rule.start) for rule in both.protocols] == [
        ("PATH", "zero"),
        ("DIRECT", "PATH"),
    ]


def test_dynamics_and_the_size_of_the_network() -> None:
    recipe = Recipe.for_dataset("digits", "DIRECT", dynamics=Dynamics(steps=7))
    assert recipe.spec == NetworkSpec(64, Dynamics(steps=7))
    wide = recipe.adjusted(teacher={"widths": (8, 4)})
    assert wide.spec == NetworkSpec(12, Dynamics(steps=7))
    own = Recipe.for_dataset("digits", "DIRECT", network=NetworkSpec(5, lag=0.1))
    assert own.spec == NetworkSpec(5, lag=0.1)
    with pytest.raises(InputError, match="10 hidden oscillators need a teacher of as many"):
        Recipe.for_dataset("digits", "PATH", network=NetworkSpec(10))


def test_unknown_settings_are_refused() -> None:
    recipe = Recipe.for_dataset("digits", "DIRECT")
    with pytest.raises(TypeError, match="recipe must be a Recipe, got 'digits'"):
        entrain.train_recipe("digits", recipe)
    with pytest.raises(TypeError, match=r"recipe is now entrain.train_recipe\(recipe, data\)"):
        entrain.train("digits", recipe=recipe)
    with pytest.raises(InputError, match="unknown setting 'rnus'; did you mean 'runs'"):
        Recipe.for_dataset("digits", rnus=2)


def test_own_data_are_learnt_from_labels_and_datasets_from_a_teacher(
    tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Recipe] = []

    def begin(recipe: Recipe, *_: object, **__: object) -> SimpleNamespace:
        asked.append(recipe)
        return SimpleNamespace(recipe=recipe, diverged={}, collapsed={})

    monkeypatch.setattr("entrain.training.train.run_pipeline", begin)
    rows = np.random.default_rng(0).normal(size=(60, 3))
    np.savez(tmp_path / "mine.npz", X=rows, y=np.arange(60) % 2)
    data = load_own(tmp_path / "mine.npz")
    entrain.train(data)
    entrain.train(data, protocol="PATH")
    entrain.train("digits")
    names = [[protocol.name for protocol in recipe.protocols] for recipe in asked]
    assert names == [["DIRECT"], ["PATH"], ["PATH", "TWO-STAGE-END"]]
    assert asked[0] == Recipe.for_dataset(data.name, "DIRECT", examples=len(data.train))


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_rule_becomes_json_and_back(name: str) -> None:
    rule = PROTOCOLS[name]
    values = rule.to_json()
    assert from_json(values) == rule
    with pytest.raises(InputError, match="unknown rule 'two-stages'; did you mean 'two-stage'"):
        from_json(values | {"rule": "two-stages"})
    with pytest.raises(InputError, match="rule"):
        from_json(values | {"speed": 1})


def test_a_recipe_becomes_json_and_back() -> None:
    recipe = Recipe.for_dataset("digits", ["TWO-STAGE-END", "DIRECT"], runs=2, seed=3)
    assert Recipe.from_json(recipe.to_json()) == recipe
    assert from_json(TeacherSpec((3, 2)).to_json()) == TeacherSpec((3, 2))


def test_a_run_folder_accepts_only_the_examples_it_was_started_with(tmp_path: Path) -> None:
    digits = entrain.load_dataset("digits")
    protocol = entrain.Direct(epochs=1, batch_size=64)
    spec = entrain.NetworkSpec(hidden=4)
    options = {"protocol": [protocol], "network": spec, "folder": tmp_path / "run"}
    entrain.train(digits, **options)
    entrain.train(digits, **options)
    other = replace(digits, train=entrain.Split(digits.train.features, digits.train.labels[::-1]))
    with pytest.raises(entrain.InputError, match="started with other examples"):
        entrain.train(other, **options)


def test_a_recipe_of_another_dataset_and_a_solver_that_is_none_are_refused() -> None:
    digits = entrain.load_dataset("digits")
    with pytest.raises(entrain.InputError, match="the recipe is for mnist, the data are digits"):
        entrain.train_recipe(entrain.Recipe.for_dataset("mnist", "DIRECT"), digits)
    with pytest.raises(entrain.InputError, match="unknown path_solver 'SGD'"):
        entrain.Recipe.for_dataset("digits", path_solver="SGD")
    with pytest.raises(entrain.InputError, match="different names"):
        entrain.Recipe.for_dataset("digits", [entrain.Direct(epochs=1), "DIRECT"])


def test_a_recipe_that_claims_many_runs_takes_no_memory() -> None:
    """Recipes are read from files, which may claim anything."""
    tracemalloc.start()
    try:
        recipe = Recipe.for_dataset("digits", ("TWO-STAGE-END",), path_solver="sgd", runs=2**20)
        assert recipe.runs == 2**20
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
