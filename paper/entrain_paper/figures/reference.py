"""The paper's numbers, for figures that compare them with ours."""

from __future__ import annotations

from typing import Any

from entrain_paper.experiments.paper_numbers import paper_numbers


def paper_row(table: str, **match: object) -> dict[str, Any]:
    """The row of a published table with these entries; empty where the paper prints none."""
    for row in paper_numbers()[table]["rows"]:
        if all(row.get(key) == value for key, value in match.items()):
            return dict(row)
    return {}
