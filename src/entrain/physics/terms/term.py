r"""The interface of terms: one term of the phase model a file, and one line in `terms/__init__.py`.

The bracket of the phase model sums the torques of all terms. There are two kinds:

- A `LocalTerm` is a torque of every oscillator on itself, with a value v_i for each. Its functions
  are formulas in sin and cos of the phase and v, with + - * alone: the reference evaluates them on
  tensors, the CPU kernels on vectors, and `cuda_lines` turns them into lines of the CUDA kernels.
- A `PairTerm` changes the coupling function, a sum of `Component`s

      sum_j M_ij [ c sin(m phi_ij) + d cos(m phi_ij) ],     phi_ij = theta_i - theta_j,

  each with a matrix M on the graph, a multiple m and two factors c and d. The kernels compute
  components; what a term makes of them is differentiated by autograd.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from entrain.physics.couplings import Couplings


def _zero_energy(phases: Tensor, value: Tensor) -> Tensor:
    return torch.zeros_like(phases)


@dataclass(frozen=True)
class LocalTerm:
    """A torque T(theta_i, v_i) of every oscillator, in the bracket of the phase model.

    Args:
        name: Name of the values, as an argument of `PhaseModel`.
        symbol: Their symbol.
        formula: Summand of d theta_i / dt.
        energy_formula: Summand of E, "" without one.
        torque: (sin, cos, v) -> T.
        slope: (sin, cos, v) -> dT / d theta; None is 0.
        gradient: (sin, cos, q) -> q dT / dv. T is linear in v.
        energy: (phases, v) -> summand of E for each oscillator.
        split: (sin, cos, v) -> p and r with T = sin r - cos p, for the CPU kernels, which add them
            to J sin and J cos. None takes p and r of `torque` and `slope`.
        rest: (sin, cos, v) -> dT / d theta less cos r + sin p; None is 0.
        is_velocity: True if -T is added to d theta / dt as it is, not times the mobility.
    """

    name: str
    symbol: str
    formula: str
    energy_formula: str
    torque: Callable[[Any, Any, Any], Any]
    gradient: Callable[[Any, Any, Any], Any]
    slope: Callable[[Any, Any, Any], Any] | None = None
    energy: Callable[[Tensor, Tensor], Tensor] = _zero_energy
    split: Callable[[Any, Any, Any], tuple[Any, Any]] | None = None
    rest: Callable[[Any, Any, Any], Any] | None = None
    is_velocity: bool = False


@dataclass(frozen=True)
class Component:
    """A part of the coupling function: M (R, N, N) or sparse, m, and c and d (R,).

    `factors` is None for c = 1 and d = 0.
    """

    couplings: Couplings
    multiple: int = 1
    factors: tuple[Tensor, Tensor] | None = None


@dataclass(frozen=True)
class PairTerm:
    """A change of the coupling function.

    Args:
        name: Name of the values, as an argument of `PhaseModel`.
        symbol: Their symbol.
        formula: What becomes of g(phi_ij).
        energy_formula: Summand of E, "" without one.
        shape: "shared" values of all couplings (R, *size), or values of each of the "couplings",
            of their shape.
        size: Trailing axes of shared values.
        change: Components and values -> components. The first one is J with its lag.
        has_energy: True if its odd part adds to E.
    """

    name: str
    symbol: str
    formula: str
    energy_formula: str
    shape: Literal["shared", "couplings"]
    change: Callable[[Sequence[Component], Tensor], list[Component]]
    size: tuple[int, ...] = ()
    has_energy: bool = False


class Expression:
    """A CUDA expression that records one line for each operation on it."""

    def __init__(self, text: str, lines: list[str], prefix: str) -> None:
        self.text, self._lines, self._prefix = text, lines, prefix

    def _operation(self, left: str, symbol: str, right: str) -> Expression:
        name = f"{self._prefix}{len(self._lines)}"
        self._lines.append(f"float {name} = {left} {symbol} {right};")
        return Expression(name, self._lines, self._prefix)

    def __add__(self, other: Expression | float) -> Expression:
        return self._operation(self.text, "+", _text(other))

    def __radd__(self, other: float) -> Expression:
        return self._operation(_text(other), "+", self.text)

    def __sub__(self, other: Expression | float) -> Expression:
        return self._operation(self.text, "-", _text(other))

    def __rsub__(self, other: float) -> Expression:
        return self._operation(_text(other), "-", self.text)

    def __mul__(self, other: Expression | float) -> Expression:
        return self._operation(self.text, "*", _text(other))

    def __rmul__(self, other: float) -> Expression:
        return self._operation(_text(other), "*", self.text)

    def __neg__(self) -> Expression:
        return Expression(f"(-{self.text})", self._lines, self._prefix)


def _text(value: Expression | float) -> str:
    return value.text if isinstance(value, Expression) else f"{float(value)!r}f"


def cuda_lines(
    function: Callable[..., Any], *arguments: str, prefix: str = "t"
) -> tuple[list[str], str]:
    """The lines of a term's function in CUDA, and the expression of its result.

    Args:
        function: `torque`, `slope` or `gradient` of a local term.
        arguments: CUDA expressions of its arguments.
        prefix: Beginning of the names of the temporary values.
    """
    lines: list[str] = []
    result = function(*(Expression(text, lines, prefix) for text in arguments))
    return lines, _text(result)
