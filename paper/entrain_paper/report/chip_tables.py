"""Tables of the experiments with chips."""

from __future__ import annotations

from collections.abc import Callable

from entrain.hardware import describe
from entrain.utils import escape
from entrain_paper.figures.chip_curves import CURVES
from entrain_paper.figures.fragility import effect_name, method_name
from entrain_paper.figures.panels import by_dataset
from entrain_paper.report.markdown import Column, Format, Row, mean_sd, percent, plain, table

_CHOSEN = "Settings and epochs were selected on validation images."
_EQUAL = "all chips equal"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _is_equal_on_chips(score: Row) -> bool:
    """True if every network has the same accuracy on all chips, as without random effects."""
    return all(run["mean"] == run["p5"] == round(run["worst"], 4) for run in score["runs"])


def trained_for_chips(values: Row) -> str:
    """Accuracy by constraint, of networks trained for it and of networks that were not."""

    def over_chips(name: str) -> Format:
        def form(row: Row) -> str:
            score = row["trained"]
            return _EQUAL if _is_equal_on_chips(score) else percent(score[name])

        return form

    columns: list[Column] = [
        ("dataset", plain("dataset")),
        ("constraint", plain("constraint")),
        ("N", plain("N")),
        ("trained for it", mean_sd("trained")),
        ("5th percentile of chips", over_chips("p5")),
        ("worst chip", over_chips("worst")),
        ("not trained for it", mean_sd("not_trained")),
    ]
    trained, other = (values["rows"][0][name] for name in ("trained", "not_trained"))
    text = (
        f"Test top-1 %: mean over {_count(trained['chips'], 'chip')} ± SD over "
        f"{_count(len(trained['runs']), 'training')}. The 5th percentile is averaged over "
        "trainings; the worst chip is the worst over all trainings. Networks not trained for it "
        f"are DIRECT networks of the same size, on {_count(other['chips'], 'chip')}. All chips are "
        f"equal if no effect is random. {_CHOSEN}"
    )
    return table(values["rows"], columns) + "\n\n" + text


def fragility(values: Row) -> str:
    """One table per dataset: effects at the middle and the largest strength, methods as columns."""
    ideal = {(row["dataset"], row["method"]): row["mean"] for row in values["ideal"]}
    parts = []
    for dataset, rows in by_dataset(values["rows"]).items():
        methods = list(dict.fromkeys(row["method"] for row in rows))
        effects: dict[str, dict[str, list[Row]]] = {}
        for row in rows:
            effects.setdefault(row["effect"], {})[row["method"]] = row["strengths"]
        lines: list[Row] = [
            {
                "effect": "none (ideal network)",
                "strength": "",
                **{method: percent(ideal[dataset, method]) for method in methods},
            }
        ]
        for effect, by_method in effects.items():
            strengths = by_method[methods[0]]
            lines += [
                {
                    "effect": effect_name(effect),
                    "strength": escape.markdown(strengths[index]["label"]),
                    **{
                        method: percent(scores[index]["mean"], scores[index]["sd"])
                        for method, scores in by_method.items()
                    },
                }
                for index in sorted({len(strengths) // 2, len(strengths) - 1})
            ]
        columns: list[Column] = [
            ("effect", plain("effect")),
            ("strength", plain("strength")),
            *((method_name(method), plain(method)) for method in methods),
        ]
        parts += [f"{dataset}:", table(lines, columns)]
    first = values["rows"][0]["strengths"][0]
    parts.append(
        f"Test top-1 %: mean over {_count(first['chips'], 'chip')} ± SD over "
        f"{_count(len(first['runs']), 'training')}, at the middle and the largest strength of "
        "each effect. The figures show all strengths. Each effect acts alone. Networks for typical "
        "chips were trained for all effects of `typical` at its strengths."
    )
    return "\n\n".join(parts)


def typical_yield(values: Row) -> str:
    """One table per dataset: the distribution of accuracy over chips, by method."""
    parts = []
    for dataset, rows in by_dataset(values["rows"]).items():

        def above(level: str) -> Format:
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
        "Test top-1 % of one network per method on the same "
        f"{_count(values['rows'][0]['chips'], 'chip')} of `typical`: the run of each method that "
        "is best on validation images."
    )
    return "\n\n".join(parts)


def published_chips(values: Row) -> str:
    """Size, scores and assumptions by published chip, and missing functions of the chips."""
    scores = {(row["chip"], row["dataset"], row["fields"]): row for row in values["rows"]}
    chips = {row["chip"]: row for row in values["rows"]}
    datasets = dict.fromkeys(row["dataset"] for row in values["rows"])
    fields = dict.fromkeys(row["fields"] for row in values["rows"])

    def accuracy(dataset: str, kind: str) -> Format:
        def form(row: Row) -> str:
            score = scores[row["chip"], dataset, kind]
            fifth = "" if _is_equal_on_chips(score) else f" ({score['p5']:.2f})"
            return percent(score["mean"], score["sd"]) + fifth

        return form

    columns: list[Column] = [
        ("chip", lambda row: f"`{row['chip']}`: {row['title']}"),
        ("oscillators used", lambda row: f"{row['N']:,} of {row['room']:,}"),
        ("graph", _graph),
        ("couplers used", plain("couplers")),
        ("coupling levels", plain("levels")),
        *(
            (f"{dataset}, {_FIELDS.get(kind, kind)}", accuracy(dataset, kind))
            for dataset in datasets
            for kind in fields
        ),
        ("assumed", _assumed),
    ]
    first = values["rows"][0]
    text = (
        f"Test top-1 %: mean over {_count(first['chips'], 'chip')} ± SD over "
        f"{_count(len(first['runs']), 'training')} of {_count(first['epochs'], 'epoch')} (5th "
        "percentile over chips). Exact fields are not rounded. Fields at coupling levels have the "
        "levels and the range of the chip's couplers. The last column lists values that the "
        f"publications do not give and that we assumed. {_CHOSEN}"
    )
    return "\n\n".join([table(list(chips.values()), columns), text, _MISSING])


_FIELDS = {"fine": "exact fields", "coupling levels": "fields at coupling levels"}
_MISSING = """\
These are scores of simulated chips. According to their publications, none of these chips can run
such a network without changes. They lack:

- **Fields from an image.** None of these chips computes the field of an oscillator from 784 pixels.
  Another circuit has to multiply 784 pixels by the weights of H oscillators, for every image.
  [chip-resources](#chip-resources) shows how few inputs per oscillator are enough.
- **A programmable field on every oscillator,** for example one more coupler to a reference
  oscillator, with at least the resolution shown, set again for every image.
- **A common start and a readout at a set time.** All phases start at π/2 from the reference, and
  the outputs are compared while they still move. These machines were built for readout after they
  settle. Second-harmonic injection makes phases binary, so it has to be off.
- **A fine readout.** Phases are read exactly here, unless the file of a chip gives a resolution
  (`onn-2025`: 4 bits).
- **A coupling function without an even part.** Ring oscillators in general have an even part. These
  publications do not give its size, and these numbers do not include it;
  [even-coupling](#even-coupling) shows its effect. The numbers also exclude frequency spread,
  noise and dead parts, because the publications do not give them.

Values in the last column are assumed, not measured; the mismatch matters most. Networks on grids
and on large all-to-all chips are smaller than the chips. We did not train larger networks."""


def _graph(row: Row) -> str:
    wiring = describe(row["chip"]).hardware.wiring
    names: dict[str, str] = {"kings": "King's"}
    return (
        "not given, all-to-all assumed" if wiring is None else names.get(wiring.kind, wiring.kind)
    )


def _assumed(row: Row) -> str:
    """Entries of the chip's file with "assumed" in their source."""
    assumed: dict[str, list[str]] = {}
    for path, source in describe(row["chip"]).sources.items():
        if "assumed" in source:
            effect, entry = path.replace("_", " ").split(".")
            assumed.setdefault(effect, []).append(entry)
    return "; ".join(f"{effect}: {', '.join(names)}" for effect, names in assumed.items()) or "none"


def curves(values: Row) -> str:
    """Accuracy along the curves, of networks trained for each value or not."""
    rows = [
        {
            **row,
            "curve": CURVES[row["curve"]].title,
            "value": CURVES[row["curve"]].form(row["value"]),
        }
        for row in values["rows"]
    ]
    columns: list[Column] = [
        ("varied", plain("curve")),
        ("value", plain("value")),
        ("trained for it", mean_sd("trained")),
        ("not trained for it", mean_sd("not_trained")),
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
