"""`entrain report`: a document with our results, the paper's numbers and figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entrain.cli.console import err, out, print_json, print_line, table
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

    results_folder = ResultsFolder(folder)
    results = results_folder.results()
    if not results:
        raise InputError(
            f"{folder}: no results of entrain reproduce; measure some first: "
            "entrain reproduce all --quick"
        )
    report = write_report(results_folder)
    if json:
        print_json({"report": str(report), "experiments": sorted(results)})
        return
    print_verdicts(results_folder, set(results))
    print_line(f"report   {report}")


def write_report(folder: ResultsFolder, *, stale_only: bool = False) -> Path:
    """Path of the overview, with all pages written and all figures drawn (or only those that are
    out of date)."""
    from entrain.utils.files import file_lock, remove_temporary_files, write_atomically
    from entrain_paper.report import OVERVIEW, documents, draw_figures

    path = folder.path / OVERVIEW
    # The lock is exclusive, so that all temporary files are of killed processes.
    with err.status("drawing"), file_lock(folder.path / "REPRODUCTION.lock", wait=True):
        remove_temporary_files(folder.path, path.name)
        remove_temporary_files(folder.path / "figures")
        figures = draw_figures(folder, stale_only=stale_only)
        pages = documents(folder.results(), figures, folder.protocol())
        for name, text in reversed(pages.items()):  # the overview last
            page = folder.path / name
            page.parent.mkdir(exist_ok=True)
            remove_temporary_files(page.parent, page.name)
            write_atomically(page, text.encode())
    return path


def print_verdicts(folder: ResultsFolder, names: set[str]) -> None:
    """Print a table of verdicts, and the claims that do not hold."""
    from entrain_paper.report import SYMBOLS, judge

    judged = judge(folder.results())
    rendered = table("against the paper", "experiment", *SYMBOLS.values(), "again", "sentences")
    failing = []
    for name, comparison in judged.comparisons.items():
        if name not in names:
            continue
        counts, claims = judged.counts(name), comparison.counted
        cells = [str(counts[verdict] or "") for verdict in SYMBOLS]
        supported = f"{comparison.supported} of {len(claims)}" if claims else ""
        rendered.add_row(name, *cells, str(comparison.repeats or ""), supported)
        failing += [claim for claim in comparison.claims if not claim.holds]
    if rendered.row_count:
        out.print(rendered)
        out.print(", ".join(f"{symbol} {verdict}" for verdict, symbol in SYMBOLS.items()))
    for claim in failing:
        mark = "" if claim.counted else ", not counted"
        print_line(f"does not hold{mark}: {claim.text} ({claim.measured})")
