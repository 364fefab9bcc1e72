"""Hardware: the effects of imperfect chips, in the order in which they act."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self, get_args, get_type_hints

from entrain.hardware.asymmetry import Asymmetry
from entrain.hardware.chip import Chip
from entrain.hardware.coupling_function import CouplingFunction
from entrain.hardware.dead import Dead
from entrain.hardware.delay import Delay
from entrain.hardware.effect import Effect
from entrain.hardware.fan_in import FanIn
from entrain.hardware.frequency_spread import FrequencySpread
from entrain.hardware.levels import Levels
from entrain.hardware.measured import Measured
from entrain.hardware.mismatch import Mismatch
from entrain.hardware.offset import Offset
from entrain.hardware.phase_noise import PhaseNoise
from entrain.hardware.readout import Readout
from entrain.hardware.sparsity import Sparsity
from entrain.hardware.stuck import Stuck
from entrain.hardware.wiring import Wiring, count_couplers, isolated_outputs
from entrain.utils.errors import (
    InputError,
    as_tuple,
    positive_float,
    positive_int,
    seed_number,
    short_repr,
    store_plain_numbers,
    unknown_name,
)

LEVEL_PARTS = {
    "coupling_levels": "couplings",
    "weight_levels": "input_weights",
    "bias_levels": "biases",
    "field_levels": "fields",
}
"""Effect -> the part of a network that its levels round."""

RANDOM_EFFECTS = ("mismatch", "offset", "asymmetry", "dead", "stuck", "frequency_spread")
"""Effects that differ from chip to chip, as do offset and spread of a readout."""

PROGRAMMING_EFFECTS = ("wiring", "sparsity", "fan_in", *LEVEL_PARTS)
"""Effects on the programmed parameters, the same on every chip."""

_MOST_SHOWN = 12  # outputs in an error


@dataclass(frozen=True)
class Hardware:
    """Differences between chips and the equations, as effects; None is exactly absent.

    Effects act in the order of their arguments.

    Args:
        wiring: Couplers of the chip.
        sparsity: Share of the couplers that is used.
        fan_in: Inputs of an oscillator.
        coupling_levels: Resolution of the couplings.
        weight_levels: Resolution of the input weights.
        bias_levels: Resolution of the biases.
        mismatch: Random gains.
        offset: Random offsets.
        asymmetry: Couplers that differ by direction.
        field_levels: Resolution of the local fields.
        dead: Couplers and oscillators that do not work.
        stuck: Oscillators that stand still.
        frequency_spread: Random natural frequencies.
        coupling_function: Phase lag and second harmonic of the couplers.
        measured: Gains and offsets of a calibrated chip.
        delay: Couplings that act late.
        phase_noise: Thermal noise.
        readout: Resolution, noise and timing of the outputs.
        oscillators: Size of the chip; a network with more oscillators is refused.
        name: Title in results, which does not distinguish hardware.

    Examples:
        >>> from entrain.hardware import Hardware, Levels, Mismatch
        >>> hardware = Hardware(coupling_levels=Levels(bits=4), mismatch=Mismatch(couplings=0.1))
        >>> hardware.without("mismatch").to_json()
        {'coupling_levels': {'bits': 4}}
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

    def __new__(cls, *_: object, **_effects: object) -> Self:
        """Refuses an unknown effect by name."""
        names = [entry.name for entry in fields(cls)]
        for name in _effects:
            if name not in names:
                raise unknown_name("effect", name, names)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for name, effect_type in EFFECT_TYPES.items():
            value = getattr(self, name)
            if value is None:
                continue
            if not isinstance(value, effect_type):
                raise InputError(
                    f"{name} must be a {effect_type.__name__}, got {short_repr(value)}"
                )
            store_plain_numbers(value)  # for the JSON of models and results
        if self.oscillators is not None:
            positive_int("oscillators", self.oscillators)
            mask = () if self.wiring is None or self.wiring.mask is None else self.wiring.mask
            if beyond := [pair for pair in mask if pair[1] >= self.oscillators]:
                raise InputError(
                    f"wiring: mask has the coupler {beyond[0]}, the chip {self.oscillators} "
                    f"oscillators, 0 to {self.oscillators - 1}"
                )
        store_plain_numbers(self)
        for name, part in LEVEL_PARTS.items():
            levels = getattr(self, name)
            if levels is None or levels.part == part:
                continue
            if levels.part != Levels.part:  # the default stands for any part
                raise InputError(f"{name} must be Levels(part={part!r}, ...), got {levels.part!r}")
            try:
                object.__setattr__(self, name, replace(levels, part=part))
            except InputError as error:
                raise InputError(f"{name}: {error}") from error

    def __repr__(self) -> str:
        """The fields that are present."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        present = [f"{name}={value!r}" for name, value in values.items() if value not in (None, "")]
        return f"Hardware({', '.join(present)})"

    @property
    def effects(self) -> Iterator[tuple[str, Effect]]:
        """The effects that are on, by name, in order."""
        for name in EFFECT_TYPES:
            effect = getattr(self, name)
            if effect is not None and not effect.is_identity:
                yield name, effect

    @property
    def is_identity(self) -> bool:
        """True if networks follow the equations exactly."""
        return not list(self.effects)

    @property
    def is_one_chip(self) -> bool:
        """True if it is a calibrated chip, without effects that differ from chip to chip."""
        on = dict(self.effects)
        readout = self.readout
        varies = readout is not None and bool(readout.offset or readout.spread)
        return "measured" in on and not varies and not any(name in on for name in RANDOM_EFFECTS)

    def check(self, hidden: int, outputs: int) -> None:
        """Raise an `InputError` if a network does not fit on the chip.

        Args:
            hidden: H hidden oscillators.
            outputs: O output oscillators.
        """
        needed = hidden + outputs
        if self.oscillators is not None and needed > self.oscillators:
            room = max(0, self.oscillators - outputs)
            raise InputError(
                f"the network has {needed} oscillators, the chip {self.oscillators}: room for "
                f"{room} hidden ones beside {outputs} outputs, got {hidden}"
            )
        couplers = hidden * (hidden - 1) // 2 + hidden * outputs
        if self.wiring is not None:
            couplers = count_couplers(self.wiring, hidden, outputs)
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
        """Raise an `InputError` if a network does not fit, or an output could not be trained.

        Args:
            hidden: H hidden oscillators.
            outputs: O output oscillators.
        """
        self.check(hidden, outputs)
        isolated = isolated_outputs(self.wiring, hidden, outputs) if self.wiring else ()
        if not isolated:
            return
        assert self.wiring is not None
        shown = ", ".join(map(str, isolated[:_MOST_SHOWN]))
        more = f" and {len(isolated) - _MOST_SHOWN} more" if len(isolated) > _MOST_SHOWN else ""
        remedy = "choose another graph or mask"
        spread = replace(self.wiring, outputs="spread")
        if self.wiring.outputs != "spread" and not isolated_outputs(spread, hidden, outputs):
            remedy = f'spread the outputs over the chip (wiring.outputs = "spread"), or {remedy}'
        raise InputError(
            f"the wiring joins these outputs to no hidden oscillator: {shown}{more} (outputs 0 to "
            f"{outputs - 1} are the oscillators {hidden} to {hidden + outputs - 1}), so that their "
            f"classes could not be learnt; {remedy}"
        )

    def sample(self, seed: int) -> Chip:
        """A chip of this hardware.

        Args:
            seed: Determines everything that differs from chip to chip.
        """
        return Chip(self, seed_number("seed", seed))

    def without(self, name: str) -> Hardware:
        """This hardware without one effect.

        Args:
            name: Name of the effect.
        """
        return self._with(name, None)

    def only(self, name: str) -> Hardware:
        """Hardware with one effect of this hardware alone.

        Args:
            name: Name of the effect.
        """
        return Hardware()._with(name, getattr(self, name, None))

    def scaled(self, name: str, factor: float) -> Hardware | None:
        """This hardware with one effect `factor` times as strong.

        None if the effect is absent, has no strength, or no working part would be left.

        Args:
            name: Name of the effect.
            factor: A positive number.
        """
        self.without(name)  # refuses an unknown name
        effect = getattr(self, name)
        changed = None if effect is None else effect.times(positive_float("factor", factor))
        return None if changed is None else self._with(name, changed)

    def _with(self, name: str, effect: Effect | None) -> Hardware:
        if name not in EFFECT_TYPES:
            raise unknown_name("effect", name, EFFECT_TYPES)
        changes: dict[str, Any] = {name: effect}
        return replace(self, **changes)

    def to_json(self) -> dict[str, Any]:
        """The effects that are present, by name, as JSON values without defaults."""
        values: dict[str, Any] = {"name": self.name} if self.name else {}
        if self.oscillators is not None:
            values["oscillators"] = self.oscillators
        for name in EFFECT_TYPES:
            effect = getattr(self, name)
            if effect is not None:
                values[name] = {
                    entry.name: getattr(effect, entry.name)
                    for entry in fields(effect)
                    if getattr(effect, entry.name) != entry.default and entry.name != "part"
                }
        return values

    @classmethod
    def from_json(cls, values: object) -> Hardware:
        """The hardware that `to_json` stored; an unknown name is an `InputError`.

        Args:
            values: Effects by name, as JSON values.
        """
        if not isinstance(values, dict):
            raise InputError(f"hardware must be effects by name, got {type(values).__name__}")
        plain = ("name", "oscillators")
        settings: dict[str, Any] = {
            name: value if name in plain else _effect(name, value)
            for name, value in values.items()
            if value is not None
        }
        return cls(**settings | {"name": str(settings.get("name", ""))})


EFFECT_TYPES: dict[str, type[Effect]] = {
    name: get_args(hint)[0]  # of Effect | None
    for name, hint in get_type_hints(Hardware).items()
    if name not in ("oscillators", "name")
}
"""Effect -> its class, in the order in which effects act."""


def entry_names(effect: str) -> list[str]:
    """The entries of an effect in a file."""
    return [entry.name for entry in fields(EFFECT_TYPES[effect]) if entry.name != "part"]


def _effect(name: str, values: object) -> Effect:
    if name not in EFFECT_TYPES:
        raise unknown_name("effect", str(name), EFFECT_TYPES)
    if not isinstance(values, dict):
        raise InputError(f"{name} must be its entries by name, got {values!r}")
    settings = {str(key): as_tuple(value) for key, value in values.items()}
    if name in LEVEL_PARTS and settings.get("part", LEVEL_PARTS[name]) == LEVEL_PARTS[name]:
        settings.pop("part", None)
    for key in settings:
        if key not in entry_names(name):
            raise unknown_name(f"entry of {name}", key, entry_names(name))
    if name in LEVEL_PARTS:
        settings["part"] = LEVEL_PARTS[name]
    try:
        return EFFECT_TYPES[name](**settings)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
