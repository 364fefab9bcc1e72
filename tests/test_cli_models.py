"""Facts about the commands that take a model: `evaluate`, `show` and `predict`."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import entrain
from command_line import METRICS, Invoke, Run, cli, environment, printed
from entrain.data import Split
from entrain.data.pictures import read_picture

pytestmark = pytest.mark.filterwarnings("error")


# evaluate


def test_evaluate_of_folder_file_and_results_agree(invoke: Invoke, tiny_run: Run) -> None:
    by_folder = printed(invoke, "evaluate", tiny_run.folder)
    by_file = printed(invoke, "evaluate", tiny_run.model, "digits")
    assert by_folder == by_file
    row = json.loads((tiny_run.folder / "results.json").read_text())["results"]["TWO-STAGE-END"]
    assert {metric: by_folder[metric] for metric in METRICS} == {
        metric: row[metric] for metric in METRICS
    }
    path = printed(invoke, "evaluate", tiny_run.folder / "path-0.safetensors")
    assert (path["protocol"], by_file["protocol"]) == ("PATH", "TWO-STAGE-END")
    assert path["endpoint_rmse"] != by_file["endpoint_rmse"]


def test_evaluate_at_a_temperature_depends_on_the_seed_alone(invoke: Invoke, tiny_run: Run) -> None:
    noisy = ("evaluate", tiny_run.model, "--temperature", 0.3, "--replicates", 3)
    first, again = printed(invoke, *noisy), printed(invoke, *noisy, "--seed", 0)
    other = printed(invoke, *noisy, "--seed", 1)
    assert first == again
    assert first["single"]["endpoint_rmse"] != other["single"]["endpoint_rmse"]
    assert first["replicates"] == 3
    still = printed(invoke, "evaluate", tiny_run.model)
    assert first["single"]["endpoint_rmse"] > still["endpoint_rmse"]


def test_temperature_zero_is_no_temperature(invoke: Invoke, tiny_run: Run) -> None:
    cold = printed(invoke, "evaluate", tiny_run.model, "--temperature", 0, "--replicates", 7)
    assert cold == printed(invoke, "evaluate", tiny_run.model)


def test_evaluate_refine_compares_two_grids(invoke: Invoke, tiny_run: Run) -> None:
    found = printed(invoke, "evaluate", tiny_run.model, "--refine", 40)["refinement"]
    assert found["steps"] == [20, 40]
    assert 0 < found["rms_output_change"] < 0.1
    coarse, fine = found["largest_phase_increment"]
    assert fine == pytest.approx(coarse / 2, rel=0.2)
    same = printed(invoke, "evaluate", tiny_run.model, "--refine", 20)["refinement"]
    assert (same["disagreement"], same["largest_output_change"]) == (0, 0)


def test_evaluate_shows_what_it_prints_as_json(invoke: Invoke, tiny_run: Run) -> None:
    result = invoke(
        "evaluate", tiny_run.model, "--temperature", 0.1, "--replicates", 2, "--refine", 30
    )
    assert result.exit_code == 0
    found = printed(
        invoke, "evaluate", tiny_run.model, "--temperature", 0.1, "--replicates", 2, "--refine", 30
    )
    assert f"{found['top1']:.2f}" in result.stdout
    assert f"{found['single']['endpoint_rmse']:.4f}" in result.stdout
    assert "K = 20 -> 30" in result.stdout


# show


def test_show_counts(invoke: Invoke, tiny_run: Run) -> None:
    found = printed(invoke, "show", tiny_run.folder)
    inputs, hidden, outputs = 64, 10, 10
    couplers = hidden * (hidden - 1) // 2 + hidden * outputs
    assert found["oscillators"] == hidden + outputs
    assert found["couplers"] == couplers
    assert found["parameters"] == hidden * inputs + hidden + outputs + couplers
    assert found["teacher_widths"] == [4, 3, 3]
    assert found["dynamics"]["steps"] == 20
    assert found["bytes"] == tiny_run.model.stat().st_size
    assert found["recipe"]["dataset"] == "digits"


def test_show_in_words(invoke: Invoke, tiny_run: Run) -> None:
    result = invoke("show", tiny_run.folder)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "20 (10 hidden, 10 output)" in result.stdout
    assert "64-4-3-3-10" in result.stdout


# predict


@pytest.fixture(scope="module")
def model(tiny_run: Run) -> entrain.Model:
    return entrain.load(tiny_run.folder)


@pytest.fixture(scope="module")
def clear(model: entrain.Model) -> Split:
    """Test images whose class does not hang on the last bits of a pixel."""
    test = entrain.load_dataset("digits").test
    best = model.scores(test.features).sort(dim=1).values
    chosen = (best[:, -1] - best[:, -2] > 0.05).numpy()
    assert chosen.sum() > 100
    split = Split(test.features[chosen][:60], test.labels[chosen][:60])
    assert len(set(model.predict(split.features))) >= 5
    return split


def grey(pixels: np.ndarray, white: int = 255) -> np.ndarray:
    """A digit of 8 x 8 pixels from 0 to 16 as grey levels."""
    return np.rint(pixels.reshape(8, 8).astype(float) / 16 * white)


def picture(path: Path, levels: np.ndarray, mode: str = "L", **options: Any) -> Path:
    Image.fromarray(levels.astype(np.uint8), "L").convert(mode).save(path, **options)
    return path


def classes(invoke: Invoke, model: Path, *paths: Path) -> list[int]:
    found = printed(invoke, "predict", model, *paths)["predictions"]
    assert [entry["image"] for entry in found] == [str(path) for path in paths]
    for entry in found:
        assert entry["class"] == int(np.argmax(entry["scores"]))
        assert entry["label"] == str(entry["class"])
        best = sorted(entry["scores"])
        assert math.isclose(entry["margin"], best[-1] - best[-2], abs_tol=1e-6)
    return [entry["class"] for entry in found]


def test_predict_takes_pictures_of_the_models_size_as_they_are(
    invoke: Invoke, tiny_run: Run, model: entrain.Model, clear: Split, tmp_path: Path
) -> None:
    expected = list(model.predict(clear.features))
    light = [picture(tmp_path / f"{i}.png", grey(x)) for i, x in enumerate(clear.features)]
    dark = [picture(tmp_path / f"-{i}.png", 255 - grey(x)) for i, x in enumerate(clear.features)]
    assert classes(invoke, tiny_run.folder, *light) == expected
    assert classes(invoke, tiny_run.model, *dark) == expected


def test_predict_reads_other_kinds_of_pictures(
    invoke: Invoke, tiny_run: Run, model: entrain.Model, clear: Split, tmp_path: Path
) -> None:
    pixels = clear.features[:12]
    expected = list(model.predict(pixels))
    paths: dict[str, list[Path]] = {}
    for i, image in enumerate(pixels):
        levels = grey(image)

        def path(kind: str, ending: str, i: int = i) -> Path:
            paths.setdefault(kind, []).append(tmp_path / f"{kind}{i}.{ending}")
            return paths[kind][-1]

        ink = Image.new("RGBA", (8, 8), "black")
        ink.putalpha(Image.fromarray(levels.astype(np.uint8), "L"))
        ink.save(path("alpha", "png"))
        Image.fromarray(grey(image, 65535).astype(np.uint16)).save(path("deep", "png"))
        Image.fromarray((levels / 255).astype(np.float32)).save(path("float", "tiff"))
        picture(path("jpeg", "jpg"), levels, quality=100)
        picture(path("colour", "png"), levels, "RGB")
        picture(path("palette", "gif"), levels, "P")
    with Image.open(paths["deep"][0]) as deep:
        assert deep.mode.startswith("I")
    for kind, made in paths.items():
        assert classes(invoke, tiny_run.model, *made) == expected, kind


def test_predict_turns_a_photograph_upright(
    invoke: Invoke, tiny_run: Run, model: entrain.Model, clear: Split, tmp_path: Path
) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned a quarter clockwise
    paths = [
        picture(tmp_path / f"{i}.jpg", np.rot90(grey(x)), quality=100, exif=exif)
        for i, x in enumerate(clear.features[:12])
    ]
    assert classes(invoke, tiny_run.model, *paths) == list(model.predict(clear.features[:12]))


def drawing(size: tuple[int, int], digit: np.ndarray, left: int, top: int) -> Image.Image:
    """A digit, ten times as large, in ink on paper of `size`."""
    paper = Image.new("L", size, 240)
    ink = Image.fromarray((240 - 200 * (digit.reshape(8, 8) > 7)).astype(np.uint8), "L")
    paper.paste(ink.resize((80, 80), Image.Resampling.NEAREST), (left, top))
    return paper


def test_predict_reads_a_drawing_of_any_size_and_place(
    invoke: Invoke, tiny_run: Run, clear: Split, tmp_path: Path
) -> None:
    drawing((200, 140), clear.features[0], 20, 10).save(tmp_path / "a.png")
    drawing((333, 222), clear.features[0], 200, 130).save(tmp_path / "b.png")
    found = printed(invoke, "predict", tiny_run.model, tmp_path / "a.png", tmp_path / "b.png")[
        "predictions"
    ]
    assert found[0]["class"] in range(10)
    assert found[0]["scores"] == found[1]["scores"]
    shown = invoke("predict", tiny_run.model, tmp_path / "a.png").stdout
    assert f"{found[0]['score']:.3f}" in shown


def test_a_drawing_is_framed_as_the_mnist_digits_are(clear: Split, tmp_path: Path) -> None:
    for number, digit in enumerate(clear.features[:10]):
        path = tmp_path / f"{number}.png"
        drawing((300, 200), digit, 150, 30).save(path)
        framed = read_picture(path, (28, 28), 255.0)
        rows, columns = np.nonzero(framed)
        assert max(np.ptp(rows), np.ptp(columns)) + 1 == 20
        assert framed.max() == pytest.approx(255, abs=1)
        mass = framed / framed.sum()
        assert abs((mass.sum(1) * np.arange(28)).sum() - 13.5) <= 0.5 + 1e-9
        assert abs((mass.sum(0) * np.arange(28)).sum() - 13.5) <= 0.5 + 1e-9


# The world around


def test_names_are_shown_as_they_are(invoke: Invoke, tiny_run: Run, tmp_path: Path) -> None:
    for name in ("a[bold]b", "c[/]d", ":smile:"):
        copy = tmp_path / f"{name}.png"
        copy.parent.mkdir(exist_ok=True)
        drawing((90, 90), np.eye(8) * 16, 5, 5).save(copy)
        result = invoke("predict", tiny_run.model, copy)
        assert result.exit_code == 0
        assert f"{name}.png" in "".join(result.stdout.replace("│", "").split())


def test_a_name_the_terminal_cannot_show_is_no_crash(
    tiny_run: Run, clear: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = picture(Path("é\udcff.png"), grey(clear.features[0]))
    done = cli("predict", tiny_run.model, path, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert r"\xe9" in done.stdout


def test_a_reader_who_leaves_is_no_error(tiny_run: Run) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "entrain", "show", str(tiny_run.folder), "--json"],
        stdout=writer,
        stderr=subprocess.PIPE,
        env=environment(),
        check=False,
        timeout=120,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")
