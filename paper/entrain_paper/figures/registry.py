"""All figures of the report: name, caption, required results and drawing function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from entrain.plots.style import boxes_for_missing_glyphs
from entrain.utils import escape
from entrain_paper.figures.ablation import protocol_ablation
from entrain_paper.figures.accuracy_by_size import oscillator_scale, records
from entrain_paper.figures.anytime import anytime
from entrain_paper.figures.architectures import architectures_pairs, architectures_scatter
from entrain_paper.figures.bake_off import bake_off, cited_and_measured
from entrain_paper.figures.chip_curves import chip_curves
from entrain_paper.figures.chip_scores import published_chips, trained_for_chips
from entrain_paper.figures.controls import recurrence, single_runs
from entrain_paper.figures.fragility import fragility, typical_yield
from entrain_paper.figures.panels import Results, empty_figure
from entrain_paper.figures.performance import main_performance
from entrain_paper.figures.robustness import scaling_noise_grid
from entrain_paper.figures.rules import rule_gradients, rules_on_chips
from entrain_paper.figures.symmetry import from_zero_symmetry
from entrain_paper.figures.teachers import teacher_needed, teacher_sweep
from entrain_paper.figures.training_curves import (
    matched_continuations,
    stage2_components,
    validation_curves,
)
from entrain_paper.figures.trajectories import examples, stochastic_dynamics, time_resolved

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class PaperFigure:
    """A figure; `function` takes the values of the experiments `needs`, by name. It is shown on the
    pages of the experiments `pages`, by default on that of the last one it needs."""

    name: str
    caption: str
    needs: tuple[str, ...]
    function: Callable[[Results], Figure]
    pages: tuple[str, ...] = ()

    @property
    def shown_with(self) -> tuple[str, ...]:
        """Experiments on whose pages it is shown."""
        return self.pages or self.needs[-1:]

    def draw(self, results: Results) -> Figure:
        """The figure of the values of `needs`; one without axes if an experiment has no rows."""
        needed = {name: results[name] for name in self.needs}
        if any(values.get("rows") == [] for values in needed.values()):
            return empty_figure(self.name)
        with boxes_for_missing_glyphs():
            return self.function(_labels(needed))


def _labels(values: Any) -> Any:
    """JSON values with all text escaped for figures; names of methods and datasets stay."""
    if isinstance(values, dict):
        return {name: _labels(entry) for name, entry in values.items()}
    if isinstance(values, list):
        return [_labels(entry) for entry in values]
    return escape.mathtext(values) if isinstance(values, str) else values


_DIAMONDS = "Hollow diamonds are the paper's numbers."
_BARS = "markers their means, bars one sample SD."
_EXAMPLES = (
    "Each panel shows the image and the ten outputs of one TWO-STAGE-END network, from the start "
    "to the observation time. The thick line is the predicted class."
)

_ERROR_SCALE = (
    "The accuracy axis is logarithmic in the error: each halving of the error has the same length."
)
_TRAININGS = "Settings and epochs were selected on validation images."

FIGURES: dict[str, PaperFigure] = {
    figure.name: figure
    for figure in (
        PaperFigure(
            "main-performance",
            "Test accuracy, agreement with the teacher and endpoint RMSE on both datasets: as "
            "measured (a to c), and as the difference from the paper's mean (d to f), where small "
            "points beside a mean are its training orders (ten in the full setting), and bars one "
            f"sample SD. {_DIAMONDS}",
            ("multiseed",),
            main_performance,
        ),
        PaperFigure(
            "validation-curves",
            "Validation accuracy after each epoch of both stages. Lines are means over training "
            "orders (ten in the full setting), bands one sample SD to either side. Epoch 0 of "
            "Stage II is the selected PATH network.",
            ("validation-curves",),
            validation_curves,
        ),
        PaperFigure(
            "stage2-components",
            "The two training losses in each epoch of TWO-STAGE-END. Lines are means over training "
            "orders (ten in the full setting), bands one sample SD to either side.",
            ("stage2-components",),
            stage2_components,
        ),
        PaperFigure(
            "time-resolved",
            "Root-mean-square distance of output and hidden activations from the teacher's path "
            "at each time of the rollout, over all test images. One run at learning rate 30.",
            ("time-resolved",),
            time_resolved,
        ),
        *(
            PaperFigure(
                f"{short}-{kind}",
                f"{dataset} test images that are {what}. {_EXAMPLES}",
                ("output-dynamics",),
                examples(dataset, kind),
            )
            for short, dataset in (("mnist", "MNIST"), ("fashion", "Fashion-MNIST"))
            for kind, what in (
                ("correct", "classified correctly, with margins typical of their class"),
                (
                    "misclassified",
                    "misclassified with the true class in second place, one of each class if there "
                    "is one. Titles give the predicted class and, in brackets, the true class",
                ),
            )
        ),
        PaperFigure(
            "architectures-scatter",
            "TWO-STAGE-END against PATH for Fashion-MNIST teachers that divide the same hidden "
            "width in different ways (15 in the full setting), one run each. Dashed lines are "
            "equal gains of TWO-STAGE-END over PATH, in points. Hollow markers are the paper's "
            "numbers. Labels mark the main architecture (T32_16_16) and those with the lowest or "
            "highest PATH, TWO-STAGE-END or gain here. architectures-pairs joins both numbers of "
            "each architecture.",
            ("architectures",),
            architectures_scatter,
        ),
        PaperFigure(
            "architectures-pairs",
            "From PATH to TWO-STAGE-END for each Fashion-MNIST teacher architecture (15 in the "
            "full setting), one run each. Solid lines join our two numbers, dotted lines under "
            "them the paper's, which are hollow diamonds. T32_16_16 is the main architecture.",
            ("architectures",),
            architectures_pairs,
        ),
        PaperFigure(
            "ablation",
            "Test accuracy and agreement of six pairs of initialisation and objective, one run "
            f"each. The number beside a bar is its value. {_DIAMONDS}",
            ("ablation",),
            protocol_ablation,
        ),
        PaperFigure(
            "matched-continuations",
            "Validation accuracy and endpoint RMSE while training continues from the same PATH "
            "network with three objectives, one run each. Open circles are the selected epochs.",
            ("matched-continuations",),
            matched_continuations,
        ),
        PaperFigure(
            "scaling-noise-grid",
            "Test accuracy against the common width of teacher and network (a, d), the temperature "
            "(b, e) and the integration grid (c, f). In b and e, the prediction is the mean output "
            "of ten trajectories; faint dotted lines are single trajectories. Small points are "
            f"training orders (five in the full setting), {_BARS} {_DIAMONDS}",
            ("widths", "temperature", "refinement"),
            scaling_noise_grid,
            ("widths", "temperature", "refinement"),
        ),
        PaperFigure(
            "stochastic-dynamics",
            "Outputs for Fashion-MNIST images at temperature 1. (A) Every trajectory of both "
            "networks is correct. (B) Some trajectories are wrong, but the means are correct. (C) "
            "Only the TWO-STAGE-END mean is correct. (D) With noise, the TWO-STAGE-END mean is "
            "wrong, too. Solid lines are means over trajectories. Faint lines are single "
            "trajectories of the true class and of its strongest competitor.",
            ("stochastic-dynamics",),
            stochastic_dynamics,
        ),
        PaperFigure(
            "oscillator-scale",
            "Digit accuracy against the number of oscillators. Small points are training orders at "
            "each width (five in the full setting), drawn left of it. Squares are their means, "
            "bars one sample SD. The other points are cited, with the SDs that the paper prints. "
            "Filled blue circles are standard MNIST, open ones other digit tasks. Four works of "
            "the paper's figure are left out, because the paper prints no accuracy for them: "
            "Moayed and Csaba 2026, Abernot and Todri-Sanial 2023, Gemo et al. 2026, and Cai et "
            "al. 2025 (784 phase variables per rollout).",
            ("oscillator-scale", "widths"),
            oscillator_scale,
            ("oscillator-scale",),
        ),
        PaperFigure(
            "records",
            "Test accuracy against the number of oscillators. Our networks are trained on labels "
            "(DIRECT): with augmentation at every width, and without it at one. Small points are "
            f"runs (five in the full setting), {_BARS} The runs, and the networks without "
            "augmentation, are drawn beside their width. Hollow diamonds are the paper's "
            "TWO-STAGE-END at its widths, blue markers other published networks, with the SDs that "
            "the paper prints. Wang's digits are not MNIST. Networks for other tasks or of unknown "
            "size are left out. The widths are the paper's. Our settings were selected on "
            "validation images at 74 oscillators, and the epoch of every run on validation images.",
            ("records",),
            records,
        ),
        PaperFigure(
            "anytime",
            "Left: test accuracy for readout before the observation time, of the same networks. "
            "Very low values are cut off. Middle: accuracy against the mean stopping time, if each "
            "image stops when its best output leads the second by a margin. The labels are the "
            "margins, none of which was selected. Both panels show means over runs (five in the "
            "full setting). Right: DIRECT trained for other observation times, with a quarter of "
            f"the epochs. Small points are runs, {_BARS} The settings of DIRECT and the epoch of "
            "every run were selected on validation images.",
            ("anytime",),
            anytime,
        ),
        PaperFigure(
            "teacher-needed",
            "MNIST test accuracy from four starts, trained on labels or on the teacher's outputs. "
            "Optimiser, learning rates and the small number of epochs are the same for all. The "
            "vertical axis is broken if one start is far below the others. Small points are runs "
            f"(five in the full setting), {_BARS} The label of a marker is the median of the first "
            'epoch with 96 % validation accuracy, or "never" if at least half of the runs did not '
            "reach it. Each run is tested at the epoch selected on validation images.",
            ("teacher-needed",),
            teacher_needed,
        ),
        PaperFigure(
            "teacher-sweep",
            "The students of many teachers (20 for each dataset in the full setting). Each teacher "
            "is selected by its validation top-1 or its validation cross-entropy, and has one PATH "
            f"run and one TWO-STAGE-END run. Lines are means. {_DIAMONDS}",
            ("teacher-sweep",),
            teacher_sweep,
        ),
        PaperFigure(
            "single-runs",
            "Test accuracy over several training orders, for which the paper has single runs at "
            "learning rate 30. In the full setting there are 20 orders from exact zero and with "
            "endpoint weight 10, and five otherwise. TWO-STAGE-END from the exact minimum of PATH "
            "is shown as well. Upright ticks are means, bars reach from the lowest to the highest "
            f"run. {_DIAMONDS} {_ERROR_SCALE}",
            ("single-runs",),
            single_runs,
        ),
        PaperFigure(
            "from-zero-symmetry",
            "Largest difference between two rows of the input weights in training from exact zero, "
            "where all hidden oscillators are equal. In exact arithmetic it would stay zero. The "
            "strip below each logarithmic axis is for zero. (a) Over the steps of one training "
            "order. (b) For the selected network of each order, against its accuracy.",
            ("from-zero-symmetry",),
            from_zero_symmetry,
        ),
        PaperFigure(
            "recurrence",
            "DIRECT with a part removed: test accuracy of runs (five in the full setting), "
            "their means (upright ticks) and their range. A row at chance is left of the axis. "
            f"{_ERROR_SCALE} {_TRAININGS}",
            ("recurrence",),
            recurrence,
        ),
        PaperFigure(
            "trained-for-chips",
            "Networks trained for the imperfections of a chip, one constraint per row, and "
            "networks of the same size that were not. Means over chips and trainings (in the full "
            "setting, 100 chips and five trainings; five chips for networks not trained for it). "
            f"{_ERROR_SCALE} {_TRAININGS}",
            ("trained-for-chips",),
            trained_for_chips,
        ),
        *(
            PaperFigure(
                f"{short}-fragility",
                f"{dataset} networks of four methods under one imperfection at a time, from the "
                "ideal network (none) to five strengths. Means over trainings and chips (five of "
                "each in the full setting), bars one sample SD over trainings. No network was "
                "trained for these chips; the last method was trained for all effects of typical "
                "chips. Offsets of couplings and fields are in percent of the root mean square of "
                f"the couplings, those of weights in percent of the weights'. {_ERROR_SCALE}",
                ("fragility",),
                fragility(dataset),
            )
            for short, dataset in (("mnist", "MNIST"), ("fashion", "Fashion-MNIST"))
        ),
        PaperFigure(
            "typical-yield",
            "The share of typical chips (1,000 in the full setting, the same for all networks) on "
            "which a network reaches at least a given accuracy. Markers are at 95, 50 and 5 % of "
            "the chips. The dotted line crosses each curve at its 5th percentile. One network of "
            f"each method, the best of its runs on validation images. {_ERROR_SCALE}",
            ("typical-yield",),
            typical_yield,
        ),
        PaperFigure(
            "published-chips",
            "Scores of networks trained for published chips, on simulated chips: mean over chips "
            "and trainings (100 and five in the full setting). Under each name are the oscillators "
            "of the network, those of the chip, and its coupling levels. Filled markers: exact "
            "fields. Open markers: fields with the levels of the chip's own couplings. "
            f"{_ERROR_SCALE} {_TRAININGS}",
            ("published-chips",),
            published_chips,
        ),
        PaperFigure(
            "chip-resources",
            "MNIST accuracy against the share of couplers in use, the bits per coupling (1 bit: "
            "two levels without zero) and the pixels that reach an oscillator. Networks trained "
            "for each value, and DIRECT networks that were pruned or rounded after training. "
            "Markers are means over trainings (five in the full setting), bars one sample SD. "
            f"{_ERROR_SCALE} {_TRAININGS}",
            ("chip-resources",),
            chip_curves("chip-resources"),
        ),
        PaperFigure(
            "even-coupling",
            "MNIST accuracy with an even part of the coupling function, a phase lag or an even "
            "second harmonic, with which the network is not a gradient flow. Networks trained with "
            "it, and DIRECT networks trained without it. Markers are means over trainings (five in "
            f"the full setting), bars one sample SD. {_ERROR_SCALE} {_TRAININGS}",
            ("even-coupling",),
            chip_curves("even-coupling"),
        ),
        PaperFigure(
            "rule-gradients",
            "Gradients of the couplings from rules that need no model of the network, compared "
            "with the exact gradient at equilibrium. Top: cosine of the angle between them. "
            "Bottom: length divided by the length of the exact gradient. Dotted lines: 1. The "
            "columns vary the nudge strength (for SPSA, the step), the relaxation time, thermal "
            "noise and the Euler step. The network was trained by EP for a short time.",
            ("rule-gradients",),
            rule_gradients,
        ),
        PaperFigure(
            "rules-on-chips",
            "Accuracy on one imperfect chip (30 % mismatch, 4 bits, noise) by training rule, for "
            "networks trained on the chip itself and for networks trained on the ideal network. "
            "Open markers: on other chips of the same hardware. Bars are one sample SD over "
            "trainings. "
            f"{_ERROR_SCALE}",
            ("rules-on-chips",),
            rules_on_chips,
        ),
        *(
            PaperFigure(
                f"bake-off-{cost}",
                f"Test accuracy of every compared system, and of our networks, against {what}, "
                "measured on one protocol. Markers are means over seeds (five in the full "
                "setting), bars one sample SD. The line is the Pareto front: no system is better "
                f"in both than a system on the front. {_ERROR_SCALE} The epoch of every training "
                "was selected on validation images.",
                ("bake-off",),
                bake_off(cost),
            )
            for cost, what in (
                (
                    "variables",
                    "the number of dynamical variables (systems without dynamics are left out)",
                ),
                ("parameters", "the number of trained parameters"),
            )
        ),
        PaperFigure(
            "bake-off-cited",
            "Measured against cited test accuracy, for systems with a published number on the "
            "dataset. Above the dashed line, our measurement is higher. Cited numbers are the "
            "authors', on other splits and some of them on other data. Markers are means "
            f"over seeds (five in the full setting), bars one sample SD. {_ERROR_SCALE}",
            ("bake-off",),
            cited_and_measured,
        ),
    )
}
