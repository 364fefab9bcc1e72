"""The report: REPRODUCTION.md and its pages, by their paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from entrain_paper.report.experiment_page import METHOD, experiment_page
from entrain_paper.report.figures import DEVIATIONS
from entrain_paper.report.judged import judge
from entrain_paper.report.method_page import method_page
from entrain_paper.report.overview import overview
from entrain_paper.report.pages import FOLDER, PAGES

OVERVIEW = "REPRODUCTION.md"


def documents(
    results: Mapping[str, Any],
    figures: list[str],
    protocol: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """Markdown by path: the overview, and the pages of the measured experiments.

    Args:
        results: Results by experiment.
        figures: Names of the figures that were drawn.
        protocol: Results of single trainings by name.
    """
    judged = judge(results)
    pages = {
        page.path: experiment_page(
            page, results, judged, [name for name in figures if name != DEVIATIONS]
        )
        for page in PAGES
        if any(name in results for name in page.experiments)
    }
    return {
        OVERVIEW: overview(results, judged, figure=DEVIATIONS in figures),
        f"{FOLDER}/{METHOD}.md": method_page(results, judged, protocol or {}),
        **pages,
    }
