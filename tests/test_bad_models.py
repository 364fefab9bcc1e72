"""Model files that are damaged, incomplete or not models at all are refused with a reason."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from command_line import Invoke, Refuse, Run
from entrain.models.model import read_model
from entrain.utils.errors import InputError
from model_files import rewritten


def constants(**changes: object) -> dict[str, Any]:
    """The preprocessing of 8 x 8 digits, changed."""
    right = {"pixel_max": 16.0, "mean": 0.3, "sd": 0.4, "norm": 9.0, "test_norm": 9.0}
    return {"image_shape": [8, 8], **right, **changes}


REJECT = {"margin": 0.1, "distance": 10.0, "rest": 1.0, "measured": {}}


@pytest.mark.parametrize("command", ["show", "evaluate", "predict"])
def test_model_files_that_are_none(refuse: Refuse, tmp_path: Path, command: str) -> None:
    more = [tmp_path / "x.png"] if command == "predict" else []
    empty, text = tmp_path / "empty.safetensors", tmp_path / "text.safetensors"
    empty.touch()
    text.write_text("hello " * 100)
    missing = tmp_path / "missing.safetensors"
    assert f"{missing}: no such model file" in refuse(command, missing, *more, "--json")
    for path in (empty, text):
        message = refuse(command, path, *more, "--json")
        assert f"{path}: not a readable model file" in message
        assert "expected an Entrain safetensors file" in message


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
    name, edit, message = CHANGES[change]
    with safe_open(tiny_run.model, framework="pt") as file:
        tensors = {name: edit(file.get_tensor(name))}
    path = rewritten(tiny_run.model, tmp_path / "x.safetensors", tensors)
    found = refuse("show", path, "--json")
    assert f"{path}: " in found
    assert message in found


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (
            {"version": 3},
            "format version 3; this release of Entrain reads version 2",
        ),
        ({"kind": "checkpoint"}, "holds a checkpoint, expected a model"),
        ({"dynamics": ...}, "not a complete model file (KeyError('dynamics'))"),
        ({"dynamics": {"steps": 0}}, "steps must be a whole number of at least 1, got 0"),
        ({"dynamics": {"speed": 3}}, "not a complete model file"),
        ({"preprocessing": []}, "a feature scaling holds factor, mean and sd, got []"),
        ({"class_names": ["a", "b"]}, "one class name per output oscillator (10), got 2"),
        ({"teacher_widths": None}, "foreign tensors teacher.bias0"),
        ({"teacher_widths": [4, 3, 4]}, "teacher layer 2 must be 4 x 3 with 4 biases"),
        ({"details": 5}, "not a complete model file"),
        ({"dynamics": {"steps": 10**9}}, "steps must be a whole number up to 1,000,000"),
        ({"dynamics": {"steps": 10**400}}, "dynamics.steps has more digits than any number"),
        ({"dynamics": {"mobility": 10**400}}, "dynamics.mobility has more digits"),
        ({"dynamics": {"observation_time": 1e300}}, "observation_time must be from 1e-12 to 1e+12"),
        ({"gain": 1e-320}, "gain must be from 1e-06 to 1e+06"),
        ({"preprocessing": constants(sd=1e-320)}, "sd must be from 1e-09 to 1e+09"),
        ({"preprocessing": constants(mean=10**400)}, "preprocessing.mean has more digits"),
        ({"reject": REJECT | {"margin": 1e308}}, "reject: margin must be from 0 to 1e+30"),
        ({"reject": REJECT | {"rest": 10**400}}, "reject.rest has more digits"),
        ({"details": {"epoch": 10**400}}, "details.epoch has more digits"),
        ({"preprocessing": constants(norm=1e300)}, "norm must be from 1e-09 to 1e+09"),
        (
            {"preprocessing": constants(image_shape=[10**400, 8])},
            "preprocessing.image_shape[0] has",
        ),
        (
            {"preprocessing": {"mean": [0.0] * 64, "sd": [1e-320] * 64, "factor": 1.0}},
            "sd of feature 0 must be from",
        ),
    ],
)
def test_a_model_file_with_a_wrong_header(
    refuse: Refuse, tiny_run: Run, tmp_path: Path, header: dict[str, Any], message: str
) -> None:
    path = rewritten(tiny_run.model, tmp_path / "x.safetensors", header=header)
    assert message in refuse("show", path, "--json")


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
    message = refuse("evaluate", folder, "--json")
    assert f"not finished; continue it: entrain train --resume '{folder}'" in message
