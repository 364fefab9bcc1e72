/** The quadratic surface through a picture's background. */

import { medianOf, type Grid } from "./filters";

const TILES = 16;
const FITS = 4;
const NEAR = 12;
const RIDGE = 1e-6;

/** Levels (rows, columns) of the surface through the tiles' medians, first of those at the border,
 * then of all that were near it. */
export function surfaceOf(grid: Grid): Float64Array {
  const down = Math.min(TILES, grid.rows);
  const across = Math.min(TILES, grid.columns);
  const tiles = mediansOf(grid, down, across);
  const terms = Array.from(tiles, (_, k) =>
    termsOf((Math.floor(k / across) + 0.5) / down, ((k % across) + 0.5) / across),
  );
  let used = Array.from(tiles, (_, k) => {
    const [y, x] = [Math.floor(k / across), k % across];
    return y === 0 || y === down - 1 || x === 0 || x === across - 1;
  });
  let weights: number[] = [];
  for (let fit = 0; fit < FITS; fit++) {
    weights = leastSquares(
      terms.filter((_, k) => used[k]),
      [...tiles].filter((_, k) => used[k]),
    );
    const far = Float64Array.from(tiles, (tile, k) => Math.abs(tile - dot(weights, terms[k]!)));
    const most = Math.max(NEAR, medianOf(far));
    used = Array.from(far, (distance) => distance <= most);
  }
  return Float64Array.from(grid.levels, (_, k) => {
    const y = (Math.floor(k / grid.columns) + 0.5) / grid.rows;
    const x = ((k % grid.columns) + 0.5) / grid.columns;
    return Math.min(Math.max(dot(weights, termsOf(y, x)), 0), 255);
  });
}

function mediansOf({ levels, rows, columns }: Grid, down: number, across: number): Float64Array {
  const found = new Float64Array(down * across);
  for (let k = 0; k < found.length; k++) {
    const [i, j] = [Math.floor(k / across), k % across];
    const [top, bottom] = [i, i + 1].map((at) => Math.floor((rows * at) / down));
    const [left, right] = [j, j + 1].map((at) => Math.floor((columns * at) / across));
    const tile: number[] = [];
    for (let y = top!; y < bottom!; y++) {
      for (let x = left!; x < right!; x++) tile.push(levels[y * columns + x]!);
    }
    found[k] = medianOf(Float64Array.from(tile));
  }
  return found;
}

function termsOf(y: number, x: number): number[] {
  return [1, y, x, y * y, y * x, x * x];
}

function dot(a: number[], b: number[]): number {
  return a.reduce((sum, value, k) => sum + value * b[k]!, 0);
}

/** Weights that minimise |w terms - values|^2 + 1e-6 n |w|^2. */
function leastSquares(terms: number[][], values: number[]): number[] {
  const size = terms[0]!.length;
  const range = Array.from({ length: size }, (_, i) => i);
  const matrix = range.map((i) => [
    ...range.map(
      (j) =>
        terms.reduce((sum, row) => sum + row[i]! * row[j]!, 0) +
        (i === j ? RIDGE * values.length : 0),
    ),
    terms.reduce((sum, row, k) => sum + row[i]! * values[k]!, 0),
  ]);
  for (const i of range) {
    const pivot = range
      .slice(i)
      .reduce((a, b) => (Math.abs(matrix[b]![i]!) > Math.abs(matrix[a]![i]!) ? b : a));
    [matrix[i], matrix[pivot]] = [matrix[pivot]!, matrix[i]!];
    for (let row = i + 1; row < size; row++) {
      const factor = matrix[row]![i]! / matrix[i]![i]!;
      for (let j = i; j <= size; j++) matrix[row]![j]! -= factor * matrix[i]![j]!;
    }
  }
  const found = new Array<number>(size).fill(0);
  for (const i of range.reverse()) {
    let rest = matrix[i]![size]!;
    for (let j = i + 1; j < size; j++) rest -= matrix[i]![j]! * found[j]!;
    found[i] = rest / matrix[i]![i]!;
  }
  return found;
}
