"""Compare the results of two runs of `entrain reproduce`: keys, and every number bit for bit.

    python paper/tools/compare_results.py results again

Prints, for each experiment that both folders have, how many of its numbers are equal, and the first
that differs. Exit code 1 if a key or a number differs, or if an experiment is in one folder only.
Times, devices and versions do not count.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from entrain_paper.reproduction import ResultsFolder


def leaves(values: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Numbers and texts of JSON values, with their places."""
    if isinstance(values, dict):
        for name, entry in values.items():
            yield from leaves(entry, f"{at}.{name}")
    elif isinstance(values, list):
        for index, entry in enumerate(values):
            yield from leaves(entry, f"{at}[{index}]")
    else:
        yield at, values


def compare(first: dict[str, Any], second: dict[str, Any]) -> tuple[int, int, str]:
    """Equal numbers, all numbers, and the first difference of two results; "" if there is none."""
    ours, theirs = (dict(leaves(result["values"])) for result in (first, second))
    places = list(dict.fromkeys([*ours, *theirs]))
    different = [at for at in places if ours.get(at, "none") != theirs.get(at, "none")]
    note = "the key differs" if first["key"] != second["key"] else ""
    if different:
        at = different[0]
        note = f"{at.lstrip('.')}: {ours.get(at, 'none')} and {theirs.get(at, 'none')}"
    return len(places) - len(different), len(places), note


def main() -> None:
    """Compare the two folders of the command line."""
    parser = argparse.ArgumentParser(description="Compare two folders of results.")
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    arguments = parser.parse_args()
    first, second = (ResultsFolder(path).results() for path in (arguments.first, arguments.second))
    lines = [f"{name}: in one folder only" for name in sorted(first.keys() ^ second.keys())]
    failed = bool(lines)
    for name in first.keys() & second.keys():
        equal, count, note = compare(first[name], second[name])
        lines.append(f"{name}: {equal:,} of {count:,} equal" + (f"; {note}" if note else ""))
        failed |= bool(note)
    print("\n".join(sorted(lines)))  # noqa: T201
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
