"""A kind of chip: its effects in the order in which they act."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from entrain.hardware.chip import Chip
from entrain.hardware.defects import Dead, Stuck
from entrain.hardware.effect import Effect
from entrain.hardware.fan_in import FanIn
from entrain.hardware.levels import Levels
from entrain.hardware.measured import Measured
from entrain.hardware.mismatch import Asymmetry, Mismatch, Offset
from entrain.hardware.oscillators import CouplingFunction, Delay, FrequencySpread, PhaseNoise
from entrain.hardware.readout import Readout
from entrain.hardware.wiring import Sparsity, Wiring
from entrain.utils.errors import (
    InputError,
    positive_float,
    positive_int,
    seed_number,
    short_repr,
    store_plain_numbers,
    unknown_name,
)

DRAWN = ("mismatch", "offset", "asymmetry", "dead", "stuck", "frequency_spread")
"""Effects that differ from chip to chip; so do a readout's offset and spread."""

PROGRAMMED = (
    *("wiring", "sparsity", "fan_in"),
    *("coupling_levels", "weight_levels", "bias_levels", "field_levels"),
)
"""Effects that change what a chip is programmed with, the same way on every chip."""


@dataclass(frozen=True)
class Hardware:
    """What distinguishes chips of one kind from the equations; None is absent, exactly.

    Effects act from the top down: what is on the chip (`wiring`, `sparsity`, `fan_in`), what its
    memories hold (`coupling_levels` to `bias_levels`), how its parts differ (`mismatch`, `offset`,
    `asymmetry`), what a field can be (`field_levels`), what does not work (`dead`, `stuck`), how
    its oscillators run (`frequency_spread`, `coupling_function`, `measured`: one device as it was
    found to be, `delay`, `phase_noise`), how it is read (`readout`). Levels
    without a part get it from their place. A chip with fewer `oscillators` than a network has
    refuses it.
    """

    wiring: Wiring | None = None
    sparsity: Sparsity | None = None
    fan_in: FanIn | None = None
    coupling_levels: Levels | None = None
    weight_levels: Levels | None = None
    bias_levels: Levels | None = None
    mismatch: Mismatch | None = None
    offset: Offset | None = None
    asymmetry: Asymmetry | None = None
    field_levels: Levels | None = None
    dead: Dead | None = None
    stuck: Stuck | None = None
    frequency_spread: FrequencySpread | None = None
    coupling_function: CouplingFunction | None = None
    measured: Measured | None = None
    delay: Delay | None = None
    phase_noise: PhaseNoise | None = None
    readout: Readout | None = None
    oscillators: int | None = None
    name: str = field(default="", compare=False)

    def __new__(cls, *_: object, **given: object) -> Self:
        """Names the nearest effect of one that is unknown."""
        for name in given:
            if name not in (known := [each.name for each in fields(cls)]):
                raise unknown_name("effect", name, known)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for name, kind in KINDS.items():
            value = getattr(self, name)
            if value is None:
                continue
            if not isinstance(value, kind):
                raise InputError(f"{name} must be a {kind.__name__}, got {short_repr(value)}")
            store_plain_numbers(value)  # or the files of what is trained could not be written
        if self.oscillators is not None:
            positive_int("oscillators", self.oscillators)
            mask = () if self.wiring is None or self.wiring.mask is None else self.wiring.mask
            if beyond := [pair for pair in mask if pair[1] >= self.oscillators]:
                raise InputError(
                    f"wiring: mask has the coupler {beyond[0]}, the chip {self.oscillators} "
                    f"oscillators, 0 to {self.oscillators - 1}"
                )
        store_plain_numbers(self)
        for name, part in PARTS.items():
            levels = getattr(self, name)
            if levels is None or levels.part == part:
                continue
            if levels.part != Levels.part:  # another part than the one it has if none is given
                raise InputError(f"{name} must be Levels(part={part!r}, ...), got {levels.part!r}")
            try:
                object.__setattr__(self, name, replace(levels, part=part))
            except InputError as error:
                raise InputError(f"{name}: {error}") from error

    def __repr__(self) -> str:
        """What is there, without what is absent."""
        there = {each.name: getattr(self, each.name) for each in fields(self)}
        given = [f"{name}={value!r}" for name, value in there.items() if value not in (None, "")]
        return f"Hardware({', '.join(given)})"

    @property
    def effects(self) -> Iterator[tuple[str, Effect]]:
        """The effects that are on, by name, in their order."""
        for name in KINDS:
            effect = getattr(self, name)
            if effect is not None and not effect.is_identity:
                yield name, effect

    @property
    def is_identity(self) -> bool:
        """Whether it is the ideal network."""
        return not list(self.effects)

    @property
    def is_one_chip(self) -> bool:
        """Whether it is a device that was measured, so that all of its chips are that one."""
        on = dict(self.effects)
        reading = self.readout
        alike = reading is None or not (reading.offset or reading.spread)
        return "measured" in on and alike and not any(name in on for name in DRAWN)

    def check(self, hidden: int, outputs: int) -> None:
        """Raise an `InputError` where such a network does not fit on the chip."""
        needed = hidden + outputs
        if self.oscillators is not None and needed > self.oscillators:
            room = max(0, self.oscillators - outputs)
            raise InputError(
                f"the network has {needed} oscillators, the chip {self.oscillators}: room for "
                f"{room} hidden ones beside {outputs} outputs, got {hidden}"
            )
        couplers = hidden * (hidden - 1) // 2 + hidden * outputs
        if self.wiring is not None:
            couplers = self.wiring.couplers(hidden, outputs)
        if not couplers:
            raise InputError(
                f"the wiring has no coupler of a network of {hidden} hidden oscillators, 0 to "
                f"{hidden - 1}, and {outputs} outputs: none between hidden ones, nor to an output"
            )
        if self.sparsity is not None and round(self.sparsity.kept * couplers) < 1:
            raise InputError(
                f"the network has {couplers} couplers, and keeping {self.sparsity.kept:g} of them "
                f"leaves none; keep at least {1 / couplers:.2g}"
            )

    def check_training(self, hidden: int, outputs: int) -> None:
        """The same, and where an output would have no coupler to learn by."""
        self.check(hidden, outputs)
        if self.wiring is not None and (cut := self.wiring.cut_off(hidden, outputs)):
            raise _cut_off_error(self.wiring, cut, hidden, outputs)

    def sample(self, seed: int) -> Chip:
        """One chip of this kind: what differs from chip to chip is drawn by `seed`."""
        return Chip(self, seed_number("seed", seed))

    def without(self, name: str) -> Hardware:
        """The same kind without one effect."""
        if name not in KINDS:
            raise unknown_name("effect", name, KINDS)
        changes: dict[str, Any] = {name: None}
        return replace(self, **changes)

    def only(self, name: str) -> Hardware:
        """One effect of this kind alone."""
        if name not in KINDS:
            raise unknown_name("effect", name, KINDS)
        return Hardware(**{name: getattr(self, name)})

    def scaled(self, name: str, factor: float) -> Hardware | None:
        """The same kind with one effect `factor` times as strong; None if it has no strength, or
        would leave nothing."""
        if name not in KINDS:
            raise unknown_name("effect", name, KINDS)
        effect = getattr(self, name)
        changed = None if effect is None else effect.times(positive_float("factor", factor))
        changes: dict[str, Any] = {name: changed}
        return None if changed is None else replace(self, **changes)

    def to_json(self) -> dict[str, Any]:
        """The effects that are there, by name, as JSON values; without defaults."""
        found: dict[str, Any] = {"name": self.name} if self.name else {}
        if self.oscillators is not None:
            found["oscillators"] = self.oscillators
        for name in KINDS:
            effect = getattr(self, name)
            if effect is not None:
                found[name] = {
                    entry.name: getattr(effect, entry.name)
                    for entry in fields(effect)
                    if getattr(effect, entry.name) != entry.default and entry.name != "part"
                }
        return found

    @classmethod
    def from_json(cls, values: object) -> Hardware:
        """The kind of chip whose `to_json` was written; anything unknown is refused by name."""
        if not isinstance(values, dict):
            raise InputError(f"hardware must be effects by name, got {type(values).__name__}")
        plain = ("name", "oscillators")
        found: dict[str, Any] = {
            name: each if name in plain else _effect(name, each)
            for name, each in values.items()
            if each is not None
        }
        return cls(**found | {"name": str(found.get("name", ""))})


KINDS: dict[str, type[Effect]] = {
    "wiring": Wiring,
    "sparsity": Sparsity,
    "fan_in": FanIn,
    "coupling_levels": Levels,
    "weight_levels": Levels,
    "bias_levels": Levels,
    "mismatch": Mismatch,
    "offset": Offset,
    "asymmetry": Asymmetry,
    "field_levels": Levels,
    "dead": Dead,
    "stuck": Stuck,
    "frequency_spread": FrequencySpread,
    "coupling_function": CouplingFunction,
    "measured": Measured,
    "delay": Delay,
    "phase_noise": PhaseNoise,
    "readout": Readout,
}
PARTS = {
    "coupling_levels": "couplings",
    "weight_levels": "input_weights",
    "bias_levels": "biases",
    "field_levels": "fields",
}


_NAMED = 12  # outputs in an error


def entries_of(name: str) -> list[str]:
    """What a file may say of an effect."""
    return [each.name for each in fields(KINDS[name]) if each.name != "part"]  # type: ignore[arg-type]


def _cut_off_error(wiring: Wiring, cut: tuple[int, ...], hidden: int, outputs: int) -> InputError:
    named = ", ".join(map(str, cut[:_NAMED]))
    more = f" and {len(cut) - _NAMED} more" if len(cut) > _NAMED else ""
    spread = replace(wiring, outputs="spread")
    way_out = "choose another graph or mask"
    if wiring.outputs != "spread" and not spread.cut_off(hidden, outputs):
        way_out = f'spread the outputs over the chip (wiring.outputs = "spread"), or {way_out}'
    return InputError(
        f"the wiring joins these outputs to no hidden oscillator: {named}{more} (outputs 0 to "
        f"{outputs - 1} are the oscillators {hidden} to {hidden + outputs - 1}), so that their "
        f"classes could not be learnt; {way_out}"
    )


def _effect(name: str, values: object) -> Effect:
    if name not in KINDS:
        raise unknown_name("effect", str(name), KINDS)
    kind = KINDS[name]
    if not isinstance(values, dict):
        raise InputError(f"{name} must be its numbers by name, got {values!r}")
    known = entries_of(name)
    if name in PARTS and values.get("part") == PARTS[name]:
        values = {key: value for key, value in values.items() if key != "part"}
    for key in values:
        if key not in known:
            raise unknown_name(f"entry of {name}", str(key), known)
    given = {key: _tuple(value) for key, value in values.items()}
    if name in PARTS:
        given["part"] = PARTS[name]
    try:
        return kind(**given)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def _tuple(value: object) -> object:
    return tuple(_tuple(each) for each in value) if isinstance(value, list) else value
