"""Table 3: physical, numerical and optimisation configuration, counted on a network."""

from __future__ import annotations

from dataclasses import asdict

from entrain.models.network import KuramotoNetwork
from entrain_paper.experiments.comparison import Comparison, Constant, Row
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.experiments.setting import MNIST


def measure(context: ExperimentContext) -> Values:
    """Counts of a network of the main size, and the settings of both stages."""
    data, setting = context.data(MNIST), context.setting
    network = KuramotoNetwork(data.preprocessing.inputs, setting.hidden, len(data.class_names))
    path = setting.main_path(MNIST)
    return {
        "H": network.hidden,
        "O": network.outputs,
        "N": network.oscillators,
        "D": network.inputs,
        "trainable_parameters": network.parameter_count,
        "couplers": network.couplers,
        "input_coefficients": network.input_weights.numel(),
        "dynamics": asdict(network.dynamics),
        "stage1": path.rule.settings(),
        "stage2": setting.continue_from(path).rule.settings(),
    }


def compare(values: Values) -> Comparison:
    """Counts and settings, which must be equal."""
    paper = paper_numbers()["counts"] | paper_numbers()["student_configuration"]["rows"][0]
    names = {
        "H": "hidden oscillators H",
        "O": "output oscillators O",
        "N": "oscillators N",
        "D": "inputs D",
        "trainable_parameters": "trainable parameters",
        "input_coefficients": "input weights",
        "couplers": "symmetric couplings",
    }
    rows = [
        Row((title,), (Constant(paper[name], values[name], form=",.0f"),))
        for name, title in names.items()
    ]
    stages = [("Stage I", "stage1", values["stage1"]), ("Stage II", "stage2", values["stage2"])]
    for title, prefix, ours in stages:
        labels = {"lr": "learning_rate", "batch_size": "batch_size", "epochs": "epochs"}
        for key, label in labels.items():
            cell = Constant(paper[f"{prefix}_{key}"], ours[label], form=",.0f")
            rows.append(Row((f"{title} {label.replace('_', ' ')}",), (cell,)))
    dynamics = values["dynamics"]
    for label, printed, number in (
        ("Stage II endpoint weight", paper["lambda_end"], values["stage2"]["endpoint_weight"]),
        ("mobility", paper["mu"], dynamics["mobility"]),
        ("observation time t_f", paper["t_f"], dynamics["observation_time"]),
        ("Euler steps K", paper["K"], dynamics["steps"]),
        ("Euler step", paper["dt"], dynamics["observation_time"] / dynamics["steps"]),
    ):
        rows.append(Row((label,), (Constant(printed, number, form="g"),)))
    return Comparison(
        ("item",),
        ("value",),
        tuple(rows),
        notes=(
            "Equal, but not numbers: explicit Euler steps from pi/2 without noise; SGD without "
            "momentum or decay; Stage I from exact zero on the path loss, selected by the "
            "validation endpoint RMSE; Stage II from the selected Stage-I network on the sum of "
            "both losses, selected by the mean of validation top-1 and agreement.",
        ),
    )


EXPERIMENT = Experiment(
    "configuration",
    "Kuramoto Model and Training Configuration",
    "tab:kuramoto_training_configuration",
    lambda setting: [],
    measure,
    compare,
)
