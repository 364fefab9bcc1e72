# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, attr-defined"
"""Eight float32 lanes as a Numba type.

Numba does not vectorise a loop nest that keeps sums in registers; here the vectors are LLVM
vectors, on any architecture: LLVM splits them where the processor's are shorter. Addresses are
int64 byte addresses. `blocks` has blocks of sums.

Sums and products have the `contract` flag: a * b + c becomes one fused operation where there is
one. Only the documented interfaces of Numba (`numba.extending`) and llvmlite (`llvmlite.ir`) are
used.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.extending import lower_builtin, models, register_model, type_callable

intrinsic: Any = extending.intrinsic  # its stub counts the typing context as an argument
LANES = 8
VECTOR_BYTES = 4 * LANES
FLOAT, _BYTE, _INT = ir.FloatType(), ir.IntType(8), ir.IntType(32)
_VECTOR = ir.VectorType(FLOAT, LANES)
FUSE = ("contract",)


class VectorType(types.Type):
    """float32 values."""

    def __init__(self, lanes: int) -> None:
        super().__init__(name=f"float32x{lanes}")
        self.lanes = lanes


vector = VectorType(LANES)


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind) -> None:
        super().__init__(manager, kind, ir.VectorType(FLOAT, kind.lanes))


def pointer_to(builder, address, offset: int = 0, kind: ir.Type = _VECTOR):
    """The pointer to a value of a kind at an address."""
    if offset:
        address = builder.add(address, ir.Constant(address.type, offset))
    return builder.inttoptr(address, kind.as_pointer())


def load_at(builder, address, offset: int = 0, kind: ir.Type = _VECTOR):
    """The vector of a kind at an address."""
    return builder.load(pointer_to(builder, address, offset, kind), align=4, typ=kind)


def splat_of(builder, number, kind: ir.Type = _VECTOR):
    """The vector of a kind with the same value in every lane."""
    lane = builder.insert_element(ir.Constant(kind, ir.Undefined), number, ir.Constant(_INT, 0))
    zeros = ir.Constant(ir.VectorType(_INT, kind.count), [0] * kind.count)
    return builder.shuffle_vector(lane, ir.Constant(kind, ir.Undefined), zeros)


def _shuffle(builder, a, b, lanes: list[int]):
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_INT, LANES), lanes))


def _instruction(result: types.Type, *arguments: types.Type) -> Any:
    """A decorator: the intrinsic of these types whose code a function of a builder generates."""

    def decorate(generate):
        @functools.wraps(generate)
        def typed(typing_context, *_):
            def lower(context, builder, sig, args):
                value = generate(builder, *args)
                return context.get_dummy_value() if result is types.void else value

            return result(*arguments), lower

        return intrinsic(typed)

    return decorate


@_instruction(vector, types.int64)
def load(builder, address):
    """The vector at an address."""
    return load_at(builder, address)


@_instruction(types.void, types.int64, vector)
def store(builder, address, value):
    """Write a vector to an address."""
    builder.store(value, pointer_to(builder, address), align=4)


@_instruction(types.void, types.int64)
def prefetch(builder, address):
    """Prefetch the memory at an address, which may be invalid."""
    kind = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer(), _INT, _INT, _INT])
    name = "llvm.prefetch.p0"
    function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    read, keep, data = (ir.Constant(_INT, flag) for flag in (0, 3, 1))
    builder.call(function, [builder.inttoptr(address, _BYTE.as_pointer()), read, keep, data])


@_instruction(vector, types.float32)
def splat(builder, number):
    """The same value in every lane."""
    return splat_of(builder, number)


@_instruction(types.float32, vector, types.int64)
def lane(builder, value, index):
    """The value of a lane."""
    return builder.extract_element(value, builder.trunc(index, _INT))


@_instruction(vector, vector, types.int64, types.float32)
def with_lane(builder, value, index, number):
    """The vector with one lane replaced."""
    return builder.insert_element(value, number, builder.trunc(index, _INT))


@_instruction(types.boolean, vector, types.float32)
def any_above(builder, value, limit):
    """True if the magnitude of any lane exceeds the limit; NaN does not."""
    upper = splat_of(builder, limit)
    above = builder.fcmp_ordered(">", value, upper)
    below = builder.fcmp_ordered("<", value, builder.fneg(upper))
    mask = builder.bitcast(builder.or_(above, below), _BYTE)
    return builder.icmp_unsigned("!=", mask, ir.Constant(_BYTE, 0))


def _operator(symbol: Callable[..., Any], *arguments: types.Type) -> Any:
    """A decorator: an operator of these types, with a vector as its result."""

    def decorate(generate):
        @type_callable(symbol)
        def type_operator(typing_context):
            def result(*operands):
                return vector if operands == arguments else None

            # Numba binds operands to the names of the parameters, one by one.
            return (lambda a: result(a)) if len(arguments) == 1 else (lambda a, b: result(a, b))

        @lower_builtin(symbol, *arguments)
        def lower(context, builder, sig, args):
            return generate(builder, *args)

        return generate

    return decorate


@_operator(operator.add, vector, vector)
def _sum(builder, a, b):
    return builder.fadd(a, b, flags=FUSE)


@_operator(operator.sub, vector, vector)
def _difference(builder, a, b):
    return builder.fsub(a, b, flags=FUSE)


@_operator(operator.mul, vector, vector)
def _product(builder, a, b):
    return builder.fmul(a, b, flags=FUSE)


@_operator(operator.mul, types.float64, vector)
def _scaled(builder, factor, value):
    return builder.fmul(splat_of(builder, builder.fptrunc(factor, FLOAT)), value, flags=FUSE)


@_operator(operator.neg, vector)
def _negated(builder, value):
    return builder.fneg(value)


@_instruction(types.float32, vector)
def sum_lanes(builder, value):
    """The sum of the eight lanes, in pairs."""
    for width in (4, 2, 1):
        moved = [lane ^ width for lane in range(LANES)]
        value = builder.fadd(value, _shuffle(builder, value, value, moved))
    return builder.extract_element(value, ir.Constant(_INT, 0))


@_instruction(types.void, types.int64, types.int64, types.int64, types.int64)
def transpose(builder, source, source_stride, target, target_stride):
    """Write the transpose of 8 x 8 values; the strides are the bytes from row to row."""
    rows = []
    for _ in range(LANES):
        rows.append(load_at(builder, source))
        source = builder.add(source, source_stride)
    # Swap the off-diagonal quarters of ever larger squares: 1, 2, 4 lanes.
    for width in (1, 2, 4):
        low = [i for i in range(LANES) if not i & width]
        first = [i if not i & width else i - width + LANES for i in range(LANES)]
        second = [i + width if not i & width else i + LANES for i in range(LANES)]
        for i in low:
            a, b = rows[i], rows[i + width]
            rows[i] = _shuffle(builder, a, b, first)
            rows[i + width] = _shuffle(builder, a, b, second)
    for row in rows:
        builder.store(row, pointer_to(builder, target), align=4)
        target = builder.add(target, target_stride)


@_instruction(types.uint64, types.float64)
def bits(builder, number):
    """The bits of a float64 as a uint64."""
    return builder.bitcast(number, ir.IntType(64))


@_instruction(types.float64, types.uint64)
def from_bits(builder, word):
    """The float64 with these bits."""
    return builder.bitcast(word, ir.DoubleType())
