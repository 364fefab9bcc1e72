"""Accuracy on published chips: networks that fit each chip, with exact fields and with fields
at the levels of its couplings."""

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
_LARGEST = 128  # hidden oscillators; more gain little and take long to train


@dataclass(frozen=True)
class PublishedChip:
    """A hardware preset, and the resolution of its fields."""

    name: str
    fields: str
    on_grid: bool = False

    def hidden(self, setting: Setting) -> int:
        """Hidden oscillators of its networks."""
        if self.on_grid:
            return chip_evaluation.sizes(setting).grid_hidden
        oscillators = describe(self.name).hardware.oscillators
        if oscillators is None:
            return setting.hidden
        return min(_LARGEST, 2 * setting.hidden, oscillators - OUTPUTS)

    def hardware(self, setting: Setting) -> Hardware:
        """The hardware, with the outputs spread over a grid."""
        hardware = describe(self.name).hardware
        if self.on_grid and hardware.wiring is not None:
            wiring = hardware.wiring.spread(self.hidden(setting), OUTPUTS)
            hardware = replace(hardware, wiring=wiring)
        if self.fields == "fine":
            return hardware
        levels = hardware.coupling_levels
        assert levels is not None
        return replace(hardware, field_levels=replace(levels, part="fields", rule="couplings"))

    def stage(self, setting: Setting, name: str) -> Stage:
        """Networks trained for the chip."""
        return chip_evaluation.trained_for(
            setting,
            name,
            self.hardware(setting),
            hidden=self.hidden(setting),
            epochs=chip_evaluation.sizes(setting).epochs,
        )


_PRESETS = (  # name, on a grid
    ("lo-2023", False),
    ("onn-2025", False),
    ("wang-2019", False),
    ("moy-2022", True),
    ("ahmed-2021", True),
)


def chips(setting: Setting) -> list[PublishedChip]:
    """Every published chip, with both resolutions of its fields."""
    return [
        PublishedChip(name, fields, on_grid)
        for name, on_grid in chip_evaluation.sizes(setting).thinned(_PRESETS)
        for fields in FIELDS
    ]


def stages(setting: Setting) -> list[Stage]:
    """Networks for each chip on both datasets."""
    return [chip.stage(setting, name) for name in BOTH for chip in chips(setting)]


def measure(context: ExperimentContext) -> Values:
    """Test accuracy on samples of each chip."""
    setting = context.setting

    def row(name: str, chip: PublishedChip) -> Values:
        stage, count = chip.stage(setting, name), chip_evaluation.sizes(setting).chips
        scores = chip_evaluation.accuracies(context, name, stage, chip.hardware(setting), count)
        return {"epochs": stage.epochs, **chip_evaluation.over_chips(scores)}

    def labels(name: str, chip: PublishedChip) -> Values:
        described = describe(chip.name)
        hidden = chip.hidden(setting)
        hardware = chip.hardware(setting)
        couplers = layered_graph(hidden, OUTPUTS)
        if hardware.wiring is not None:
            couplers = couplers & hardware.wiring.graph_of(hidden, OUTPUTS)
        return {
            "dataset": name,
            "chip": chip.name,
            "title": described.title,
            "fields": chip.fields,
            "room": described.hardware.oscillators,
            "N": hidden + OUTPUTS,
            "couplers": int(couplers.triu(1).sum()),
            "levels": _levels(hardware.coupling_levels),
        }

    jobs = [
        (labels(name, chip), partial(row, name, chip)) for name in BOTH for chip in chips(setting)
    ]
    return {"rows": chip_evaluation.measure_rows(context, jobs)}


def _levels(levels: Levels | None) -> int | None:
    if levels is None:
        return None
    return len(levels.levels) if levels.levels is not None else 2 ** (levels.bits or 0) - 1


EXPERIMENT = Experiment(
    "published-chips", "Simulated accuracy of published chips", "", stages, measure
)
