"""Your own data and protocol DIRECT on the command line and in Python."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from safetensors.torch import load_file
from sklearn.datasets import load_iris

import entrain
from command_line import QUICK, Invoke, Refuse, in_process, printed
from entrain.rules import Direct
from entrain.training import Recipe, stages_of
from entrain.utils.files import with_digest
from own_files import folder_of_pictures

SMALL = ["--network=6,3,3", "--set=steps=40", "--device=cpu"]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Iris as a table with names for labels."""
    path = tmp_path_factory.mktemp("own") / "Iris flowers.csv"
    bunch = load_iris()
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sepal length", "sepal width", "petal length", "petal width", "kind"])
        for row, label in zip(bunch.data, bunch.target, strict=True):
            writer.writerow([*row, bunch.target_names[label]])
    return path


@pytest.fixture(scope="module")
def trained(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network trained on it by the command."""
    folder = tmp_path_factory.mktemp("run") / "iris"
    done = in_process("train", table, "--out", folder, *SMALL, "--json")
    assert done.exit_code == 0, done.stderr
    assert "4 features, 3 classes, 106 / 22 / 22 examples" in done.stderr
    counts = "(setosa 50, versicolor 50, virginica 50)"
    assert f"largest class has 1.0 times the smallest {counts}" in done.stderr
    assert "labels come from column 'kind'" in done.stderr
    result = json.loads(done.stdout)
    assert result["teacher"] is None
    assert result["results"]["DIRECT"]["top1"] > 85
    return folder


def test_a_table_becomes_a_model_that_takes_its_rows(trained: Path) -> None:
    model = entrain.load(trained)
    assert model.class_names == ("setosa", "versicolor", "virginica")
    assert (model.network.inputs, model.network.hidden, model.network.outputs) == (4, 12, 3)
    assert model.teacher is None
    bunch = load_iris()
    assert (model.predict_indices(bunch.data) == bunch.target).mean() > 0.9
    with pytest.raises(entrain.InputError, match=r"rows, 4\)"):
        model.predict(bunch.data[:, :3])


def test_show_describes_it_and_predict_says_it_reads_no_pictures(
    trained: Path, invoke: Invoke, refuse: Refuse, tmp_path: Path
) -> None:
    shown = invoke("show", trained).stdout
    assert "4 features, each standardised" in shown
    assert "cross-entropy" in shown
    assert printed(invoke, "show", trained)["teacher_widths"] is None
    message = refuse("predict", trained, tmp_path / "x.png")
    assert "reads rows of 4 features, not pictures" in message


def test_evaluate_takes_the_part_that_training_left_for_the_test(
    trained: Path, table: Path, tmp_path: Path, invoke: Invoke, refuse: Refuse
) -> None:
    found = printed(invoke, "evaluate", trained, table)
    assert found["examples"] == 22
    kept = json.loads((trained / "results.json").read_text())
    assert found["top1"] == pytest.approx(kept["results"]["DIRECT"]["top1"])
    other = tmp_path / "other.csv"
    other.write_text(table.read_text().replace("setosa", "tulip"))
    message = refuse("evaluate", trained, other)
    assert "the model has setosa, versicolor, virginica" in message


def test_evaluate_remembers_the_data_of_a_run(
    table: Path, tmp_path: Path, invoke: Invoke, refuse: Refuse
) -> None:
    own, folder = tmp_path / "flowers.csv", tmp_path / "run"
    lines = table.read_text().splitlines()
    moved = [",".join([row[-1], *row[:-1]]) for row in csv.reader(lines)]
    own.write_text("\n".join(moved))
    options = ["--label=kind", "--epochs=2", "--out", folder, *SMALL]
    kept = printed(invoke, "train", own, *options)["results"]["DIRECT"]
    for model in (folder, folder / "direct-0.safetensors"):
        assert printed(invoke, "evaluate", model)["top1"] == pytest.approx(kept["top1"])
    assert printed(invoke, "evaluate", folder, own)["top1"] == pytest.approx(kept["top1"])
    elsewhere = tmp_path / "alone.safetensors"
    elsewhere.write_bytes((folder / "direct-0.safetensors").read_bytes())
    assert "name the file or folder" in refuse("evaluate", elsewhere, "--json")
    own.write_text("\n".join(moved).replace("5.1", "5.2"))
    assert f"{own}: has changed since the run was trained" in refuse("evaluate", folder)
    assert printed(invoke, "evaluate", folder, own)["examples"] == 22
    own.unlink()
    message = refuse("evaluate", folder)
    assert f"{own}: the run was trained on it, and it is no longer there" in message


def test_export_and_yield_take_the_data_of_a_model_without_its_run_folder(
    trained: Path, table: Path, tmp_path: Path, invoke: Invoke, refuse: Refuse
) -> None:
    model, folder = tmp_path / "my model.safetensors", tmp_path / "plain"
    model.write_bytes((trained / "direct-0.safetensors").read_bytes())
    for command in (
        ("export", model, "--to", "plain", "--out", folder),
        ("yield", model, "--hardware", "typical", "--chips", 3),
    ):
        message = refuse(*command)
        assert f"entrain {command[0]} '{model}'" in message
        assert "--data FILE" in message
    assert not folder.exists()
    data = ("--data", table, "--label", "kind")
    printed(invoke, "export", model, "--to", "plain", "--out", folder, *data)
    exported = printed(invoke, "verify", folder)
    assert (exported["images"], exported["agree"]) == (10, 10)
    without = tmp_path / "without"
    printed(invoke, "export", model, "--to", "plain", "--out", without, "--images", 0)
    assert printed(invoke, "verify", without)["images"] == 1  # a synthetic input
    alone = printed(invoke, "yield", model, "--hardware", "typical", "--chips", 3, *data)
    folder_yield = printed(invoke, "yield", trained, "--hardware", "typical", "--chips", 3)
    assert alone["examples"] == 22
    assert alone["accuracies"] == folder_yield["accuracies"]


def test_a_run_whose_own_data_are_none_is_refused(
    trained: Path, tmp_path: Path, refuse: Refuse
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(trained, folder)
    kept = json.loads((folder / "run.json").read_text())
    for own in ("x.csv", {"path": "x.csv"}, {"path": 3, "label": None, "image_size": 28}):
        kept["settings"]["own"] = own
        (folder / "run.json").write_text(json.dumps(with_digest(kept)))
        for command in (["evaluate", folder], ["train", "--resume", folder]):
            assert "own must have path, label and image_size" in refuse(*command)


def test_hints_name_the_option_of_the_label_column(table: Path, refuse: Refuse) -> None:
    message = refuse("train", table, "--label", "kid")
    assert "unknown column 'kid'; did you mean 'kind'? " in message
    assert message.endswith("Choose the label column with --label NAME")
    message = refuse("train", table, "--label", "petal width")
    assert "column 'kind' holds no number in any row; leave it out" in message
    assert "--label NAME" in message


def test_a_run_begun_in_python_says_how_to_go_on(
    table: Path, tmp_path: Path, refuse: Refuse
) -> None:
    read, folder = entrain.data.load_own(table, label="kind"), tmp_path / "run"
    data = replace(read, source=None)  # as if its rows were arrays
    trained = entrain.train(data, folder=folder, device="cpu")
    (protocol,) = trained.recipe.protocols
    assert isinstance(protocol, Direct)  # from labels, as the command line does
    assert (protocol.batch_size, protocol.epochs) == (16, 142)  # as the command line has them
    assert "continue there with entrain.train(data" in refuse("train", "--resume", folder)


def test_a_run_begun_in_python_on_a_file_goes_on_here(
    table: Path, tmp_path: Path, invoke: Invoke
) -> None:
    """With the label column and the seed of the split that `load_own` was given."""
    data, folder = entrain.load_own(table, label="kind", seed=3), tmp_path / "run"
    trained = entrain.train(data, folder=folder, device="cpu", network=4, epochs=2)
    results = printed(invoke, "train", "--resume", folder)
    ours, theirs = (found["results"]["DIRECT"]["runs"] for found in (trained.results, results))
    assert ours == theirs


def test_a_folder_of_pictures_is_trained_on(tmp_path: Path, invoke: Invoke) -> None:
    pictures = folder_of_pictures(tmp_path / "kinds", {"cat": 12, "dog": 9})
    options = ["--image-size=8", "--epochs=2", "--out", tmp_path / "run", *SMALL]
    found = printed(invoke, "train", pictures, *options)
    assert found["examples"] == 3
    assert entrain.load(tmp_path / "run").class_names == ("cat", "dog")


def test_of_many_classes_the_figure_shows_some(tmp_path: Path, invoke: Invoke) -> None:
    labels = np.repeat(np.arange(30), 8)
    rows = 5.0 * np.eye(30)[labels] + np.random.default_rng(0).normal(0, 0.1, (240, 30))
    np.savez(tmp_path / "many.npz", X=rows, y=labels)
    options = ["--out", tmp_path / "run", "--network=16,8,8", "--set=steps=40", "--device=cpu"]
    options += ["--epochs=60"]
    found = printed(invoke, "train", tmp_path / "many.npz", *options)
    assert found["results"]["DIRECT"]["top1"] > 95  # so that all 30 classes could be shown
    with Image.open(found["figure"]) as figure:
        assert 1.2 < figure.height / figure.width < 1.3  # five rows of five


def strange_table(folder: Path) -> Path:
    """Rows of negative numbers, with formulas and characters of no font as labels."""
    rng = np.random.default_rng(0)
    rows = -1.0 - rng.uniform(size=(60, 3)) - np.repeat([[0], [5]], 30, 0)
    labels = np.repeat(["$x_1^", "\U00013080 {%"], 30)
    np.savez(folder / "negative.npz", X=rows, y=labels)
    return folder / "negative.npz"


def test_negative_rows_and_formulas_as_labels_are_drawn(tmp_path: Path, invoke: Invoke) -> None:
    options = ["--out", tmp_path / "run", "--epochs=3", *SMALL]
    result = invoke("train", strange_table(tmp_path), *options, "--json")
    assert result.exit_code == 0, result.stderr
    assert "warning" not in result.stderr.lower()
    with Image.open(json.loads(result.stdout)["figure"]) as figure:
        assert np.asarray(figure.convert("L")).std() > 10


def test_a_figure_that_fails_costs_no_results(
    tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("vmin must be\nless")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", fail)
    run = tmp_path / "run"
    options = ["--out", run, "--epochs=3", *SMALL]
    first = invoke("train", strange_table(tmp_path), *options, "--json")
    again = invoke("train", "--resume", run)
    warning = f"warning: {run / 'trajectories.png'}: no figure was drawn (ValueError: vmin must be"
    for result in (first, again):
        assert result.exit_code == 0, result.stderr
        (line,) = (line for line in result.stderr.splitlines() if "warning" in line)
        assert line == f"{warning} less)"
    found = json.loads(first.stdout)
    assert found["figure"] is None
    assert line.endswith(found["figure_error"])
    assert "figure " not in again.stdout
    assert json.loads((run / "results.json").read_text())["figure"] is None


def test_a_finished_run_resumes_to_the_same_weights(trained: Path, invoke: Invoke) -> None:
    file = trained / "direct-0.safetensors"
    before = load_file(file)
    result = invoke("train", "--resume", trained)
    assert result.exit_code == 0, result.stderr
    after = load_file(file)
    assert all(bool((before[name] == after[name]).all()) for name in before)


def test_arrays_and_a_chosen_label_column(tmp_path: Path, invoke: Invoke) -> None:
    bunch = load_iris()
    np.savez(tmp_path / "flowers.npz", X=bunch.data, y=bunch.target)
    found = printed(
        invoke,
        "train",
        tmp_path / "flowers.npz",
        "--out",
        tmp_path / "a",
        "--epochs=2",
        *SMALL,
    )
    assert found["dataset"] == "flowers"
    lines = ["y,a,b"] + [f"{i % 2},{i % 2 + 0.1 * (i % 5)},{i % 3}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    for label in ("y", "b"):
        folder = tmp_path / label
        options = ["--out", folder, "--epochs=2", *SMALL]
        printed(invoke, "train", tmp_path / "t.csv", "--label", label, *options)
        assert len(entrain.load(folder).class_names) == (2 if label == "y" else 3)


def test_bad_data_and_names_say_what_to_do(tmp_path: Path, refuse: Refuse) -> None:
    assert "no such file or folder" in refuse("train", tmp_path / "nothing.csv")
    message = refuse("train", "mnits")
    assert "did you mean 'mnist'" in message
    assert "or give an .npz, .csv or .tsv file" in message
    assert "--label belongs to your own tables" in refuse("train", "digits", "--label", "y")
    (tmp_path / "bad.csv").write_text("a,label\nx,1\ny,0\n")
    out = ["--out", tmp_path / "never"]
    assert "bad.csv" in refuse("train", tmp_path / "bad.csv", *out)
    assert not (tmp_path / "never").exists()


def test_direct_on_digits_needs_no_teacher(tmp_path: Path, invoke: Invoke) -> None:
    options = ["--out", tmp_path / "run", "--epochs=8", "--set=steps=50", "--device=cpu"]
    found = printed(invoke, "train", "digits", "--protocol", "DIRECT", *options)
    assert found["results"]["DIRECT"]["top1"] > 90
    assert not (tmp_path / "run" / "state" / "teacher.safetensors").exists()


def test_direct_goes_on_from_the_two_stages(tmp_path: Path, invoke: Invoke) -> None:
    options = ["--out", tmp_path / "run", "--epochs=3", *QUICK, "--device=cpu"]
    found = printed(invoke, "train", "digits", "--protocol", "DIRECT-FROM-TWO-STAGE", *options)
    rows = found["results"]
    assert rows["DIRECT-FROM-TWO-STAGE"]["top1"] > rows["TWO-STAGE-END"]["top1"]


def test_direct_after_the_two_stages_has_them_in_front() -> None:
    recipe = Recipe.for_dataset("mnist", ["DIRECT-FROM-TWO-STAGE"])
    assert [p.name for p in recipe.protocols] == ["PATH", "TWO-STAGE-END", "DIRECT-FROM-TWO-STAGE"]
    stages = stages_of(recipe)
    assert list(stages) == ["teacher", "PATH", "TWO-STAGE-END", "DIRECT-FROM-TWO-STAGE"]
    assert stages["DIRECT-FROM-TWO-STAGE"].needs == (stages["TWO-STAGE-END"],)
    alone = Recipe.for_dataset("mnist", ["DIRECT"])
    assert list(stages_of(alone)) == ["DIRECT"]
    for each in (recipe, alone):
        again = Recipe.from_json(json.loads(json.dumps(each.to_json())))
        assert again == each
    named_alike = Recipe.for_dataset("fashion-mnist_train", ["TWO-STAGE-END"])
    assert named_alike.teacher == Recipe.for_dataset("mnist").teacher
    (direct,) = alone.protocols
    assert isinstance(direct, Direct)
    assert direct.augmentation.elastic > 0


def test_a_network_of_a_json_file_is_trained(
    table: Path, tmp_path: Path, invoke: Invoke, refuse: Refuse
) -> None:
    """By a rule that learns its natural frequencies alone."""
    file = tmp_path / "network.json"
    spec = {
        "hidden": 3,
        "dynamics": {"mobility": 1.0, "observation_time": 5.0, "steps": 20},
        "frequencies": [0.0] * 6,
        "trainable": ["frequencies"],
    }
    file.write_text(json.dumps(spec))
    given = ["train", table, "--protocol=EP", f"--network={file}", f"--out={tmp_path / 'run'}"]
    invoke(*given, "--set", 'EP.frozen=["couplings"]', "--epochs=2", "--label=kind")
    network = entrain.load(tmp_path / "run").network
    assert network.hidden == 3
    assert float(network.frequencies.detach().abs().max()) > 0
    for text, message in {
        '{"hiden": 3}': "did you mean 'hidden'",
        '{"hidden": 3}': "a network has hidden and dynamics",
        '{"hidden": 3, "dynamics": {"stepz": 3}}': "stepz",
        '{"hidden": -1, "dynamics": {}}': "hidden must be",
        "[1": "not a network",
        "[1]": "expected a JSON object, got list",
    }.items():
        file.write_text(text)
        assert message in refuse(*given, "--label=kind")
    file.unlink()
    assert "there is no file" in refuse(*given, "--label=kind")
