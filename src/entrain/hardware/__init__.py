"""Imperfect chips: differences between networks on hardware and the equations."""

from entrain.hardware.asymmetry import Asymmetry
from entrain.hardware.chip import Chip, on_chips, realise
from entrain.hardware.components import Components
from entrain.hardware.coupling_function import CouplingFunction
from entrain.hardware.dead import Dead
from entrain.hardware.delay import Delay
from entrain.hardware.draws import CachedDraws, ChipDraws, FreshDraws, noise_seeds
from entrain.hardware.effect import Draws, Effect, Realised
from entrain.hardware.fan_in import FanIn, largest_inputs
from entrain.hardware.files import HardwareFile, describe, find, preset, presets, read
from entrain.hardware.frequency_spread import FrequencySpread
from entrain.hardware.hardware import Hardware
from entrain.hardware.levels import Levels
from entrain.hardware.measured import Measured
from entrain.hardware.mismatch import Mismatch
from entrain.hardware.offset import Offset
from entrain.hardware.phase_noise import PhaseNoise
from entrain.hardware.readout import Readout
from entrain.hardware.sparsity import Sparsity, largest
from entrain.hardware.stuck import Stuck
from entrain.hardware.wiring import Wiring

__all__ = ["Asymmetry", "CachedDraws", "Chip", "ChipDraws", "Components", "CouplingFunction"]
__all__ += ["Dead", "Delay", "Draws", "Effect", "FanIn", "FrequencySpread", "FreshDraws"]
__all__ += ["Hardware", "HardwareFile", "Levels", "Measured", "Mismatch", "Offset", "PhaseNoise"]
__all__ += ["Readout", "Realised", "Sparsity", "Stuck", "Wiring", "describe", "find", "largest"]
__all__ += ["largest_inputs", "noise_seeds", "on_chips", "preset", "presets", "read", "realise"]
