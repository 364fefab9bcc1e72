"""Zeroth order: gradients from losses alone, as a chip without a model of itself can have them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from entrain.rules.direct import Direct
from entrain.rules.interface import Assignment, PerRun, Task
from entrain.utils.errors import InputError, one_of, positive_float, positive_int

Perturbed = Literal["fields", "weights"]


@dataclass(frozen=True)
class SimultaneousPerturbation(Direct):
    r"""Simultaneous perturbation (Spall 1992): the loss with all numbers moved at once, both ways.

        g = Delta ( L(p + c Delta) - L(p - c Delta) ) / (2 c),   Delta of +1 and -1 at random,

    whose mean is the gradient up to order c^2; the variance grows with how many numbers move. So
    `perturbed` "fields" moves the N fields of every sample (by `field_size`), each with its own
    signs and its own loss, in place of all input weights and biases: their gradients follow from
    those of the fields. Couplings are moved by `coupling_size`, input weights ("weights") by
    `weight_size`. The mean of `directions` such estimates is taken. Everything else is as in
    `Direct`.
    """

    kind: ClassVar[str] = "spsa"

    name: str = "SPSA"
    epochs: int = 60
    input_rate: PerRun = 3e-3
    coupling_rate: PerRun = 1e-2
    gain: PerRun = 6.0
    initial_weights: PerRun = 0.5
    perturbed: Perturbed = "fields"
    field_size: float = 0.5
    coupling_size: float = 0.05
    weight_size: float = 0.05
    directions: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("perturbed", self.perturbed, Perturbed)
        positive_int("directions", self.directions)
        for name in ("field_size", "coupling_size", "weight_size"):
            positive_float(name, getattr(self, name))
        if self.distillation:
            raise InputError(f"{self.name} learns from labels, not from a teacher")

    def tuned_for(self, dataset: str, examples: int) -> SimultaneousPerturbation:
        """Smaller batches for the small digits."""
        return replace(self, batch_size=64) if dataset == "digits" else self

    def check(self, network: Any, runs: int, teachers: Any) -> None:
        """Only input weights, biases and couplings are learnt."""
        super().check(network, runs, teachers)
        if network.trainable:
            raise InputError(
                f"{self.name} learns input weights, biases and couplings; got trainable "
                f"{', '.join(network.trainable)}"
            )

    def task(self, assignment: Assignment) -> Task:
        """AdamW with gradients from losses."""
        from entrain.rules.spsa_task import PerturbationTask

        return PerturbationTask(*self.on_examples(assignment), **self.for_runs(assignment))


SPSA_PROTOCOLS: dict[str, SimultaneousPerturbation] = {
    "SPSA": SimultaneousPerturbation(),
}
