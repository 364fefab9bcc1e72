"""Accuracy against the number of couplers, bits and inputs, and the cost of an even part of the
coupling function: MNIST networks trained for each value."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from entrain.hardware import CouplingFunction, FanIn, Hardware, Levels, Sparsity
from entrain.training import Stage
from entrain_paper.experiments import chip_evaluation, shared_stages
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values
from entrain_paper.experiments.setting import MNIST, Setting

# The best range for rounding a normal distribution, in rms, grows with the number of levels.
_RANGES = {2: 1.5, 3: 2.5}


def _bits(bits: float) -> Hardware:
    if bits == 1:
        return Hardware(coupling_levels=Levels(levels=(-1.0, 1.0), range=1.0))
    return Hardware(coupling_levels=Levels(bits=int(bits), range=_RANGES.get(int(bits), 3.0)))


_Curve = tuple[Callable[[float], Hardware], tuple[float, ...]]
CURVES: dict[str, _Curve] = {
    "couplers": (
        lambda density: Hardware(sparsity=Sparsity(density)),
        (1.0, 0.5, 0.25, 0.1, 0.05, 0.02),
    ),
    "bits": (_bits, (8, 6, 5, 4, 3, 2, 1)),
    "inputs": (lambda inputs: Hardware(fan_in=FanIn(int(inputs))), (784, 256, 128, 64, 32, 16, 8)),
}
EVEN: dict[str, _Curve] = {
    "lag": (lambda lag: Hardware(coupling_function=CouplingFunction(lag)), (0.1, 0.2, 0.4, 0.8)),
    "second_even": (
        lambda even: Hardware(coupling_function=CouplingFunction(second_even=even)),
        (0.1, 0.2, 0.4, 0.8),
    ),
}


def _experiment(name: str, title: str, curves: dict[str, _Curve]) -> Experiment:
    """Networks trained for every point of the curves, and ideal networks on the same chips."""

    def points(setting: Setting) -> list[tuple[str, float, Hardware]]:
        return [
            (curve, value, make(value))
            for curve, (make, values) in curves.items()
            for value in chip_evaluation.sizes(setting).thinned(values)
        ]

    def ideal(setting: Setting) -> Stage:
        return shared_stages.direct_stage(
            setting, MNIST, epochs=chip_evaluation.sizes(setting).epochs
        )

    def trained(setting: Setting, hardware: Hardware) -> Stage:
        return chip_evaluation.trained_for(
            setting, MNIST, hardware, epochs=chip_evaluation.sizes(setting).epochs
        )

    def stages(setting: Setting) -> list[Stage]:
        return [ideal(setting), *(trained(setting, hardware) for _, _, hardware in points(setting))]

    def measure(context: ExperimentContext) -> Values:
        setting = context.setting

        def row(hardware: Hardware) -> Values:
            scores = {
                label: chip_evaluation.over_chips(
                    chip_evaluation.accuracies(context, MNIST, stage, hardware, 1)  # no randomness
                )
                for label, stage in (
                    ("trained", trained(setting, hardware)),
                    ("not_trained", ideal(setting)),
                )
            }
            return {"epochs": chip_evaluation.sizes(setting).epochs, **scores}

        jobs = [
            ({"dataset": MNIST, "curve": curve, "value": value}, partial(row, hardware))
            for curve, value, hardware in points(setting)
        ]
        rows = chip_evaluation.measure_rows(context, jobs)
        tops = [run["top1"] for run in context.test(MNIST, ideal(setting))]
        return {"rows": rows, "ideal": sum(tops) / len(tops)}

    return Experiment(name, title, "", stages, measure)


RESOURCES = _experiment("chip-resources", "Accuracy against couplers, bits and inputs", CURVES)
EVEN_PART = _experiment(
    "even-coupling", "Accuracy against the even part of the coupling function", EVEN
)
