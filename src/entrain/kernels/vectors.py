# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, attr-defined"
"""Eight float32 lanes as a Numba type, and blocks of them in registers.

Numba does not vectorise a loop nest that keeps a block of sums in registers; here the vectors are
LLVM vectors, on any architecture: LLVM splits them where the processor's are shorter. Addresses are
int64 byte addresses.

Sums and products have the `contract` flag: a * b + c becomes one fused operation where there is
one.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils
from numba.core.datamodel import PrimitiveModel
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import lower_builtin, register_model

intrinsic: Any = extending.intrinsic  # its stub counts the typing context as an argument
LANES = 8
VECTOR_BYTES = 4 * LANES
_FLOAT, _BYTE, _INT = ir.FloatType(), ir.IntType(8), ir.IntType(32)
_VECTOR = ir.VectorType(_FLOAT, LANES)
_FUSE = ("contract",)


class VectorType(types.Type):
    """Eight float32 values."""

    def __init__(self) -> None:
        super().__init__(name="float32x8")


vector = VectorType()


@register_model(VectorType)
class _VectorModel(PrimitiveModel):
    def __init__(self, manager, kind) -> None:
        super().__init__(manager, kind, _VECTOR)


def _pointer(builder, address, offset: int = 0):
    if offset:
        address = builder.add(address, ir.Constant(address.type, offset))
    return builder.inttoptr(address, _VECTOR.as_pointer())


def _load(builder, address, offset: int = 0):
    return builder.load(_pointer(builder, address, offset), align=4, typ=_VECTOR)


def _splat(builder, number):
    lane = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.Constant(_INT, 0))
    zeros = ir.Constant(ir.VectorType(_INT, LANES), [0] * LANES)
    return builder.shuffle_vector(lane, ir.Constant(_VECTOR, ir.Undefined), zeros)


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
    return _load(builder, address)


@_instruction(types.void, types.int64, vector)
def store(builder, address, value):
    """Write a vector to an address."""
    builder.store(value, _pointer(builder, address), align=4)


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
    return _splat(builder, number)


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
    upper = _splat(builder, limit)
    above = builder.fcmp_ordered(">", value, upper)
    below = builder.fcmp_ordered("<", value, builder.fneg(upper))
    mask = builder.bitcast(builder.or_(above, below), _BYTE)
    return builder.icmp_unsigned("!=", mask, ir.Constant(_BYTE, 0))


def _operator(symbol: Callable[..., Any], instruction: str) -> None:
    @infer_global(symbol)
    class Template(ConcreteTemplate):
        cases = (signature(vector, vector, vector),)

    @lower_builtin(symbol, vector, vector)
    def generate(context, builder, sig, args):
        return getattr(builder, instruction)(*args, flags=_FUSE)


_operator(operator.add, "fadd")
_operator(operator.sub, "fsub")
_operator(operator.mul, "fmul")


@infer_global(operator.mul)
class _ScaledTemplate(ConcreteTemplate):
    cases = (signature(vector, types.float64, vector),)


@lower_builtin(operator.mul, types.float64, vector)
def _scaled(context, builder, sig, args):
    factor = _splat(builder, builder.fptrunc(args[0], _FLOAT))
    return builder.fmul(factor, args[1], flags=_FUSE)


@infer_global(operator.neg)
class _NegatedTemplate(ConcreteTemplate):
    cases = (signature(vector, vector),)


@lower_builtin(operator.neg, vector)
def _negated(context, builder, sig, args):
    return builder.fneg(args[0])


@_instruction(types.float32, vector)
def sum_lanes(builder, value):
    """The sum of the eight lanes, in pairs."""
    for width in (4, 2, 1):
        moved = [lane ^ width for lane in range(LANES)]
        value = builder.fadd(value, _shuffle(builder, value, value, moved))
    return builder.extract_element(value, ir.Constant(_INT, 0))


# A block is `rows` pairs of vectors, [row 0 left, row 0 right, row 1 left, ...]: `rows` rows of
# sixteen values, which stay in registers if there are enough.


def _block(rows) -> types.UniTuple:
    return types.UniTuple(vector, 2 * rows.literal_value)


@intrinsic(prefer_literal=True)
def zero_block(typing_context, rows):
    """A block of zeros."""
    return _block(rows)(rows), lambda context, builder, sig, args: cgutils.get_null_value(
        context.get_value_type(sig.return_type)
    )


@intrinsic(prefer_literal=True)
def load_block(typing_context, address, rows):
    """Consecutive rows of sixteen values as a block."""

    def generate(context, builder, sig, args):
        parts = [_load(builder, args[0], VECTOR_BYTES * i) for i in range(sig.return_type.count)]
        return cgutils.pack_array(builder, parts)

    return _block(rows)(types.int64, rows), generate


@intrinsic
def store_block(typing_context, address, block):
    """Write a block as consecutive rows of sixteen values."""

    def generate(context, builder, sig, args):
        for i, part in enumerate(cgutils.unpack_tuple(builder, args[1])):
            builder.store(part, _pointer(builder, args[0], VECTOR_BYTES * i), align=4)
        return context.get_dummy_value()

    return types.void(types.int64, block), generate


def _outer(sign: int) -> Any:
    @intrinsic(prefer_literal=True)
    def outer(typing_context, block, column, stride, row):
        """block + or - (column of values, `stride` bytes apart) x (row of sixteen values)."""

        def generate(context, builder, sig, args):
            sums = cgutils.unpack_tuple(builder, args[0])
            halves = [_load(builder, args[3], VECTOR_BYTES * half) for half in (0, 1)]
            for i in range(len(sums) // 2):
                offset = ir.Constant(args[1].type, i * stride.literal_value)
                pointer = builder.inttoptr(builder.add(args[1], offset), _FLOAT.as_pointer())
                value = builder.load(pointer, align=4, typ=_FLOAT)
                factor = _splat(builder, builder.fneg(value) if sign < 0 else value)
                for half in (0, 1):
                    product = builder.fmul(factor, halves[half], flags=_FUSE)
                    sums[2 * i + half] = builder.fadd(sums[2 * i + half], product, flags=_FUSE)
            return cgutils.pack_array(builder, sums)

        return block(block, types.int64, stride, types.int64), generate

    return outer


add_outer = _outer(+1)
subtract_outer = _outer(-1)


@_instruction(types.void, types.int64, types.int64, types.int64, types.int64)
def transpose(builder, source, source_stride, target, target_stride):
    """Write the transpose of 8 x 8 values; the strides are the bytes from row to row."""
    rows = []
    for _ in range(LANES):
        rows.append(_load(builder, source))
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
        builder.store(row, _pointer(builder, target), align=4)
        target = builder.add(target, target_stride)


@_instruction(types.uint64, types.float64)
def bits(builder, number):
    """The bits of a float64 as a uint64."""
    return builder.bitcast(number, ir.IntType(64))


@_instruction(types.float64, types.uint64)
def from_bits(builder, word):
    """The float64 with these bits."""
    return builder.bitcast(word, ir.DoubleType())
