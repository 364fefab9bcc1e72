/** What a picture shows, without its paper: uneven light, noise, ruled lines and specks removed.
 *
 * The same algorithm as the package's `entrain.data.content`, which says why; all works on whole
 * grey levels (rows, columns) from 0 to 255. */

import {
  borderOf,
  boxMean,
  depthOf,
  extremeAround,
  labelled,
  medianOf,
  quantileOf,
  type Grid,
} from "./filters";
import { surfaceOf } from "./surface";

const EVEN = 6;
const EVEN_SHARE = 0.5;
const ONE_SIDED = 0.9;
const [LOW, HIGH] = [0.25, 0.5];
const USUAL = 0.75;
const SPECK = 0.04;
const LOOSE = 0.2;
const SHADOW = 8;
const FREED = 0.1;
const THIN = 0.6;
const MOST_GAIN = 4;

/** Content as levels from 0 to 1, zero around it and where there is none. */
export function findContent(grey: Grid): Grid {
  const levels = smoothed(grey);
  let best: Grid | null = null;
  let least = Infinity;
  for (const strength of candidates(levels)) {
    const found = blemishes(strength);
    if (best === null || found < least) [best, least] = [strength, found];
  }
  const kept = withoutSpecks(best!);
  const most = largest(kept.levels);
  if (most === 0) return kept;
  const strong = kept.levels.filter((level) => level > HIGH * most);
  const usual = quantileOf(strong, USUAL);
  return { ...kept, levels: kept.levels.map((level) => Math.min(level / usual, 1)) };
}

/** Means over boxes of 3 or 5 pixels a side where neighbours usually differ, by noise. */
function smoothed(grey: Grid): Grid {
  const { levels, rows, columns } = grey;
  if (columns < 2) return grey;
  const steps = new Float64Array(rows * (columns - 1));
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x + 1 < columns; x++) {
      const k = y * columns + x;
      steps[y * (columns - 1) + x] = Math.abs(levels[k + 1]! - levels[k]!);
    }
  }
  const usual = medianOf(steps);
  return boxMean(grey, usual < 2 ? 0 : usual < 6 ? 1 : 2);
}

/** The strength of content over each background that may be right, zero where it has none. */
function candidates(grey: Grid): Grid[] {
  const { levels, rows, columns } = grey;
  const middle = medianOf(borderOf(levels, rows, columns));
  const above = { ...grey, levels: levels.map((level) => level - middle) };
  if (isOneLevel(above)) {
    return [strengthOf(above, levels.map(() => middle), skewness(above.levels) > 0)];
  }
  const mean = boxMean(grey, Math.floor(Math.min(rows, columns) / 4)).levels;
  const light = skewness(levels.map((level, k) => level - mean[k]!)) > 0;
  return [surfaceOf(grey), closing(grey, light)].map((background) =>
    strengthOf(
      { ...grey, levels: levels.map((level, k) => level - background[k]!) },
      background,
      light,
    ),
  );
}

/** Whether the light is even: the border is near its median, what differs does so in one direction,
 * and nothing as thick as a shadow takes a corner. */
function isOneLevel(above: Grid): boolean {
  const { levels, rows, columns } = above;
  const border = borderOf(levels, rows, columns);
  const near = border.filter((level) => Math.abs(level) <= EVEN).length / border.length;
  if (near < EVEN_SHARE || Math.abs(skewness(levels)) < ONE_SIDED) return false;
  const strength = levels.map(Math.abs);
  const most = largest(strength);
  const mask = Uint8Array.from(strength, (level) => Number(level > LOW * most));
  const { pieces } = labelled(mask, rows, columns);
  const n = rows * columns;
  const corners = new Set([0, columns - 1, n - columns, n - 1].map((k) => pieces[k]!));
  corners.delete(0);
  const taken = Uint8Array.from(pieces, (piece) => Number(corners.has(piece)));
  return largest(depthOf(taken, rows, columns)) < Math.max(rows, columns) / SHADOW;
}

/** What the wrong background leaves: the share of the border that content takes, and the share of
 * content that is pale. */
function blemishes({ levels, rows, columns }: Grid): number {
  const most = largest(levels);
  const content = levels.filter((level) => level > 0).length;
  const pale = content - levels.filter((level) => level > HIGH * most).length;
  return takenShare(levels, rows, columns) + pale / Math.max(content, 1);
}

function takenShare(levels: ArrayLike<number>, rows: number, columns: number): number {
  const border = borderOf(levels, rows, columns);
  return border.filter((level) => level > 0).length / border.length;
}

/** sum x^3 / sum |x|^3. */
function skewness(above: Float64Array): number {
  let [sum, size] = [0, 0];
  for (const x of above) {
    const cube = x * x * x;
    sum += cube;
    size += Math.abs(cube);
  }
  return sum / Math.max(size, 1);
}

function closing(grey: Grid, light: boolean): Float64Array {
  const reach = Math.floor(Math.min(grey.rows, grey.columns) / 8);
  const first = extremeAround(grey, reach, !light);
  return extremeAround(first, reach, light).levels;
}

/** d of levels `above` their background: of pieces that exceed the low threshold, and somewhere the
 * high one; without ruling. */
function strengthOf(above: Grid, background: Float64Array, light: boolean): Grid {
  const { rows, columns } = above;
  const brightest = largest(background);
  const levels = above.levels.map((level, k) => {
    const gain = Math.min(brightest / Math.max(background[k]!, 1), MOST_GAIN);
    return Math.max((light ? level : -level) * gain, 0);
  });
  const most = largest(levels);
  const candidate = Uint8Array.from(levels, (level) => Number(level > LOW * most));
  const { pieces, count } = labelled(candidate, rows, columns);
  const strong = new Uint8Array(count + 1);
  levels.forEach((level, k) => {
    if (level > HIGH * most) strong[pieces[k]!] = 1;
  });
  const mask = withoutRuling(pieces.map((piece) => strong[piece]!), rows, columns);
  return { ...above, levels: levels.map((level, k) => (mask[k] ? level : 0)) };
}

/** Opened by the smallest square that frees the border, if that is thinner than strokes are. */
function withoutRuling(pieces: Int32Array, rows: number, columns: number): Uint8Array {
  const mask = Uint8Array.from(pieces);
  const taken = takenShare(mask, rows, columns);
  if (taken === 0) return mask;
  const depth = depthOf(mask, rows, columns);
  const most = Math.trunc(THIN * largest(depth));
  for (let radius = 1; radius <= most; radius++) {
    const core = { levels: Float64Array.from(depth, (d) => Number(d > radius)), rows, columns };
    const wide = extremeAround(core, radius + 1, true).levels;
    const opened = mask.map((inside, k) => inside & wide[k]!);
    if (takenShare(opened, rows, columns) <= FREED * taken) return opened;
  }
  return mask;
}

/** Without small pieces, and without those that run off the picture beside a free one. */
function withoutSpecks(strength: Grid): Grid {
  const { levels, rows, columns } = strength;
  const mask = Uint8Array.from(levels, (level) => Number(level > 0));
  const { pieces, count } = labelled(mask, rows, columns);
  let sizes = new Float64Array(count + 1);
  for (const piece of pieces) if (piece > 0) sizes[piece]!++;
  const free = sizes.slice();
  for (const piece of borderOf(pieces, rows, columns)) free[piece] = 0;
  if (largest(free) >= LOOSE * largest(sizes)) sizes = free;
  const least = Math.max(1, SPECK * largest(sizes));
  return { ...strength, levels: levels.map((level, k) => (sizes[pieces[k]!]! >= least ? level : 0)) };
}

function largest(levels: ArrayLike<number>): number {
  let most = -Infinity;
  for (let k = 0; k < levels.length; k++) if (levels[k]! > most) most = levels[k]!;
  return most;
}
