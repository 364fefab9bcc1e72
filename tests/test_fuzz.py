"""Hostile files: whatever is in them, they are read or refused, soon and in little memory.

A bounded part of `make fuzz` (see the package fuzzing), and hypothesis on structured cases.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from entrain.data import load_own
from entrain.models.model import read_model
from entrain.training import unpack_state
from entrain.training.run_folder import RunFolder
from entrain.utils.errors import InputError
from entrain.utils.files import with_digest
from model_files import rewritten

pytest.importorskip("entrain_paper", reason="one of the targets is a result: pip install ./paper")
from fuzzing import worker
from fuzzing.campaign import cases, fuzz
from fuzzing.seeds import CLASSES, seeds
from fuzzing.targets import TARGETS, Mutants

ROOT = Path(__file__).parents[1]
MUTANTS = 800
SEEDS = seeds()


def test_mutants_of_every_kind_of_file(tmp_path: Path) -> None:
    campaign = fuzz(cases(MUTANTS), 1, tmp_path / "findings")
    told = [
        f"{each['outcome']} --seed 1 --case {each['target']}:{each['case']}\n{each['detail']}"
        for each in campaign.findings
    ]
    assert not told, "\n\n".join(told[:5])
    assert campaign.tallies.keys() == TARGETS.keys()
    summary = campaign.summary()
    assert summary["mutants"] == MUTANTS
    for name, tally in summary["targets"].items():
        assert tally["refused"] > 0, name  # the mutants are damaged,
        assert tally["read"] > 0, name  # but not all beyond reading


def test_the_last_long_run_found_nothing() -> None:
    summary = json.loads((ROOT / "results" / "fuzz.json").read_text())
    assert summary["mutants"] >= 10_000
    assert summary["findings"] == []
    assert summary["targets"].keys() == TARGETS.keys()


def test_a_case_is_decided_by_its_seed_target_and_number() -> None:
    for target in TARGETS:
        first, again, other = Mutants(3), Mutants(3), Mutants(4)
        made = [first.make(target, n) for n in range(8)]
        assert made == [again.make(target, n) for n in range(8)]
        assert made != [other.make(target, n) for n in range(8)]


def test_mutants_start_from_files_that_are_read(tmp_path: Path) -> None:
    mutants = Mutants(0)
    for target, contents in mutants.seeds.items():
        place = tmp_path / target
        place.mkdir()
        mutants.prepare(place)
        for content in contents:
            (place / TARGETS[target].name).write_bytes(content)
            if target in ("csv", "tsv") and not is_utf8(content):
                continue
            TARGETS[target].use(place)


def is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


class Trap:
    """A target that misbehaves as the test says."""

    name = "a"

    def __init__(self, use: Any) -> None:
        self.use = use


def spin(_: Path) -> None:
    while True:
        try:
            sum(range(1000))
        except Exception:  # a reader that catches all must be stopped all the same
            continue


def test_foreign_exceptions_hangs_and_large_allocations_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "MIB", 100.0)
    before = worker.signal.signal(worker.signal.SIGPROF, worker.alarm)
    kept: list[Any] = []
    misbehaviours = {
        "value": lambda _: 5,  # at first: seeds are read before a target's first case
        "exception": lambda _: {}["key"],
        "hang": spin,
        "memory": lambda _: kept.append(np.ones(40_000_000)),  # 305 MiB
    }
    try:
        for outcome, use in misbehaviours.items():
            # Touching 305 MiB can take over a second of a busy machine, and is no hang.
            monkeypatch.setattr(worker, "SECONDS", 1.0 if outcome == "hang" else 60.0)
            monkeypatch.setitem(TARGETS, "idx", Trap(use))
            monkeypatch.setattr(Mutants, "make", lambda *_: b"x")
            found = worker.attempt(Mutants(0), "idx", 0, tmp_path)
            assert found["outcome"] == outcome, found
    finally:
        worker.signal.signal(worker.signal.SIGPROF, before)


# Structured cases by hypothesis

ANY_CASES = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**400), 10**400)
    | st.floats()
    | st.text(max_size=30)
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
HEADER = ("class_names", "dataset", "details", "dynamics", "gain", "preprocessing", "protocol",
          "teacher_widths", "trainable")  # fmt: skip


@ANY_CASES
@given(name=st.sampled_from(HEADER), value=JSON, which=st.integers(0, 1))
def test_a_model_with_anything_in_its_header(
    tmp_path: Path, name: str, value: Any, which: int
) -> None:
    source = tmp_path / "seed"
    source.write_bytes(SEEDS["model"][which])
    path = rewritten(source, tmp_path / "a.safetensors", header={name: value})
    try:
        model = read_model(path)
    except InputError as error:
        assert str(error).startswith(f"{path}: ")  # noqa: PT017 (either way is right)
    else:
        assert len(model.class_names) == model.network.outputs


@ANY_CASES
@given(place=st.sampled_from(("recipe", "settings")), name=st.text(max_size=8), value=JSON)
def test_a_run_file_with_anything_in_it(tmp_path: Path, place: str, name: str, value: Any) -> None:
    content = json.loads(SEEDS["run"][0])
    keys = sorted(content[place])
    content[place][keys[len(name) % len(keys)]] = value
    (tmp_path / "run.json").write_text(json.dumps(with_digest(content)))
    try:
        assert RunFolder.open(tmp_path).recipe.protocols
    except InputError as error:
        assert str(error).startswith(f"{tmp_path / 'run.json'}: ")  # noqa: PT017


@ANY_CASES
@given(content=st.binary(max_size=300))
def test_a_checkpoint_of_any_bytes(content: bytes) -> None:
    for whole in (content, len(content).to_bytes(8, "little") + content):
        with pytest.raises(InputError, match=r"^here: "):
            unpack_state(whole, "here")


CELLS = st.one_of(
    st.text(max_size=6),
    st.floats().map(str),
    st.integers().map(str),
    st.sampled_from(CLASSES),
)


@ANY_CASES
@given(
    header=st.lists(st.text(max_size=6), min_size=1, max_size=4),
    column=st.lists(CELLS, min_size=1, max_size=20),
    delimiter=st.sampled_from(",;\t"),
    encoding=st.sampled_from(("utf-8", "utf-8-sig", "utf-16", "latin-1")),
)
def test_a_table_of_any_cells(
    tmp_path: Path, header: list[str], column: list[str], delimiter: str, encoding: str
) -> None:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(header)
    for i, cell in enumerate(column):
        writer.writerow([cell, *(str(i % 5) for _ in header[2:]), "ab"[i % 2]][: len(header)])
    path = tmp_path / "a.csv"
    path.write_bytes(text.getvalue().encode(encoding, "replace"))
    try:
        data = load_own(path)
    except InputError as error:
        assert str(error).startswith(f"{path}: ")  # noqa: PT017
    else:
        assert data.preprocessing(data.test.features).isfinite().all()
