/** Filters of pictures: means, extremes, medians, connected pieces and depths, as SciPy has them. */

/** Numbers in rows and columns, rows first. */
export interface Grid {
  levels: Float64Array;
  rows: number;
  columns: number;
}

/** The first and last rows and columns; the corners come twice. */
export function borderOf(levels: ArrayLike<number>, rows: number, columns: number): Float64Array {
  const border = new Float64Array(2 * (rows + columns));
  for (let x = 0; x < columns; x++) {
    border[x] = levels[x]!;
    border[columns + x] = levels[(rows - 1) * columns + x]!;
  }
  for (let y = 0; y < rows; y++) {
    border[2 * columns + y] = levels[y * columns]!;
    border[2 * columns + rows + y] = levels[y * columns + columns - 1]!;
  }
  return border;
}

export function medianOf(values: Float64Array): number {
  const sorted = values.slice().sort();
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** The quantile q, between the two nearest values in proportion. */
export function quantileOf(values: Float64Array, q: number): number {
  const sorted = values.slice().sort();
  const place = q * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below]! + (sorted[above]! - sorted[below]!) * (place - below);
}

/** Means of whole levels over the boxes within the picture, rounded. */
export function boxMean(grid: Grid, radius: number): Grid {
  if (radius === 0) return grid;
  const { levels, rows, columns } = grid;
  const sums = new Float64Array((rows + 1) * (columns + 1)); // of all above and to the left
  for (let y = 0; y < rows; y++) {
    let row = 0;
    for (let x = 0; x < columns; x++) {
      row += levels[y * columns + x]!;
      sums[(y + 1) * (columns + 1) + x + 1] = sums[y * (columns + 1) + x + 1]! + row;
    }
  }
  const found = new Float64Array(levels.length);
  for (let y = 0; y < rows; y++) {
    const [top, bottom] = [Math.max(y - radius, 0), Math.min(y + radius + 1, rows)];
    for (let x = 0; x < columns; x++) {
      const [left, right] = [Math.max(x - radius, 0), Math.min(x + radius + 1, columns)];
      const at = (i: number, j: number): number => sums[i * (columns + 1) + j]!;
      const sum = at(bottom, right) - at(top, right) - at(bottom, left) + at(top, left);
      const count = (bottom - top) * (right - left);
      found[y * columns + x] = Math.floor((2 * sum + count) / (2 * count));
    }
  }
  return { levels: found, rows, columns };
}

/** The largest, or the smallest, level within squares of `reach` pixels each way. */
export function extremeAround(grid: Grid, reach: number, most: boolean): Grid {
  const { rows, columns } = grid;
  const found = Float64Array.from(grid.levels);
  for (let y = 0; y < rows; y++) extremeOfLine(found, y * columns, 1, columns, reach, most);
  for (let x = 0; x < columns; x++) extremeOfLine(found, x, columns, rows, reach, most);
  return { levels: found, rows, columns };
}

/** In place, for `count` levels from `start` on; the line's best candidates wait in a queue. */
function extremeOfLine(
  levels: Float64Array,
  start: number,
  step: number,
  count: number,
  reach: number,
  most: boolean,
): void {
  const line = new Float64Array(count);
  for (let i = 0; i < count; i++) line[i] = levels[start + i * step]!;
  const queue = new Int32Array(count);
  let [head, tail, next] = [0, 0, 0];
  for (let i = 0; i < count; i++) {
    for (; next < Math.min(i + reach + 1, count); next++) {
      const level = line[next]!;
      const beaten = (other: number): boolean => (most ? other <= level : other >= level);
      while (tail > head && beaten(line[queue[tail - 1]!]!)) tail--;
      queue[tail++] = next;
    }
    while (queue[head]! < i - reach) head++;
    levels[start + i * step] = line[queue[head]!]!;
  }
}

/** Pieces of a mask that hang together, also across corners, numbered from 1. */
export function labelled(
  mask: Uint8Array,
  rows: number,
  columns: number,
): { pieces: Int32Array; count: number } {
  const pieces = new Int32Array(mask.length);
  const stack: number[] = [];
  let count = 0;
  for (let seed = 0; seed < mask.length; seed++) {
    if (mask[seed] === 0 || pieces[seed] !== 0) continue;
    pieces[seed] = ++count;
    stack.push(seed);
    while (stack.length > 0) {
      const k = stack.pop()!;
      const [y, x] = [Math.floor(k / columns), k % columns];
      for (let i = Math.max(y - 1, 0); i <= Math.min(y + 1, rows - 1); i++) {
        for (let j = Math.max(x - 1, 0); j <= Math.min(x + 1, columns - 1); j++) {
          const other = i * columns + j;
          if (mask[other] === 0 || pieces[other] !== 0) continue;
          pieces[other] = count;
          stack.push(other);
        }
      }
    }
  }
  return { pieces, count };
}

/** How many pixels, straight or diagonal, each is from the nearest outside the mask; what lies
 * beyond the picture is outside. */
export function depthOf(mask: Uint8Array, rows: number, columns: number): Int32Array {
  const width = columns + 2;
  const depth = new Int32Array((rows + 2) * width);
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      if (mask[y * columns + x]) depth[(y + 1) * width + x + 1] = rows + columns;
    }
  }
  const before = [-width - 1, -width, -width + 1, -1];
  const relax = (k: number, sign: number): void => {
    for (const step of before) depth[k] = Math.min(depth[k]!, depth[k + sign * step]! + 1);
  };
  for (let k = width + 1; k < depth.length - width - 1; k++) if (depth[k]! > 0) relax(k, 1);
  for (let k = depth.length - width - 2; k > width; k--) if (depth[k]! > 0) relax(k, -1);
  const found = new Int32Array(rows * columns);
  for (let y = 0; y < rows; y++) {
    const from = (y + 1) * width + 1;
    found.set(depth.subarray(from, from + columns), y * columns);
  }
  return found;
}
