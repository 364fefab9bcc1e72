/** What is on the pad, as the pixels a network takes. */

import { fromRgba, prepare, type Pixels } from "../core";

export const SIDE = 280;
export const CELL = SIDE / 28;
export const BRUSH = 24;
const DOT = 2 * BRUSH; // ink that fits into this square is no digit

export type Reading = { pixels: Pixels } | { problem: "empty" | "dot" };

/** `cells`: the pad began as a 28 x 28 picture, whose pixels are its cells. */
export function read(picture: ImageData, cells: boolean): Reading {
  const { data } = picture;
  let [left, right, top, bottom] = [SIDE, -1, SIDE, -1];
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      if (data[4 * (y * SIDE + x)] < 32) continue;
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      if (y > bottom) bottom = y;
    }
  }
  if (right < 0) return { problem: "empty" };
  if (right - left < DOT && bottom - top < DOT) return { problem: "dot" };
  const pixels = cells ? byCells(data) : prepare(fromRgba(data, SIDE, SIDE), SIDE, SIDE);
  return pixels === null ? { problem: "empty" } : { pixels };
}

function byCells(data: Uint8ClampedArray): Pixels {
  const sums = new Float64Array(28 * 28);
  for (let y = 0; y < SIDE; y++) {
    const row = 28 * Math.floor(y / CELL);
    for (let x = 0; x < SIDE; x++) {
      sums[row + Math.floor(x / CELL)] += data[4 * (y * SIDE + x)];
    }
  }
  return Uint8Array.from(sums, (sum) => Math.round(sum / CELL ** 2));
}
