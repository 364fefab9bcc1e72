/** From a picture or a row of numbers to network inputs, as the package prepares them.
 *
 *     picture:   p = pixel / 255,  z = (p - mean) / sd,  u = testNorm z / |z|
 *     features:  z = (x - mean) / sd,  u = factor z */

import { PIXEL_MAX } from "./picture";
import { isRecord } from "./safetensors";
import { pairwiseSum } from "./sums";
import type { FeatureScaling, Given, Model, PictureScaling, Preprocessing } from "./types";

const LONGEST_NAME = 60; // of a feature, in characters

/** An input that the network cannot read; its message is for the visitor. */
export class UnfitInput extends Error {}

/** Network inputs u (D), rounded to float32 as the package does. */
export function inputsOf({ inputs, preprocessing }: Pick<Model, "inputs" | "preprocessing">, given: Given): Float64Array {
  if (given.length !== inputs) {
    throw new Error(`there must be ${inputs} numbers, got ${given.length}`);
  }
  return preprocessing.kind === "picture"
    ? ofPicture(preprocessing, given)
    : ofRow(preprocessing, given);
}

function ofPicture({ mean, sd, testNorm }: PictureScaling, pixels: Given): Float64Array {
  if (pixels.every((pixel) => pixel === pixels[0])) {
    throw new UnfitInput("This picture has one colour only");
  }
  const z = Float64Array.from(pixels, (pixel) => (pixel / PIXEL_MAX - mean) / sd);
  const norm = Math.sqrt(pairwiseSum(z.map((value) => value * value)));
  return z.map((value) => Math.fround((testNorm * value) / norm));
}

function ofRow({ mean, sd, factor, names }: FeatureScaling, row: Given): Float64Array {
  return Float64Array.from(row, (x, d) => {
    const input = Math.fround(factor * ((x - mean[d]!) / sd[d]!));
    if (!Number.isFinite(input)) {
      throw new UnfitInput(`${names[d]} = ${x} is too far from the training rows`);
    }
    return input;
  });
}

/** x = mean + z sd of feature d, to a thousandth of the sd, so that it has few digits. */
export function valueAt({ mean, sd }: FeatureScaling, d: number, z: number): number {
  const digits = 2 - Math.floor(Math.log10(sd[d]!));
  return Number((mean[d]! + z * sd[d]!).toFixed(Math.min(Math.max(digits, 0), 100)));
}

/** The training mean of every feature (D), nearly. */
export function meanRow(scaling: FeatureScaling): Float64Array {
  return scaling.mean.map((_, d) => valueAt(scaling, d, 0));
}

/** The preprocessing of a model's header, for a network of so many inputs. */
export function preprocessingOf(header: Record<string, unknown>, inputs: number): Preprocessing {
  const values = recordOf(header, "preprocessing");
  return "image_shape" in values
    ? pictureScaling(values, inputs)
    : featureScaling(values, header["details"], inputs);
}

function pictureScaling(values: Record<string, unknown>, inputs: number): PictureScaling {
  const shape = values["image_shape"];
  const isSide = (side: unknown): boolean => Number.isSafeInteger(side) && (side as number) > 0;
  if (!Array.isArray(shape) || shape.length !== 2 || !shape.every(isSide)) {
    throw new Error("image_shape must be two whole numbers");
  }
  const [rows, columns] = shape as [number, number];
  if (rows * columns !== inputs) {
    throw new Error(`the images have ${rows} x ${columns} pixels, the network takes ${inputs} inputs`);
  }
  if (inputs === 1) throw new Error("its images have one pixel: there is nothing to draw");
  positive(values, "pixel_max");
  const mean = values["mean"];
  if (typeof mean !== "number" || !Number.isFinite(mean)) throw new Error("mean must be finite");
  const [sd, testNorm] = [positive(values, "sd"), positive(values, "test_norm")];
  return { kind: "picture", rows, columns, mean, sd, testNorm };
}

function featureScaling(
  values: Record<string, unknown>,
  details: unknown,
  inputs: number,
): FeatureScaling {
  const [mean, sd] = [numbersOf(values, "mean", inputs), numbersOf(values, "sd", inputs)];
  if (!sd.every((each) => each > 0)) throw new Error("sd must be positive for every feature");
  return {
    kind: "features",
    mean,
    sd,
    factor: positive(values, "factor"),
    names: namesOf(isRecord(details) ? details["feature_names"] : undefined, inputs),
  };
}

/** The features' names where the file has one for each, else their numbers, from 1. */
function namesOf(given: unknown, inputs: number): string[] {
  const named = Array.isArray(given) && given.length === inputs;
  return Array.from({ length: inputs }, (_, d) =>
    named && typeof given[d] === "string" && given[d].trim() !== ""
      ? given[d].trim().slice(0, LONGEST_NAME)
      : `feature ${d + 1}`,
  );
}

function numbersOf(values: Record<string, unknown>, name: string, count: number): Float64Array {
  const found = values[name];
  if (!Array.isArray(found) || !found.every((each) => Number.isFinite(each))) {
    throw new Error(`${name} must be a list of finite numbers`);
  }
  if (found.length !== count) {
    throw new Error(`${name} has ${found.length} numbers, the network takes ${count} inputs`);
  }
  return Float64Array.from(found as number[]);
}

export function recordOf(values: Record<string, unknown>, name: string): Record<string, unknown> {
  const value = values[name];
  if (!isRecord(value)) throw new Error(`Entrain's header has no ${name}`);
  return value;
}

export function positive(values: Record<string, unknown>, name: string): number {
  const value = values[name];
  if (typeof value !== "number" || !Number.isFinite(value) || value <= 0) {
    throw new Error(`${name} must be a positive number, got ${String(value)}`);
  }
  return value;
}
