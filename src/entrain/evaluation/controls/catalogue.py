"""The controls: the same training with a part of the network frozen, removed or shortened."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from entrain.models.model import Model
from entrain.physics import NetworkSpec
from entrain.rules import GradientRule

SAVED, TRAINED = "model as saved", "trained again"
RANDOM, NO_HIDDEN, NONE = "random couplings", "no hidden couplings", "no couplings"
RANDOM_INPUTS, READOUT = "random inputs", "readout only"
ONE_STEP, TWO_STEPS = "one Euler step", "two Euler steps"
ZEROED, HIDDEN_ZEROED = "couplings zeroed at test", "hidden couplings zeroed at test"
SHUFFLED = "couplings shuffled at test"
PERCEPTRON, LINEAR = "matched perceptron", "linear model"

AT_TEST = (SHUFFLED, HIDDEN_ZEROED, ZEROED)
STATIC = (PERCEPTRON, LINEAR)

EXPLANATIONS = {
    SAVED: "the file, not trained again; no seeds, so no interval",
    TRAINED: "the same recipe, each run from other random numbers; the others are compared with it",
    RANDOM: "couplings keep their random start; input weights and fields are trained",
    NO_HIDDEN: "no couplers between hidden oscillators: inputs, one layer, outputs",
    NONE: "no couplers: outputs do not depend on the input",
    RANDOM_INPUTS: "input weights keep their random start; couplings and fields are trained",
    READOUT: "a reservoir: only the couplings to the outputs and the fields are trained",
    ONE_STEP: "one Euler step to the observation time, of sequences one a frame",
    TWO_STEPS: "two Euler steps to the observation time, of sequences two a frame",
    SHUFFLED: "the networks trained again, their couplings permuted among the couplers",
    HIDDEN_ZEROED: "the networks trained again, without the couplings between hidden oscillators",
    ZEROED: "the networks trained again, without couplings",
    PERCEPTRON: "one hidden layer of rectified units with about as many parameters",
    LINEAR: "logistic or linear regression on all inputs of an example",
}
CONTROLS = tuple(EXPLANATIONS)


@dataclass(frozen=True)
class Variant:
    """A rule and a network, and the strength of the trained one.

    Args:
        rule: The rule.
        network: The network.
        outputs: O output oscillators.
        frames: Inputs in time of an example, 1 of constant ones.
        couplings: Root mean square of the trained couplings.
        weights: Root mean square of the trained input weights, times the root of the number of
            inputs.
    """

    rule: GradientRule
    network: NetworkSpec
    outputs: int
    frames: int = 1
    couplings: float = 1.0
    weights: float = 1.0

    @classmethod
    def of(cls, rule: GradientRule, network: NetworkSpec, model: Model, frames: int) -> Variant:
        """The training of a rule and a network, with the strengths of a model.

        Args:
            rule: The rule.
            network: The network.
            model: The trained model.
            frames: Inputs in time of an example.
        """
        trained = model.network
        return cls(
            rule,
            network,
            trained.outputs,
            frames,
            _root_mean_square(trained.coupler_strengths),
            _root_mean_square(trained.input_weights) * math.sqrt(trained.inputs),
        )

    def with_rule(self, **changes: Any) -> Variant:
        """This training with other fields of its rule.

        Args:
            changes: The fields.
        """
        return replace(self, rule=replace(self.rule, **changes))

    def with_steps(self, steps: int) -> Variant:
        """This training with so many Euler steps, of sequences for each frame.

        Args:
            steps: The steps.
        """
        dynamics = replace(self.network.dynamics, steps=steps * self.frames)
        return replace(self, network=replace(self.network, dynamics=dynamics))

    def with_graph(self, graph: torch.Tensor) -> Variant:
        """This training with the couplers of a graph.

        Args:
            graph: (N, N) booleans.
        """
        pairs = tuple((int(i), int(j)) for i, j in graph.triu(1).nonzero().tolist())
        return replace(self, network=replace(self.network, graph=pairs))


def _root_mean_square(values: torch.Tensor) -> float:
    values = values.detach().double()
    return float(values.square().mean().sqrt()) if values.numel() else 1.0


def _coupling_strengths(training: Variant) -> list[dict[str, Any]]:
    """Deviations of random couplings: those of the start, 1, and as strong as trained ones."""
    start = training.rule.initial_couplings
    return [{"initial_couplings": value} for value in _different(start, 1.0, training.couplings)]


def _weight_strengths(training: Variant) -> list[dict[str, Any]]:
    """Deviations of random input weights: those of the start, and as strong as trained ones."""
    start = training.rule.initial_weights
    return [{"initial_weights": value} for value in _different(start, training.weights)]


def _different(start: object, *values: float) -> list[float]:
    """The numbers from `start` on that are positive and not within a tenth of an earlier one."""
    result: list[float] = []
    for value in (start, *values):
        assert isinstance(value, int | float)
        if value > 0 and all(abs(value - other) > 0.1 * other for other in result):
            result.append(float(value))
    return result


def _random_couplings(training: Variant) -> list[Variant]:
    frozen = training.with_rule(frozen=("couplings",), start="random")
    return [frozen.with_rule(**strength) for strength in _coupling_strengths(training)]


def _no_hidden(training: Variant) -> list[Variant]:
    graph, hidden = training.network.graph_of(training.outputs), training.network.hidden
    if not bool(graph[:hidden, :hidden].any()):
        return []
    graph[:hidden, :hidden] = False
    return [training.with_graph(graph)]


def _no_couplings(training: Variant) -> list[Variant]:
    return [training.with_graph(torch.zeros(1, 1, dtype=torch.bool))]


def _random_inputs(training: Variant) -> list[Variant]:
    frozen = training.with_rule(frozen=("input_weights",), start="random")
    return [frozen.with_rule(**strength) for strength in _weight_strengths(training)]


def _readout_only(training: Variant) -> list[Variant]:
    frozen = training.with_rule(frozen=("input_weights", "hidden_couplings"), start="random")
    return [
        frozen.with_rule(**couplings, **weights)
        for couplings in _coupling_strengths(training)
        for weights in _weight_strengths(training)
    ]


# Each returns the candidates, of which validation selects one; none where there is no such part.
RETRAINED: dict[str, Callable[[Variant], list[Variant]]] = {
    TRAINED: lambda training: [training],
    RANDOM: _random_couplings,
    NO_HIDDEN: _no_hidden,
    NONE: _no_couplings,
    RANDOM_INPUTS: _random_inputs,
    READOUT: _readout_only,
    ONE_STEP: lambda training: [training.with_steps(1)],
    TWO_STEPS: lambda training: [training.with_steps(2)],
}
