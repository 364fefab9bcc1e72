"""Files of the G-set and of rudy: "N E" and a line "i j w" for every edge, nodes from 1."""

from __future__ import annotations

from pathlib import Path

from entrain.ising.edge_lines import EdgeTable, Lines, Progress, parse_edges, read_lines
from entrain.ising.graph import MOST_NODES, WeightedGraph
from entrain.utils.errors import InputError, short_repr
from entrain.utils.files import write_atomically


def read_rudy(path: Path | str, on_progress: Progress | None = None) -> WeightedGraph:
    """The graph of a rudy file, plain or gzip.

    The header is "N E", or "N E x" with a third entry that is ignored. A line "i j" has the
    weight 1.

    Args:
        path: The file.
        on_progress: Called with the fraction read.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "triangle.txt"
        >>> _ = path.write_text("3 3\\n1 2 1\\n2 3 1\\n3 1 1\\n")
        >>> entrain.ising.read_rudy(path).weights
        array([1, 1, 1])
    """
    path = Path(path)
    table, expected = None, 0
    for lines in read_lines(path, on_progress):
        if table is None:
            lines, header = _after_header(lines)
            if header is None:
                continue
            nodes, expected = _header(path, *header)
            table = EdgeTable(path, nodes, base=1)
        if lines.text.strip():
            table.add(lines, parse_edges(path, lines))
    if table is None:
        raise InputError(f'{path}: is empty, expected a header "N E" and lines "i j w"')
    if table.edges != expected:
        raise InputError(
            f"{path}: the header promises {expected:,} edges, the file has {table.edges:,}; is it "
            "complete?"
        )
    return table.graph()[0]


def write_rudy(path: Path | str, graph: WeightedGraph) -> None:
    """Write a graph as a rudy file.

    Args:
        path: The file.
        graph: The graph; names of nodes are lost.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "triangle.txt"
        >>> graph = entrain.ising.WeightedGraph(3, np.array([0, 1]), np.array([1, 2]), np.ones(2))
        >>> entrain.ising.write_rudy(path, graph)
        >>> path.read_text().splitlines()[0]
        '3 2'
    """
    weights = graph.weights.tolist()
    ends = zip((graph.first + 1).tolist(), (graph.second + 1).tolist(), weights, strict=True)
    text = [f"{graph.nodes} {graph.edges}", *(f"{i} {j} {w!r}" for i, j, w in ends)]
    write_atomically(Path(path), ("\n".join(text) + "\n").encode())


def _after_header(lines: Lines) -> tuple[Lines, tuple[int, bytes] | None]:
    """The lines after the first with content, and the number and text of that."""
    number, text = lines.first, lines.text
    while text:
        line, _, text = text.partition(b"\n")
        if line.split(b"#")[0].strip():
            return Lines(number + 1, text), (number, line)
        number += 1
    return Lines(number, b""), None


def _header(path: Path, number: int, line: bytes) -> tuple[int, int]:
    words = line.split(b"#")[0].split()
    try:
        nodes, edges = (int(word) for word in words[:2])
    except ValueError as error:
        raise InputError(
            f'{path}, line {number}: expected the header "N E", the numbers of nodes and edges; '
            f"got {short_repr(line.decode(errors='replace'))}"
        ) from error
    if len(words) > 3 or not 1 <= nodes <= MOST_NODES or edges < 0:
        raise InputError(
            f'{path}, line {number}: expected "N E", at least one node and at most {MOST_NODES:,}; '
            f"got {short_repr(line.decode(errors='replace'))}"
        )
    return nodes, edges
