"""Accuracy of networks trained for the effects of hardware, one at a time and together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from entrain.hardware import Dead, Hardware, Levels, Mismatch, Sparsity, preset
from entrain.training import Stage
from entrain_paper.experiments import chip_evaluation, shared_stages
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values
from entrain_paper.experiments.setting import BOTH, FASHION, MNIST, Setting


@dataclass(frozen=True)
class Constraint:
    """The hardware that networks are trained for, and their hidden oscillators (None: main size).

    `settings` replaces fields of DIRECT, by dataset, with those of results/hardware-trials.json
    that have the best mean on validation images.
    """

    label: str
    hardware: Hardware
    hidden: int | None = None
    settings: Mapping[str, dict[str, Any]] = field(default_factory=dict, hash=False)

    def stage(self, setting: Setting, name: str) -> Stage:
        """Networks trained for the hardware."""
        return chip_evaluation.trained_for(
            setting, name, self.hardware, hidden=self.hidden, settings=self.settings
        )

    def ideal(self, setting: Setting, name: str) -> Stage:
        """Networks of the same size trained without the hardware."""
        return shared_stages.direct_stage(setting, name, self.hidden)


LO_2023 = preset("lo-2023")
THREE_BITS = Levels(bits=3, range=2.5)
TERNARY = Levels(bits=2, range=1.5)
TOGETHER = Hardware(
    coupling_levels=Levels(bits=4), mismatch=Mismatch(couplings=0.1), sparsity=Sparsity(0.5)
)
SLOW_INPUTS = {MNIST: {"input_rate": 5e-3}}
CONSTRAINTS = (
    Constraint(
        "all of typical at once", preset("typical"), settings=chip_evaluation.FOR_TYPICAL_SETTINGS
    ),
    Constraint("4-bit couplings", Hardware(coupling_levels=Levels(bits=4))),
    Constraint("3-bit couplings", Hardware(coupling_levels=THREE_BITS), settings=SLOW_INPUTS),
    Constraint("ternary couplings", Hardware(coupling_levels=TERNARY)),
    Constraint(
        "20 % mismatch of couplings",
        Hardware(mismatch=Mismatch(couplings=0.2)),
        settings=SLOW_INPUTS,
    ),
    Constraint(
        "a tenth of the couplers dead",
        Hardware(dead=Dead(couplers=0.1)),
        settings={MNIST: {"coarse_steps": 100}},
    ),
    Constraint(
        "a quarter of the couplers kept", Hardware(sparsity=Sparsity(0.25)), settings=SLOW_INPUTS
    ),
    Constraint("a tenth of the couplers kept", Hardware(sparsity=Sparsity(0.1))),
    Constraint(
        "4 bits, 10 % mismatch, half of the couplers",
        TOGETHER,
        settings={FASHION: {"weight_decay": 0.03, "averaging": 0.9995}},
    ),
    Constraint(
        "lo-2023: 48 oscillators, 29 levels, 10 % mismatch",
        LO_2023,
        38,
        settings={MNIST: {"coarse_steps": 200, "input_rate": 5e-3}, FASHION: {"coarse_steps": 200}},
    ),
)
_ON_FASHION = ("all of typical at once", "4 bits, 10 % mismatch", "lo-2023")


def constraints(setting: Setting, name: str) -> list[Constraint]:
    """Constraints of a dataset; on Fashion-MNIST only those of several effects together."""
    chosen = [c for c in CONSTRAINTS if name == MNIST or c.label.startswith(_ON_FASHION)]
    return chip_evaluation.sizes(setting).thinned(chosen)


def stages(setting: Setting) -> list[Stage]:
    """Networks for every constraint, and of the same sizes without one."""
    return [
        stage
        for name in BOTH
        for constraint in constraints(setting, name)
        for stage in (constraint.stage(setting, name), constraint.ideal(setting, name))
    ]


def measure(context: ExperimentContext) -> Values:
    """Test accuracy on chips, of networks trained for them and of networks trained without them."""
    setting, sizes = context.setting, chip_evaluation.sizes(context.setting)

    def row(name: str, constraint: Constraint) -> Values:
        trained, ideal = constraint.stage(setting, name), constraint.ideal(setting, name)
        state = context.state(trained)
        return {
            "trained": chip_evaluation.over_chips(
                chip_evaluation.accuracies(context, name, trained, constraint.hardware, sizes.chips)
            ),
            "not_trained": chip_evaluation.over_chips(
                chip_evaluation.accuracies(
                    context, name, ideal, constraint.hardware, sizes.few_chips
                )
            ),
            "validation": [state.selected("top1", run) for run in range(trained.parallel_runs)],
            "epochs": [int(epoch) for epoch in state.best_epoch],
        }

    def labels(name: str, constraint: Constraint) -> Values:
        hidden = constraint.ideal(setting, name).network.hidden
        return {
            "dataset": name,
            "constraint": constraint.label,
            "hardware": constraint.hardware.to_json(),
            "N": hidden + len(context.data(name).class_names),
        }

    jobs = [
        (labels(name, constraint), partial(row, name, constraint))
        for name in BOTH
        for constraint in constraints(setting, name)
    ]
    return {"rows": chip_evaluation.measure_rows(context, jobs)}


EXPERIMENT = Experiment(
    "trained-for-chips", "Networks trained for imperfect chips", "", stages, measure
)
ROBUST = ((MNIST, CONSTRAINTS[0]), (FASHION, CONSTRAINTS[0]), (MNIST, CONSTRAINTS[-1]))
"""The networks that ship: for typical chips, and for the published chip of 48 oscillators."""
