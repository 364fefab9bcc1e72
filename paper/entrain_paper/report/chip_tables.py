"""Tables of the experiments with chips."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from entrain.hardware import describe
from entrain_paper.figures.chip_curves import CURVES
from entrain_paper.figures.fragility import effect_name, method_name
from entrain_paper.figures.panels import by_dataset
from entrain_paper.report.markdown import Column, percent, plain, table

Row = Mapping[str, Any]
Show = Callable[[Row], str]

_CHOSEN = "Settings and epochs were chosen on validation images."
_EQUAL = "all chips equal"


def _mean(part: str) -> Show:
    return lambda row: percent(row[part]["mean"], row[part]["sd"])


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _alike(over: Row) -> bool:
    """Whether all chips gave each network the same accuracy, because no effect is random."""
    return all(run["mean"] == run["p5"] == round(run["worst"], 4) for run in over["runs"])


def trained_for_chips(values: Row) -> str:
    """Each constraint: networks trained for it, and those that were not."""

    def of_chips(name: str) -> Show:
        return lambda row: _EQUAL if _alike(row["trained"]) else percent(row["trained"][name])

    columns: list[Column] = [
        ("dataset", plain("dataset")),
        ("constraint", plain("constraint")),
        ("N", plain("N")),
        ("trained for it", _mean("trained")),
        ("5th percentile of chips", of_chips("p5")),
        ("worst chip", of_chips("worst")),
        ("not trained for it", _mean("not_trained")),
    ]
    trained, other = (values["rows"][0][name] for name in ("trained", "not_trained"))
    text = (
        f"Test top-1 %: mean over {_count(trained['chips'], 'chip')} ± SD over "
        f"{_count(len(trained['runs']), 'training')}. The 5th percentile is averaged over "
        "trainings. The worst chip is the worst of all trainings. Networks not trained for it are "
        f"DIRECT networks of the same size, on {_count(other['chips'], 'chip')}. All chips are "
        f"equal if none of their effects is random. {_CHOSEN}"
    )
    return table(values["rows"], columns) + "\n\n" + text


def fragility(values: Row) -> str:
    """For each dataset: effects at their middle and largest strength, methods side by side."""
    ideal = {(row["dataset"], row["method"]): row["mean"] for row in values["ideal"]}
    parts = []
    for dataset, rows in by_dataset(values["rows"]).items():
        methods = list(dict.fromkeys(row["method"] for row in rows))
        effects: dict[str, dict[str, list[Row]]] = {}
        for row in rows:
            effects.setdefault(row["effect"], {})[row["method"]] = row["strengths"]
        shown: list[Row] = [
            {
                "effect": "none (ideal network)",
                "strength": "",
                **{method: percent(ideal[dataset, method]) for method in methods},
            }
        ]
        for effect, by_method in effects.items():
            strengths = by_method[methods[0]]
            shown += [
                {
                    "effect": effect_name(effect),
                    "strength": strengths[place]["label"],
                    **{
                        method: percent(found[place]["mean"], found[place]["sd"])
                        for method, found in by_method.items()
                    },
                }
                for place in sorted({len(strengths) // 2, len(strengths) - 1})
            ]
        columns: list[Column] = [
            ("effect", plain("effect")),
            ("strength", plain("strength")),
            *((method_name(method), plain(method)) for method in methods),
        ]
        parts += [f"{dataset}:", table(shown, columns)]
    first = values["rows"][0]["strengths"][0]
    parts.append(
        f"Test top-1 %: mean over {_count(first['chips'], 'chip')} ± SD over "
        f"{_count(len(first['runs']), 'training')}, at the middle and the largest strength of "
        "each effect. The figures show all strengths. Each effect acts alone. Networks for typical "
        "chips were trained for all effects of `typical` at its strengths, and for nothing else."
    )
    return "\n\n".join(parts)


def typical_yield(values: Row) -> str:
    """For each dataset: the distribution of accuracy over chips, by method."""
    parts = []
    for dataset, rows in by_dataset(values["rows"]).items():

        def above(level: str) -> Show:
            return lambda row: f"{row['above'][level]:.1f}"

        columns: list[Column] = [
            ("method", lambda row: method_name(row["method"])),
            ("mean ± SD over chips", lambda row: percent(row["mean"], row["sd"])),
            *(
                (title, lambda row, name=name: percent(row[name]))
                for title, name in (
                    ("1st percentile", "p1"),
                    ("5th percentile", "p5"),
                    ("median", "p50"),
                    ("worst", "worst"),
                )
            ),
            *((f"% of chips with ≥ {level} %", above(level)) for level in rows[0]["above"]),
        ]
        parts += [f"{dataset}:", table(rows, columns)]
    parts.append(
        f"Test top-1 % of one network of each method, on the same "
        f"{_count(values['rows'][0]['chips'], 'chip')} of `typical`. The network is the best run "
        "of its method on validation images."
    )
    return "\n\n".join(parts)


def published_chips(values: Row) -> str:
    """Each published chip: its parts, the scores of its networks, and what it lacks for them."""
    scores = {(row["chip"], row["dataset"], row["fields"]): row for row in values["rows"]}
    chips = {row["chip"]: row for row in values["rows"]}
    datasets = dict.fromkeys(row["dataset"] for row in values["rows"])
    fields = dict.fromkeys(row["fields"] for row in values["rows"])

    def score(dataset: str, kind: str) -> Show:
        def show(row: Row) -> str:
            found = scores[row["chip"], dataset, kind]
            fifth = "" if _alike(found) else f" ({found['p5']:.2f})"
            return percent(found["mean"], found["sd"]) + fifth

        return show

    columns: list[Column] = [
        ("chip", lambda row: f"`{row['chip']}`: {row['title']}"),
        ("oscillators used", lambda row: f"{row['N']:,} of {row['room']:,}"),
        ("graph", _graph),
        ("couplers used", plain("couplers")),
        ("coupling levels", plain("levels")),
        *(
            (f"{dataset}, {_FIELDS.get(kind, kind)}", score(dataset, kind))
            for dataset in datasets
            for kind in fields
        ),
        ("assumed", _assumed),
    ]
    first = values["rows"][0]
    text = (
        f"Test top-1 %: mean over {_count(first['chips'], 'chip')} ± SD over "
        f"{_count(len(first['runs']), 'training')} of {_count(first['epochs'], 'epoch')} (5th "
        "percentile of the chips). Exact fields are not rounded. Fields at coupling levels have "
        "the levels and the range of the chip's own couplers. The last column lists what the "
        f"publications do not give and we assumed. {_CHOSEN}"
    )
    return "\n\n".join([table(list(chips.values()), columns), text, _LACKING])


_FIELDS = {"fine": "exact fields", "coupling levels": "fields at coupling levels"}
_LACKING = """\
These are scores of simulated chips. As far as their publications say, none of these chips can run
such a network as it is. They lack:

- **Fields from an image.** None of these chips computes the field of an oscillator from 784 pixels.
  Another circuit has to multiply 784 pixels by the weights of H oscillators, for every image.
  [chip-resources](#chip-resources) shows how few inputs per oscillator are enough.
- **A programmable field on every oscillator,** for example one more coupler to a reference
  oscillator, with at least the resolution shown, set again for every image.
- **A common start and a reading at a set time.** All phases start at π/2 from the reference, and
  the outputs are compared while they still move. These machines were built to settle first.
  Second-harmonic injection makes phases binary, so it has to be off.
- **A fine readout.** Phases are read exactly here, except where the file of a chip gives a
  resolution (`onn-2025`: 4 bits).
- **A coupling function without an even part.** Ring oscillators in general have an even part. These
  publications do not give its size, and these numbers do not include it;
  [even-coupling](#even-coupling) shows what it costs. The numbers also exclude frequency spread,
  noise and dead parts, because the publications do not give them.

What the last column lists is assumed, not measured. The mismatch is the most important of these.
Networks on grids and on large all-to-all chips are smaller than the chips. We did not measure what
larger networks would score."""


def _graph(row: Row) -> str:
    wiring = describe(row["chip"]).hardware.wiring
    names: dict[str, str] = {"kings": "King's"}
    return (
        "not given, all-to-all assumed" if wiring is None else names.get(wiring.kind, wiring.kind)
    )


def _assumed(row: Row) -> str:
    """Entries of the chip's file whose source says "assumed"."""
    found: dict[str, list[str]] = {}
    for place, source in describe(row["chip"]).sources.items():
        if "assumed" in source:
            effect, entry = place.split(".")
            found.setdefault(effect.replace("_", " "), []).append(entry.replace("_", " "))
    return "; ".join(f"{effect}: {', '.join(each)}" for effect, each in found.items()) or "nothing"


def curves(values: Row) -> str:
    """Each point of the curves: networks trained for it, and those that were not."""
    rows = [
        {
            "what": CURVES[row["curve"]].title,
            "strength": CURVES[row["curve"]].form(row["value"]),
            **row,
        }
        for row in values["rows"]
    ]
    columns: list[Column] = [
        ("varied", plain("what")),
        ("value", plain("strength")),
        ("trained for it", _mean("trained")),
        ("not trained for it", _mean("not_trained")),
    ]
    first = values["rows"][0]
    text = (
        f"{first['dataset']} test top-1 %, mean ± SD over "
        f"{_count(len(first['trained']['runs']), 'training')} of "
        f"{_count(first['epochs'], 'epoch')}, fewer than elsewhere. No effect on these chips is "
        f"random. The ideal network reaches {values['ideal']:.2f} with as many epochs. {_CHOSEN}"
    )
    return table(rows, columns) + "\n\n" + text


CHIP_TABLES: dict[str, Callable[[Row], str]] = {
    "trained-for-chips": trained_for_chips,
    "fragility": fragility,
    "typical-yield": typical_yield,
    "published-chips": published_chips,
    "chip-resources": curves,
    "even-coupling": curves,
}
