/** The files of the package that the tests read. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  effectiveCouplings,
  onChip,
  readGallery,
  readModel,
  simulate,
  type Gallery,
  type Model,
  type Physics,
  type Rollout,
} from "../src/core";
import type { Hardware, Wiring } from "../src/core/hardware/hardware";
import type { SimulationOptions } from "../src/core/simulate";

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

/** What tests/vectors/photographs.json holds. */
export interface Photographs {
  model: string;
  photographs: {
    name: string;
    rows: number;
    columns: number;
    grey: string;
    levels: number[];
    distance: number;
    margin: number;
    doubt: string | null;
  }[];
}

export function photographs(): Photographs {
  const text = new TextDecoder().decode(bytesOf("tests/vectors/photographs.json"));
  return JSON.parse(text) as Photographs;
}

/** What tests/vectors/terms.json holds. */
export interface Terms {
  seed: number;
  temperature: number;
  sample: number;
  stride: number;
  dynamics: { mobility: number; observation_time: number; steps: number };
  inputs: number[];
  numbers: Record<string, Nested>;
  cases: {
    terms: string[];
    phases: number[];
    energies: number[];
    noisy: { phases: number[][]; energies: number[][] };
  }[];
}

/** What one chip makes of a network; numbers that it does not change are left out. */
export interface ChipNumbers {
  seed: number;
  input_weights?: number[];
  biases?: number[];
  couplings?: number[];
  frequencies?: number[];
  start_phases?: number[];
  injection?: number[];
  lag?: number[];
  harmonic?: number[];
  fields: number[]; // under the first input
  scores: number[][]; // of each input
}

export interface ChipCase {
  name: string;
  hardware: Hardware;
  chips: ChipNumbers[];
}

/** What tests/vectors/hardware.json holds. */
export interface Chips {
  noise_seed: number;
  graphs: { wiring: Wiring; oscillators: number; outputs: number; couplers: number[] }[];
  small: {
    dynamics: Terms["dynamics"];
    inputs: number[][];
    numbers: Record<string, Nested>;
    cases: ChipCase[];
    with_terms: ChipCase[];
  };
  shipped: {
    model: string;
    place: number;
    couplings_stride: number;
    stride: number;
    cases: (ChipCase | { name: string; refused: string })[];
  };
}

export function chips(): Chips {
  return JSON.parse(new TextDecoder().decode(bytesOf("tests/vectors/hardware.json"))) as Chips;
}

/** A number, or equally long lists of them to any depth. */
export type Nested = number | Nested[];

/** A file's bytes in a buffer of their own; `path` is relative to the repository. */
export function bytesOf(path: string): ArrayBuffer {
  const bytes = readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)));
  return new Uint8Array(bytes).buffer;
}

export function vectors(): Vectors {
  return JSON.parse(new TextDecoder().decode(bytesOf("tests/vectors/playground.json"))) as Vectors;
}

export function terms(): Terms {
  return JSON.parse(new TextDecoder().decode(bytesOf("tests/vectors/terms.json"))) as Terms;
}

/** A model file of these tensors: the graph as U8, others as F32. */
export function modelFile(
  tensors: Record<string, Nested>,
  header: Record<string, unknown>,
): ArrayBuffer {
  const entries: Record<string, unknown> = { __metadata__: { entrain: JSON.stringify(header) } };
  const parts: Uint8Array[] = [];
  let reached = 0;
  for (const [name, values] of Object.entries(tensors)) {
    const flat = flatOf(values);
    const data = name === "graph" ? Uint8Array.from(flat) : Float32Array.from(flat);
    parts.push(new Uint8Array(data.buffer));
    const offsets = [reached, (reached += data.byteLength)];
    const dtype = name === "graph" ? "U8" : "F32";
    entries[name] = { dtype, shape: shapeOf(values), data_offsets: offsets };
  }
  const text = new TextEncoder().encode(JSON.stringify(entries));
  const bytes = new Uint8Array(8 + text.length + reached);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
  bytes.set(text, 8);
  let at = 8 + text.length;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes.buffer;
}

function flatOf(values: Nested): number[] {
  return Array.isArray(values) ? values.flatMap(flatOf) : [values];
}

function shapeOf(values: Nested): number[] {
  return Array.isArray(values) ? [values.length, ...shapeOf(values[0]!)] : [];
}

export function shipped(name: string): Model {
  return readModel(name, bytesOf(`src/entrain/models/${name}.safetensors`));
}

/** A file of a network that reads rows of so many features, with changes of its header: three
 * hidden oscillators, two outputs. */
export function featureFile(inputs: number, changed: Record<string, unknown> = {}): ArrayBuffer {
  const rows = (count: number, width: number): Nested =>
    Array.from({ length: count }, (_, i) =>
      Array.from({ length: width }, (_, j) => (i === j || (i > 2 && j > 2) ? 0 : 1 / (i + j + 1))),
    );
  const header = {
    kind: "model",
    version: 2,
    dataset: "mine",
    protocol: "DIRECT",
    class_names: ["a", "b"],
    dynamics: { mobility: 1, observation_time: 3, steps: 80 },
    preprocessing: {
      mean: Array.from({ length: inputs }, (_, d) => 10 * d),
      sd: Array.from({ length: inputs }, (_, d) => 1 + d),
      factor: 2,
    },
    details: {},
    ...changed,
  };
  const tensors = {
    input_weights: rows(3, inputs),
    biases: [0, 0, 0, 0.5, 0.25],
    couplings: rows(5, 5),
  };
  return modelFile(tensors, header);
}

export function features(inputs: number): Model {
  return readModel("mine", featureFile(inputs));
}

export function gallery(): Gallery {
  return readGallery(bytesOf("playground/public/gallery.safetensors"));
}

/** A rollout of a model on the chip of a physics, under local fields b (N). */
export function run(
  model: Model,
  fields: Float64Array,
  physics: Physics,
  options: SimulationOptions,
): Rollout {
  return simulate(onChip(model, physics), fields, physics, options);
}

/** The couplings that a model runs with in a physics. */
export function couplingsIn(model: Model, physics: Physics): Float64Array {
  return effectiveCouplings(onChip(model, physics), physics);
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
