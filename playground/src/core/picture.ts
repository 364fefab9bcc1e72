/** Drawings and uploads as the pixels a model expects, prepared as the MNIST digits were.
 *
 * A picture that already has the model's shape is taken as it is. Of any other the content is cut out, scaled
 * to fit 20/28 of the frame with its aspect kept, and placed with its centre of mass in the middle.
 * Content of a drawing is all that exceeds the border's median by an eighth of the grey range, that
 * of a picture what `findContent` finds. Grey levels are luminances from 0 to 1, rows first. The
 * same algorithm as the package's `entrain.data.pictures`, and then rounded to whole pixels. */

import { findContent } from "./content";
import { pairwiseSum } from "./sums";
import type { Pixels, Shape } from "./types";

const FRAME = 20 / 28; // the share of the frame MNIST's digits fill
export const PIXEL_MAX = 255;

/** Luminance (height, width) from 0 to 1 of RGBA bytes, transparency laid over white. */
export function fromRgba(data: Uint8ClampedArray, width: number, height: number): Float64Array {
  if (data.length !== 4 * width * height) {
    throw new Error(
      `${width} x ${height} pixels take ${4 * width * height} bytes, got ${data.length}`,
    );
  }
  const grey = new Float64Array(width * height);
  for (let k = 0; k < grey.length; k++) {
    const alpha = data[4 * k + 3]!;
    const red = overWhite(data[4 * k]!, alpha);
    const green = overWhite(data[4 * k + 1]!, alpha);
    const blue = overWhite(data[4 * k + 2]!, alpha);
    // ITU-R 601 weights in units of 2^-16, rounded.
    grey[k] = ((19595 * red + 38470 * green + 7471 * blue + 0x8000) >> 16) / 255;
  }
  return grey;
}

/** (colour alpha + 255 (255 - alpha)) / 255, rounded, in whole numbers. */
function overWhite(colour: number, alpha: number): number {
  const sum = colour * alpha + 255 * (255 - alpha) + 0x80;
  return ((sum >> 8) + sum) >> 8;
}

/** Light content on dark: inverted where the border's median is above a half. */
export function normalisePolarity(grey: Float64Array, rows: number, columns: number): Float64Array {
  checkSize(grey, rows, columns);
  return borderMedian(grey, rows, columns) > 0.5 ? grey.map((level) => 1 - level) : grey.slice();
}

/** The pixels of `shape` of a picture of any polarity and light, or null where it is constant. */
export function preparePicture(
  grey: Float64Array,
  rows: number,
  columns: number,
  shape: Shape,
): Pixels | null {
  checkSize(grey, rows, columns);
  const [low, high] = rangeOf(grey);
  if (low === high) return null;
  if (rows === shape.rows && columns === shape.columns) {
    return prepare(normalisePolarity(grey, rows, columns), rows, columns, shape);
  }
  return Uint8Array.from(framed(grey, rows, columns, shape), (level) =>
    Math.floor(level * PIXEL_MAX + 0.5),
  );
}

/** The content of a picture as levels from 0 to 1 in a frame of `shape`, on zero. */
export function framed(
  grey: Float64Array,
  rows: number,
  columns: number,
  shape: Shape,
): Float64Array {
  const levels = grey.map((level) => Math.round(255 * level));
  const found = findContent({ levels, rows, columns });
  const [least] = rangeOf(levels);
  const none = found.levels.every((level) => level === 0);
  // Where nothing stands out, the whole picture is taken.
  const content = none ? levels.map((level) => level - least) : found.levels;
  return placed(cutOut(content, rows, columns, 0), shape);
}

/** The pixels of `shape` of a drawing with light content on dark, or null where it is constant. */
export function prepare(
  grey: Float64Array,
  rows: number,
  columns: number,
  shape: Shape,
): Pixels | null {
  checkSize(grey, rows, columns);
  const [low, high] = rangeOf(grey);
  if (low === high) return null;
  const same = rows === shape.rows && columns === shape.columns;
  const levels = same ? grey : fitted(grey, rows, columns, high - low, shape);
  return Uint8Array.from(levels, (level) => Math.floor(level * PIXEL_MAX + 0.5));
}

interface Picture {
  levels: Float64Array; // (rows, columns)
  rows: number;
  columns: number;
}

/** The content of a drawing in a dark frame of `shape`, centred by mass. */
function fitted(
  grey: Float64Array,
  rows: number,
  columns: number,
  range: number,
  shape: Shape,
): Float64Array {
  const median = borderMedian(grey, rows, columns);
  const light = grey.map((level) => Math.max(level - median, 0));
  // Content darker than a dark border: nothing stands out, the whole picture is taken.
  const none = !light.some((level) => level > range / 8);
  const cut = none ? cutOut(grey, rows, columns, -1) : cutOut(light, rows, columns, range / 8);
  return placed(cut, shape);
}

/** A picture in a dark frame of `shape`, scaled and centred by mass. */
function placed(cut: Picture, shape: Shape): Float64Array {
  const scale = Math.min((shape.rows * FRAME) / cut.rows, (shape.columns * FRAME) / cut.columns);
  const height = Math.max(1, roundHalfEven(cut.rows * scale));
  const width = Math.max(1, roundHalfEven(cut.columns * scale));
  const small = resized(cut, height, width);
  const top = Math.floor((shape.rows - height) / 2);
  const left = Math.floor((shape.columns - width) / 2);
  const frame = moved(small, top, left, shape);
  const [y, x] = centreOfMass(frame, shape.columns);
  const centred = moved(
    { levels: frame, ...shape },
    roundHalfEven((shape.rows - 1) / 2 - y),
    roundHalfEven((shape.columns - 1) / 2 - x),
    shape,
  );
  return centred.map((level) => Math.min(Math.max(level, 0), 1));
}

/** The box around all levels above `least`, scaled to a maximum of 1, in float32. */
function cutOut(light: Float64Array, rows: number, columns: number, least: number): Picture {
  let [top, bottom, left, right] = [rows, -1, columns, -1];
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      if (light[y * columns + x]! > least) {
        top = Math.min(top, y);
        bottom = y;
        left = Math.min(left, x);
        right = Math.max(right, x);
      }
    }
  }
  const cut = cropped(light, columns, top, bottom, left, right);
  const [, most] = rangeOf(cut.levels);
  cut.levels.forEach((level, k) => (cut.levels[k] = Math.fround(level / most)));
  return cut;
}

function cropped(
  levels: Float64Array,
  columns: number,
  top: number,
  bottom: number,
  left: number,
  right: number,
): Picture {
  const width = right - left + 1;
  const found = new Float64Array((bottom - top + 1) * width);
  for (let y = top; y <= bottom; y++) {
    found.set(levels.subarray(y * columns + left, y * columns + right + 1), (y - top) * width);
  }
  return { levels: found, rows: bottom - top + 1, columns: width };
}

/** Pillow's BOX filter on float32 levels: along the rows, then along the columns, or the other way
 * round where the height shrinks by more than twice what the width does (as Pillow 13 does it; the
 * order shows only where a level lies half-way between two pixels). */
function resized(picture: Picture, rows: number, columns: number): Picture {
  if (picture.rows - rows > 2 * (picture.columns - columns)) {
    return averaged(transposed(averaged(transposed(picture), rows)), columns);
  }
  return transposed(averaged(transposed(averaged(picture, columns)), rows));
}

/** Each row averaged to `columns` levels: the mean of the levels whose centres lie in
 * (c - w/2, c + w/2] of the new level's centre c, w the larger of the two spacings. */
function averaged(picture: Picture, columns: number): Picture {
  if (columns === picture.columns) return picture;
  const spacing = picture.columns / columns;
  const filter = Math.max(spacing, 1);
  const levels = new Float64Array(picture.rows * columns);
  for (let x = 0; x < columns; x++) {
    const centre = (x + 0.5) * spacing;
    const first = Math.max(Math.trunc(centre - filter / 2 + 0.5), 0);
    const end = Math.min(Math.trunc(centre + filter / 2 + 0.5), picture.columns);
    const within = (k: number): boolean => {
      const place = (k - centre + 0.5) * (1 / filter);
      return place > -0.5 && place <= 0.5;
    };
    const taken: number[] = [];
    for (let k = first; k < end; k++) if (within(k)) taken.push(k);
    const weight = 1 / taken.length;
    for (let y = 0; y < picture.rows; y++) {
      let sum = 0;
      for (const k of taken) sum += picture.levels[y * picture.columns + k]! * weight;
      levels[y * columns + x] = Math.fround(sum);
    }
  }
  return { levels, rows: picture.rows, columns };
}

function transposed({ levels, rows, columns }: Picture): Picture {
  const found = new Float64Array(levels.length);
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) found[x * rows + y] = levels[y * columns + x]!;
  }
  return { levels: found, rows: columns, columns: rows };
}

/** A picture in a dark frame of `shape`, its corner at (top, left); what falls outside is lost. */
function moved(picture: Picture, top: number, left: number, shape: Shape): Float64Array {
  const frame = new Float64Array(shape.rows * shape.columns);
  for (let y = 0; y < picture.rows; y++) {
    for (let x = 0; x < picture.columns; x++) {
      const [row, column] = [y + top, x + left];
      if (row >= 0 && row < shape.rows && column >= 0 && column < shape.columns) {
        frame[row * shape.columns + column] = picture.levels[y * picture.columns + x]!;
      }
    }
  }
  return frame;
}

/** sum_k x_k level_k / sum_k level_k, (row, column) of a frame (rows, columns). */
function centreOfMass(frame: Float64Array, columns: number): [number, number] {
  const total = pairwiseSum(frame);
  const row = pairwiseSum(frame.map((level, k) => level * Math.floor(k / columns)));
  const column = pairwiseSum(frame.map((level, k) => level * (k % columns)));
  return [row / total, column / total];
}

/** The median of the first and last rows and columns; the corners count twice. */
function borderMedian(grey: Float64Array, rows: number, columns: number): number {
  const border = new Float64Array(2 * (rows + columns));
  border.set(grey.subarray(0, columns), 0);
  border.set(grey.subarray((rows - 1) * columns), columns);
  for (let y = 0; y < rows; y++) {
    border[2 * columns + y] = grey[y * columns]!;
    border[2 * columns + rows + y] = grey[y * columns + columns - 1]!;
  }
  border.sort();
  return (border[rows + columns - 1]! + border[rows + columns]!) / 2;
}

function rangeOf(levels: Float64Array): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const level of levels) {
    if (level < low) low = level;
    if (level > high) high = level;
  }
  return [low, high];
}

/** The nearest whole number, halves to the even one. */
function roundHalfEven(value: number): number {
  const nearest = Math.round(value);
  return Math.abs(value % 1) === 0.5 && nearest % 2 !== 0 ? nearest - 1 : nearest;
}

function checkSize(grey: Float64Array, rows: number, columns: number): void {
  if (rows < 1 || columns < 1 || grey.length !== rows * columns) {
    throw new Error(`a picture of ${rows} x ${columns} pixels cannot have ${grey.length}`);
  }
}
