"""Interface of a compared system: parameters with a run axis, scores and gradients."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch
from torch import Tensor

from entrain.hardware import Draws
from entrain.rules import Assignment, Augmentation, Rule, Tensors, Training
from entrain.utils.errors import positive_float, positive_int

Optimiser = Literal["adam", "sgd"]
QUICK_EPOCHS = 8


@dataclass(frozen=True)
class Peer(Rule):
    """A published system as a frozen dataclass of its settings; R runs train side by side.

    A system defines the initial parameters of one run (`init_parameters`), the class scores of
    inputs (`scores`) and a loss. Gradients are those of `loss` by autograd, unless the system
    estimates them itself (`gradients`), as equilibrium propagation does. Inputs are grey levels
    from 0 to 1, or, if `standardised`, of zero mean and unit deviation over the training pixels.
    The random numbers of noise and of random initial states are taken from `draws` alone, each
    with a tag of its own.

    Training uses Adam (or SGD with `momentum`) at `rate`, which falls to zero as a cosine. `clip`
    bounds the norm of each run's gradient. `rates` multiplies the rate of a tensor by name; tensors
    named in `fixed` are not trained. `examples` limits training to that many examples, evenly
    spaced in the training set.
    """

    kind: ClassVar[str] = "peer"
    title: ClassVar[str]  # authors, year, system
    cited: ClassVar[dict[str, float]]  # published test accuracy in percent, by dataset
    why: ClassVar[str] = ""  # reason for a difference between measured and cited accuracy
    standardised: ClassVar[bool] = False
    fixed: ClassVar[tuple[str, ...]] = ()
    rates: ClassVar[dict[str, float]] = {}

    name: str
    epochs: int = 25
    batch_size: int = 128
    rate: float = 1e-3
    optimiser: Optimiser = "adam"
    momentum: float = 0.0
    decay: float = 0.0
    clip: float | None = None
    averaging: float = 0.0
    augmentation: Augmentation | None = None
    start: str = "random"
    examples: int | None = None

    def __post_init__(self) -> None:
        positive_int("epochs", self.epochs)
        positive_int("batch_size", self.batch_size)
        positive_float("rate", self.rate)

    @property
    def trains_networks(self) -> bool:
        """False: a compared system is not an oscillator network of Entrain."""
        return False

    @abstractmethod
    def init_parameters(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        """Initial parameters of one run, on the CPU in float32."""

    @abstractmethod
    def scores(self, parameters: Tensors, inputs: Tensor, draws: Draws) -> Tensor:
        """Class scores (R, B, O) of inputs (R, B, D); the largest is the prediction."""

    def loss(self, parameters: Tensors, inputs: Tensor, target: Tensor, draws: Draws) -> Tensor:
        """Mean loss (R,) over a batch with one-hot target (R, B, O); cross-entropy by default."""
        likely = self.scores(parameters, inputs, draws).log_softmax(-1)
        return -(target * likely).sum(-1).mean(-1)

    def gradients(
        self, parameters: Tensors, inputs: Tensor, target: Tensor, draws: Draws
    ) -> tuple[Tensor, Tensors]:
        """Loss (R,) and the gradient of each trained tensor, by autograd."""
        leaves = self.trained_leaves(parameters)
        with torch.enable_grad():
            loss = self.loss(parameters | leaves, inputs, target, draws)
            slopes = torch.autograd.grad(loss.sum(), list(leaves.values()))
        return loss.detach(), dict(zip(leaves, slopes, strict=True))

    def trained_leaves(self, parameters: Tensors) -> Tensors:
        """The trained tensors, detached and requiring gradients."""
        return {
            name: tensor.detach().requires_grad_()
            for name, tensor in parameters.items()
            if name not in self.fixed
        }

    def project(self, parameters: Tensors) -> None:
        """Project the parameters onto their allowed range in place, after each training step."""

    @property
    @abstractmethod
    def variables(self) -> int:
        """Dynamical variables of one run: units whose state evolves."""

    def couplers(self, parameters: Tensors) -> int | None:
        """Trained couplings between dynamical variables of one run; None without such couplings."""
        return None

    def parameter_count(self, parameters: Tensors) -> int:
        """Trained parameters of one run."""
        return sum(t[0].numel() for name, t in parameters.items() if name not in self.fixed)

    def dissipated_energy(self, parameters: Tensors, inputs: Tensor, draws: Draws) -> Tensor | None:
        """Mean energy (R,) that one inference on inputs (R, B, D) dissipates, in units of the
        model; None without an energy."""
        return None

    def for_dataset(self, dataset: str) -> Peer:
        """This system with the settings of its authors, or of a search, for a dataset."""
        return self

    def quick(self) -> Peer:
        """This system with few epochs, for a quick run on few images."""
        return replace(self, epochs=min(self.epochs, QUICK_EPOCHS))

    def search_space(self) -> dict[str, tuple[float, float]]:
        """Bounds (low, high) of the fields that a search may change.

        The scale is logarithmic; a field is an integer if both bounds are.
        """
        return {"rate": (self.rate / 5, 5 * self.rate)}

    def training(self, assignment: Assignment) -> Training:
        """Minibatch training with validation after every epoch."""
        from entrain_paper.peers.training import PeerTraining

        return PeerTraining(self, assignment)
