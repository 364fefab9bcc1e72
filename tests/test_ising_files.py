"""Problem files are read and written exactly; a damaged one is refused with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrain import InputError
from entrain.ising import (
    Colouring,
    Ising,
    MaxCut,
    Qubo,
    read_problem,
    read_qubo,
    read_rudy,
    write_qubo,
    write_rudy,
)
from entrain.ising.readers import is_problem_file
from ising_examples import random_graph

RUDY = "5 6 unsigned\n1 2 1\n2 3 -2\n\n# a comment\n3 4 3\n4 5 1\n5 1 4\n1 3\n"
QUBO = "c a comment\np qubo 0 3 2 2\n0 0 -5\n2 2 4\n0 1 3\nc another\n1 2 -2\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "problem.txt"


def test_a_rudy_file_with_a_third_header_entry_is_a_graph(path: Path) -> None:
    path.write_text(RUDY)
    graph = read_rudy(path)
    assert (graph.nodes, graph.edges) == (5, 6)
    assert graph.matrix.toarray()[0].tolist() == [0, 1, 1, 0, 4]
    assert graph.weights.dtype == np.int64
    assert read_problem(path).values([1, -1, 1, -1, 1])[0] == 1 - 2 + 3 + 1


def test_a_qubo_file_is_a_problem_of_bits(path: Path) -> None:
    path.write_text(QUBO)
    problem = read_problem(path)
    assert isinstance(problem, Qubo)
    assert problem.values([[1, 1, 1], [1, 0, 0], [0, 1, 1]]).tolist() == [0, -5, 2]


def test_kinds_of_a_rudy_file(path: Path) -> None:
    path.write_text(RUDY)
    assert isinstance(read_problem(path), MaxCut)
    assert isinstance(read_problem(path, "ising"), Ising)
    colouring = read_problem(path, colours=4)
    assert isinstance(colouring, Colouring)
    assert colouring.colours == 4
    for options in ({"kind": "tsp"}, {"kind": "ising", "colours": 3}):
        with pytest.raises(InputError):
            read_problem(path, **options)  # type: ignore[arg-type]


def test_compressed_and_windows_files_are_read(path: Path) -> None:
    for content in (gzip.compress(RUDY.encode()), RUDY.replace("\n", "\r\n").encode()):
        path.write_bytes(content)
        assert read_rudy(path).edges == 6
        assert is_problem_file(path)


def test_other_files_are_no_problem_files(path: Path) -> None:
    for text in ("a,b\n1,2\n", "", "1 2 3 4\n", "x y\n"):
        path.write_text(text)
        assert not is_problem_file(path)
    assert not is_problem_file(path.parent)


@given(st.integers(0, 1000), st.floats(0, 1), st.booleans())
def test_written_files_are_read_back_exactly(seed: int, share: float, real: bool) -> None:
    import tempfile

    graph = random_graph(9, share, seed)
    if real:
        weights = np.random.default_rng(seed).normal(size=graph.edges)
        graph = type(graph)(graph.nodes, graph.first, graph.second, weights)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "graph"
        write_rudy(file, graph)
        again = read_rudy(file)
        assert (again.first == graph.first).all()
        assert (again.weights == graph.weights).all()
        problem = Qubo(graph, np.arange(9))
        write_qubo(file, problem)
        same = read_qubo(file)
        assert (same.graph.weights == graph.weights).all()
        assert (same.linear == problem.linear).all()


DAMAGED = {
    "empty": ("", "is empty"),
    "no header": ("hello\n", 'line 1: expected the header "N E"'),
    "header alone": ("3\n", "line 1"),
    "no nodes": ("0 0\n", "at least one node"),
    "huge header": (f"{10**12} 1\n1 2 1\n", "line 1"),
    "comments first": ("# one\n\nx 3\n", "line 3"),
    "one entry": ("3 2\n1 2 1\n2\n", 'line 3: expected "i j w" or "i j", got 1 entries'),
    "four entries": ("3 2\n1 2 1\n2 3 1 1\n", "line 3: expected"),
    "text": ("3 2\n1 2 1\n2 x 1\n", "line 3: expected a number, got 'x'"),
    "NaN": ("3 2\n1 2 1\n2 3 nan\n", "line 3: expected a finite number, got 'nan'"),
    "infinite": ("3 2\n1 2 1\n2 3 1e999\n", "line 3: expected a finite number"),
    "huge weight": (f"3 2\n1 2 1\n2 3 {10**30}\n", "line 3"),
    "half a node": ("3 1\n1 2.5 1\n", "line 2: expected a whole number of a node, got '2.5'"),
    "node 0": ("3 1\n\n0 1 1\n", "line 3: node 0 is not from 1 to 3"),
    "node 4": ("3 1\n1 4 1\n", "line 2: node 4 is not from 1 to 3"),
    "self-loop": ("3 2\n1 2 1\n2 2 1\n", "line 3: an edge from node 2 to itself"),
    "twice": ("3 2\n1 2 1\n2 1 1\n", "the edge 1 2 is given twice, as edges 1 and 2"),
    "too few": ("3 3\n1 2 1\n2 3 1\n", "promises 3 edges, the file has 2"),
    "too many": ("3 1\n1 2 1\n2 3 1\n", "promises 1 edges, the file has 2"),
    "sum of weights": (f"3 2\n1 2 {2**61}\n2 3 1\n", "add up to less than"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_rudy_file_is_refused_with_its_line(path: Path, name: str) -> None:
    text, message = DAMAGED[name]
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_rudy(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


DAMAGED_QUBO = {
    "no program line": ("0 0 1\n", 'line 1: expected "p qubo 0 N D E"'),
    "comments alone": ("c nothing\n", "has no line"),
    "wrong program line": ("p qubo 0 3 1\n", "line 1"),
    "no weight": ("p qubo 0 3 1 1\n0 0 1\n0 1\n", 'line 3: expected "i j w", got 2 entries'),
    "node 3": ("p qubo 0 3 0 1\n0 3 1\n", "line 2: node 3 is not from 0 to 2"),
    "too few": ("p qubo 0 3 1 1\n0 0 1\n", "promises 1 linear terms and 1 products"),
}


@pytest.mark.parametrize("name", DAMAGED_QUBO)
def test_a_damaged_qubo_file_is_refused_with_its_line(path: Path, name: str) -> None:
    text, message = DAMAGED_QUBO[name]
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_qubo(path)
    assert message in str(caught.value)


def test_damaged_gzip_missing_and_special_files_are_refused(path: Path) -> None:
    with pytest.raises(InputError, match="no such problem file"):
        read_problem(path)
    path.write_bytes(gzip.compress(RUDY.encode())[:-12])
    with pytest.raises(InputError, match="damaged gzip"):
        read_problem(path)
    with pytest.raises(InputError, match="is a folder"):
        read_problem(path.parent)


def test_an_error_far_inside_a_large_file_names_its_line(path: Path) -> None:
    count = 400_000  # more than a block
    lines = [f"{i} {i + 1} 1" for i in range(1, count)]
    lines[-5] = "7 8 x"
    path.write_text("\n".join([f"{count} {count - 1}", *lines]) + "\n")
    assert path.stat().st_size > 2**22
    with pytest.raises(InputError, match=f"line {count - 4}: expected a number"):
        read_rudy(path)
