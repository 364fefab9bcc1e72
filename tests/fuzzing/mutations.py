"""Damage to bytes that knows nothing of their meaning."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

HUGE = 4_000_000  # bytes no mutant exceeds
NUMBERS = (
    b"0", b"-1", b"1e-320", b"1e999", b"-1e999", b"nan", b"Infinity", b"1e300", b"0.0", b"-0",
    b"2147483648", b"4294967296", b"9223372036854775808", b"18446744073709551616", b"9" * 400,
    b"9" * 5000, b"1000000000", b"0x10", b"1_000", "٣".encode(), b"true", b"null", b'""',
)  # fmt: skip
WORDS = (b"\x1b[31m", b"\x00", b"\r\n", b'"', b"\\ud800", b"../../x", b"%s", "\u202e".encode())
FIELDS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1)

Mutation = Callable[[bytearray, list[bytes], random.Random], None]


def mutated(content: bytes, others: list[bytes], dice: random.Random) -> bytes:
    """`content` after one to four mutations; some put in parts of `others`."""
    changed = bytearray(content)
    for _ in range(dice.choice((1, 1, 2, 4))):
        dice.choice(_MUTATIONS)(changed, others, dice)
    return bytes(changed[:HUGE])


def _place(changed: bytearray, dice: random.Random) -> int:
    """Anywhere; every other time in front, where headers are."""
    end = len(changed) if dice.random() < 0.5 else min(len(changed), 128)
    return dice.randrange(end + 1)


def _slice(changed: bytes | bytearray, dice: random.Random) -> bytes:
    start = dice.randrange(len(changed) + 1)
    return bytes(changed[start : start + dice.choice((1, 4, 16, 100, 1000))])


def flip_bits(changed: bytearray, others: list[bytes], dice: random.Random) -> None:
    for _ in range(dice.choice((1, 2, 8, 40)) if changed else 0):
        changed[min(_place(changed, dice), len(changed) - 1)] ^= 1 << dice.randrange(8)


def set_bytes(changed: bytearray, others: list[bytes], dice: random.Random) -> None:
    place = _place(changed, dice)
    size = dice.choice((1, 2, 4, 8, 64))
    changed[place : place + size] = bytes([dice.choice((0, 0xFF, 0x7F, 0x80, 0x20))]) * size


def truncate(changed: bytearray, others: list[bytes], dice: random.Random) -> None:
    del changed[_place(changed, dice) :]


def delete(changed: bytearray, others: list[bytes], dice: random.Random) -> None:
    place = _place(changed, dice)
    del changed[place : place + dice.choice((1, 2, 4, 100))]


def duplicate(changed: bytearray, others: list[bytes], dice: random.Random) -> None:
    place = _place(changed, dice)
    changed[place:place] = _slice(changed, dice) * dice.choice((1, 2, 300))


def insert(changed: bytearray, others: list[bytes], dice: random.Random) -> None:
    place = _place(changed, dice)
    changed[place:place] = dice.choice((dice.randbytes(dice.choice((1, 4, 64))), *WORDS))


def splice(changed: bytearray, others: list[bytes], dice: random.Random) -> None:
    other = dice.choice(others)
    place = _place(changed, dice)
    if dice.random() < 0.5:
        changed[place:] = other[min(place, len(other)) :]
    else:
        found = _slice(other, dice)
        changed[place : place + len(found)] = found


def number(changed: bytearray, others: list[bytes], dice: random.Random) -> None:
    found = list(re.finditer(rb"-?[0-9][0-9.e+-]*", changed[:100_000]))
    if found:
        each = dice.choice(found)
        changed[each.start() : each.end()] = dice.choice(NUMBERS)


def length_field(changed: bytearray, others: list[bytes], dice: random.Random) -> None:
    place, size = _place(changed, dice), dice.choice((1, 2, 4, 8))
    value = dice.choice(FIELDS) % 256**size
    changed[place : place + size] = value.to_bytes(size, dice.choice(("big", "little")))


_MUTATIONS: tuple[Mutation, ...] = (
    flip_bits, set_bytes, truncate, delete, duplicate, insert, splice, number, length_field,
)  # fmt: skip
