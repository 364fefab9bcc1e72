"""The part of the CUDA source that depends on the terms of a model: functions and macros.

A local term becomes lines of the functions `torque` and `slope`, which common.cuh calls; the
coupling function and the schedule become macros. Absent terms cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from entrain.kernels.components import Components
from entrain.physics import PhaseModel
from entrain.physics.terms import LOCAL, cuda_lines

Macros = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Program:
    """The terms that a kernel computes; one that is equal is compiled once.

    Args:
        local: Names of the local terms.
        macros: See common.cuh.
    """

    local: tuple[str, ...] = ()
    macros: Macros = ()

    @classmethod
    def of(cls, model: PhaseModel, components: Components) -> Program:
        """The program of a model.

        Args:
            model: A phase model.
            components: Its coupling function.
        """
        local = tuple(name for name in LOCAL if name in model.terms)
        scheduled = () if model.schedule is None else model.schedule.factors
        drive = model.schedule is not None and model.schedule.drive is not None
        macros = {
            "LOCALS": len(local),
            "VELOCITIES": _bits(LOCAL[name].is_velocity for name in local),
            "SLOPES": _bits(LOCAL[name].slope is not None for name in local),
            "COMPONENTS": len(components.multiples),
            "MATRICES": len(components.matrices),
            "MATRIX_OF": sum(m << 4 * q for q, m in enumerate(components.matrix_of)),
            "DOUBLED": _bits(multiple == 2 for multiple in components.multiples),
            "FACTORED": _bits(components.factored),
            "SCHEDULED": _bits(name in scheduled for name in schedule_names(local)),
            "START": int(model.start is not None),
            "DRIVE": int(drive),
        }
        return cls(local, tuple(macros.items()))

    @property
    def is_plain(self) -> bool:
        """True without terms, start and schedule."""
        names = ("LOCALS", "FACTORED", "DOUBLED", "SCHEDULED", "START", "DRIVE")
        values = dict(self.macros)
        return not any(values[name] for name in names) and values["COMPONENTS"] == 1

    def source(self, *files: str) -> str:
        """CUDA source of these terms, followed by files of this folder.

        Args:
            files: Their names.
        """
        here = Path(__file__).parent
        parts = [self._function("torque"), self._function("slope")]
        return "\n".join([*parts, *((here / file).read_text() for file in files)])

    def _function(self, name: str) -> str:
        """A function of all local terms, which is inlined with a constant `term`."""
        text = [f"__device__ __forceinline__ float {name}(int term, float s, float c, float v) {{"]
        for index, term in enumerate(self.local):
            function = getattr(LOCAL[term], name)
            if function is not None:
                lines, result = cuda_lines(function, "s", "c", "v")
                text += [f"  if (term == {index}) {{  // {term}", *(f"    {x}" for x in lines)]
                text += [f"    return {result};", "  }"]
        return "\n".join([*text, "  return 0.0f;", "}", ""])


def schedule_names(local: Iterable[str]) -> tuple[str, ...]:
    """Names of what may have factors in time, in the order of the bits of SCHEDULED.

    Args:
        local: Names of the local terms of a model.
    """
    return ("fields", "couplings", *local)


def _bits(flags: Iterable[bool]) -> int:
    return sum(1 << index for index, flag in enumerate(flags) if flag)
