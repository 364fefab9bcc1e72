/** An order of oscillators in which neighbours are coupled alike, so that structure shows. */

import type { NetworkParameters } from "./types";

/** Hidden oscillators in an order, then the outputs in theirs (N). The order is a short path through
 * the rows of J: distance 1 - correlation, nearest neighbour first, then reversed stretches (2-opt). */
export function couplingOrder({ couplings, hidden, outputs }: NetworkParameters): Int32Array {
  const n = hidden + outputs;
  const rows = Array.from({ length: hidden }, (_, i) =>
    standardised(Float64Array.from(couplings.subarray(i * n, (i + 1) * n))),
  );
  const far = distances(rows);
  const path = shortened(chain(far, hidden), far, hidden);
  return Int32Array.from({ length: n }, (_, k) => (k < hidden ? path[k]! : k));
}

/** Without mean, of length 1; zeros where all are alike. */
function standardised(row: Float64Array): Float64Array {
  const mean = row.reduce((sum, value) => sum + value, 0) / row.length;
  const moved = row.map((value) => value - mean);
  const length = Math.sqrt(moved.reduce((sum, value) => sum + value * value, 0));
  return length === 0 ? moved : moved.map((value) => value / length);
}

/** 1 - correlation of each pair (H, H). */
function distances(rows: Float64Array[]): Float64Array {
  const count = rows.length;
  const far = new Float64Array(count * count);
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < i; j++) {
      let along = 0;
      for (let k = 0; k < rows[i]!.length; k++) along += rows[i]![k]! * rows[j]![k]!;
      far[i * count + j] = far[j * count + i] = 1 - along;
    }
  }
  return far;
}

/** From the first on, always to the nearest that is left. */
function chain(far: Float64Array, count: number): number[] {
  const left = new Set(Array.from({ length: count }, (_, i) => i));
  const path: number[] = [];
  for (let at = 0; path.length < count;) {
    path.push(at);
    left.delete(at);
    let least = Infinity;
    for (const other of left) {
      if (far[path.at(-1)! * count + other]! < least) {
        least = far[path.at(-1)! * count + other]!;
        at = other;
      }
    }
  }
  return path;
}

const MOST_ROUNDS = 20;

/** Stretches are reversed as long as the path gets shorter. */
function shortened(path: number[], far: Float64Array, count: number): number[] {
  const between = (a: number | undefined, b: number | undefined): number =>
    a === undefined || b === undefined ? 0 : far[a * count + b]!;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    let better = false;
    for (let i = 0; i < count - 1; i++) {
      for (let j = i + 1; j < count; j++) {
        const [before, first, last, after] = [path[i - 1], path[i], path[j], path[j + 1]];
        const gain =
          between(before, first) + between(last, after) - between(before, last) - between(first, after);
        if (gain <= 1e-12) continue;
        for (let a = i, b = j; a < b; a++, b--) [path[a], path[b]] = [path[b]!, path[a]!];
        better = true;
      }
    }
    if (!better) break;
  }
  return path;
}
