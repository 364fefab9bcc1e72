"""`entrain.train` is as wide as `entrain train`: any data, the same words, the same bits."""

from __future__ import annotations

import ast
import inspect
import io
import json
import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas
import pytest
import torch
import typer
from sklearn.datasets import load_iris
from sklearn.utils.class_weight import compute_class_weight

import entrain
from command_line import Invoke, Refuse, printed
from entrain.cli import app
from entrain.rules import PROTOCOLS
from entrain.training import Options, Recipe, Trained
from entrain.training.run_folder import RunFolder
from entrain.training.settings import GENERAL, OLD_KEYWORDS, OLD_PLACES, OLD_SETTINGS
from entrain.utils.errors import InputError
from examples import ROOT
from own_files import folder_of_pictures, npz

IRIS = load_iris(as_frame=True)
X, Y = IRIS.data.to_numpy(), IRIS.target.to_numpy()
NAMES = IRIS.target_names[Y]
TRAINING_PAGE = (ROOT / "docs" / "training.md").read_text()
QUICK: dict[str, Any] = {"epochs": 2, "network": 5, "settings": {"steps": 20}, "device": "cpu"}
LEVELS = np.random.default_rng(0).integers(0, 256, (40, 4, 5))


def weights(trained: Trained) -> list[torch.Tensor]:
    return list(trained.model.network.as_parameters().tensors().values())


def same(ours: Trained, theirs: Trained) -> bool:
    pairs = zip(weights(ours), weights(theirs), strict=True)
    return (
        all(torch.equal(a, b) for a, b in pairs)
        and ours.model.preprocessing == theirs.model.preprocessing
        and ours.model.class_names == theirs.model.class_names
    )


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("door") / "flowers.csv"
    IRIS.data.assign(species=NAMES).to_csv(path, index=False)
    return path


def test_one_table_gives_the_same_bits_in_every_format(
    table: Path, tmp_path: Path, invoke: Invoke
) -> None:
    first = entrain.train(table, **QUICK)
    frame = pandas.read_csv(table)
    rows = frame.drop(columns="species")
    for data, y in (
        (str(table), None),
        (entrain.load_own(table, label="species"), None),
        (npz(tmp_path / "flowers.npz", X=X, y=NAMES.astype(str)), None),
        (frame, None),
        (entrain.load_own(frame, label="species"), None),
        (frame, "species"),
        (rows, frame["species"]),
        (rows, frame["species"].astype("category")),
        (rows.to_numpy(), frame["species"].tolist()),
        (np.asfortranarray(X), NAMES),
        (torch.tensor(X, requires_grad=True), tuple(NAMES)),
        (X.tolist(), NAMES.astype("S")),
    ):
        assert same(entrain.train(data, y, **QUICK), first), (type(data), y)
    options = ["--epochs=2", "--network=5", "--set=steps=20", "--device=cpu"]
    printed(invoke, "train", table, "--out", tmp_path / "run", *options)
    model = entrain.load(tmp_path / "run")
    pairs = zip(model.network.as_parameters().tensors().values(), weights(first), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_a_model_trained_on_arrays_predicts_arrays() -> None:
    trained = entrain.train(X, NAMES, **QUICK | {"network": 12, "epochs": 60})
    assert isinstance(trained, Trained)
    assert type(trained) is type(entrain.train("digits", protocol="DIRECT", **QUICK))
    assert trained.model.class_names == ("setosa", "versicolor", "virginica")
    assert trained.model.score(X, NAMES) > 0.9


def test_pictures_are_whole_numbers_to_255_or_floats_to_1(tmp_path: Path) -> None:
    labels = np.arange(40) % 2
    first = entrain.train(LEVELS.astype(np.uint8), labels, **QUICK)
    assert first.model.preprocessing.image_shape == (4, 5)
    for kind in (np.int64, np.uint16):
        assert same(entrain.train(LEVELS.astype(kind), labels, **QUICK), first)
    assert same(entrain.train(npz(tmp_path / "x.npz", X=LEVELS, y=labels), **QUICK), first)
    grey = LEVELS / 255
    floats = entrain.train(grey, labels, **QUICK)
    assert floats.model.preprocessing.pixel_max == 1.0
    assert floats.model.predict(grey).tolist() == first.model.predict(LEVELS).tolist()
    for wrong in (LEVELS - 1, LEVELS + 1, LEVELS.astype(float), grey - 0.1, grey * np.nan):
        with pytest.raises(InputError, match=r"images of uint8 .* of floats from 0 to 1"):
            entrain.train(wrong, labels, **QUICK)


def test_a_folder_of_pictures_is_a_path(tmp_path: Path) -> None:
    pictures = folder_of_pictures(tmp_path / "kinds", {"cat": 12, "dog": 9})
    trained = entrain.train(entrain.load_own(pictures, image_size=8), **QUICK)
    assert trained.model.class_names == ("cat", "dog")
    assert trained.model.preprocessing.image_shape == (8, 8)


def test_a_run_started_in_python_is_resumed_by_the_command(
    table: Path, tmp_path: Path, invoke: Invoke
) -> None:
    trained = entrain.train(table, folder=tmp_path / "run", **QUICK)
    found = printed(invoke, "train", "--resume", tmp_path / "run")
    top1 = trained.model.evaluate(entrain.load_own(table).test)["top1"]
    assert found["results"]["DIRECT"]["top1"] == pytest.approx(top1)


FRAME = pandas.DataFrame(X).assign(kind=NAMES, note=NAMES)


@pytest.mark.parametrize(
    ("data", "y", "message"),
    [
        ("minst", None, "unknown dataset 'minst'; did you mean 'mnist'.* or give an .npz"),
        ("nothing.csv", None, "nothing.csv: no such file or folder"),
        (Path("nothing"), None, "nothing: no such file or folder"),
        ("digits", Y, "y belongs to arrays, digits has labels of its own"),
        (X, None, r"the labels are missing.* train\(X, y\)"),
        (X, "kind", "names the column 'kind', but X has no column names"),
        (X, Y[:100], "X has 150 rows and y has 100 labels"),
        (X, [None, *Y[1:]], "y holds 'None' in row 0 .* neither"),
        (X, ["a", *Y[1:].tolist()], "y holds 'a' in row 0 .* text beside numbers"),
        (X, [[1]] * 150, r"y has shape \(150, 1\)"),
        (X[:, 0], Y, r"X has shape \(150,\)"),
        (X[:5], Y[:5], "5 examples; expected at least 10"),
        (X * np.nan, Y, r"X: row 0, column 0 \(from 0\) holds nan"),
        (X.astype(str), Y, "X holds <U"),
        (X.astype(object), Y, "X holds object"),
        ([[1, 2], [3]], [0, 1], "X cannot be read as an array"),
        ([], [], r"X has shape \(0,\)"),
        (np.ma.masked_less(X, 1), Y, "X .* values are masked"),
        (np.zeros((20, 4, 4, 3)), Y[:20], "make colours grey"),
        (FRAME, "kind", "column 'note' holds .*; expected numbers"),
        (FRAME.assign(note=FRAME["note"].astype("category")), "kind", "column 'note' holds categ"),
        (FRAME, "knid", "unknown column 'knid'; did you mean 'kind'"),
        (entrain.load_dataset("digits"), Y, "y and task belong to arrays and tables"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_data_that_cannot_be_used(data: Any, y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        entrain.train(data, y)


@pytest.mark.parametrize("data", [None, 3, math.nan, b"digits", object(), {"X": X}])
def test_other_types_of_data_are_a_type_error(data: Any) -> None:
    with pytest.raises(TypeError, match=r"data must be the name of a dataset \(digits, "):
        entrain.train(data)


# Every keyword with values of every wrong kind; those that mean something are left out.
WRONG = [None, math.nan, -1, "x", [], object(), True]
FINE: dict[str, list[Any]] = {"folder": ["x"], "progress": [True]}
KEYWORDS = [
    name
    for name, each in inspect.signature(entrain.train).parameters.items()
    if each.kind is each.KEYWORD_ONLY or name == "y"
]


@pytest.mark.parametrize("name", KEYWORDS)
def test_a_wrong_value_is_refused_before_training_and_named(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin(*_: Any, **__: Any) -> None:
        raise AssertionError(f"training began with {name}={value!r}")

    monkeypatch.setattr("entrain.training.train.run_pipeline", begin)
    parameter = inspect.signature(entrain.train).parameters[name]
    tried = 0
    for value in WRONG:
        if value is parameter.default or any(value is fine for fine in FINE.get(name, ())):
            continue
        for data in ("digits",) if name == "y" else ("digits", "arrays"):
            given = (X, Y) if data == "arrays" else (data,)
            with pytest.raises((InputError, TypeError)) as caught:
                entrain.train(*given, **{name: value})
            assert name in str(caught.value)
            tried += 1
    assert tried >= 8 or name == "y"


def test_an_unknown_keyword_is_a_type_error_that_lists_the_known() -> None:
    with pytest.raises(TypeError, match="'epoch'; did you mean 'epochs'") as caught:
        entrain.train("digits", epoch=3)
    assert all(name in str(caught.value) for name in KEYWORDS)


def test_train_has_a_dozen_keywords_and_no_positional_ones() -> None:
    parameters = inspect.signature(entrain.train).parameters
    assert [n for n, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD] == ["data", "y"]
    assert len([n for n, p in parameters.items() if p.kind is p.KEYWORD_ONLY]) == 12


def test_keywords_and_defaults_are_those_of_the_command() -> None:
    command = typer.main.get_command(app).commands["train"]  # type: ignore[attr-defined]
    options = {str(each.name): each.default for each in command.params}
    parameters = inspect.signature(entrain.train).parameters
    own = {"resume", "settings_file", "json", "label", "image_size", "frames", "data_dir"}
    assert set(options) - set(parameters) == own
    assert set(parameters) - set(options) == {"y", "progress", "unknown"}
    for name in set(options) & set(parameters):
        assert options[name] == parameters[name].default, name
    for name, each in inspect.signature(Options).parameters.items():
        assert each.default == parameters[name].default, name


@pytest.mark.parametrize("name", [*OLD_SETTINGS, *OLD_KEYWORDS, *OLD_PLACES])
def test_a_keyword_of_version_0_2_names_its_new_place(name: str) -> None:
    with pytest.raises(TypeError, match=f"^{name} is now ") as caught:
        entrain.train(X, Y, **{name: 64})
    place = str(caught.value).partition(" is now ")[2]
    assert f"| `{name}=` | `{place.replace('64', '...')}` |" in TRAINING_PAGE


def test_a_new_place_is_where_the_error_says() -> None:
    with pytest.raises(TypeError, match=re.escape("is now settings={'batch_size': 64}")):
        entrain.train(X, Y, batch_size=64)
    for name, setting in OLD_SETTINGS.items():
        assert setting in GENERAL or setting.count(".") == 1, name


@pytest.mark.parametrize("name", sorted({*OLD_SETTINGS, *OLD_KEYWORDS} - {"protocols"}))
def test_an_option_of_version_0_2_names_its_new_place(name: str, refuse: Refuse) -> None:
    option = "--" + name.replace("_", "-")
    new = f"--set {OLD_SETTINGS[name]}=VALUE" if name in OLD_SETTINGS else "--network"
    assert refuse("train", option, "3").startswith(f"error: {option} is now {new} ")


def test_the_page_lists_the_general_settings() -> None:
    for name, setting in GENERAL.items():
        assert f"| `{name}` | {setting.description} | {setting.default} |" in TRAINING_PAGE


def recipe_of(monkeypatch: pytest.MonkeyPatch, *args: Any, **options: Any) -> Recipe:
    asked: list[Recipe] = []

    def begin(recipe: Recipe, *_: Any, **__: Any) -> SimpleNamespace:
        asked.append(recipe)
        return SimpleNamespace(recipe=recipe, diverged={}, collapsed={})

    monkeypatch.setattr("entrain.training.train.run_pipeline", begin)
    entrain.train(*args, **options)
    return asked[0]


def test_epochs_are_those_of_the_protocols_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def epochs(protocols: Any, **options: Any) -> dict[str, int]:
        recipe = recipe_of(monkeypatch, "digits", protocol=protocols, epochs=7, settings=options)
        return {rule.name: rule.epochs for rule in recipe.protocols}

    assert epochs("DIRECT") == {"DIRECT": 7}
    assert epochs(None) == {"PATH": 1, "TWO-STAGE-END": 7}
    assert epochs(("PATH", "DIRECT")) == {"PATH": 1, "DIRECT": 7}
    assert epochs("DIRECT-FROM-PATH", path_solver="sgd") == {"PATH": 40, "DIRECT-FROM-PATH": 7}
    assert epochs("PATH", path_solver="sgd") == {"PATH": 7}
    both = ["DIRECT", PROTOCOLS["Z-END"]]
    assert epochs(both, **{"DIRECT.epochs": 3}) == {"DIRECT": 3, "Z-END": 7}
    with pytest.raises(InputError, match=r"epochs: the exact solver of PATH has none"):
        epochs("PATH")


def test_every_keyword_reaches_the_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    made = recipe_of(
        monkeypatch,
        "digits",
        protocol=["path", "two-stage-end", "direct"],
        runs=np.int64(2),
        seed=5,
        network=np.array([6, 3]),
        settings={
            "batch_size": np.uint8(16),
            "teacher.epochs": 11,
            "TEACHER.initialisations": 2,
            "PATH.epochs": 12,
            "PATH.learning_rate": 1000,
            "TWO-STAGE-END.epochs": 13,
            "TWO-STAGE-END.learning_rate": np.float32(0.5),
            "TWO-STAGE-END.endpoint_weight": 2,
            "DIRECT.epochs": 14,
            "observation_time": 0.1,
            "steps": 30,
            "class_weight": {3: 2.0},
            "DIRECT.gain": 8,
            "path.batch_size": 17,
        },
    )
    path, end, direct = made.protocols
    assert (made.runs, made.seed, made.spec.hidden) == (2, 5, 9)
    assert type(made.runs) is int
    assert (made.teacher.widths, made.teacher.epochs) == ((6, 3), 11)
    assert (made.teacher.initialisations, made.teacher.batch_size) == (2, 16)
    assert (path.epochs, path.learning_rate, path.batch_size, path.solver) == (12, 1e3, 17, "sgd")
    assert (end.epochs, end.learning_rate, end.endpoint_weight) == (13, 0.5, 2.0)
    assert (direct.epochs, direct.gain, direct.batch_size) == (14, 8, 16)
    assert direct.class_weights == (1.0, 1.0, 1.0, 2.0, *[1.0] * 6)
    assert (made.spec.dynamics.observation_time, made.spec.dynamics.steps) == (0.1, 30)
    assert Recipe.from_json(made.to_json()) == made


def test_steps_change_the_dynamics_of_a_given_network(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = entrain.NetworkSpec(5, entrain.Dynamics(2.0, 0.3, 70), lag=0.1)
    made = recipe_of(monkeypatch, X, Y, network=spec)
    assert made.spec == spec
    made = recipe_of(monkeypatch, X, Y, network=spec, settings={"steps": 9})
    assert made.spec.dynamics == entrain.Dynamics(2.0, 0.3, 9)


def test_progress_on_request(table: Path, capfd: pytest.CaptureFixture[str]) -> None:
    entrain.train(X, Y, **QUICK)
    assert capfd.readouterr() == ("", "")
    entrain.train(table, progress=True, **QUICK)
    out, err = capfd.readouterr()
    assert out == ""
    assert "labels come from column 'species', the last one" in err
    assert "DIRECT: epoch 2/2  loss" in err
    seen = io.StringIO()
    entrain.train(X, Y, progress=lambda *told: seen.write(f"{told[0]} {told[1].epoch};"), **QUICK)
    assert seen.getvalue() == "DIRECT 1;DIRECT 2;"


def test_errors_of_the_library_name_no_command_line_options() -> None:
    source = Path(entrain.__file__).parent
    seen = 0
    for file in sorted(source.rglob("*.py")):
        if file.is_relative_to(source / "cli"):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if name.endswith(("Error", "Warning", "warn", "_warn_once")):
                texts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
                text = "".join(value for value in texts if isinstance(value, str))
                assert not re.search(r"(?<![\w-])--[a-z]", text), f"{file.name}: {text}"
                seen += 1
    assert seen > 200


def test_a_used_folder_is_refused_without_naming_a_command(tmp_path: Path) -> None:
    entrain.train(X, Y, folder=tmp_path / "run", **QUICK)
    with pytest.raises(InputError, match=r"another run .* or continue it$"):
        entrain.train(X, Y, folder=tmp_path / "run", seed=1, **QUICK)


def test_weights_and_epochs_on_the_command_line(
    table: Path, tmp_path: Path, invoke: Invoke, refuse: Refuse
) -> None:
    options = [
        "--out",
        tmp_path / "run",
        "--network=4",
        "--set=steps=10",
        "--device=cpu",
        "--epochs=3",
    ]
    printed(invoke, "train", table, "--set=class_weight=balanced", *options)
    (protocol,) = RunFolder.open(tmp_path / "run").recipe.protocols
    assert protocol.epochs == 3
    labels = entrain.load_own(table).train.labels
    expected = compute_class_weight("balanced", classes=np.arange(3), y=labels)
    assert protocol.class_weights == pytest.approx(expected)
    options[1] = tmp_path / "other"
    message = refuse("train", table, "--set=class_weight=even", *options)
    assert "class_weight must be 'balanced'" in message
    message = refuse("train", table, "--set=DIRECT.class_weights=[1,2]", *options)
    assert "class_weights must be 3 numbers, one for each class, got 2" in message
    assert "--epochs must be" in refuse("train", table, "--epochs=0")
    assert not options[1].exists()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Recipe(3), "dataset must be the name"),
        (lambda: Recipe.for_dataset(None), "dataset must be the name"),
        (lambda: Recipe("digits", protocols="DIRECT"), "for_dataset takes names"),
        (lambda: Recipe("digits", protocols=5), "protocols must be"),
        (lambda: Recipe.for_dataset("digits", [5]), "protocols must be"),
        (lambda: entrain.TeacherSpec(5), "widths must be"),
        (lambda: entrain.NetworkSpec(4, 5), "dynamics must be"),
        (lambda: entrain.Direct(augmentation=5), "augmentation must be"),
        (lambda: entrain.Direct(start=[]), r"unknown start \[\]"),
        (lambda: entrain.Dynamics(steps=2.5), "steps must be a whole number"),
        (lambda: entrain.load_dataset(None), "unknown dataset None"),
    ],
)
def test_invalid_values_of_a_recipe_are_named(make: Any, message: str) -> None:
    with pytest.raises((InputError, TypeError), match=message):
        make()


def test_numpy_scalars_are_accepted() -> None:
    spec = entrain.NetworkSpec(np.int64(4), entrain.Dynamics(steps=np.int32(7)))
    assert spec == entrain.NetworkSpec(4, entrain.Dynamics(steps=7))
    direct = entrain.Direct(epochs=np.uint8(3), gain=(np.float32(0.5), np.float64(2)))
    recipe = Recipe("digits", entrain.TeacherSpec(np.array([3, 1])), (direct,), spec, np.int8(2))
    plain = Recipe.from_json(json.loads(json.dumps(recipe.to_json())))
    assert plain == recipe
