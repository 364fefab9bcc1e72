# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
"""Counters that threads share inside compiled code, and a wait for them.

Threads wait for fractions of a millisecond, for which only a busy wait is short enough. After some
microseconds a waiting thread offers its core to others: a busy machine is not slowed down.
"""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any

from llvmlite import ir
from numba import types

from entrain.kernels.compiled import inner
from entrain.kernels.vectors import intrinsic

_SPINS = 1000  # some microseconds
_WORD = ir.IntType(64)


@functools.cache
def can_yield() -> bool:
    """True if the operating system has `sched_yield`."""
    return os.name == "posix" and hasattr(ctypes.CDLL(None), "sched_yield")


if can_yield():
    _yield_core: Any = types.ExternalFunction("sched_yield", types.int32())
else:

    @inner
    def _yield_core():
        pass


@intrinsic
def add_one(typing_context, address):
    """Add 1 to the int64 at an address, as one operation; returns its former value."""

    def generate(context, builder, sig, args):
        pointer = builder.inttoptr(args[0], _WORD.as_pointer())
        return builder.atomic_rmw("add", pointer, ir.Constant(_WORD, 1), "seq_cst")

    return types.int64(types.int64), generate


@intrinsic
def value_at(typing_context, address):
    """The int64 at an address, as other threads have last written it."""

    def generate(context, builder, sig, args):
        pointer = builder.inttoptr(args[0], _WORD.as_pointer())
        return builder.load_atomic(pointer, "seq_cst", 8)

    return types.int64(types.int64), generate


@inner
def wait_for(counter, value):
    """Return when the int64 at an address is at least `value`."""
    spins = 0
    while value_at(counter) < value:
        spins += 1
        if spins > _SPINS:
            _yield_core()
