"""Files of QUBO problems, as of qbsolv: "p qubo 0 N D E" and lines "i j q", nodes from 0."""

from __future__ import annotations

from pathlib import Path

from entrain.ising.edge_lines import EdgeTable, Lines, Progress, parse_edges, read_lines
from entrain.ising.graph import MOST_NODES
from entrain.ising.problems import Qubo
from entrain.utils.errors import InputError, short_repr
from entrain.utils.files import write_atomically


def read_qubo(path: Path | str, on_progress: Progress | None = None) -> Qubo:
    """The problem of a QUBO file, plain or gzip.

    A line "i i q" is a linear term, a line "i j q" a product. Lines that begin with c or # are
    comments.

    Args:
        path: The file.
        on_progress: Called with the fraction read.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "problem.qubo"
        >>> problem = entrain.ising.Qubo.from_matrix([[-1, 2], [0, -1]])
        >>> entrain.ising.write_qubo(path, problem)
        >>> entrain.ising.read_qubo(path).graph.nodes
        2
    """
    path = Path(path)
    table, promised = None, (0, 0)
    for lines in read_lines(path, on_progress):
        if table is None:
            lines, nodes, promised = _after_program_line(path, lines)
            if nodes == 0:
                continue
            table = EdgeTable(path, nodes, base=0, loops=True)
        if lines.text.strip():
            table.add(lines, parse_edges(path, lines, default=None))
    if table is None:
        raise InputError(f'{path}: has no line "p qubo 0 N D E", the first of a QUBO file')
    if table.edges != sum(promised):
        raise InputError(
            f"{path}: the line p promises {promised[0]:,} linear terms and {promised[1]:,} "
            f"products, the file has {table.edges:,} in all; is it complete?"
        )
    graph, linear = table.graph()
    return Qubo(graph, linear)


def write_qubo(path: Path | str, problem: Qubo) -> None:
    """Write a problem as a QUBO file; an offset and names of variables are refused.

    Args:
        path: The file.
        problem: The problem.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "problem.qubo"
        >>> entrain.ising.write_qubo(path, entrain.ising.Qubo.from_matrix([[-1, 2], [0, -1]]))
        >>> path.read_text().splitlines()[-1]
        '0 1 2'
    """
    if problem.offset:
        raise InputError(f"a QUBO file has no offset, got {problem.offset}")
    graph, linear = problem.graph, problem.linear.tolist()
    ends = zip(graph.first.tolist(), graph.second.tolist(), graph.weights.tolist(), strict=True)
    diagonal = [f"{i} {i} {q!r}" for i, q in enumerate(linear) if q]
    products = [f"{i} {j} {q!r}" for i, j, q in ends]
    header = f"p qubo 0 {graph.nodes} {len(diagonal)} {len(products)}"
    write_atomically(Path(path), ("\n".join([header, *diagonal, *products]) + "\n").encode())


def _after_program_line(path: Path, lines: Lines) -> tuple[Lines, int, tuple[int, int]]:
    """The lines after "p qubo 0 N D E", N, and D and E; N is 0 if there is none yet."""
    number, text = lines.first, lines.text
    while text:
        line, _, text = text.partition(b"\n")
        words = line.split()
        if words and words[0][:1] not in (b"c", b"#"):
            try:
                if len(words) != 6 or words[:2] != [b"p", b"qubo"]:
                    raise ValueError
                nodes, diagonal, products = (int(word) for word in words[3:])
                if not 1 <= nodes <= MOST_NODES or min(diagonal, products) < 0:
                    raise ValueError
            except ValueError as error:
                raise InputError(
                    f'{path}, line {number}: expected "p qubo 0 N D E", the numbers of variables, '
                    f"linear terms and products; got {short_repr(line.decode(errors='replace'))}"
                ) from error
            return Lines(number + 1, text), nodes, (diagonal, products)
        number += 1
    return Lines(number, b""), 0, (0, 0)
