"""Chips as they are: what distinguishes a network on hardware from its equations."""

from entrain.hardware.chip import Chip, on_chips, realise
from entrain.hardware.components import Components
from entrain.hardware.defects import Dead, Stuck
from entrain.hardware.draws import ChipDraws, FreshDraws, KeptDraws
from entrain.hardware.effect import Draws, Effect, Realised
from entrain.hardware.fan_in import FanIn, largest_inputs
from entrain.hardware.files import ChipFile, describe, find, preset, presets, read
from entrain.hardware.hardware import Hardware
from entrain.hardware.levels import Levels
from entrain.hardware.measured import Measured
from entrain.hardware.mismatch import Asymmetry, Mismatch, Offset
from entrain.hardware.oscillators import CouplingFunction, Delay, FrequencySpread, PhaseNoise
from entrain.hardware.readout import Readout
from entrain.hardware.wiring import Sparsity, Wiring, largest

__all__ = [
    "Asymmetry",
    "Chip",
    "ChipDraws",
    "ChipFile",
    "Components",
    "CouplingFunction",
    "Dead",
    "Delay",
    "Draws",
    "Effect",
    "FanIn",
    "FrequencySpread",
    "FreshDraws",
    "Hardware",
    "KeptDraws",
    "Levels",
    "Measured",
    "Mismatch",
    "Offset",
    "PhaseNoise",
    "Readout",
    "Realised",
    "Sparsity",
    "Stuck",
    "Wiring",
    "describe",
    "find",
    "largest",
    "largest_inputs",
    "on_chips",
    "preset",
    "presets",
    "read",
    "realise",
]
