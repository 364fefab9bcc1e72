"""Tables of the experiments with chips."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from entrain.figures.chip_curves import CURVES
from entrain.figures.fragility import effect_name, method_name
from entrain.figures.panels import by_dataset
from entrain.hardware import describe
from entrain.report.markdown import Column, percent, plain, table

Row = Mapping[str, Any]
Show = Callable[[Row], str]

_CHOSEN = "Settings and epochs were chosen on validation images."


def _mean(part: str) -> Show:
    return lambda row: percent(row[part]["mean"], row[part]["sd"])


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _alike(over: Row) -> bool:
    """Whether every chip gave each network the same accuracy: nothing about them is by chance."""
    return all(run["mean"] == run["p5"] == round(run["worst"], 4) for run in over["runs"])


def trained_for_chips(values: Row) -> str:
    """Each constraint: networks trained for it, and those that were not."""

    def of_chips(name: str) -> Show:
        return lambda row: "all alike" if _alike(row["trained"]) else percent(row["trained"][name])

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
        f"{_count(len(trained['runs']), 'training')}; the 5th percentile is the mean over "
        "trainings, the worst chip that of all. Networks not trained for it are DIRECT networks of "
        f"the same size on {_count(other['chips'], 'chip')}. Chips are alike where nothing about "
        f"them is by chance. {_CHOSEN}"
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
                "effect": "none: the ideal network",
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
        "each effect; the figures have all. Every effect acts alone. Networks for typical chips "
        "were trained for all that is in `typical`, at its strengths, and for nothing else."
    )
    return "\n\n".join(parts)


def typical_yield(values: Row) -> str:
    """For each dataset: how accuracies of chips are distributed, by method."""
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
        f"Test top-1 % of one network of each method, the best of its runs on validation images, "
        f"on the same {_count(values['rows'][0]['chips'], 'chip')} of `typical`."
    )
    return "\n\n".join(parts)


def published_chips(values: Row) -> str:
    """Each published chip: what it has, what its networks score, and what it lacks for them."""
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
        ("N, of", lambda row: f"{row['N']:,} of {row['room']:,}"),
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
        "percentile of the chips). Fine fields are exact numbers; those at coupling levels have "
        "the levels and the range of the chip's own couplers. The last column lists what was not "
        f"found in the publications. {_CHOSEN}"
    )
    return "\n\n".join([table(list(chips.values()), columns), text, _LACKING])


_FIELDS = {"fine": "fine fields", "coupling levels": "fields at coupling levels"}
_LACKING = """\
These are scores of simulated chips. As far as their publications tell, none of these chips can run
such a network as it is. What they lack:

- **Fields from an image.** Nothing on them makes an oscillator's field from 784 pixels. The
  products of 784 pixels with the weights of H oscillators are made beside it, for every image;
  [chip-resources](#chip-resources) shows with how few inputs an oscillator can do.
- **A programmable field on every oscillator,** for example one more coupler to a reference
  oscillator, of at least the resolution shown, set anew for every image.
- **A common start and a reading at a set time.** All phases start at π/2 from the reference, and
  the outputs are compared while they still move. These machines were built to settle first. Second
  harmonic injection, which makes phases binary, has to be off.
- **A fine readout.** Phases are read exactly here, except where the chip's file has a resolution
  (`onn-2025`: 4 bits).
- **A coupling function without an even part.** Ring oscillators in general have one, of a size that
  these publications do not give. It is not in these numbers; [even-coupling](#even-coupling) shows
  what it costs. Neither are differing frequencies, noise and dead parts, for want of numbers.

What the last column names is assumed, not measured, the mismatch above all. Networks on grids, and
those on large all-to-all chips, are smaller than the chips: what larger ones would score was not
measured."""


def _graph(row: Row) -> str:
    wiring = describe(row["chip"]).hardware.wiring
    names: dict[str, str] = {"kings": "King's"}
    return (
        "not given, taken as all-to-all" if wiring is None else names.get(wiring.kind, wiring.kind)
    )


def _assumed(row: Row) -> str:
    """Entries of the chip's file whose source says so."""
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
            "strength": CURVES[row["curve"]].shown(row["value"]),
            **row,
        }
        for row in values["rows"]
    ]
    columns: list[Column] = [
        ("", plain("what")),
        ("value", plain("strength")),
        ("trained for it", _mean("trained")),
        ("not trained for it", _mean("not_trained")),
    ]
    first = values["rows"][0]
    text = (
        f"{first['dataset']} test top-1 %, mean ± SD over "
        f"{_count(len(first['trained']['runs']), 'training')} of "
        f"{_count(first['epochs'], 'epoch')}, fewer than elsewhere; nothing about these chips is "
        f"by chance. The ideal network of as many epochs has {values['ideal']:.2f}. {_CHOSEN}"
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
