"""What cannot be used is refused: exit code 2, a message that says why, nothing half done."""

from __future__ import annotations

import fcntl
import gzip
import io
import json
import os
import resource
import shutil
import struct
import threading
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

import entrain
from conftest import TINY, Invoke, Run, cli, recipe
from entrain.cli.console import guarded
from entrain.data.pictures import read_picture
from entrain.data.sources import FILES
from entrain.errors import InputError
from entrain.files import write_atomically
from entrain.learning import PROTOCOLS
from entrain.model import read_model
from entrain.runfolder import RunFolder, new_folder

BUNDLED = Path(entrain.__file__).parent / "data" / "bundled"
QUICK = recipe(3, 1, 1)

Refuse = Callable[..., str]


@pytest.fixture
def refuse(invoke: Invoke) -> Refuse:
    """`refuse("train", ...)`: the message of a command that must not work."""

    def run(*arguments: object) -> str:
        result = invoke(*arguments)
        assert isinstance(result.exception, SystemExit), result.exception
        assert result.exit_code == 2
        assert result.stdout == ""
        assert "Traceback" not in result.stderr
        return " ".join(result.stderr.split())

    return run


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below `folder`."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


# Names


@pytest.mark.parametrize("command", ["train", "data"])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("minst", "unknown dataset 'minst': did you mean 'mnist'?"),
        ("fashion", "known are digits, fashion-mnist, mnist"),
        ("[/b]", "unknown dataset '[/b]'"),
    ],
)
def test_unknown_dataset(refuse: Refuse, command: str, name: str, said: str) -> None:
    assert said in refuse(command, name, "--json")


def test_unknown_protocol(refuse: Refuse) -> None:
    said = refuse("train", "--protocol", "two-stage", "--json")
    assert "unknown protocol 'two-stage': did you mean 'TWO-STAGE-END'?" in said


def test_unknown_model(refuse: Refuse) -> None:
    said = refuse("evaluate", "mnist-75", "--json")
    assert "unknown model 'mnist-75'" in said
    assert "or give a model file or a run folder" in said


@pytest.mark.parametrize("device", ["gpu", "cuda:99", "mps", "meta"])
def test_unknown_device_leaves_no_folder(refuse: Refuse, tmp_path: Path, device: str) -> None:
    assert device in refuse("train", "--device", device, "--out", tmp_path / "run", "--json")
    assert not (tmp_path / "run").exists()


def test_unknown_path_solver(refuse: Refuse, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "run", "--json")
    assert "did you mean 'exact'?" in refuse("train", "--path-solver", "exat", *out)
    said = refuse("train", "--path-solver", "exact", "--path-learning-rate", 5, *out)
    assert "--path-learning-rate" in said
    assert list(tmp_path.iterdir()) == []


def test_unknown_polarity(refuse: Refuse, tiny_run: Run) -> None:
    said = refuse("predict", tiny_run.model, "x.png", "--polarity", "dark-on-ligth")
    assert "did you mean 'dark-on-light'?" in said


# Numbers


@pytest.mark.parametrize(
    "option",
    [
        "--runs=0",
        "--runs=-1",
        "--seed=-1",
        "--seed=4294967296",
        "--initialisations=0",
        "--teacher-epochs=0",
        "--path-epochs=0",
        "--path-epochs=-5",
        "--endpoint-epochs=0",
        "--path-learning-rate=0",
        "--path-learning-rate=nan",
        "--endpoint-learning-rate=-1",
        "--endpoint-learning-rate=inf",
        "--endpoint-weight=-1",
        "--batch-size=0",
        "--observation-time=0",
        "--observation-time=nan",
        "--steps=0",
        "--steps=-20",
    ],
)
def test_numbers_out_of_range_in_a_training(refuse: Refuse, tmp_path: Path, option: str) -> None:
    name, value = option.split("=")
    said = refuse("train", option, "--out", tmp_path / "run", "--json")
    assert f"{name} must be " in said
    assert f"got {value}" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "option",
    [
        "--temperature=-0.1",
        "--temperature=nan",
        "--temperature=inf",
        "--replicates=0",
        "--replicates=-3",
        "--seed=-1",
        "--refine=0",
        "--refine=-1",
    ],
)
def test_numbers_out_of_range_in_an_evaluation(refuse: Refuse, tiny_run: Run, option: str) -> None:
    name, value = option.split("=")
    said = refuse("evaluate", tiny_run.model, option, "--json")
    assert f"{name} must be " in said
    assert f"got {value}" in said


@pytest.mark.parametrize("option", ["--steps=many", "--temperature=warm", "--nonsense"])
def test_options_that_are_none(refuse: Refuse, tiny_run: Run, option: str) -> None:
    command = "evaluate" if "temperature" in option else "train"
    assert option.split("=")[0] in refuse(
        command, *([tiny_run.model] * (command != "train")), option
    )


@pytest.mark.parametrize("hidden", ["", "abc", "4,,3", "4,3,", "1e3", "4;3"])
def test_hidden_widths_that_are_no_numbers(refuse: Refuse, tmp_path: Path, hidden: str) -> None:
    said = refuse("train", f"--hidden={hidden}", "--out", tmp_path / "run", "--json")
    assert f"--hidden must be widths such as 32,16,16, got {hidden!r}" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("hidden", ["0", "4,-3", "4,0,3"])
def test_hidden_widths_out_of_range(refuse: Refuse, tmp_path: Path, hidden: str) -> None:
    assert "at least 1" in refuse("train", f"--hidden={hidden}", "--out", tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_more_than_fits_into_memory(refuse: Refuse, tiny_run: Run, tmp_path: Path) -> None:
    said = refuse("evaluate", tiny_run.model, "--refine", 10**15, "--json")
    assert "not enough memory" in said
    said = refuse("train", *QUICK, "--runs", 10**14, "--out", tmp_path / "run", "--json")
    assert "not enough memory" in said


def test_other_errors_are_not_hidden() -> None:
    def command() -> None:
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        guarded(command)()


# Datasets


def mnist_folder(folder: Path, **files: bytes | None) -> Path:
    """A data folder for MNIST: the official test files, changed by `images` and `labels`."""
    place = folder / "mnist"
    place.mkdir()
    for kind, name in (("images", "t10k-images-idx3-ubyte"), ("labels", "t10k-labels-idx1-ubyte")):
        content = files.get(kind, (BUNDLED / "mnist" / f"{name}.gz").read_bytes())
        if content is not None:
            (place / f"{name}.gz").write_bytes(content)
    return folder


def official(dataset: str) -> bytes:
    return (BUNDLED / dataset / "t10k-images-idx3-ubyte.gz").read_bytes()


@pytest.mark.parametrize(
    ("images", "said"),
    [
        (None, "no t10k-images-idx3-ubyte"),
        (b"", "magic of 4 bytes, got 0|not mnist's t10k-images-idx3-ubyte"),
        (official("mnist")[:100_000], "the gzip file is cut off (100000 bytes)"),
        (official("mnist")[:5000] + b"\xff" * 5000 + official("mnist")[10_000:], "is corrupt"),
        (gzip.decompress(official("mnist"))[:-1], "has SHA-256"),
        (official("fashion-mnist"), "this is fashion-mnist's t10k-images-idx3-ubyte"),
        (b"hello", "not mnist's t10k-images-idx3-ubyte"),
    ],
    ids=["missing", "empty", "truncated", "corrupt", "short", "mislabelled", "garbage"],
)
def test_test_images_that_are_not_official(
    refuse: Refuse, tiny_run: Run, tmp_path: Path, images: bytes | None, said: str
) -> None:
    folder = mnist_folder(tmp_path, images=images)
    found = refuse("evaluate", tiny_run.model, "mnist", "--data-dir", folder, "--json")
    assert any(part in found for part in said.split("|"))
    assert str(folder / "mnist") in found


@pytest.mark.parametrize("content", [None, b"garbage", b"\x1f\x8bgarbage"])
def test_training_images_that_are_not_official(
    refuse: Refuse, tmp_path: Path, content: bytes | None
) -> None:
    folder, out = mnist_folder(tmp_path), tmp_path / "run"
    for name in FILES["mnist"]:
        if name.startswith("train") and content is not None:
            (folder / "mnist" / name).write_bytes(content)
    said = refuse("train", "mnist", "--data-dir", folder, "--out", out, "--json")
    assert "train-images-idx3-ubyte" in said
    assert "train-images-idx3-ubyte" in refuse("data", "mnist", "--data-dir", folder, "--json")
    assert not out.exists()


def test_a_data_folder_that_is_not_there(refuse: Refuse, tiny_run: Run, tmp_path: Path) -> None:
    place = tmp_path / "nowhere"
    said = refuse("evaluate", tiny_run.model, "mnist", "--data-dir", place, "--json")
    assert f"{place}: no such folder" in said


def test_a_model_on_images_of_another_size(refuse: Refuse, tiny_run: Run) -> None:
    said = refuse("evaluate", tiny_run.model, "mnist", "--json")
    assert "mnist has images of 784 pixels" in said
    assert "takes 64 (it was trained on digits)" in said


# Pictures


def png(width: int = 30, height: int = 20, kind: str = "PNG") -> bytes:
    """A picture with something in it."""
    levels = np.zeros((height, width), np.uint8)
    levels[4:15, 6:21] = np.arange(165).reshape(11, 15)
    file = io.BytesIO()
    Image.fromarray(levels).save(file, kind)
    return file.getvalue()


def png_header(width: int, height: int) -> bytes:
    """A PNG file that claims a size and holds nothing."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(b"")), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def constant(level: int) -> bytes:
    file = io.BytesIO()
    Image.new("L", (30, 20), level).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no such picture"),
        (b"", "not a picture"),
        (b"This is text.", "expected one of PNG, JPEG"),
        (png()[:-40], "truncated or corrupt"),
        (png()[:20], "not a picture|truncated or corrupt"),
        (constant(0), "constant"),
        (constant(255), "constant"),
        (png_header(10_000, 6_000), "10000 x 6000 pixels are too many; at most 50,000,000"),
        (png_header(40_000, 40_000), "too many"),
        (png_header(0, 5), "not a picture|truncated or corrupt"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not a picture"),
    ],
    ids=[
        "missing",
        "empty",
        "text",
        "truncated",
        "header-cut",
        "black",
        "white",
        "60-megapixels",
        "1600-megapixels",
        "no-pixels",
        "program",
    ],
)
def test_pictures_that_cannot_be_read(
    refuse: Refuse, tiny_run: Run, tmp_path: Path, content: bytes | None, said: str
) -> None:
    good, bad = tmp_path / "good.png", tmp_path / "bad.png"
    good.write_bytes(png())
    if content is not None:
        bad.write_bytes(content)
    found = refuse("predict", tiny_run.model, good, bad, "--json")
    assert f"{bad}: " in found
    assert any(part in found for part in said.split("|"))


def test_a_folder_is_no_picture(refuse: Refuse, tiny_run: Run, tmp_path: Path) -> None:
    assert f"{tmp_path}: no such picture" in refuse("predict", tiny_run.model, tmp_path)


@pytest.mark.parametrize("pixel", [np.nan, np.inf])
def test_a_picture_of_no_numbers(tmp_path: Path, pixel: float) -> None:
    levels = np.eye(9, dtype=np.float32)
    levels[0, 0] = pixel
    Image.fromarray(levels).save(tmp_path / "x.tiff")
    with pytest.raises(InputError, match="NaN or infinite"):
        read_picture(tmp_path / "x.tiff", (8, 8), 16.0)


@settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    kind=st.sampled_from(["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM"]),
    place=st.floats(0, 1, exclude_max=True),
    put=st.binary(min_size=1, max_size=6),
    cut=st.booleans(),
)
def test_a_damaged_picture_is_read_or_refused(
    tmp_path: Path, kind: str, place: float, put: bytes, cut: bool
) -> None:
    content = png(kind=kind)
    at = int(place * len(content))
    path = tmp_path / "x.png"
    path.write_bytes(content[:at] + (b"" if cut else put + content[at + len(put) :]))
    try:
        pixels = read_picture(path, (8, 8), 16.0)
    except InputError as error:
        assert str(error).startswith(f"{path}: ")  # noqa: PT017 (either way is right)
    else:
        assert pixels.shape == (8, 8)
        assert 0 <= pixels.min() < pixels.max() <= 16


# Arrays


@pytest.mark.parametrize(
    ("pixels", "said"),
    [
        (np.ones((3, 28, 28)), r"images must be 8 x 8 pixels .* got shape \(3, 28, 28\)"),
        (np.ones(63), r"got shape \(63,\)"),
        (np.ones(()), r"got shape \(\)"),
        (np.ones((0, 8, 8)), "at least one image"),
        (np.full((2, 64), 3.0), "image 0 is constant"),
        (np.where(np.arange(64) == 5, np.nan, 1.0), "NaN or infinite"),
        (np.where(np.arange(64) == 5, np.inf, 1.0), "NaN or infinite"),
        (np.arange(64.0), "from 0 to 16, got 0 to 63"),
        (-np.arange(64.0) / 8, "from 0 to 16, got -7.875"),
    ],
)
def test_arrays_a_model_cannot_read(tiny_run: Run, pixels: np.ndarray, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_model(tiny_run.model).predict(pixels)


# Model files


def rewritten(
    source: Path,
    target: Path,
    tensors: dict[str, Tensor | None] | None = None,
    header: dict[str, Any] | None = None,
) -> Path:
    """`source` with tensors and header entries replaced (None: left out)."""
    with safe_open(source, framework="pt") as file:
        found = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
        text = json.loads(file.metadata()["entrain"])
    found |= tensors or {}
    text |= header or {}
    kept = {name: tensor for name, tensor in found.items() if tensor is not None}
    text = {name: value for name, value in text.items() if value is not ...}
    save_file(kept, target, {"entrain": json.dumps(text)})
    return target


@pytest.mark.parametrize("command", ["show", "evaluate", "predict"])
def test_model_files_that_are_none(refuse: Refuse, tmp_path: Path, command: str) -> None:
    more = [tmp_path / "x.png"] if command == "predict" else []
    empty, text = tmp_path / "empty.safetensors", tmp_path / "text.safetensors"
    empty.touch()
    text.write_text("hello " * 100)
    missing = tmp_path / "missing.safetensors"
    assert f"{missing}: no such model file" in refuse(command, missing, *more, "--json")
    for path in (empty, text):
        said = refuse(command, path, *more, "--json")
        assert f"{path}: not a readable model file" in said
        assert "expected an Entrain safetensors file" in said


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(share=st.floats(0, 1, exclude_max=True))
def test_a_truncated_model_file(tiny_run: Run, tmp_path: Path, share: float) -> None:
    content = tiny_run.model.read_bytes()
    path = tmp_path / "cut.safetensors"
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(InputError, match=r"cut\.safetensors: .* truncated"):
        read_model(path)


@settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(place=st.integers(0, 6000), put=st.binary(min_size=1, max_size=4))
def test_a_damaged_model_file_is_read_or_refused(
    tiny_run: Run, tmp_path: Path, place: int, put: bytes
) -> None:
    content = bytearray(tiny_run.model.read_bytes())
    content[place : place + len(put)] = put
    path = tmp_path / "damaged.safetensors"
    path.write_bytes(content)
    try:
        model = read_model(path)
    except InputError as error:
        assert "damaged.safetensors: " in str(error)  # noqa: PT017 (either way is right)
    else:
        assert all(parameter.isfinite().all() for parameter in model.network.parameters())


def nan_at_start(tensor: Tensor) -> Tensor:
    changed = tensor.clone()
    changed.view(-1)[0] = torch.nan
    return changed


def one_sided(couplings: Tensor) -> Tensor:
    changed = couplings.clone()
    changed[0, 1] += 1
    return changed


CHANGES: dict[str, tuple[str, Callable[[Tensor], Tensor | None], str]] = {
    "weights": ("input_weights", nan_at_start, "input_weights must be finite"),
    "couplings": ("couplings", one_sided, "couplings must be symmetric: J[0, 1]"),
    "self": ("couplings", lambda j: j + torch.eye(20), "self-coupling is not allowed"),
    "integers": ("biases", lambda b: b.long(), "biases must be float32 or float64"),
    "biases": ("biases", lambda b: b[:7], "biases must have one entry for each"),
    "missing": ("couplings", lambda _: None, "missing tensors couplings"),
    "teacher": ("teacher.weight1", lambda w: w[:-1], "teacher layer 1 must be 3 x 4"),
    "teacher-nan": ("teacher.bias3", nan_at_start, "teacher.bias3 must be finite"),
    "teacher-gone": ("teacher.bias3", lambda _: None, "missing tensors teacher.bias3"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_model_file_with_wrong_tensors(
    refuse: Refuse, tiny_run: Run, tmp_path: Path, change: str
) -> None:
    name, edit, said = CHANGES[change]
    with safe_open(tiny_run.model, framework="pt") as file:
        tensors = {name: edit(file.get_tensor(name))}
    path = rewritten(tiny_run.model, tmp_path / "x.safetensors", tensors)
    found = refuse("show", path, "--json")
    assert f"{path}: " in found
    assert said in found


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({"version": 2}, "format version 2; this release of Entrain reads version 1. Upgrade"),
        ({"kind": "checkpoint"}, "holds a checkpoint, expected a model"),
        ({"dynamics": ...}, "not a complete model file (KeyError('dynamics'))"),
        ({"dynamics": {"steps": 0}}, "steps must be a whole number of at least 1, got 0"),
        ({"dynamics": {"speed": 3}}, "not a complete model file"),
        ({"preprocessing": []}, "not a complete model file"),
        ({"class_names": ["a", "b"]}, "one class name per output oscillator (10), got 2"),
        ({"teacher_widths": None}, "foreign tensors teacher.bias0"),
        ({"teacher_widths": [4, 3, 4]}, "teacher layer 2 must be 4 x 3 with 4 biases"),
        ({"details": 5}, "not a complete model file"),
    ],
)
def test_a_model_file_with_a_wrong_header(
    refuse: Refuse, tiny_run: Run, tmp_path: Path, header: dict[str, Any], said: str
) -> None:
    path = rewritten(tiny_run.model, tmp_path / "x.safetensors", header=header)
    assert said in refuse("show", path, "--json")


def test_a_model_file_with_strange_details_is_shown(
    invoke: Invoke, tiny_run: Run, tmp_path: Path
) -> None:
    for number, details in enumerate(({}, {"validation": "good"}, {"validation": {"top1": "x"}})):
        path = tmp_path / f"{number}.safetensors"
        rewritten(tiny_run.model, path, header={"details": details})
        assert invoke("show", path).exit_code == 0


def test_safetensors_files_of_others(refuse: Refuse, tiny_run: Run, tmp_path: Path) -> None:
    foreign, bare = tmp_path / "foreign.safetensors", tmp_path / "bare.safetensors"
    rewritten(tiny_run.model, foreign, {"extra": torch.ones(3)})
    save_file({"weight": torch.ones(3)}, bare)
    assert "foreign tensors extra" in refuse("show", foreign)
    assert "without Entrain's header; expected an Entrain model" in refuse("show", bare)
    save_file({"weight": torch.ones(3)}, bare, {"entrain": "[" * 100_000})
    assert "without Entrain's header" in refuse("show", bare)


def test_a_checkpoint_is_no_model(refuse: Refuse, tiny_run: Run) -> None:
    path = tiny_run.folder / "state" / "path.safetensors"
    assert "holds a checkpoint, expected a model" in refuse("evaluate", path, "--json")


def test_a_run_that_is_not_finished(refuse: Refuse, tiny_run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "a run"
    folder.mkdir()
    shutil.copy(tiny_run.folder / "run.json", folder)
    said = refuse("evaluate", folder, "--json")
    assert f"not finished; go on with it: entrain train --resume '{folder}'" in said


# Output folders


def test_a_folder_that_holds_a_run_is_left_alone(refuse: Refuse, tiny_run: Run) -> None:
    before = contents(tiny_run.folder)
    said = refuse("train", *QUICK, "--out", tiny_run.folder, "--json")
    assert "already holds another run" in said
    assert f"entrain train --resume {tiny_run.folder}" in said
    assert contents(tiny_run.folder) == before


def test_a_folder_that_holds_other_files_is_left_alone(refuse: Refuse, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear")
    said = refuse("train", *QUICK, "--out", tmp_path, "--json")
    assert "already holds other files" in said
    assert "--resume" not in said
    assert contents(tmp_path) == {"letter.txt": b"Dear"}


def test_a_folder_that_is_a_file(refuse: Refuse, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    assert f"{file}: is a file" in refuse("train", *QUICK, "--out", file, "--json")
    said = refuse("train", *QUICK, "--out", file / "below", "--json")
    assert f"{file / 'below'}: " in said
    assert "Not a directory" in said
    assert file.read_text() == "x"


def test_a_place_that_cannot_be_written(refuse: Refuse) -> None:
    assert "/proc/entrain" in refuse("train", *QUICK, "--out", "/proc/entrain/run", "--json")


def test_numbered_folders_are_never_shared(tmp_path: Path) -> None:
    made: list[Path] = []
    together = threading.Barrier(8)

    def compete() -> None:
        together.wait()
        made.append(new_folder(tmp_path / "runs", "digits"))

    threads = [threading.Thread(target=compete) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 8


def test_a_folder_taken_at_the_last_moment_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mkdir = Path.mkdir

    def mkdir_and_lose(self: Path, *arguments: Any, **options: Any) -> None:
        mkdir(self, *arguments, **options)
        (self / "run.json").write_text("theirs")

    monkeypatch.setattr(Path, "mkdir", mkdir_and_lose)
    with pytest.raises(InputError, match="already holds another run"):
        RunFolder.create(tmp_path / "run", entrain.Recipe("digits"), {})
    assert contents(tmp_path) == {"run/run.json": b"theirs"}


def test_protocols_that_name_files_elsewhere(tmp_path: Path) -> None:
    for name in ("../../x", "a/b", "", ".x", "Teacher", "PATH\n"):
        recipe = entrain.Recipe("digits", protocols=(replace(PROTOCOLS["Z-END"], name=name),))
        with pytest.raises(InputError, match="name"):
            RunFolder.create(tmp_path / "run", recipe, {})
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_names_the_file_and_the_run_goes_on_later(
    invoke: Invoke, tiny_run: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    most = (tiny_run.folder / "state" / "teacher.safetensors").stat().st_size + 100
    done = cli(
        "train",
        "digits",
        "--out",
        folder,
        *TINY,
        "--json",
        limit=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert f"error: {folder / 'state' / 'path.safetensors'}: File too large" in done.stderr
    assert f"go on with: entrain train --resume {folder}" in done.stderr
    assert set(contents(folder)) == {"run.json", "state/teacher.safetensors"}
    assert invoke("train", "--resume", folder).exit_code == 0
    for name in ("path-0.safetensors", "two-stage-end-0.safetensors"):
        assert (folder / name).read_bytes() == (tiny_run.folder / name).read_bytes()


def test_a_failing_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            write_atomically(path, bytes(1000))
        with pytest.raises(OSError, match="File too large"):
            RunFolder.create(tmp_path / "run", entrain.Recipe("digits"), {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.filename == str(path)
    assert contents(tmp_path) == {"file": b"old"}


# Resuming


@pytest.fixture
def run(tiny_run: Run, tmp_path: Path) -> Path:
    """A run folder to spoil."""
    return Path(shutil.copytree(tiny_run.folder, tmp_path / "run"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--seed", "1"], "--seed"),
        (["--out", "elsewhere"], "--out"),
        (["--path-epochs", "9"], "--path-epochs"),
        (["--protocol", "PATH"], "--protocol"),
        (["digits"], "DATASET"),
    ],
)
def test_resuming_takes_no_recipe(refuse: Refuse, run: Path, options: list[str], said: str) -> None:
    before = contents(run)
    found = refuse("train", "--resume", run, *options, "--json")
    assert f"error: {said} cannot be combined with --resume" in found
    assert contents(run) == before


def test_resuming_what_is_no_run(refuse: Refuse, tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere"):
        said = refuse("train", "--resume", place, "--json")
        assert f"{place}: not a run folder (it has no run.json)" in said


def without(values: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in keys}


RUN_FILES: dict[str, Callable[[dict[str, Any]], bytes | Any]] = {
    "empty": lambda _: b"",
    "binary": lambda _: b"\xff\xfe\x00garbage",
    "truncated": lambda run: json.dumps(run).encode()[:-20],
    "nested": lambda _: b"[" * 100_000,
    "list": lambda run: [run],
    "no recipe": lambda run: without(run, "recipe"),
    "no settings": lambda run: without(run, "settings"),
    "settings": lambda run: run | {"settings": {"device": 5, "data_dir": None}},
    "data folder": lambda run: run | {"settings": {"device": "cpu", "data_dir": 7}},
    "recipe": lambda run: run | {"recipe": "yes"},
    "dataset": lambda run: run | {"recipe": run["recipe"] | {"dataset": ["digits"]}},
    "runs": lambda run: run | {"recipe": run["recipe"] | {"runs": 0}},
    "protocols": lambda run: run | {"recipe": run["recipe"] | {"protocols": [1]}},
    "extra": lambda run: run | {"recipe": run["recipe"] | {"dynamics": {"speed": 1}}},
}


@pytest.mark.parametrize("name", RUN_FILES)
def test_resuming_a_run_file_that_is_garbage(refuse: Refuse, run: Path, name: str) -> None:
    file = run / "run.json"
    content = RUN_FILES[name](json.loads(file.read_text()))
    file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    before = contents(run)
    assert f"{file}: " in refuse("train", "--resume", run, "--json")
    assert contents(run) == before


@pytest.mark.parametrize("stage", ["teacher", "path", "two-stage-end"])
def test_resuming_a_truncated_checkpoint(refuse: Refuse, run: Path, stage: str) -> None:
    file = run / "state" / f"{stage}.safetensors"
    for share in (0, 0.3, 0.99):
        file.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])
        before = contents(run)
        said = refuse("train", "--resume", run, "--json")
        assert f"{file}: not a readable checkpoint file" in said
        assert "Delete it to train its stage again" in said
        assert contents(run) == before


def test_a_deleted_checkpoint_is_trained_again(invoke: Invoke, run: Path) -> None:
    before = contents(run)
    (run / "state" / "path.safetensors").unlink()
    (run / "path-0.safetensors").unlink()
    assert invoke("train", "--resume", run).exit_code == 0
    after = contents(run)
    assert set(after) == set(before)
    for name in before:
        assert after[name] == before[name] or name == "results.json"  # which has the seconds


def test_resuming_with_a_checkpoint_of_another_recipe(refuse: Refuse, run: Path) -> None:
    file = run / "run.json"
    content = json.loads(file.read_text())
    content["recipe"]["teacher"]["widths"] = [5, 3, 3]
    file.write_text(json.dumps(content))
    said = refuse("train", "--resume", run, "--json")
    assert "teacher.safetensors: belongs to another recipe" in said


def test_resuming_with_a_checkpoint_that_is_none(refuse: Refuse, run: Path) -> None:
    file = run / "state" / "path.safetensors"
    shutil.copy(run / "path-0.safetensors", file)
    assert "holds a model, expected a checkpoint" in refuse("train", "--resume", run, "--json")
    rewritten(run / "state" / "teacher.safetensors", file, {"merit": None})
    said = refuse("train", "--resume", run, "--json")
    assert f"{file}: not a complete checkpoint (KeyError('merit'))" in said
    rewritten(run / "state" / "teacher.safetensors", file, header={"epoch": None})
    assert f"{file}: not a complete checkpoint" in refuse("train", "--resume", run, "--json")


def test_a_folder_that_is_being_trained(refuse: Refuse, run: Path) -> None:
    before = contents(run)
    with (run / "run.json").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        said = refuse("train", "--resume", run, "--json")
    assert f"{run}: another process is training this run" in said
    assert contents(run) == before


def test_a_data_folder_is_remembered_from_everywhere(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    options = ["--data-dir", "data", "--out", "run", "--protocol", "PATH"]
    assert invoke("train", *QUICK, *options).exit_code == 0
    kept = RunFolder.open(tmp_path / "run").settings["data_dir"]
    assert kept == str(tmp_path / "data")


# Divergence


@pytest.mark.parametrize(
    ("option", "stage"),
    [
        ("--path-learning-rate=1e12", "PATH"),
        ("--endpoint-learning-rate=1e6", "TWO-STAGE-END"),
    ],
)
def test_a_stage_that_diverges_at_once(
    refuse: Refuse, tmp_path: Path, option: str, stage: str
) -> None:
    said = refuse("train", *QUICK, option, "--out", tmp_path / "run", "--json")
    assert f"{stage}: the loss became non-finite in the first epoch" in said
    assert "lower its learning rate" in said
    assert not (tmp_path / "run" / "results.json").exists()


def test_a_run_that_diverges_keeps_its_best_and_leaves_the_others(
    invoke: Invoke, tmp_path: Path
) -> None:
    networks = {}
    for name, rates in (("good", (1000.0, 1000.0)), ("bad", (1000.0, 8000.0))):
        base = entrain.Recipe.for_dataset("digits", ["PATH"], path_solver="sgd", runs=2)
        chosen = base.adjusted(
            teacher={"widths": (4, 3, 3), "initialisations": 1, "epochs": 10},
            path={"learning_rate": rates, "epochs": 4},
        )
        chosen = replace(chosen, dynamics=entrain.Dynamics(steps=20))
        folder = tmp_path / name
        RunFolder.create(folder, chosen, {"device": "cpu", "data_dir": None})
        result = invoke("train", "--resume", folder, "--json")
        networks[name] = [
            read_model(folder / f"path-{run}.safetensors").network for run in range(2)
        ]
        assert result.exit_code == (2 if name == "bad" else 0)
        rows = json.loads(result.stdout)["results"]["PATH"]["runs"]
    said = " ".join(result.stderr.split())
    assert (
        "PATH run 1 became non-finite in epoch 2; kept is its best checkpoint, of epoch 1" in said
    )
    assert "Lower --path-learning-rate (it was 8000)" in said
    assert "PATH run 0" not in said
    assert [row["epoch"] for row in rows][1] == 1
    assert torch.equal(networks["good"][0].couplings, networks["bad"][0].couplings)
    assert torch.equal(networks["good"][0].input_weights, networks["bad"][0].input_weights)
    assert networks["bad"][1].couplings.abs().max() > 0


def test_a_run_without_a_good_epoch_has_strict_results(invoke: Invoke, tmp_path: Path) -> None:
    base = entrain.Recipe.for_dataset("digits", ["PATH"], path_solver="sgd", runs=2)
    chosen = base.adjusted(
        teacher={"widths": (4, 3, 3), "initialisations": 1, "epochs": 3},
        path={"learning_rate": (1e12, 1000.0), "epochs": 1},
    )
    chosen = replace(chosen, dynamics=entrain.Dynamics(steps=20))
    folder = tmp_path / "run"
    RunFolder.create(folder, chosen, {"device": "cpu", "data_dir": None})
    result = invoke("train", "--resume", folder, "--json")
    assert result.exit_code == 2
    assert "kept is only its starting point" in " ".join(result.stderr.split())
    assert "NaN" not in (folder / "results.json").read_text()
    assert b"NaN" not in (folder / "path-0.safetensors").read_bytes()
    assert invoke("show", folder).exit_code == 0
    assert os.path.getsize(folder / "trajectories.png") > 0
