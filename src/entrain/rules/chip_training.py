"""How a network is trained for chips, as a value."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from entrain.hardware import Hardware
from entrain.utils.errors import (
    InputError,
    finite_float,
    finite_numbers,
    positive_int,
    seed_number,
    store_plain_numbers,
    unknown_name,
)


@dataclass(frozen=True)
class ChipTraining:
    """How a network is trained for chips of one kind.

    Every batch is dealt to `chips` new ones. Imperfections of parameters grow from nothing to full
    strength over the share `onset` of the training. Couplers and input weights go, the smallest
    first, from the first to the second of the shares `pruning`, until as many are left as the
    hardware has; epochs are selected after that alone. The validation images are dealt to
    `validation_chips` fixed chips. With `chip`, a seed, all of it is that one chip: the network
    learns on it.
    """

    hardware: Hardware
    chips: int = 8
    onset: float = 0.1
    pruning: tuple[float, float] = (0.15, 0.6)
    validation_chips: int = 20
    chip: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.hardware, Hardware):
            raise InputError(f"hardware must be a Hardware, got {self.hardware!r}")
        store_plain_numbers(self)
        positive_int("chips", self.chips)
        if self.chip is not None:
            seed_number("chip", self.chip)
        positive_int("validation_chips", self.validation_chips)
        if not 0.0 <= finite_float("onset", self.onset) < 1.0:
            raise InputError(f"onset must be a share from 0 to below 1, got {self.onset!r}")
        shares = finite_numbers("pruning", self.pruning)
        if len(shares) != 2 or not 0.0 <= shares[0] < shares[1] < 1.0:
            raise InputError(
                f"pruning must be two shares of the training in rising order, got {self.pruning!r}"
            )

    @classmethod
    def from_json(cls, values: object) -> ChipTraining:
        """The value whose `dataclasses.asdict` was written as JSON."""
        if not isinstance(values, dict) or "hardware" not in values:
            raise InputError(f"chips must be hardware and how to train for it, got {values!r}")
        others = {key: value for key, value in values.items() if key != "hardware"}
        for name in others:
            if name not in (known := [each.name for each in fields(cls)]):
                raise unknown_name("entry of chips", str(name), known)
        if isinstance(others.get("pruning"), list):
            others["pruning"] = tuple(others["pruning"])
        return cls(Hardware.from_json(values["hardware"]), **others)

    def strength(self, done: float) -> float:
        """Of the imperfections, after the share `done` of the training."""
        return 1.0 if done >= self.onset else done / self.onset

    def kept(self, done: float) -> float:
        """The share of couplers that are left: a cubic fall, fast at first."""
        sparsity = self.hardware.sparsity
        if sparsity is None:
            return 1.0
        return sparsity.kept + (1.0 - sparsity.kept) * self._unpruned(done)

    def inputs(self, done: float, all_inputs: int) -> int | None:
        """How many inputs an oscillator has left; None where none go."""
        fan_in = self.hardware.fan_in
        if fan_in is None or fan_in.inputs is None or fan_in.inputs >= all_inputs:
            return None
        return round(fan_in.inputs + (all_inputs - fan_in.inputs) * self._unpruned(done))

    def _unpruned(self, done: float) -> float:
        """The share that is left of what will go."""
        first, last = self.pruning
        return min(1.0, max(0.0, (last - done) / (last - first))) ** 3

    def settled(self, done: float) -> bool:
        """Whether what is trained is what will be built."""
        prunes = self.hardware.sparsity is not None or self.hardware.fan_in is not None
        return self.strength(done) == 1.0 and not (prunes and self._unpruned(done))


def done_before(epoch: int, epochs: int) -> float:
    """The share of a training that is done before an epoch, counted from 0; all of it before the
    last one, so that even the shortest training ends with what will be built."""
    return 1.0 if epoch == epochs - 1 else epoch / epochs


def chips_of(settings: dict[str, Any]) -> dict[str, Any]:
    """The field `chips` of a rule from its settings as JSON values; nothing where it is absent."""
    given = settings.get("chips")
    return {} if given is None else {"chips": ChipTraining.from_json(given)}


def settings_with_chips(rule: Any) -> dict[str, Any]:
    """The fields of a rule that may have `chips`, as JSON values."""
    values: dict[str, Any] = asdict(rule)
    if rule.chips is not None:
        values["chips"]["hardware"] = rule.chips.hardware.to_json()
    return values
