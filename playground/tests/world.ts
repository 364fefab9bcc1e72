/** The files of the package that the tests read. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readGallery, readModel, type Gallery, type Model } from "../src/core";

export interface Example {
  place: number;
  index: number;
  inputs_sum: number;
  inputs_moment: number;
  fields: number[];
  scores: number[];
  energies: number[];
  noisy: Record<string, number[][]>;
  trajectory?: number[][];
  coarse?: number[];
}

export interface Vectors {
  seed: number;
  stride: number;
  coarse: number;
  models: Record<string, Example[]>;
  normals: {
    seed: number;
    temperature: number;
    replicate: number;
    sample: number;
    step: number;
    oscillator: number;
    value: number;
  }[];
  philox: { counter: number[]; key: number[]; words: number[] }[];
  pictures: { rows: number; columns: number; rgba: string; pixels: string }[];
}

/** A file's bytes in a buffer of their own; `path` is relative to the repository. */
export function bytesOf(path: string): ArrayBuffer {
  const bytes = readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)));
  return new Uint8Array(bytes).buffer;
}

export function vectors(): Vectors {
  return JSON.parse(new TextDecoder().decode(bytesOf("tests/vectors/playground.json"))) as Vectors;
}

export function shipped(name: string): Model {
  return readModel(name, bytesOf(`src/entrain/models/${name}.safetensors`));
}

export function gallery(): Gallery {
  return readGallery(bytesOf("playground/public/gallery.safetensors"));
}

/** The largest difference between two arrays of numbers. */
export function farthest(found: ArrayLike<number>, expected: ArrayLike<number>): number {
  if (found.length !== expected.length) return Infinity;
  let most = 0;
  for (let k = 0; k < found.length; k++) {
    const gap = Math.abs(found[k]! - expected[k]!);
    if (!(gap <= most)) most = gap;
  }
  return most;
}
