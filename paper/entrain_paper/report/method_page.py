"""The page on the verdicts: rules, scales, open points of the paper, numerics, times, versions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from entrain.utils import escape
from entrain_paper.experiments import EXPERIMENTS
from entrain_paper.experiments.comparison import VERDICTS, Scale, Source, printed
from entrain_paper.experiments.experiment import METRIC_NAMES
from entrain_paper.experiments.teacher_spread import GAIN
from entrain_paper.report.assumptions import ASSUMPTIONS, open_points
from entrain_paper.report.judged import LEGEND, SYMBOLS, Judged
from entrain_paper.report.markdown import grid, plain, table
from entrain_paper.report.numerics import numerics_section
from entrain_paper.report.pages import PAGE_OF

Results = Mapping[str, Any]

_LISTED = set(METRIC_NAMES) - {"top2"}
_SCALES = """\
A training has a scale only from draws of the same training: the same dataset, network, learning \
rate and objective. A family of trainings (the widths, the architectures, the branches at the \
auxiliary rate) has scales over teachers only if all its members have them: if only some got more \
teachers, the choice would decide verdicts."""


def method_page(results: Results, judged: Judged, protocol: Mapping[str, Any]) -> str:
    """The page in Markdown."""
    return (
        "\n\n".join(
            filter(
                None,
                [
                    "# How the numbers are judged",
                    "[Overview](../REPRODUCTION.md)",
                    f"## Verdicts\n\n{LEGEND}",
                    _by_experiment(judged),
                    f"These numbers are not independent: they come from {judged.teachers} "
                    "teachers, each of which moves all numbers of its students together. If the "
                    f"paper's teachers and orders were like ours, about {judged.by_chance():.0f} "
                    "numbers would differ by chance.",
                    "## Open points of the paper\n\n"
                    "What the paper leaves open and what decides numbers. We follow one reading; "
                    "another one may be the paper's.\n\n" + _bullets(open_points(results)),
                    f"## Assumptions about unspecified details\n\n{_bullets(ASSUMPTIONS)}",
                    numerics_section(results, protocol),
                    f"## Scales\n\n{_SCALES}",
                    _limits(judged),
                    f"## Times and versions\n\n{times_and_versions(results)}",
                ],
            )
        )
        + "\n"
    )


def _bullets(points: tuple[tuple[str, str], ...]) -> str:
    return "\n".join(f"- **{title}.** {text}" for title, text in points)


def _by_experiment(judged: Judged) -> str:
    """Numbers by verdict, and sentences, of every experiment."""
    lines = []
    for name, comparison in judged.comparisons.items():
        counts, claims = judged.counts(name), comparison.counted
        cells = [str(counts[verdict] or "") for verdict in VERDICTS]
        supported = f"{comparison.supported} of {len(claims)}" if claims else ""
        supported += " (additional)" if judged.is_additional(name) and claims else ""
        target = f"{PAGE_OF[name].name}.md"
        target += f"#{name}" if len(PAGE_OF[name].experiments) > 1 else ""
        title = f"[{EXPERIMENTS[name].title}]({target})"
        lines.append([title, *cells, str(comparison.repeats or ""), supported])
    head = ["experiment", *SYMBOLS.values(), "not counted", "sentences that hold"]
    return grid(head, lines)


def _limits(judged: Judged) -> str:
    """Tables of the scales over teachers and over orders."""
    parts = []
    for title, scales in (
        ("Over teachers: the mean and the largest expected distance of a further one (≈).", "t"),
        ("Over training orders: the smallest and the largest (○).", "o"),
    ):
        chosen = judged.spread.teachers if scales == "t" else judged.spread.orders
        rows = [_limit(by, scale) for by, scale in chosen.items() if by[2] in _LISTED]
        if rows:
            parts.append(f"{title}\n\n" + table(rows, [(name, plain(name)) for name in rows[0]]))
    return "\n\n".join(parts)


def _limit(by: Source, scale: Scale) -> dict[str, str]:
    dataset, method, metric = by
    form = ".4f" if "rmse" in metric else ".2f"
    low, high = scale.bounds
    return {
        "dataset": dataset,
        "method": method.replace(GAIN, "gain of Stage II"),
        "metric": METRIC_NAMES[metric],
        "draws": str(len(scale.draws)),
        "mean": printed(scale.mean, form),
        "from": printed(low, form),
        "to": printed(high, form),
    }


def times_and_versions(results: Results) -> str:
    """Training and measuring times by device, and the versions of all files."""
    stages = {
        stage["key"]: (stage.get("device", result["device"]), stage["seconds"] or 0.0)
        for result in results.values()
        for stage in result["stages"]
    }
    measurements = [(result["device"], result["seconds"]) for result in results.values()]
    minutes = defaultdict[str, float](float)
    for device, seconds in (*stages.values(), *measurements):
        minutes[device] += seconds / 60
    times = [
        f"{minutes[device]:.1f} minutes on {_device(device)}"
        for device in sorted(minutes, key=lambda device: -minutes[device])
    ]
    return (
        f"{len(stages)} training stages and {len(results)} measurements took {_listed(times)}; "
        "times on a shared device count in full. "
        f"Versions: {_versions(results)}. Epochs, teachers and settings were selected on "
        "validation images. Numbers are of test images unless stated otherwise."
    )


def _device(name: str) -> str:
    """Name of a device without a comma, for a list."""
    processor, _, cores = escape.markdown(name).partition(", ")
    return f"{processor} ({cores})" if cores else processor


def _versions(results: Results) -> str:
    """The versions of most files, and differences in other files and single trainings."""
    versions_of = [(name, result["versions"]) for name, result in results.items()]
    usual = dict(Counter(tuple(v.items()) for _, v in versions_of).most_common(1)[0][0])
    versions_of += [
        (f"some trainings of {name}", stage["versions"])
        for name, result in results.items()
        for stage in result["stages"]
        if "versions" in stage
    ]
    exceptions: dict[tuple[str, ...], list[str]] = {}
    for name, versions in versions_of:
        different = {part: v for part, v in versions.items() if usual.get(part) != v}
        names = exceptions.setdefault(_parts(different), [])
        if different and name not in names:
            names.append(name)
    clauses = [f"{_listed(names)}: {', '.join(v)}" for v, names in exceptions.items() if names]
    return "; ".join([", ".join(_parts(usual)), *clauses])


def _parts(versions: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{part} {version}" for part, version in versions.items())


def _listed(items: list[str]) -> str:
    """a, b and c."""
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last
