"""Many rows are summarised, and sparse rows are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

import entrain
from command_line import Invoke
from entrain.models.model import Model
from entrain.utils.errors import InputError

X, y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def model() -> Model:
    return entrain.train(X, y, network=8, epochs=5).model


def test_many_rows_are_summarised_by_class(model: Model, tmp_path: Path, invoke: Invoke) -> None:
    model.save(tmp_path / "iris.safetensors")
    rows = np.resize(X, (1500, 4))
    table = "\n".join(",".join(map(str, [*row, i // 50 % 3])) for i, row in enumerate(rows))
    (tmp_path / "rows.csv").write_text(f"0,1,2,3,label\n{table}\n")
    done = invoke("predict", tmp_path / "iris.safetensors", tmp_path / "rows.csv")
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) < 15
    assert "1,500 inputs" in done.stdout
    accuracy = 100 * model.score(X, y)
    assert f"{accuracy:.2f} % of 1,500 labels predicted" in done.stdout
    every = invoke("predict", tmp_path / "iris.safetensors", tmp_path / "rows.csv", "--csv")
    assert len(every.stdout.splitlines()) == 1501


def test_sparse_rows_are_the_dense_ones(model: Model) -> None:
    again = entrain.train(sparse.csr_matrix(X), y, network=8, epochs=5).model
    assert (again.network.couplings == model.network.couplings).all()
    assert np.array_equal(again.predict(sparse.csr_array(X)), model.predict(X))


def test_sparse_rows_too_large_when_dense_are_refused() -> None:
    with pytest.raises(InputError, match="take 8,000,000,000 bytes"):
        entrain.load_own(sparse.csr_matrix((100_000, 10_000)), np.arange(100_000) % 2)
