"""Settings of a training for imperfect chips."""

from __future__ import annotations

from dataclasses import dataclass, fields

from entrain.hardware import Hardware
from entrain.utils.errors import (
    InputError,
    check_ranges,
    finite_float,
    finite_numbers,
    seed_number,
    store_plain_numbers,
    unknown_name,
)


@dataclass(frozen=True)
class ChipTraining:
    """Training for imperfect chips: every batch is shared out among newly sampled ones.

    Epochs are selected only when imperfections have their full strength and pruning has ended.

    Args:
        hardware: The chips to train for.
        chips: Chips that share a batch.
        onset: Share of the training over which imperfections of parameters grow to full strength.
        pruning: Shares of the training between which couplers and input weights are removed, the
            smallest first, until as many are left as the hardware has.
        validation_chips: Fixed chips that share the validation examples.
        chip: Seed of one chip to train on and validate on, instead of new ones.
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
        if isinstance(self.pruning, list):  # of JSON
            object.__setattr__(self, "pruning", tuple(self.pruning))
        store_plain_numbers(self)
        check_ranges(self, whole=("chips", "validation_chips"))
        if self.chip is not None:
            seed_number("chip", self.chip)
        if not 0.0 <= finite_float("onset", self.onset) < 1.0:
            raise InputError(f"onset must be a share from 0 to below 1, got {self.onset!r}")
        shares = finite_numbers("pruning", self.pruning)
        if len(shares) != 2 or not 0.0 <= shares[0] < shares[1] < 1.0:
            raise InputError(
                f"pruning must be two shares of the training in rising order, got {self.pruning!r}"
            )

    @classmethod
    def from_json(cls, values: object) -> ChipTraining:
        """The instance that `dataclasses.asdict` turned into JSON values.

        Args:
            values: A dictionary of the fields.
        """
        if not isinstance(values, dict) or "hardware" not in values:
            raise InputError(f"chips must be hardware and how to train for it, got {values!r}")
        known = [field.name for field in fields(cls)]
        for name in values:
            if name not in known:
                raise unknown_name("entry of chips", str(name), known)
        return cls(**values | {"hardware": Hardware.from_json(values["hardware"])})


def unpruned_share(training: ChipTraining, done: float) -> float:
    """Share left of what will be pruned, after the share `done` of a training: a cubic fall."""
    first, last = training.pruning
    return min(1.0, max(0.0, (last - done) / (last - first))) ** 3
