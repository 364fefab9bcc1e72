/** What is on the pad, as the pixels a network takes. */

import { fromRgba, prepare, type Pixels, type Shape } from "../core";

export const LONGEST = 280; // pixels of the pad, unless the pictures have more
const BRUSH = 24 / 280; // of the pad's longer side,
const LEAST_BRUSH = 1.2; // but so many cells at least, or it leaves them grey

/** A pad for pictures of `shape`: a whole number of its own pixels for each of theirs. */
export interface PadSize {
  shape: Shape;
  cell: number;
  width: number;
  height: number;
  brush: number;
}

export function padSize(shape: Shape): PadSize {
  const longer = Math.max(shape.rows, shape.columns);
  const cell = Math.max(1, Math.floor(LONGEST / longer));
  return {
    shape,
    cell,
    width: cell * shape.columns,
    height: cell * shape.rows,
    brush: cell * Math.max(BRUSH * longer, LEAST_BRUSH),
  };
}

export type Reading = { pixels: Pixels } | { problem: "empty" | "dot" };

/** `cells`: the pad began as a picture of the model's shape, whose pixels are its cells. */
export function read({ data }: ImageData, cells: boolean, size: PadSize): Reading {
  const { width, height, brush, shape } = size;
  const dot = 2 * brush; // ink that fits into this square is no drawing
  let [left, right, top, bottom] = [width, -1, height, -1];
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (data[4 * (y * width + x)] < 32) continue;
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      if (y > bottom) bottom = y;
    }
  }
  if (right < 0) return { problem: "empty" };
  if (right - left < dot && bottom - top < dot) return { problem: "dot" };
  const pixels = cells
    ? byCells(data, size)
    : prepare(fromRgba(data, width, height), height, width, shape);
  return pixels === null ? { problem: "empty" } : { pixels };
}

function byCells(data: Uint8ClampedArray, { width, height, cell, shape }: PadSize): Pixels {
  const sums = new Float64Array(shape.rows * shape.columns);
  for (let y = 0; y < height; y++) {
    const row = shape.columns * Math.floor(y / cell);
    for (let x = 0; x < width; x++) {
      sums[row + Math.floor(x / cell)] += data[4 * (y * width + x)];
    }
  }
  return Uint8Array.from(sums, (sum) => Math.round(sum / cell ** 2));
}
