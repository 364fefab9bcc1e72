"""Facts about `entrain predict`: tables, folders, standard input, and large pictures."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import entrain
from command_line import Invoke, Refuse, environment, in_process, printed, strict
from entrain.data.pictures import LONGEST_SIDE, MOST_PIXELS, read_picture
from entrain.tasks import Classification
from entrain.utils.errors import InputError

TEST = entrain.load_test_split("mnist")


def predict(*arguments: object, stdin: bytes) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "entrain", "predict", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, env=environment())


@pytest.fixture(scope="module")
def rows_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of three features and the classes x, y, z, made by the command."""
    folder = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(0)
    lines = [
        ",".join(f"{v:.3f}" for v in rng.normal(2 * (i % 3), 0.4, 3)) + f",{'xyz'[i % 3]}"
        for i in range(90)
    ]
    (folder / "t.csv").write_text("\n".join(["a,b,c,kind", *lines]) + "\n")
    options = ("--network=8", "--set=steps=40", "--epochs=40")
    done = in_process("train", folder / "t.csv", "--out", folder / "run", *options)
    assert done.exit_code == 0, done.stderr
    return folder


def test_a_table_with_labels_is_read_by_row(invoke: Invoke, rows_model: Path) -> None:
    found = printed(invoke, "predict", rows_model / "run", rows_model / "t.csv")["predictions"]
    assert [each["row"] for each in found] == list(range(1, 91))
    assert [each["given"] for each in found[:3]] == ["x", "y", "z"]
    assert np.mean([each["given"] == each["label"] for each in found]) > 0.9
    for each in found:
        assert set(each["probabilities"]) == {"x", "y", "z"}
        assert sum(each["probabilities"].values()) == pytest.approx(1)
        assert isinstance(each["unsure"], bool)


def test_rows_far_from_the_training_rows_are_unsure(
    invoke: Invoke, rows_model: Path, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("0,0,0\n40,-40,40\n")
    found = printed(invoke, "predict", rows_model / "run", tmp_path / "t.csv")["predictions"]
    assert found[1]["unsure"]
    assert found[1]["reason"] == "unlike the training data"


@pytest.mark.parametrize(
    "text",
    [
        "1,2,3\n0,0,0\n",
        "a,b,c\n1,2,3\n0,0,0\n",
        "a;b;label;c\n1;2;x;3\n0;0;z;0\n",
        "\ufeffa\tb\tc\n1\t2\t3\n\n0\t0\t0\n",
        "1,2,3,x\n0,0,0,z\n",
        "x,1,2,3\nz,0,0,0\n",
    ],
)
def test_headers_labels_and_delimiters_make_no_difference(
    invoke: Invoke, rows_model: Path, tmp_path: Path, text: str
) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    np.savez(tmp_path / "t.npz", X=np.array([[1, 2, 3], [0, 0, 0]]))
    run = rows_model / "run"
    found = printed(invoke, "predict", run, tmp_path / "t.csv")["predictions"]
    arrays = printed(invoke, "predict", run, tmp_path / "t.npz")["predictions"]
    assert [each["scores"] for each in found] == [each["scores"] for each in arrays]


def test_one_bad_row_costs_no_other(invoke: Invoke, rows_model: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("1,2,3\n1,x,3\n1,2\n1,nan,3\n1,2,1e300\n1,2,3\n")
    result = invoke("predict", rows_model / "run", tmp_path / "t.csv", "--csv")
    assert result.exit_code == 1
    found = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [bool(each["error"]) for each in found] == [False, True, True, True, True, False]
    assert [each["row"] for each in found] == list("123456")
    assert found[0]["p(x)"] == found[5]["p(x)"]
    assert found[0]["unsure"] in ("true", "false")
    assert result.stderr.count("error:") == 4


def test_what_is_no_table_of_the_model(refuse: Refuse, rows_model: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("1,2,3,4,5\n")
    run = rows_model / "run"
    assert "5 columns; expected the model's 3" in refuse("predict", run, tmp_path / "t.csv")
    assert "not pictures" in refuse("predict", run, tmp_path / "x.png")
    (tmp_path / "t.npz").write_bytes(b"PK")
    assert "not a complete .npz" in refuse("predict", run, tmp_path / "t.npz")
    assert "no such table" in refuse("predict", run, tmp_path / "none.csv")
    assert "choose one" in refuse("predict", run, tmp_path / "t.csv", "--csv", "--json")


def test_rows_on_standard_input(rows_model: Path) -> None:
    done = in_process("predict", rows_model / "run", "-", "--csv", stdin=b"1,2,3\n")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[1].startswith("-,1,")
    bad = in_process("predict", rows_model / "run", "-", stdin=b"\xff\x00")
    assert bad.exit_code == 2
    assert "-: not text" in bad.stderr


def test_pictures_rows_and_folders_of_a_picture_model_agree(invoke: Invoke, tmp_path: Path) -> None:
    digits = TEST.features[:3].reshape(-1, 28, 28)
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / ".hidden").mkdir()
    for place, digit in zip(("a/1.png", "a/2.png", "a/b/0.png"), digits, strict=True):
        Image.fromarray(digit).save(tmp_path / place)
    (tmp_path / "a" / "notes.txt").write_text("x")
    (tmp_path / "a" / ".hidden" / "x.png").write_bytes(b"")
    np.savez(tmp_path / "t.npz", X=digits, y=TEST.labels[:3])
    np.savetxt(tmp_path / "t.csv", TEST.features[:3], fmt="%d", delimiter=",")
    sources = [tmp_path / "a", tmp_path / "t.npz", tmp_path / "t.csv"]
    found = printed(invoke, "predict", "mnist-74", *sources)["predictions"]
    assert [each["source"] for each in found[:3]] == [
        str(tmp_path / "a" / name) for name in ("1.png", "2.png", "b/0.png")
    ]
    labels = [each["label"] for each in found]
    assert labels == [*map(str, TEST.labels[:3])] * 3
    assert [each["given"] for each in found[3:6]] == labels[:3]


def test_a_picture_on_standard_input(tmp_path: Path) -> None:
    content = io.BytesIO()
    Image.fromarray(TEST.features[0].reshape(28, 28)).save(content, "PNG")
    done = predict("mnist-74", "-", "--json", stdin=content.getvalue())
    assert done.returncode == 0, done.stderr
    (found,) = strict(done.stdout.decode())["predictions"]
    assert (found["label"], found["unsure"]) == ("7", False)


def test_a_model_without_a_reject_option_says_so(invoke: Invoke, tmp_path: Path) -> None:
    from dataclasses import replace

    replace(entrain.load("mnist-74"), reject=None).save(tmp_path / "m.safetensors")
    Image.fromarray(TEST.features[0].reshape(28, 28)).save(tmp_path / "x.png")
    result = invoke("predict", tmp_path / "m.safetensors", tmp_path / "x.png")
    assert result.exit_code == 0
    assert "no reject option" in result.stderr


@pytest.mark.parametrize(
    "kind", ["RGBA", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("L", "P", "I;16"))]
)
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_picture_of_fifty_million_pixels_takes_half_a_gigabyte(tmp_path: Path, kind: str) -> None:
    side = int(MOST_PIXELS**0.5)
    sheet = Image.new("L", (side, side), 240)
    sheet.paste(20, (3000, 2000, 3400, 5000))
    deep = kind == "I;16"
    made = (
        Image.fromarray(np.asarray(sheet).astype(np.uint16) << 8) if deep else sheet.convert(kind)
    )
    made.save(tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size < 300_000
    code = (
        "import sys; from pathlib import Path; from entrain.data.pictures import read_picture\n"
        "read_picture(Path(sys.argv[1]), (28, 28), 255.0)\n"
        "print(next(x for x in open('/proc/self/status') if x.startswith('VmHWM')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "x.png"],
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[1]) < 520_000  # kB; today's Python and PyTorch are half of it


def test_pictures_with_a_side_too_long_are_refused(tmp_path: Path) -> None:
    Image.new("L", (LONGEST_SIDE + 1, 2), 3).save(tmp_path / "x.png")
    with pytest.raises(InputError, match="10001 x 2 pixels are too many"):
        read_picture(tmp_path / "x.png", (28, 28), 255.0)


@pytest.mark.parametrize("size", [(1700, 1300), (513, 40)])
def test_large_and_small_pictures_of_one_thing_agree(tmp_path: Path, size: tuple[int, int]) -> None:
    sheet = Image.new("L", size, 230)
    sheet.paste(30, tuple(int(0.3 * each) for each in (*size,)) + tuple(int(0.6 * e) for e in size))
    sheet.save(tmp_path / "large.png")
    sheet.resize([each // 2 for each in size], Image.Resampling.BOX).save(tmp_path / "small.png")
    large, small = (
        read_picture(tmp_path / f"{n}.png", (28, 28), 255.0) for n in ("large", "small")
    )
    assert np.abs(large - small).mean() < 6


def test_columns_are_found_by_their_names(invoke: Invoke, rows_model: Path, tmp_path: Path) -> None:
    right, turned = tmp_path / "right.csv", tmp_path / "turned.csv"
    right.write_text("a,b,c\n0.1,0.2,4.3\n4.1,2.2,0.3\n")
    turned.write_text("id,c,b,a\n1,4.3,0.2,0.1\n2,0.3,2.2,4.1\n")
    one, other = (
        printed(invoke, "predict", rows_model / "run", file)["predictions"]
        for file in (right, turned)
    )
    assert [each["scores"] for each in one] == [each["scores"] for each in other]


def test_columns_that_fit_no_feature_are_refused(
    refuse: Refuse, rows_model: Path, tmp_path: Path
) -> None:
    lacking, strange = tmp_path / "lacking.csv", tmp_path / "strange.csv"
    lacking.write_text("a,b,z\n1,2,3\n")
    strange.write_text("p,q,r,s\n1,2,3,9\n1,2,3,8\n")
    assert "no column 'c', which the model was trained with" in refuse(
        "predict", rows_model / "run", lacking
    )
    assert "one more than the model's 3 features" in refuse("predict", rows_model / "run", strange)


def test_an_empty_table_does_not_cost_the_others(
    invoke: Invoke, rows_model: Path, tmp_path: Path
) -> None:
    good, blank = tmp_path / "good.csv", tmp_path / "blank.csv"
    good.write_text("a,b,c\n1,2,3\n")
    blank.write_text("\n\n")
    done = invoke("predict", rows_model / "run", blank, good, "--json")
    assert done.exit_code == 1
    first, second = strict(done.stdout)["predictions"]
    assert "the table is empty" in first["error"]
    assert second["label"] in "xyz"


def test_no_escape_sequence_of_a_model_is_printed_as_csv(
    invoke: Invoke, rows_model: Path, tmp_path: Path
) -> None:
    model = entrain.load(rows_model / "run")
    hostile = replace(model, task=Classification(("\x1b[31mred", "b\u202e", "c\nd")))
    hostile.save(tmp_path / "x.safetensors")
    (tmp_path / "rows.csv").write_text("a,b,c\n1,2,3\n")
    text = invoke("predict", tmp_path / "x.safetensors", tmp_path / "rows.csv", "--csv").stdout
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(text.splitlines()) == 2


def test_no_label_or_name_of_a_file_is_a_formula_in_csv(
    invoke: Invoke, rows_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = entrain.load(rows_model / "run")
    replace(model, task=Classification(("=1+1", "=1+2 ", "-1 2"))).save(tmp_path / "x.safetensors")
    monkeypatch.chdir(tmp_path)
    Path("@rows.csv").write_text("a,b,c\n-1,2,3\n")
    text = invoke("predict", "x.safetensors", "@rows.csv", "--csv").stdout
    row = next(csv.DictReader(io.StringIO(text)))
    assert row["source"] == "'@rows.csv"
    assert row["label"] in ("'=1+1", "'=1+2 ", "'-1 2")
    assert float(row["margin"]) >= 0  # a number stays one
