/** What the core computes with. Phases are radians, activations cos(theta), times in units of the
 * network's own clock; hidden oscillators come first, then the outputs. */

import type { RejectOption } from "./reject";

/** Everything that decides how a network answers, apart from its dynamics. What is null is absent:
 * no natural frequencies, no injection, no lag, and a start at pi/2. */
export interface NetworkParameters {
  inputs: number; // D
  hidden: number; // H
  outputs: number; // O
  inputWeights: Float32Array; // W (H, D)
  biases: Float32Array; // c (N)
  couplings: Float32Array; // J (N, N), symmetric, 0 where the graph has no coupler
  graph: Uint8Array; // (N, N), symmetric: 1 where there is a coupler
  frequencies: Float32Array | null; // w (N)
  startPhases: Float32Array | null; // theta(0) (N)
  injection: Float32Array | null; // s (N), second-harmonic
  lag: number | null; // a, of every coupling
}

/** A trained network, as read from a safetensors file of the package. */
export interface Model extends NetworkParameters {
  name: string; // "mnist-74"
  dataset: string; // "mnist" or "fashion-mnist"
  protocol: string; // "TWO-STAGE-END" or "PATH"
  classNames: string[];
  mobility: number;
  observationTime: number;
  steps: number;
  preprocessing: Preprocessing;
  reject: RejectOption | null;
}

/** p = pixel / pixelMax, z = (p - mean) / sd, u = testNorm z / |z|. */
export interface Preprocessing {
  rows: number;
  columns: number;
  pixelMax: number;
  mean: number;
  sd: number;
  testNorm: number;
}

/** A 28 x 28 image, rows first, 0 to 255. */
export type Pixels = Uint8Array;

/** What can be changed about the physics. Nothing changed is exactly the network itself. */
export interface Physics {
  temperature: number; // kT, 0 is deterministic
  observationTime: number;
  steps: number;
  couplingBits: number | null; // null: not quantised
  mismatch: number; // relative standard deviation of every coupling
  cut: [number, number][]; // couplings set to 0, i < j
  silenced: number[]; // oscillators without field, couplings, frequency and injection
  seed: number; // of the thermal noise and of the mismatch
}

/** What acts on the phases under one input, in the physics chosen; null is absent as above. */
export interface PhaseModel {
  fields: Float64Array; // b (N)
  couplings: Float64Array; // J (N, N)
  frequencies: Float64Array | null; // w (N)
  injection: Float64Array | null; // s (N)
  lag: number | null; // a
  start: Float64Array; // theta(0) (N)
}

/** A rollout: everything the page shows. T = steps + 1 grid times. */
export interface Rollout {
  steps: number;
  phases: Float64Array; // (T, N) of the trajectory shown
  activations: Float64Array; // (T, O): cos(theta) of the outputs; of an ensemble, their mean
  replicates: Float64Array[]; // (T, O) each; one entry, or those of an ensemble
  energy: Float64Array; // (T) of the trajectory shown
  winners: Int8Array; // (T) class that would be read at each time
  decidedAt: number; // first grid index from which on the winner no longer changes
}
