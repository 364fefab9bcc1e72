"""Problem files of any format that the package reads."""

from __future__ import annotations

from pathlib import Path

from entrain.ising.edge_lines import Progress, read_lines
from entrain.ising.problems import Colouring, Ising, MaxCut, Problem
from entrain.ising.qubo_file import read_qubo
from entrain.ising.rudy import read_rudy
from entrain.utils.errors import InputError, unknown_name

KINDS = ("maxcut", "ising", "colouring", "qubo")


def read_problem(
    path: Path | str,
    kind: str | None = None,
    *,
    colours: int | None = None,
    on_progress: Progress | None = None,
) -> Problem:
    """The problem of a rudy (G-set) or QUBO file, plain or gzip.

    Args:
        path: The file.
        kind: maxcut, ising (energy sum w s s) or colouring for a rudy file, qubo for a QUBO file;
            by default qubo if the first line that is no comment begins with p, else maxcut.
        colours: Number of colours, which implies colouring.
        on_progress: Called with the fraction read.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "triangle.txt"
        >>> _ = path.write_text("3 3\\n1 2 1\\n2 3 1\\n3 1 1\\n")
        >>> entrain.ising.read_problem(path).graph.nodes
        3
    """
    path = Path(path)
    if kind is None and colours is not None:
        kind = "colouring"
    if kind not in (None, *KINDS):
        raise unknown_name("kind of problem", kind, KINDS)
    if colours is not None and kind != "colouring":
        raise InputError(f"colours are of a colouring, got {kind}")
    if kind == "qubo" or (kind is None and is_qubo_file(path)):
        return read_qubo(path, on_progress)
    graph = read_rudy(path, on_progress)
    if kind == "ising":
        return Ising(graph)
    if kind == "colouring":
        return Colouring(graph, 3 if colours is None else colours)
    return MaxCut(graph)


def is_problem_file(path: Path) -> bool:
    """True if the first line that is no comment is the header of a problem.

    Args:
        path: A file, of any format.
    """
    try:
        for lines in read_lines(path):
            for line in lines.text.split(b"\n"):
                words = line.split(b"#")[0].split()
                if words and words[0] != b"c":
                    return words[:2] == [b"p", b"qubo"] or (
                        len(words) in (2, 3) and all(word.isdigit() for word in words[:2])
                    )
    except InputError:
        return False
    return False


def is_qubo_file(path: Path) -> bool:
    """True if the first line that is no comment begins with p.

    Args:
        path: The file.
    """
    for lines in read_lines(path):
        for line in lines.text.split(b"\n"):
            words = line.split()
            if words and words[0][:1] not in (b"c", b"#"):
                return words[0] == b"p"
    return False
