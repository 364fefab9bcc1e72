"""The table of controls, paired differences, and the result in sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from entrain.evaluation.controls import catalogue
from entrain.evaluation.controls.measurement import ControlResult
from entrain.evaluation.intervals import CONFIDENCE, PairedDifference, paired_difference
from entrain.tasks import Metric
from entrain.tasks.metrics import summarise
from entrain.utils.summary import Summary

_SENTENCES = (
    (catalogue.RANDOM, "trained couplings", "random ones"),
    (catalogue.NO_HIDDEN, "couplings between hidden oscillators", "none"),
    (catalogue.READOUT, "the network", "a reservoir of which only the readout is trained"),
    (catalogue.TWO_STEPS, "{steps} Euler steps", "two"),
    (catalogue.PERCEPTRON, "the network", "a perceptron with as many parameters"),
    (catalogue.LINEAR, "the network", "a linear model"),
)


@dataclass(frozen=True, repr=False)
class Controls(Summary):
    """Controls of a model, measured on the same test examples.

    Args:
        details: Model, data and training as JSON values.
        metric: The metric that is compared.
        rows: The controls.
        notes: Remarks on the recipe.
    """

    details: dict[str, Any]
    metric: Metric
    rows: tuple[ControlResult, ...]
    notes: tuple[str, ...] = field(default=())

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        return {
            "model": str(self.details["model"]),
            "runs": str(self.details["runs"]),
            "controls": str(len(self.rows)),
            "result": self.sentence,
        }

    def __getitem__(self, name: str) -> ControlResult:
        return {row.name: row for row in self.rows}[name]

    def __contains__(self, name: object) -> bool:
        return any(row.name == name for row in self.rows)

    @property
    def unit(self) -> str:
        """Unit of a difference, with its space."""
        return " points" if self.metric.unit == " %" else ""

    def difference(self, name: str, reference: str = catalogue.TRAINED) -> PairedDifference | None:
        """The metric of a control less that of the networks trained again, run by run; None
        without runs.

        Args:
            name: A control.
            reference: The control with which it is compared.
        """
        if name == reference or name not in self or reference not in self:
            return None
        row, other, metric = self[name], self[reference], self.metric.name
        if not row.resampled or len(row.values[metric]) != len(other.values[metric]):
            return None
        return paired_difference(
            row.values[metric], other.values[metric], row.resampled, other.resampled
        )

    def text(self, difference: PairedDifference) -> str:
        """A difference with its interval, such as "-0.46 ± 0.10".

        Args:
            difference: The difference.
        """
        form = self.metric.form
        return f"{difference.mean:+{form}} ± {difference.half_width:{form}}"

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences on the gain or loss by each part of the trained network, with intervals."""
        sentences = []
        for name, subject, other in _SENTENCES:
            difference = self.difference(name)
            if difference is not None and math.isfinite(difference.mean):
                subject = subject.format(steps=self.details["network"]["steps"])
                text = self._comparison(subject, other, difference)
                sentences.append(f"{text[0].upper()}{text[1:]}.")
        return tuple(sentences)

    @property
    def sentence(self) -> str:
        """The sentences in one line."""
        title = self.metric.title.removesuffix(" %")
        return f"{' '.join(self.sentences)} ({title} on test, {CONFIDENCE} % intervals)"

    def _comparison(self, subject: str, other: str, difference: PairedDifference) -> str:
        """The gain of the trained network over a control, in words."""
        sign = -1.0 if self.metric.larger_is_better else 1.0
        gain, form = round(sign * difference.mean, 9) + 0.0, self.metric.form  # no minus zero
        ending = "s" if subject == "the network" else ""
        width = f"{difference.half_width:{form}}{self.unit}"
        if abs(gain) <= difference.half_width:
            return (
                f"{subject} gain{ending} nothing measurable over {other} ({gain:+{form}} ± {width})"
            )
        if gain > 0:
            return f"{subject} gain{ending} {gain:{form}} ± {width} over {other}"
        return f"{subject} lose{ending} {-gain:{form}} ± {width} against {other}"

    def to_json(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {
            **self.details,
            "metric": self.metric.name,
            "larger_is_better": self.metric.larger_is_better,
            "confidence": CONFIDENCE,
            "notes": list(self.notes),
            "controls": [self._row(row) for row in self.rows],
            "sentence": self.sentence,
        }

    def _row(self, row: ControlResult) -> dict[str, Any]:
        summary, difference = summarise(row.values[self.metric.name]), self.difference(row.name)
        values = {name: value for name, value in row.to_json().items() if name != "resampled"}
        return {
            **values,
            "explanation": catalogue.EXPLANATIONS[row.name],
            "mean": summary.mean,
            "sd": summary.sd,
            "difference": None if difference is None else difference.mean,
            "half_width": None if difference is None else difference.half_width,
        }
