"""Tables 15 to 17 and Figure 15: our network among published ones. Our rows are computed, the
others cited.

Cited rows have the paper's provenance letters: H hardware, S simulation, D stated in
the source, A counted from a stated architecture.
"""

from __future__ import annotations

from entrain.rules import TwoStage
from entrain.training import Stage
from entrain_paper.experiments import shared_stages, widths
from entrain_paper.experiments.comparison import Claim, Comparison
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values, summary
from entrain_paper.experiments.paper_numbers import CITATIONS, paper_numbers
from entrain_paper.experiments.setting import BOTH, MNIST, Setting


def _stages(setting: Setting) -> list[Stage]:
    return [shared_stages.main_students(setting, name)["TWO-STAGE-END"] for name in BOTH]


def _cited(table: str) -> list[Values]:
    """The rows of a table that the paper cites, with their sources."""
    rows = paper_numbers()[table]["rows"]
    return [row | {"source": CITATIONS[row["citation"]]} for row in rows if row.get("citation")]


def _accuracies(context: ExperimentContext) -> Values:
    accuracies = {}
    for name, key in zip(BOTH, ("mnist", "fashion"), strict=True):
        stage = shared_stages.main_students(context.setting, name)["TWO-STAGE-END"]
        over_runs = summary(context.test(name, stage))
        for statistic in ("mean", "sd"):
            accuracies[f"{key}_top1_{statistic}"] = over_runs[statistic]["top1"]
    return accuracies


def measure_resources(context: ExperimentContext) -> Values:
    """Oscillators, input coefficients and couplers of the network itself."""
    network = context.networks(
        shared_stages.main_students(context.setting, MNIST)["TWO-STAGE-END"]
    )[0]
    ours = {
        "system": "Entrain",
        "platform": "Kuramoto",
        "task": "MNIST / Fashion-MNIST",
        "hidden": network.hidden,
        "output": network.outputs,
        "total": network.oscillators,
        "input_coefficients": network.input_weights.numel(),
        "couplers": network.couplers,
        "input_encoding": "hidden local fields",
        "implementation": "simulation",
        **_accuracies(context),
    }
    return {"ours": ours, "others": _cited("cross_platform_resources")}


def measure_protocols(context: ExperimentContext) -> Values:
    """Rollouts, hardware and updates of the two stages."""
    students = shared_stages.main_students(context.setting, MNIST)
    rollouts = {
        method: int(stage.rule.has_endpoint)
        for method, stage in students.items()
        if isinstance(stage.rule, TwoStage)
    }
    ours = {
        "system": "Entrain",
        "training_rule": "path pretraining + endpoint fine-tuning",
        "training_states": "I: teacher path; II: autonomous rollout",
        "stage1_rollouts": rollouts["PATH"],
        "stage2_rollouts": rollouts["TWO-STAGE-END"],
        "training_hardware": "simulation",
        "update": "digital",
        "inference_state": "state at t_f",
        "inference_evolution": "one rollout",
    }
    return {"ours": ours, "others": _cited("cross_platform_training")}


def measure_broader(context: ExperimentContext) -> Values:
    """State variables that evolve during inference, structure, readout and accuracy."""
    network = context.networks(
        shared_stages.main_students(context.setting, MNIST)["TWO-STAGE-END"]
    )[0]
    ours = {
        "system": "Entrain",
        "substrate": "Kuramoto",
        "architecture": f"{network.inputs}->{network.hidden}+{network.outputs}",
        "n_dyn": network.oscillators,
        "input": "static, hidden fields",
        "regime": "finite-time transient",
        "structure": "gradient flow",
        "interactions": "symmetric pairwise",
        "readout": "none",
        "prediction_state": "output oscillators at t_f",
        "implementation": "simulation",
        **_accuracies(context),
    }
    return {
        "ours": ours,
        "others": _cited("broader_context"),
        "notes": paper_numbers()["broader_context"]["footnote_values"],
    }


def measure_scale(context: ExperimentContext) -> Values:
    """Digit accuracy against oscillators: ours at every width, and those that the paper prints."""
    ours = []
    for hidden in context.setting.widths:
        _, end = widths.pair(context.setting, MNIST, hidden)
        over_runs = summary(context.test(MNIST, end)[: context.setting.few_runs])
        oscillators = context.networks(end)[0].oscillators
        ours.append({"oscillators": oscillators, "top1": over_runs["mean"]["top1"]})
    cited = [
        {
            "system": row["system"],
            "source": row["source"],
            "oscillators": row["total"],
            "top1": row.get("mnist_top1_mean") or row["other_task_top1_mean"],
            "task": row["task"],
            "standard": "mnist_top1_mean" in row,
        }
        for row in _cited("cross_platform_resources")
        if row.get("total") and row["citation"] in _OSCILLATOR_NETWORKS
    ]
    return {"ours": ours, "others": cited, "without_printed_accuracy": _NOT_PRINTED}


_OSCILLATOR_NETWORKS = ("rageau2025training", "gower2025train", "wang2024training")
_NOT_PRINTED = [
    CITATIONS[key]
    for key in ("moayed2026design", "abernot2023training", "gemo2026leveraging", "cai2025oscnet")
]


def compare_resources(values: Values) -> Comparison:
    """The sentence about the number of logical variables, and our counts."""
    counts = {row["system"]: row["total"] for row in values["others"] if row.get("total")}
    unknown = [row["system"] for row in values["others"] if not row.get("total")]
    ours = values["ours"]["total"]
    listed = ", ".join(f"{system} {count}" for system, count in counts.items())
    claim = Claim(
        "of the compared systems with a complete count of logical variables, ours has the smallest",
        all(ours < count for count in counts.values()),
        f"{ours} against {listed}; not reported: {', '.join(unknown) or 'none'}",
    )
    return Comparison((), (), (), (claim,))


RESOURCES = Experiment(
    "resources",
    "Resource and Implementation Comparison",
    "tab:cross_platform_resources",
    _stages,
    measure_resources,
    compare_resources,
)
PROTOCOLS = Experiment(
    "training-protocols",
    "Training and Inference Protocol Comparison",
    "tab:cross_platform_training",
    lambda setting: list(shared_stages.main_students(setting, MNIST).values()),
    measure_protocols,
)
BROADER = Experiment(
    "broader-context",
    "Broader Context Among Dynamical Classifiers",
    "tab:broader_dynamical_context",
    _stages,
    measure_broader,
)
SCALE = Experiment(
    "oscillator-scale",
    "Handwritten-Digit Accuracy Versus Logical Oscillator-State Scale",
    "fig:oscillator_digit_scale",
    lambda setting: [widths.pair(setting, MNIST, hidden)[1] for hidden in setting.widths],
    measure_scale,
)
