"""`entrain report`: results beside the paper's numbers, as a document with figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entrain.cli.console import err, out, print_json, table
from entrain.cli.options import Json

if TYPE_CHECKING:
    from entrain_paper.reproduction import ResultsFolder


def command(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder of entrain reproduce.")
    ] = Path("results"),
    json: Json = False,
) -> None:
    """Write REPRODUCTION.md and its figures from the results in FOLDER."""
    from entrain.utils.errors import InputError
    from entrain_paper.reproduction import ResultsFolder

    kept = ResultsFolder(folder)
    results = kept.results()
    if not results:
        raise InputError(
            f"{folder}: no results of entrain reproduce here; make some: "
            "entrain reproduce all --quick"
        )
    written = write(kept)
    if json:
        print_json({"report": str(written), "experiments": sorted(results)})
        return
    show(kept, set(results))
    out.print(f"report   {written}", soft_wrap=True)


def write(folder: ResultsFolder, *, stale_only: bool = False) -> Path:
    """Draw the figures (or those that are out of date) and write the document; its path."""
    from entrain.utils.files import file_lock, remove_temporary_files, write_atomically
    from entrain_paper.report import document, draw_figures

    path = folder.path / "REPRODUCTION.md"
    # One process at a time, so that what killed writes left is nobody's and can be removed.
    with err.status("drawing"), file_lock(folder.path / "REPRODUCTION.lock", wait=True):
        remove_temporary_files(folder.path, path.name)
        remove_temporary_files(folder.path / "figures")
        figures = draw_figures(folder, stale_only=stale_only)
        write_atomically(path, document(folder.results(), figures).encode())
    return path


def show(folder: ResultsFolder, names: set[str]) -> None:
    """A table of verdicts, and the claims that do not hold."""
    from entrain_paper.report import SYMBOLS, judge

    judged = judge(folder.results())
    shown = table("against the paper", "experiment", *SYMBOLS.values(), "again", "claims")
    failing = []
    for name, comparison in judged.comparisons.items():
        if name not in names:
            continue
        counts, claims = judged.counts(name), comparison.counted
        cells = [str(counts[verdict] or "") for verdict in SYMBOLS]
        held = f"{comparison.holding} of {len(claims)}" if claims else ""
        shown.add_row(name, *cells, str(comparison.seen_before or ""), held)
        failing += [claim for claim in claims if not claim.holds]
    if shown.row_count:
        out.print(shown)
        out.print(", ".join(f"{symbol} {verdict}" for verdict, symbol in SYMBOLS.items()))
    for claim in failing:
        out.print(f"does not hold here: {claim.text} ({claim.measured})", soft_wrap=True)
