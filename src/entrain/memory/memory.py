"""`entrain.Memory`: patterns stored in the couplings of oscillators."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from entrain.hardware import Chip, Hardware
from entrain.memory.couplings import StorageRule, stored_couplings, strengths_and_lags
from entrain.memory.patterns import check_cues, check_patterns, numbers
from entrain.memory.recall import Recall, start_phases
from entrain.memory.training import RecallTraining, train_couplings
from entrain.models.graphs import CouplingGraph, all_pairs
from entrain.models.oscillators import Oscillators
from entrain.utils.errors import InputError, one_of, positive_float, positive_int, seed_number
from entrain.utils.summary import Summary
from entrain.utils.tensor_file import read_tensors, write_tensors

if TYPE_CHECKING:
    from entrain.memory.rate import RecallRate

INJECTION = 0.125
SPREAD = 0.5
TIME, STEPS = 50.0, 250


class Memory(Summary):
    r"""An associative memory: oscillators at rest in stored patterns, which they recall from cues.

        E(theta) = -1/2 sum_ij J_ij cos(theta_i - theta_j + A_ij) - s sum_i cos(2 theta_i)

    Spins +1 and -1 are phases 0 and pi; A = 0. Injection s locks oscillators to them: without it,
    spins x and y are joined by a path of equal energy, cos(t) x + i sin(t) y, of which every point
    is at rest. Couplings are in units in which the local field of a stored spin is about 1; a spin
    flips if a field of more than 4 s opposes it, of more than 1/2 by default. The inverse of a
    pattern is stored, too: a cue with most spins wrong recalls it.

    Phases xi_i in radians need the lag A_ij of every coupling (see `stored_couplings`) and no
    injection. As the energy depends on differences of phases alone, a pattern is recalled up to a
    rotation of all phases, and overlaps do not depend on it.

    `Memory.store` makes one from patterns.

    Args:
        patterns: Stored spins or phases (P, N).
        couplings: J (N, N), symmetric.
        lags: A (N, N), antisymmetric; None for spins.
        injection: s.
        rule: Rule that gave the couplings.

    Examples:
        >>> patterns = np.random.default_rng(0).choice([-1, 1], (2, 40))
        >>> memory = entrain.Memory.store(patterns)
        >>> cue = patterns[0] * np.where(np.arange(40) < 8, -1, 1)  # a fifth is wrong
        >>> bool((memory.recall(cue).states.numpy() == patterns[0]).all())
        True
    """

    def __init__(
        self,
        patterns: Any,
        couplings: Any,
        lags: Any = None,
        *,
        injection: float = INJECTION,
        rule: StorageRule = "hebbian",
    ) -> None:
        one_of("rule", rule, StorageRule)
        self.phases, self.rule = lags is not None, rule
        self.patterns = check_patterns(patterns, self.phases)
        self.injection = positive_float("injection", injection, zero=True)
        n = self.patterns.shape[1]
        self.couplings = _square("couplings", couplings, n)
        self.lags = None if lags is None else _square("lags", lags, n)
        if not torch.equal(self.couplings, self.couplings.mT):
            raise InputError("couplings of a memory must be symmetric: J[i, j] = J[j, i]")
        if self.lags is not None and not torch.equal(self.lags, -self.lags.mT):
            raise InputError("lags of a memory must be antisymmetric: A[i, j] = -A[j, i]")
        self.oscillators = _oscillators(self.couplings, self.lags, self.injection)

    @classmethod
    def store(
        cls,
        patterns: Any,
        rule: StorageRule = "hebbian",
        *,
        phases: bool = False,
        injection: float | None = None,
        training: RecallTraining | None = None,
    ) -> Memory:
        """A memory of patterns.

        Hebb's rule is local, a sum over patterns, and stores few, best without correlations. The
        pseudo-inverse stores any N - 1 independent patterns exactly; the more, the less a cue may
        differ. "trained" follows the gradient of overlaps through recall.

        Args:
            patterns: Spins +1 and -1 (P, N), or phases in radians; all different.
            rule: "hebbian", "pseudo-inverse" or "trained".
            phases: True for phases.
            injection: s; 1/8 by default, 0 for phases.
            training: Settings of "trained".
        """
        one_of("rule", rule, StorageRule)
        if training is not None and rule != "trained":
            raise InputError(f'training is of the rule "trained", got rule={rule!r}')
        checked = check_patterns(patterns, bool(phases))
        strength = (0.0 if phases else INJECTION) if injection is None else injection
        strength = positive_float("injection", strength, zero=True)
        start = rule
        if rule == "trained":
            start = "pseudo-inverse" if len(checked) < checked.shape[1] else "hebbian"
        couplings, lags = strengths_and_lags(stored_couplings(checked, start, phases=phases))
        if rule == "trained":
            oscillators = _oscillators(couplings, lags, strength, trainable=True)
            train_couplings(
                oscillators,
                checked,
                training or RecallTraining(),
                phases=phases,
                spread=SPREAD,
                simulate=_final,
            )
            couplings = oscillators.couplings.detach().double()
        return cls(checked, couplings, lags, injection=strength, rule=rule)

    @property
    def load(self) -> float:
        """P / N."""
        return len(self.patterns) / self.patterns.shape[1]

    def energy(self, phases: Tensor) -> Tensor:
        """E(theta) (B,), which falls in a recall without noise.

        Args:
            phases: theta (B, N).
        """
        waves = torch.polar(torch.ones_like(phases, dtype=torch.float64), phases.double())
        lags = torch.zeros_like(self.couplings) if self.lags is None else self.lags
        angles = lags.double()
        couplings = self.couplings * torch.complex(angles.cos(), -angles.sin())
        pairs = (waves.conj() * (waves @ couplings.mT)).real.sum(-1)
        return -0.5 * pairs - self.injection * (2 * phases.double()).cos().sum(-1)

    def recall(
        self,
        cues: Any,
        *,
        time: float = TIME,
        steps: int = STEPS,
        spread: float = SPREAD,
        temperature: float = 0.0,
        seed: int = 0,
        chip: Chip | Hardware | str | Path | None = None,
        chip_seed: int = 0,
    ) -> Recall:
        """The patterns that the oscillators reach from cues.

        Args:
            cues: Spins (B, N) or (N,), 0 where unknown; or phases.
            time: Observation time.
            steps: Euler steps until then.
            spread: Largest deviation of start phases from 0 and pi (rad), uniform; none of phases.
            temperature: kT of thermal noise.
            seed: Seed of start phases and noise.
            chip: An imperfect chip, its hardware, the name of a preset or a TOML file.
            chip_seed: Seed of the chip of a hardware.
        """
        checked, is_batched = check_cues(cues, self.patterns.shape[1], self.phases)
        spread = positive_float("spread", spread, zero=True)
        seed = seed_number("seed", seed)
        starts = checked if self.phases else start_phases(checked, spread, seed)
        time, steps = positive_float("time", time), positive_int("steps", steps)
        if chip is None:
            final = _final(self.oscillators, starts, time, steps, temperature, seed).detach()
            states = final.cpu() if self.phases else torch.where(final.cpu().cos() >= 0, 1, -1)
        else:
            from entrain.ising.on_chip import chip_of
            from entrain.memory.on_chip import ChipMemory

            sample = chip_of(chip, chip_seed)
            machine = ChipMemory(self, sample.hardware)
            states = machine.recall(starts, time, steps, sample.seed, temperature, seed)
        states = states if self.phases else states.to(torch.int8)
        return Recall(states, self.patterns, self.phases, is_batched)

    def evaluate(self, corruption: float = 0.2, **settings: Any) -> RecallRate:
        """Overlaps of what is recalled from corrupted patterns; see `entrain.memory.recall_rate`.

        Args:
            corruption: Share of flipped spins, or of phases that are replaced.
            **settings: Further arguments of `recall_rate`.
        """
        from entrain.memory.rate import recall_rate

        return recall_rate(self, corruption, **settings)

    def save(self, path: Path | str) -> None:
        """Write patterns, couplings and settings to a safetensors file.

        Args:
            path: File to write.
        """
        tensors = {"patterns": self.patterns, "couplings": self.couplings}
        if self.lags is not None:
            tensors["lags"] = self.lags
        header = {"rule": self.rule, "injection": self.injection}
        write_tensors(Path(path), "memory", tensors, header)

    @classmethod
    def read(cls, path: Path | str) -> Memory:
        """The memory that `save` stored.

        Args:
            path: The file.
        """
        tensors, header = read_tensors(Path(path), "memory")
        try:
            settings = {name: header[name] for name in ("rule", "injection")}
            return cls(tensors["patterns"], tensors["couplings"], tensors.get("lags"), **settings)
        except (KeyError, InputError) as error:
            raise InputError(f"{path}: not a valid memory: {error}") from error

    def facts(self) -> dict[str, str]:
        """See `Summary`."""
        count, n = self.patterns.shape
        return {
            "patterns": f"{count} of {'phases' if self.phases else 'spins'}",
            "oscillators": str(n),
            "load": f"{self.load:.3g}",
            "rule": self.rule,
            "injection": f"{self.injection:g}",
        }


def _square(name: str, values: Any, size: int) -> Tensor:
    """A matrix (N, N) with a diagonal of zeros."""
    matrix = numbers(name, values).float()
    if tuple(matrix.shape) != (size, size):
        raise InputError(f"{name} must be {size} x {size}, got shape {tuple(matrix.shape)}")
    if bool(matrix.diagonal().any()):
        raise InputError(f"the diagonal of {name} must be 0: no oscillator is coupled to itself")
    return matrix


def _oscillators(
    couplings: Tensor, lags: Tensor | None, injection: float, *, trainable: bool = False
) -> Oscillators:
    """Oscillators that are all coupled, so that a coupling of 0 can be trained."""
    n = len(couplings)
    graph, (first, second) = all_pairs(n), torch.triu_indices(n, n, offset=1)
    return Oscillators(
        CouplingGraph(graph, couplings[first, second].float(), True),
        injection=injection or None,
        edge_lag=lags,
        trainable=["couplings"] if trainable else [],
    )


def _final(
    oscillators: Oscillators,
    starts: Tensor,
    time: float,
    steps: int,
    temperature: float = 0.0,
    seed: int = 0,
) -> Tensor:
    """Phases (B, N) at the end."""
    with warnings.catch_warnings():  # the step suits stored patterns, not every state
        warnings.filterwarnings("ignore", "the time step", RuntimeWarning)
        return oscillators.simulate(
            starts=starts, time=time, steps=steps, temperature=temperature, seed=seed
        ).final
