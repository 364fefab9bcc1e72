# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
r"""The normal variates of `entrain.physics.noise`, compiled by Numba.

The same words and the same Box-Muller transform in float64. Logarithm, sine and cosine are
polynomials, exact to 1e-13, since LLVM cannot vectorise a loop that calls the C library.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, uint64

from entrain.kernels.compiled import INNER_OPTIONS
from entrain.kernels.vectors import bits, from_bits

_inline = njit(**INNER_OPTIONS, inline="always")
_WORD = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (np.uint64(0x9E3779B9), np.uint64(0xBB67AE85))
_TWO_52 = np.uint64(0x4330000000000000)  # the bits of 2^52 as a float64
_MANTISSA = np.uint64(0x000FFFFFFFFFFFFF)
_ONE = np.uint64(0x3FF0000000000000)  # the bits of 1.0
_ANGLE = 2.0 * math.pi / 2**32


@_inline
def _to_float(word):
    """An integer below 2^52 as a float64, without the conversion that few processors have."""
    return from_bits(word | _TWO_52) - 4503599627370496.0


@_inline
def _radius(word):
    """sqrt(-2 ln((word + 1/2) / 2^32))."""
    pattern = bits(_to_float(word) + 0.5)
    exponent = _to_float(pattern >> np.uint64(52)) - 1055.0
    mantissa = from_bits((pattern & _MANTISSA) | _ONE)
    # ln m = 2 artanh((m - 1) / (m + 1)) converges fast near m = 1: m from 0.7 to 1.4.
    large = mantissa > 1.4142135623730951
    mantissa = mantissa * (0.5 if large else 1.0)
    exponent = exponent + (1.0 if large else 0.0)
    x = (mantissa - 1.0) / (mantissa + 1.0)
    y = x * x
    series = 1 / 13 + y * (1 / 15 + y * (1 / 17 + y * (1 / 19)))
    series = 1 / 5 + y * (1 / 7 + y * (1 / 9 + y * (1 / 11 + y * series)))
    log = exponent * math.log(2.0) + 2.0 * (x + x * y * (1 / 3 + y * series))
    return math.sqrt(-2.0 * log)


@_inline
def _cosine_and_sine(word):
    """cos and sin of 2 pi (word + 1/2) / 2^32: quarters in the top bits, the rest by series."""
    quarter = (word + np.uint64(1 << 29)) >> np.uint64(30)
    x = (_to_float(word) + 0.5 - 1073741824.0 * _to_float(quarter)) * _ANGLE
    y = x * x
    sin = -1 / 5040 + y * (1 / 362880 + y * (-1 / 39916800 + y * (1 / 6227020800)))
    sin = x + x * y * (-1 / 6 + y * (1 / 120 + y * sin))
    cos = 1 / 40320 + y * (-1 / 3628800 + y * (1 / 479001600 - y * (1 / 87178291200)))
    cos = 1.0 + y * (-0.5 + y * (1 / 24 + y * (-1 / 720 + y * cos)))
    odd = (quarter & np.uint64(1)) != np.uint64(0)
    cosine = sin if odd else cos
    sine = cos if odd else sin
    # Quarters 0 and 4: (cos, sin), 1: (-sin, cos), 2: (-cos, -sin), 3: (sin, -cos).
    left = ((quarter + np.uint64(1)) & np.uint64(2)) != np.uint64(0)
    down = (quarter & np.uint64(2)) != np.uint64(0)
    return (-cosine if left else cosine), (-sine if down else sine)


@njit(**INNER_OPTIONS, fastmath={"contract"})
def normals(key, block, counters, scale, out):
    """scale eta of the four steps of a block: out (4, L).

    key: two words of the generator; counters (3, L) uint64: oscillator, sample, replicate.
    """
    for i in range(out.shape[1]):
        c0, c1 = uint64(block), counters[0, i]
        c2, c3 = counters[1, i], counters[2, i]
        k0, k1 = uint64(key[0]), uint64(key[1])
        for _ in range(10):
            low, high = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
            c0, c1 = (high >> _HALF) ^ c1 ^ k0, high & _WORD
            c2, c3 = (low >> _HALF) ^ c3 ^ k1, low & _WORD
            k0, k1 = (k0 + _WEYL[0]) & _WORD, (k1 + _WEYL[1]) & _WORD
        radius = _radius(c0)
        cosine, sine = _cosine_and_sine(c1)
        out[0, i] = np.float32(radius * cosine) * scale
        out[1, i] = np.float32(radius * sine) * scale
        radius = _radius(c2)
        cosine, sine = _cosine_and_sine(c3)
        out[2, i] = np.float32(radius * cosine) * scale
        out[3, i] = np.float32(radius * sine) * scale
