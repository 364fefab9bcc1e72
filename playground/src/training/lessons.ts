/** What can be learnt here: sets of points in the plane, or digits of 8 x 8 pixels. */

import type { GalleryImage } from "../core";
import { PIXEL_MAX } from "../core/picture";
import { inputsOf } from "../core/preprocessing";
import type { FeatureScaling, PictureScaling, Preprocessing } from "../core/types";
import type { Lesson } from "./messages";
import type { Points } from "./sets";

export const GRID = 32; // places of the decision map, across and down
export const REACH = 1.25; // of the plane that is drawn, either way from 0
export const SHEET = 8; // test digits across and down that are shown
const LEARNT_DIGITS = 900; // of the file's; the others are tests

const POINT_FACTOR = 5;
const PICTURE_NORM = 30;
const HIDDEN = { points: 14, digits: 16 };

/** A lesson with what a model file says of its data. */
export interface Course {
  lesson: Lesson;
  preprocessing: Preprocessing;
  classNames: string[];
}

const PLANE: FeatureScaling = {
  kind: "features",
  mean: new Float64Array(2),
  sd: new Float64Array(2).fill(1),
  factor: POINT_FACTOR,
  names: ["x", "y"],
};

/** Points of the plane, in so many classes. */
export function courseOfPoints({ rows, labels }: Points, classes: number): Course {
  const grid = Float64Array.from({ length: 2 * GRID * GRID }, (_, k) => {
    const cell = k >> 1;
    const place = k % 2 === 0 ? cell % GRID : GRID - 1 - Math.floor(cell / GRID);
    return planeInput(((place + 0.5) / GRID) * 2 * REACH - REACH);
  });
  return {
    lesson: {
      sizes: { inputs: 2, hidden: HIDDEN.points, outputs: classes },
      examples: { rows: rows.map(planeInput), labels },
      tests: null,
      map: grid,
    },
    preprocessing: PLANE,
    classNames: ["A", "B", "C"].slice(0, classes),
  };
}

/** The network input of a coordinate. */
export function planeInput(value: number): number {
  return Math.fround(POINT_FACTOR * value);
}

/** The test digits that are shown with what they are read as. */
export function sheetOf(images: GalleryImage[]): GalleryImage[] {
  return images.slice(LEARNT_DIGITS, LEARNT_DIGITS + SHEET * SHEET);
}

/** Digits of 8 x 8 pixels: those to learn first, then the tests. */
export function courseOfDigits(images: GalleryImage[]): Course {
  const learnt = images.slice(0, LEARNT_DIGITS);
  const { rows, columns } = learnt[0]!.shape;
  const levels = learnt.flatMap(({ pixels }) => Array.from(pixels, (pixel) => pixel / PIXEL_MAX));
  const mean = levels.reduce((sum, level) => sum + level, 0) / levels.length;
  const squares = levels.reduce((sum, level) => sum + (level - mean) ** 2, 0);
  const sd = Math.sqrt(squares / levels.length);
  const preprocessing: PictureScaling = { kind: "picture", rows, columns, mean, sd, testNorm: PICTURE_NORM };
  const inputs = rows * columns;
  const examplesOf = (some: GalleryImage[]) => ({
    rows: Float64Array.from(some.flatMap(({ pixels }) => [...inputsOf({ inputs, preprocessing }, pixels)])),
    labels: Uint8Array.from(some, ({ label }) => label),
  });
  return {
    lesson: {
      sizes: { inputs, hidden: HIDDEN.digits, outputs: 10 },
      examples: examplesOf(learnt),
      tests: examplesOf(images.slice(LEARNT_DIGITS)),
      map: examplesOf(sheetOf(images)).rows,
    },
    preprocessing,
    classNames: Array.from({ length: 10 }, (_, digit) => String(digit)),
  };
}
