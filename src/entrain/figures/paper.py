"""The figures of the paper by name, and some of ours: what each needs, says and how it is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from entrain.figures.ablation import protocol_ablation
from entrain.figures.anytime import anytime
from entrain.figures.architectures import architectures_pairs, architectures_scatter
from entrain.figures.bake_off import bake_off, cited_and_measured
from entrain.figures.chip_curves import chip_curves
from entrain.figures.chip_scores import published_chips, trained_for_chips
from entrain.figures.controls import recurrence, single_runs
from entrain.figures.errors import time_resolved
from entrain.figures.examples import examples
from entrain.figures.fragility import fragility, typical_yield
from entrain.figures.learning import matched_continuations, stage2_components, validation_curves
from entrain.figures.noisy import stochastic_dynamics
from entrain.figures.panels import Results
from entrain.figures.performance import main_performance
from entrain.figures.records import records
from entrain.figures.robustness import scaling_noise_grid
from entrain.figures.rules import rule_gradients, rules_on_chips
from entrain.figures.scale import oscillator_scale
from entrain.figures.seeds import teacher_seeds
from entrain.figures.starts import teacher_needed
from entrain.figures.sweep import teacher_sweep
from entrain.figures.symmetry import from_zero_symmetry

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class PaperFigure:
    """A figure: the experiments whose values `draw` takes, by name, and a caption."""

    name: str
    caption: str
    needs: tuple[str, ...]
    draw: Callable[[Results], Figure]


_DIAMONDS = "Hollow diamonds are the numbers the paper prints."
_EXAMPLES = (
    "Each panel shows the image and the ten outputs of one TWO-STAGE-END network from start to "
    "observation time; the thick line is the class that wins."
)

_ERROR_SCALE = "Accuracies are on a logarithmic scale of the error: half the error, the same step."
_TRAININGS = "Settings and the epoch of every training were chosen on validation images."

FIGURES: dict[str, PaperFigure] = {
    figure.name: figure
    for figure in (
        PaperFigure(
            "main-performance",
            "Test accuracy, agreement with the teacher and endpoint RMSE on both datasets, as "
            "measured (a to c) and less the mean that the paper prints (d to f): small points are "
            "training orders (ten in the full setting), large markers their means, bars one "
            f"sample SD. {_DIAMONDS}",
            ("multiseed",),
            main_performance,
        ),
        PaperFigure(
            "validation-curves",
            "Validation accuracy after each epoch of both stages: mean over training orders (ten "
            "in the full setting) and a band of one sample SD either side. Epoch 0 of Stage II is "
            "the selected PATH network.",
            ("validation-curves",),
            validation_curves,
        ),
        PaperFigure(
            "stage2-components",
            "The two training losses in each epoch of TWO-STAGE-END: mean over training orders "
            "(ten in the full setting) and a band of one sample SD either side.",
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
                    "misclassified although the true class comes second, one of each class where "
                    "there is one; titles give the predicted and, in brackets, the true class",
                ),
            )
        ),
        PaperFigure(
            "architectures-scatter",
            "TWO-STAGE-END against PATH for Fashion-MNIST teachers that divide the same hidden "
            "width differently (15 in the full setting), one run each; dashed lines are equal "
            "gains of TWO-STAGE-END over PATH, in points. Hollow diamonds are the numbers the "
            "paper prints, joined to ours of the same teacher.",
            ("architectures",),
            architectures_scatter,
        ),
        PaperFigure(
            "architectures-pairs",
            "From PATH to TWO-STAGE-END, one line for each Fashion-MNIST teacher architecture (15 "
            f"in the full setting), one run each. {_DIAMONDS}",
            ("architectures",),
            architectures_pairs,
        ),
        PaperFigure(
            "ablation",
            "Test accuracy and agreement of six pairs of initialisation and objective, one run "
            f"each, with the value beside each bar. {_DIAMONDS}",
            ("ablation",),
            protocol_ablation,
        ),
        PaperFigure(
            "matched-continuations",
            "Validation accuracy and endpoint RMSE while the same PATH network is trained on with "
            "three objectives, one run each; open circles are the selected epochs.",
            ("matched-continuations",),
            matched_continuations,
        ),
        PaperFigure(
            "scaling-noise-grid",
            "Test accuracy against width of teacher and network together (a, d), temperature "
            "(b, e: mean output of ten trajectories, and faint dotted lines for single ones) and "
            "integration grid (c, f). Small points are training orders (five in the full "
            f"setting), markers their means, bars one sample SD. {_DIAMONDS}",
            ("widths", "temperature", "refinement"),
            scaling_noise_grid,
        ),
        PaperFigure(
            "stochastic-dynamics",
            "Outputs of Fashion-MNIST images at temperature 1: (A) every trajectory of both "
            "networks is right, (B) some err but the means are right, (C) only the TWO-STAGE-END "
            "mean is right, (D) noise overturns it, too. Solid lines are means over trajectories, "
            "faint lines the single ones of the true class and its strongest rival.",
            ("stochastic-dynamics",),
            stochastic_dynamics,
        ),
        PaperFigure(
            "oscillator-scale",
            "Digit accuracy against the number of oscillators: small points are training orders "
            "at each width (five in the full setting), markers their means, bars one sample SD; "
            "the others are cited, with the SDs the paper prints. Filled blue markers are standard "
            "MNIST, open ones other digit tasks. Four works of the paper's figure are left out, of "
            "which it prints no accuracy: Moayed and Csaba 2026, Abernot and Todri-Sanial 2023, "
            "Gemo et al. 2026, and Cai et al. 2025 (784 phase variables a rollout).",
            ("oscillator-scale", "widths"),
            oscillator_scale,
        ),
        PaperFigure(
            "teacher-seeds",
            "Test accuracy of teachers of one architecture from different seeds, and of the PATH "
            "and TWO-STAGE-END networks trained on each, one run each. The ticks at the right are "
            "the paper's teacher and its means.",
            ("teacher-seeds",),
            teacher_seeds,
        ),
        PaperFigure(
            "records",
            "Test accuracy against the number of oscillators. Ours are trained on labels (DIRECT), "
            "with augmentation at every width and without at one; small points are runs (five in "
            "the full setting), markers their means, bars one sample SD. Hollow diamonds are the "
            "paper's TWO-STAGE-END at its widths, blue markers other published networks, with the "
            "SDs the paper prints; Wang's digits are not MNIST, and networks of other tasks or "
            "of unknown size are left out. Our settings were chosen on validation images, at 74 "
            "oscillators, and so was the epoch of every run; the widths are the paper's.",
            ("records",),
            records,
        ),
        PaperFigure(
            "anytime",
            "Left: test accuracy when the outputs of the same networks are read before the "
            "observation time; what lies far below is cut off. Middle: each image is decided as "
            "soon as its best output leads the second by a margin, and accuracy is drawn against "
            "the mean time this takes; numbers are margins, of which none was chosen. Both show "
            "means over runs (five in the full setting). Right: DIRECT trained, in a quarter of "
            "the epochs, for other observation times; small points are runs, markers their means, "
            "bars one sample SD. The settings of DIRECT and the epoch of every run were chosen on "
            "validation images.",
            ("anytime",),
            anytime,
        ),
        PaperFigure(
            "teacher-needed",
            "MNIST test accuracy from four starts, trained on labels or on the teacher's outputs "
            "with one optimiser, the same rates and the same few epochs; the vertical axis is "
            "broken where one start lies far below. Small points are runs (five in the full "
            "setting), markers their means, bars one sample SD. Above each is the median epoch "
            "after which 96 % of the validation images were right, or never if half the runs or "
            "more did not get there. Each run is tested at the epoch chosen on validation images.",
            ("teacher-needed",),
            teacher_needed,
        ),
        PaperFigure(
            "teacher-sweep",
            "What the students of many teachers reach (20 for each dataset in the full setting), "
            "each selected by its validation top-1 or its validation cross-entropy and followed "
            "by one PATH and one TWO-STAGE-END run; lines are means. "
            f"{_DIAMONDS}",
            ("teacher-sweep",),
            teacher_sweep,
        ),
        PaperFigure(
            "single-runs",
            "Test accuracy of what the paper measured in single runs at rate 30, in several "
            "training orders (20 from exact zero and with the endpoint weight 10, five otherwise, "
            "in the full setting), and of TWO-STAGE-END from PATH's exact minimum. "
            f"{_DIAMONDS} {_ERROR_SCALE}",
            ("single-runs",),
            single_runs,
        ),
        PaperFigure(
            "from-zero-symmetry",
            "Training from exact zero, where all hidden oscillators are alike: the largest "
            "difference between two rows of the input weights. In exact arithmetic it would stay "
            "zero. Left: over the steps of one order. Right: of the network selected in each "
            "order, beside its accuracy.",
            ("from-zero-symmetry",),
            from_zero_symmetry,
        ),
        PaperFigure(
            "recurrence",
            "DIRECT with something taken away: test accuracy of runs (five in the full setting), "
            f"their means and one sample SD. {_ERROR_SCALE} {_TRAININGS}",
            ("recurrence",),
            recurrence,
        ),
        PaperFigure(
            "trained-for-chips",
            "Networks trained for what chips do to them, one constraint a line, beside networks of "
            "the same size that were trained for none of it: means over chips and trainings "
            "(100 chips and five trainings in the full setting; five chips where not trained for "
            f"it). {_ERROR_SCALE} {_TRAININGS}",
            ("trained-for-chips",),
            trained_for_chips,
        ),
        *(
            PaperFigure(
                f"{short}-fragility",
                f"{dataset} networks of four methods under each imperfection alone, from the ideal "
                "network (none) to five strengths of it: means over trainings and chips (five of "
                "each in the full setting), bars one sample SD over trainings. None was trained "
                "for these chips: the last method was trained for all that is in typical. "
                f"{_ERROR_SCALE}",
                ("fragility",),
                fragility(dataset),
            )
            for short, dataset in (("mnist", "MNIST"), ("fashion", "Fashion-MNIST"))
        ),
        PaperFigure(
            "typical-yield",
            "The share of typical chips (1,000 in the full setting, the same for all) on which a "
            "network has at least an accuracy; markers are at 95, 50 and 5 % of the chips, and the "
            "dotted line crosses each curve at its 5th percentile. One network of each method, "
            f"the best of its runs on validation images. {_ERROR_SCALE}",
            ("typical-yield",),
            typical_yield,
        ),
        PaperFigure(
            "published-chips",
            "What networks trained for published chips score on simulated ones: mean over chips "
            "and trainings (100 and five in the full setting). Under each name are the "
            "oscillators of the network, those of the chip, and its coupling levels. Filled: "
            "fields are exact; open: they have the levels of the chip's own couplings. "
            f"{_ERROR_SCALE} {_TRAININGS}",
            ("published-chips",),
            published_chips,
        ),
        PaperFigure(
            "chip-resources",
            "MNIST accuracy against the share of couplers that is used, the bits of a coupling (1: "
            "two levels without a zero) and the pixels that reach an oscillator: networks trained "
            "for each, and DIRECT networks that were cut or rounded after training. Markers are "
            "means over trainings (five in the full setting), bars one sample SD. "
            f"{_ERROR_SCALE} {_TRAININGS}",
            ("chip-resources",),
            chip_curves("chip-resources"),
        ),
        PaperFigure(
            "even-coupling",
            "What an even part of the coupling function costs, on MNIST: a phase lag, and an even "
            "second harmonic, with which the network is no gradient flow. Networks trained with "
            "it, and DIRECT networks trained without. Markers are means over trainings (five in "
            f"the full setting), bars one sample SD. {_ERROR_SCALE} {_TRAININGS}",
            ("even-coupling",),
            chip_curves("even-coupling"),
        ),
        PaperFigure(
            "rule-gradients",
            "Gradients of the couplings by rules that need no model of the network, beside the "
            "exact gradient at equilibrium: the cosine of the angle between them, and the length "
            "over that of the exact one (dotted: 1), along the strength of the nudge (the steps of "
            "SPSA), the time of relaxation, thermal noise, and the Euler step. One network that "
            "was trained by EP for a short time.",
            ("rule-gradients",),
            rule_gradients,
        ),
        PaperFigure(
            "rules-on-chips",
            "What networks score on one imperfect chip (30 % mismatch, 4 bits, noise), by the rule "
            "that trained them on the chip itself, or as the ideal network. Open marks: on other "
            f"chips of its kind. Bars are one sample SD over trainings. {_ERROR_SCALE}",
            ("rules-on-chips",),
            rules_on_chips,
        ),
        *(
            PaperFigure(
                f"bake-off-{cost}",
                f"Test accuracy of every compared system, and of ours, against {what}, on a "
                "logarithmic axis; all measured on one protocol. Markers are means over seeds "
                "(five in the full setting), bars one sample SD. The line is the Pareto front: "
                f"no system on it is beaten in both. {_ERROR_SCALE} The epoch of every training "
                "was chosen on validation images.",
                ("bake-off",),
                bake_off(cost),
            )
            for cost, what in (
                (
                    "variables",
                    "its dynamical variables (systems without dynamics are left out)",
                ),
                ("parameters", "its trained numbers"),
                ("seconds", "the seconds its training took, all seeds side by side"),
            )
        ),
        PaperFigure(
            "bake-off-cited",
            "Test accuracy measured here against the one that is cited, for systems that have a "
            "published number on the dataset; above the dashed line ours is the higher. What is "
            "cited was measured by others, on other splits and some of it on other data. Markers "
            "are means over seeds (five in the full setting), bars one sample SD. "
            f"{_ERROR_SCALE}",
            ("bake-off",),
            cited_and_measured,
        ),
    )
}
