"""What a compared system is: numbers with a run axis, scores, and a gradient however it comes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch
from torch import Tensor

from entrain.rules import Assignment, Augmentation, Rule, Task, Tensors
from entrain.utils.errors import positive_float, positive_int

Optimiser = Literal["adam", "sgd"]
QUICK_EPOCHS = 8


@dataclass(frozen=True)
class Peer(Rule):
    """A published system as a frozen dataclass of its settings; R machines run side by side.

    A system gives its first numbers (`drawn`, of one machine), the class scores of inputs, and a
    loss with gradients. Gradients are those of `loss` by autograd, or a system's own estimate
    (`gradients`), as in equilibrium propagation. Inputs are grey levels from 0 to 1, or, with
    `standardised`, of zero mean and unit deviation over the training pixels.

    Trained by Adam (or SGD with `momentum`) at `rate`, which falls to zero as a cosine; gradients
    are clipped to the norm `clip` per machine where there is one. `rates` are factors of the rate
    by the name of a tensor; a name in `fixed` is not trained. With `examples`, only so many of the
    training examples are used, evenly spread over them.
    """

    kind: ClassVar[str] = "peer"
    title: ClassVar[str]  # who, what, when
    cited: ClassVar[dict[str, float]]  # test accuracy in percent by the paper's name of a dataset
    why: ClassVar[str] = ""  # where what is measured differs from what is cited, the reason
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
        """No."""
        return False

    @abstractmethod
    def drawn(self, inputs: int, classes: int, generator: torch.Generator) -> Tensors:
        """The first numbers of one machine, on the CPU in float32."""

    @abstractmethod
    def scores(self, numbers: Tensors, inputs: Tensor) -> Tensor:
        """Scores (R, B, O) of inputs (R, B, D), the largest being the answer."""

    def loss(self, numbers: Tensors, inputs: Tensor, target: Tensor) -> Tensor:
        """The mean loss (R,) over a batch; target (R, B, O) is one-hot. Cross-entropy of scores."""
        likely = self.scores(numbers, inputs).log_softmax(-1)
        return -(target * likely).sum(-1).mean(-1)

    def gradients(self, numbers: Tensors, inputs: Tensor, target: Tensor) -> tuple[Tensor, Tensors]:
        """The loss (R,) and the gradient of each trained tensor, by autograd."""
        names = [name for name in numbers if name not in self.fixed]
        leaves = {name: numbers[name].detach().requires_grad_() for name in names}
        with torch.enable_grad():
            loss = self.loss(numbers | leaves, inputs, target)
            found = torch.autograd.grad(loss.sum(), list(leaves.values()))
        return loss.detach(), dict(zip(names, found, strict=True))

    def project(self, numbers: Tensors) -> None:
        """Bring numbers back into their range after a step, in place; nothing by default."""

    @property
    @abstractmethod
    def variables(self) -> int:
        """Dynamical variables of one machine: units whose state evolves."""

    def couplers(self, numbers: Tensors) -> int | None:
        """Adaptive couplings between dynamical variables of one machine; None where there are no
        such."""
        return None

    def adaptive(self, numbers: Tensors) -> int:
        """Trained numbers of one machine."""
        return sum(t[0].numel() for name, t in numbers.items() if name not in self.fixed)

    def dissipated(self, numbers: Tensors, inputs: Tensor) -> Tensor | None:
        """The mean energy (R,) that one inference on inputs (R, B, D) dissipates, in units of the
        model; None where it has no energy."""
        return None

    def for_dataset(self, dataset: str) -> Peer:
        """This system with what its authors, or a search on validation, chose for a dataset."""
        return self

    def quick(self) -> Peer:
        """This system with few epochs, for a quick run on few images."""
        return replace(self, epochs=min(self.epochs, QUICK_EPOCHS))

    def search_space(self) -> dict[str, tuple[float, float]]:
        """What a search on validation may change: a field -> least and most, on a logarithmic
        scale, in whole numbers where both are. The system's own values lie between."""
        return {"rate": (self.rate / 5, 5 * self.rate)}

    def task(self, assignment: Assignment) -> Task:
        """Minibatches, an optimiser, validation after every epoch."""
        from entrain_paper.peers.task import PeerTask

        return PeerTask(self, assignment)
