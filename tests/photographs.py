"""Digits drawn and photographed, made up: pens, paper, light and cameras, by a seed.

Every picture is grey levels uint8 (rows, columns) of one digit: strokes of our own with several
pens, official MNIST test digits enlarged, or a typeface; dark on light or light on dark.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from entrain.data import load_test_split

Points = list[tuple[float, float]]

PER_KIND = 30
HANDS = ("pen", "mnist", "pen", "mnist", "type")


@dataclass(frozen=True)
class Photograph:
    """One picture, what it shows, and how it was made."""

    levels: np.ndarray
    digit: int
    kind: str
    hand: str


def _arc(x: float, y: float, rx: float, ry: float, start: float, end: float) -> Points:
    """An elliptic arc about (x, y); degrees, 0 to the right, clockwise as seen."""
    turns = np.radians(np.linspace(start, end, 40))
    return [(x + rx * math.cos(t), y + ry * math.sin(t)) for t in turns]


# Strokes (x, y) in a box of width 0.6 and height 1, y downwards.
STROKES: dict[int, list[Points]] = {
    0: [_arc(0.3, 0.5, 0.28, 0.48, -90, 270)],
    1: [[(0.14, 0.22), (0.32, 0.04), (0.32, 0.98)]],
    2: [[*_arc(0.3, 0.28, 0.26, 0.25, -170, 40), (0.03, 0.96), (0.58, 0.94)]],
    3: [[*_arc(0.28, 0.26, 0.25, 0.23, -150, 90), *_arc(0.27, 0.73, 0.3, 0.24, -90, 150)]],
    4: [[(0.4, 0.03), (0.03, 0.62), (0.58, 0.62)], [(0.42, 0.36), (0.42, 0.98)]],
    5: [[(0.54, 0.04), (0.12, 0.05), (0.09, 0.45), *_arc(0.27, 0.68, 0.29, 0.28, -110, 150)]],
    6: [[(0.46, 0.03), (0.2, 0.3), (0.05, 0.65), *_arc(0.3, 0.72, 0.25, 0.25, 180, -180)]],
    7: [[(0.03, 0.06), (0.57, 0.05), (0.38, 0.45), (0.24, 0.98)]],
    8: [_arc(0.3, 0.26, 0.21, 0.23, 90, 450), _arc(0.3, 0.73, 0.26, 0.24, -90, 270)],
    9: [[*_arc(0.3, 0.28, 0.23, 0.25, 0, -360), (0.5, 0.55), (0.4, 0.98)]],
}


def photographs(seed: int = 0, per_kind: int = PER_KIND) -> Iterator[Photograph]:
    """`per_kind` pictures of every kind: digits in turn, hands and sizes by chance."""
    test = load_test_split("mnist")
    for number, (kind, take) in enumerate(KINDS.items()):
        for index in range(per_kind):
            rng = np.random.default_rng((seed, number, index))
            digit = index % 10
            hand = HANDS[(index // 10 + number + digit) % len(HANDS)]
            ink = _ink(rng, hand, digit, test.features, test.labels)
            yield Photograph(take(rng, ink), digit, kind, hand)


def _ink(
    rng: np.random.Generator, hand: str, digit: int, images: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Coverage by ink from 0 to 1 on a sheet of 160 to 700 pixels a side, the digit somewhere."""
    rows, columns = (int(rng.integers(160, 700)) for _ in range(2))
    height = min(rows, columns) * rng.uniform(0.45, 0.75)
    sheet = Image.new("L", (columns, rows))
    if hand == "pen":
        pen = max(2.0, height * rng.uniform(0.05, 0.14))
        turn = rng.uniform(-0.12, 0.12)
        width = rng.uniform(0.8, 1.25)
        drawn = ImageDraw.Draw(sheet)
        left = rng.uniform(pen, max(pen + 1, columns - 0.6 * width * height - pen))
        top = rng.uniform(pen, max(pen + 1, rows - height - pen))
        for stroke in STROKES[digit]:
            wobble = rng.normal(0, 0.006, (len(stroke), 2)).cumsum(0) * 0.3
            points = [
                (left + height * (width * (x + dx) + turn * (0.5 - y)), top + height * (y + dy))
                for (x, y), (dx, dy) in zip(stroke, wobble, strict=True)
            ]
            _draw(drawn, points, pen)
    elif hand == "mnist":
        image = images[rng.choice(np.flatnonzero(labels == digit))].reshape(28, 28)
        side = int(height * 1.4)
        large = Image.fromarray(image).resize((side, side), Image.Resampling.BICUBIC)
        sheet.paste(large, (_place(rng, columns - side), _place(rng, rows - side)))
    else:
        font = ImageFont.load_default(height)
        box = font.getbbox(str(digit))
        wide, high = box[2] - box[0], box[3] - box[1]
        at = _place(rng, columns - wide) - box[0], _place(rng, rows - high) - box[1]
        ImageDraw.Draw(sheet).text(at, str(digit), fill=255, font=font)
    return np.asarray(sheet, dtype=np.float64) / 255


def _place(rng: np.random.Generator, room: float) -> int:
    """A place that leaves a sixth of the room free on either side."""
    return int(room * rng.uniform(1 / 6, 5 / 6))


def _draw(drawn: ImageDraw.ImageDraw, points: Points, pen: float) -> None:
    drawn.line(points, fill=255, width=round(pen), joint="curve")
    for x, y in (points[0], points[-1]):
        half = pen / 2
        drawn.ellipse((x - half, y - half, x + half, y + half), fill=255)


def _grid(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Places from 0 to 1 down and across."""
    y, x = np.mgrid[: shape[0], : shape[1]]
    return y / shape[0], x / shape[1]


def _paper(rng: np.random.Generator, ink: np.ndarray, contrast: float = 1.0) -> np.ndarray:
    """Reflectance of dark ink on light paper."""
    paper = rng.uniform(0.75, 0.98)
    return paper * (1 - contrast * rng.uniform(0.7, 0.95) * ink)


def _levels(light: np.ndarray) -> np.ndarray:
    return np.rint(255 * light.clip(0, 1)).astype(np.uint8)


def _linear(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Light that falls off to a third across the picture, in any direction."""
    y, x = _grid(shape)
    turn = rng.uniform(0, 2 * math.pi)
    along = (x - 0.5) * math.cos(turn) + (y - 0.5) * math.sin(turn)
    along = (along - along.min()) / np.ptp(along)
    return 1 - rng.uniform(0.4, 0.65) * along


def _radial(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """A lamp somewhere above the sheet."""
    y, x = _grid(shape)
    squares = (y - rng.uniform(0.2, 0.8)) ** 2 + (x - rng.uniform(0.2, 0.8)) ** 2
    return 0.3 + 0.7 * np.exp(-squares / rng.uniform(0.35, 0.8))


def _shadow(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """The edge of a shadow through the picture, a few pixels to a tenth of it wide."""
    y, x = _grid(shape)
    turn = rng.uniform(0, 2 * math.pi)
    along = (x - 0.5) * math.cos(turn) + (y - 0.5) * math.sin(turn) - rng.uniform(-0.25, 0.25)
    return 1 - rng.uniform(0.3, 0.5) / (1 + np.exp(-along / rng.uniform(0.005, 0.03)))


def _lines(rng: np.random.Generator, ink: np.ndarray, squared: bool) -> np.ndarray:
    """Coverage by ruled lines, thinner and paler than the ink."""
    rows, columns = ink.shape
    apart = min(rows, columns) * rng.uniform(0.1, 0.25)
    thick = max(1.0, min(rows, columns) * rng.uniform(0.004, 0.009))
    offset = rng.uniform(0, apart)
    found = np.zeros_like(ink)
    dark = rng.uniform(0.3, 0.8)
    y, x = np.mgrid[:rows, :columns]
    for place in (y, x) if squared else (y,):
        found = np.maximum(found, np.where((place + offset) % apart < thick, dark, 0.0))
    return found


def _tilted(rng: np.random.Generator, levels: np.ndarray, paper: int) -> np.ndarray:
    """Turned by up to 15 degrees."""
    turned = Image.fromarray(levels).rotate(
        rng.uniform(-15, 15), Image.Resampling.BICUBIC, fillcolor=paper
    )
    return np.asarray(turned)


def _noisy(rng: np.random.Generator, levels: np.ndarray) -> np.ndarray:
    noise = rng.normal(0, rng.uniform(4, 14), levels.shape)
    return np.asarray(np.rint(levels + noise).clip(0, 255), dtype=np.uint8)


def _jpeg(rng: np.random.Generator, levels: np.ndarray) -> np.ndarray:
    content = io.BytesIO()
    Image.fromarray(levels).save(content, "JPEG", quality=int(rng.integers(15, 50)))
    return np.asarray(Image.open(content).convert("L"))


def _even(rng: np.random.Generator, ink: np.ndarray) -> np.ndarray:
    return _levels(_paper(rng, ink))


def _inverted(rng: np.random.Generator, ink: np.ndarray) -> np.ndarray:
    """Chalk: light on a dark board."""
    board = rng.uniform(0.03, 0.25)
    return _levels(board + (rng.uniform(0.7, 1) - board) * ink)


def _shaded_chalk(rng: np.random.Generator, ink: np.ndarray) -> np.ndarray:
    board = rng.uniform(0.08, 0.25)
    return _levels((board + (rng.uniform(0.8, 1) - board) * ink) * _linear(rng, ink.shape))


def _pale(rng: np.random.Generator, ink: np.ndarray) -> np.ndarray:
    """A hard pencil in weak light."""
    weak = rng.uniform(0.35, 0.8) * _paper(rng, ink, contrast=rng.uniform(0.2, 0.4))
    return _noisy(np.random.default_rng(rng.integers(2**32)), _levels(weak))


def _lit(light: Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]) -> Take:
    return lambda rng, ink: _levels(_paper(rng, ink) * light(rng, ink.shape))


def _on_lines(rng: np.random.Generator, ink: np.ndarray, *, squared: bool) -> np.ndarray:
    return _paper(rng, np.maximum(ink, _lines(rng, ink, squared)))


def _telephone(rng: np.random.Generator, ink: np.ndarray) -> np.ndarray:
    """All at once: squared or ruled paper, uneven light, tilted, noisy, compressed."""
    light = (_linear, _radial, _shadow)[int(rng.integers(3))](rng, ink.shape)
    seen = _levels(_on_lines(rng, ink, squared=bool(rng.integers(2))) * light)
    rows, columns = seen.shape
    turned = _tilted(rng, np.pad(seen, ((rows, rows), (columns, columns)), "edge"), 0)
    return _jpeg(rng, _noisy(rng, turned[rows : 2 * rows, columns : 2 * columns]))


Take = Callable[[np.random.Generator, np.ndarray], np.ndarray]

KINDS: dict[str, Take] = {
    "even": _even,
    "light on dark": _inverted,
    "tilted": lambda rng, ink: _tilted(rng, _levels(0.9 * (1 - 0.85 * ink)), 230),
    "noisy": lambda rng, ink: _noisy(rng, _even(rng, ink)),
    "jpeg": lambda rng, ink: _jpeg(rng, _even(rng, ink)),
    "pale": _pale,
    "linear shading": _lit(_linear),
    "radial shading": _lit(_radial),
    "shadow edge": _lit(_shadow),
    "shaded, light on dark": _shaded_chalk,
    "ruled": lambda rng, ink: _levels(_on_lines(rng, ink, squared=False)),
    "squared": lambda rng, ink: _levels(_on_lines(rng, ink, squared=True)),
    "all at once": _telephone,
}
