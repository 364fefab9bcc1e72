"""Equilibrium propagation and coupled learning: gradients from what the network does itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from entrain.data import DATASETS
from entrain.physics import Dynamics, NetworkSpec
from entrain.rules.direct import Direct, small_batch
from entrain.rules.interface import Assignment, PerRun, Rule, Task
from entrain.utils.errors import InputError, one_of, positive_float, positive_int

Nudging = Literal["cross-entropy", "squared", "clamped"]
Begin = Literal["given", "random"]
_IN_THE_ENERGY = ("frequencies", "injection")


@dataclass(frozen=True)
class EquilibriumPropagation(Direct):
    r"""Two nudged equilibria in place of the adjoint (Scellier and Bengio 2017).

    The network relaxes freely for its observation time; then, from there, for `nudged_steps` more
    steps with beta C added to its energy, and once more with -beta C. As beta goes to 0

        d C / d p = ( d E / d p (theta^beta) - d E / d p (theta^-beta) ) / (2 beta)

    at the free equilibrium, with an error of order beta^2: the update of a coupling is made of
    cos(theta_i - theta_j) of its own two ends. C is the cross-entropy of softmax(gain cos theta) or
    half the squared distance of cos theta from 1 for the class and -1 for the others; both push
    less as the answer becomes right. Natural frequencies that are trained learn by
    d E / d w = -theta / mu: how far a nudge turns an oscillator is the gradient of its frequency
    (Ahmadi 2026). "clamped" is coupled learning (Stern et al. 2021): the outputs
    are held at the share beta of the way from where they are to 0 or pi, and once as far on the
    other side. `begin` "random" draws the phases of every free relaxation anew.

    Thermal noise differs in the two nudged relaxations, and the estimate divides what it makes
    differ by 2 beta. A chip averages it away: d E / d p is the mean of the last `averaged_steps`
    steps.

    Everything else is as in `Direct`: AdamW, averaging, chips. On chips the phases are the
    chip's own, and the update is applied to the numbers it was given: no model of it is needed.
    """

    kind: ClassVar[str] = "equilibrium"

    name: str = "EP"
    epochs: int = 25
    batch_size: int = 128
    input_rate: PerRun = 4e-4
    coupling_rate: PerRun = 4e-3
    gain: PerRun = 4.0
    initial_couplings: PerRun = 0.1
    initial_weights: PerRun = 0.3
    coarse_steps: int = 1_000_000  # an equilibrium is no place to save steps
    fine_epochs: int = 0
    nudging: Nudging = "cross-entropy"
    beta: float = 0.3
    nudged_steps: int = 15
    begin: Begin = "given"
    averaged_steps: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("nudging", self.nudging, Nudging)
        one_of("begin", self.begin, Begin)
        positive_float("beta", self.beta)
        positive_int("nudged_steps", self.nudged_steps)
        positive_int("averaged_steps", self.averaged_steps)
        if self.averaged_steps > self.nudged_steps:
            raise InputError(
                f"averaged_steps are some of the {self.nudged_steps} nudged steps, "
                f"got {self.averaged_steps}"
            )
        if self.distillation:
            raise InputError(f"{self.name} learns from labels, not from a teacher")

    @property
    def dynamics(self) -> Dynamics:
        """Long enough to come to rest: 60 steps of 1/4."""
        return Dynamics(mobility=1.0, observation_time=15.0, steps=60)

    def tuned_for(self, dataset: str, examples: int) -> EquilibriumPropagation:
        """As it is for MNIST and Fashion-MNIST; smaller batches, more epochs for fewer examples."""
        if dataset == "digits":
            return replace(self, batch_size=32, epochs=40)
        if dataset in DATASETS:
            return self
        batch = small_batch(examples)
        return replace(self, batch_size=batch, epochs=min(200, max(20, 3000 * batch // examples)))

    def check(self, network: NetworkSpec, runs: int, teachers: Sequence[Rule]) -> None:
        """What is trained must be part of the energy, or it would never change."""
        super().check(network, runs, teachers)
        for name in network.trainable:
            if name not in _IN_THE_ENERGY:
                raise InputError(
                    f"{self.name} learns what is part of the energy: of terms "
                    f"{', '.join(_IN_THE_ENERGY)}; got trainable {name}"
                )

    def task(self, assignment: Assignment) -> Task:
        """AdamW with gradients from nudged equilibria."""
        from entrain.rules.equilibrium_task import EquilibriumTask

        return EquilibriumTask(*self.on_examples(assignment), **self.for_runs(assignment))


EQUILIBRIUM_PROTOCOLS: dict[str, EquilibriumPropagation] = {
    protocol.name: protocol
    for protocol in (
        EquilibriumPropagation(),
        EquilibriumPropagation("EP-SQUARED", nudging="squared"),
        EquilibriumPropagation("COUPLED", nudging="clamped", beta=0.1),
    )
}
