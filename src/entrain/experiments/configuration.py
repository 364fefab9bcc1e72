"""The physical and numerical configuration, counted on the network itself."""

from __future__ import annotations

from dataclasses import asdict

from entrain.experiments.setting import MNIST
from entrain.experiments.spec import Experiment, Lab, Values
from entrain.network import KuramotoNetwork


def measure(lab: Lab) -> Values:
    """Counts of a network of the principal size, and the two stages' protocols."""
    data, setting = lab.data(MNIST), lab.setting
    network = KuramotoNetwork(data.preprocessing.inputs, setting.hidden, len(data.class_names))
    path = setting.principal(MNIST)
    return {
        "H": network.hidden,
        "O": network.outputs,
        "N": network.oscillators,
        "D": network.inputs,
        "trainable_parameters": network.parameter_count,
        "couplers": network.couplers,
        "input_coefficients": network.input_weights.numel(),
        "dynamics": asdict(network.dynamics),
        "stage1": asdict(path.protocol),
        "stage2": asdict(setting.go_on(path).protocol),
    }


EXPERIMENT = Experiment(
    "configuration",
    "Physical, numerical and optimisation configuration",
    "tab:kuramoto_training_configuration",
    lambda setting: [],
    measure,
)
