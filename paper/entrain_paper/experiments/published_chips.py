"""What published chips would score: for each kind the networks that fit it, with exact fields, and
with fields at the chip's own coupling levels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from entrain.hardware import Hardware, Levels, describe
from entrain.physics import layered_graph
from entrain.training import Stage
from entrain_paper.experiments import chip_evaluation
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values
from entrain_paper.experiments.setting import BOTH, Setting

FIELDS = ("fine", "coupling levels")
OUTPUTS = 10
_LARGEST = 128  # hidden oscillators of an all-to-all chip: more gain little, and take long to train


@dataclass(frozen=True)
class PublishedChip:
    """A preset, and how its fields are made."""

    name: str
    fields: str
    on_grid: bool = False

    def hidden(self, setting: Setting) -> int:
        """Hidden oscillators of its networks."""
        if self.on_grid:
            return chip_evaluation.sizes(setting).grid_hidden
        room = describe(self.name).hardware.oscillators
        most = min(_LARGEST, 2 * setting.hidden)
        return setting.hidden if room is None else min(most, room - OUTPUTS)

    def hardware(self, setting: Setting) -> Hardware:
        """The kind of chip, outputs spread over its grid."""
        kind = describe(self.name).hardware
        if self.on_grid and kind.wiring is not None:
            kind = replace(kind, wiring=kind.wiring.spread(self.hidden(setting), OUTPUTS))
        if self.fields == "fine":
            return kind
        levels = kind.coupling_levels
        assert levels is not None
        return replace(kind, field_levels=replace(levels, part="fields", rule="couplings"))

    def stage(self, setting: Setting, name: str) -> Stage:
        """Networks trained for it."""
        return chip_evaluation.trained_for(
            setting,
            name,
            self.hardware(setting),
            hidden=self.hidden(setting),
            epochs=chip_evaluation.sizes(setting).epochs,
        )


_KINDS = (
    ("lo-2023", False),
    ("onn-2025", False),
    ("wang-2019", False),
    ("moy-2022", True),
    ("ahmed-2021", True),
)


def chips(setting: Setting) -> list[PublishedChip]:
    """Every published kind, with both kinds of fields."""
    return [
        PublishedChip(name, fields, on_grid)
        for name, on_grid in chip_evaluation.sizes(setting).some(_KINDS)
        for fields in FIELDS
    ]


def stages(setting: Setting) -> list[Stage]:
    """Networks for each on both datasets."""
    return [chip.stage(setting, name) for name in BOTH for chip in chips(setting)]


def measure(context: ExperimentContext) -> Values:
    """Test accuracy on chips of each kind."""
    setting = context.setting

    def row(name: str, chip: PublishedChip) -> Values:
        stage, kind = chip.stage(setting, name), chip.hardware(setting)
        found = chip_evaluation.accuracies(
            context, name, stage, kind, chip_evaluation.sizes(setting).chips
        )
        return {"epochs": stage.epochs, **chip_evaluation.over_chips(found)}

    def labels(name: str, chip: PublishedChip) -> Values:
        described = describe(chip.name)
        hidden = chip.hidden(setting)
        kind = chip.hardware(setting)
        couplers = layered_graph(hidden, OUTPUTS)
        if kind.wiring is not None:
            couplers = couplers & kind.wiring.graph_of(hidden, OUTPUTS)
        return {
            "dataset": name,
            "chip": chip.name,
            "title": described.title,
            "fields": chip.fields,
            "room": described.hardware.oscillators,
            "N": hidden + OUTPUTS,
            "couplers": int(couplers.triu(1).sum()),
            "levels": _levels(kind.coupling_levels),
        }

    rows = chip_evaluation.measured(
        context,
        [
            (labels(name, chip), partial(row, name, chip))
            for name in BOTH
            for chip in chips(setting)
        ],
    )
    return {"rows": rows}


def _levels(levels: Levels | None) -> int | None:
    if levels is None:
        return None
    return len(levels.levels) if levels.levels is not None else 2 ** (levels.bits or 0) - 1


EXPERIMENT = Experiment("published-chips", "What published chips would score", "", stages, measure)
