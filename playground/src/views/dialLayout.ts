/** Where the dials sit: the hidden oscillators in a square, a rule, the outputs below. */

import { HIDDEN, OSCILLATORS } from "../state";

export const WIDTH = 400;
const ROW = 42; // height of a row of hidden dials
export const RULE = 8 * ROW + 4;

export function heightOf(narrow: boolean): number {
  return RULE + (narrow ? 170 : 86);
}

/** Where a dial sits; narrow pages have the outputs in two rows. */
export function centre(i: number, narrow: boolean): { x: number; y: number } {
  if (i < HIDDEN) return { x: 25 + 50 * (i % 8), y: ROW * (Math.floor(i / 8) + 0.5) };
  const output = i - HIDDEN;
  if (!narrow) return { x: 20 + 40 * output, y: RULE + 30 };
  return { x: 40 + 80 * (output % 5), y: RULE + 30 + 80 * Math.floor(output / 5) };
}

/** The oscillator an arrow key leads to. */
export function neighbour(i: number, key: string, narrow: boolean): number | null {
  if (key === "Home") return 0;
  if (key === "End") return OSCILLATORS - 1;
  if (key === "ArrowLeft") return i > 0 ? i - 1 : null;
  if (key === "ArrowRight") return i < OSCILLATORS - 1 ? i + 1 : null;
  if (key !== "ArrowUp" && key !== "ArrowDown") return null;
  const here = centre(i, narrow);
  const way = key === "ArrowDown" ? 1 : -1;
  let best: number | null = null;
  let least = Infinity;
  for (let other = 0; other < OSCILLATORS; other++) {
    const there = centre(other, narrow);
    const ahead = way * (there.y - here.y);
    const far = 10 * ahead + Math.abs(there.x - here.x);
    if (ahead > 1 && far < least) [best, least] = [other, far];
  }
  return best;
}
