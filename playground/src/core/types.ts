/** What the core computes with. Phases are radians, activations cos(theta), times in units of the
 * network's own clock; hidden oscillators come first, then the outputs. */

import type { Card } from "./card";
import type { Hardware } from "./hardware/hardware";
import type { RejectOption } from "./reject";

export const INITIAL_PHASE = Math.PI / 2; // where an oscillator starts unless told otherwise

/** Single or double precision, as the file holds it. */
export type Numbers = Float32Array | Float64Array;

/** c and d of the coupling function g(phi) = sin(phi + a) + c sin(2 phi) + d cos(2 phi). */
export type Harmonic = [number, number];

/** Everything that decides how a network answers, apart from its dynamics. What is null is absent:
 * no natural frequencies, no injection, no lag, no second harmonic, and a start at pi/2. */
export interface NetworkParameters {
  inputs: number; // D
  hidden: number; // H
  outputs: number; // O
  inputWeights: Numbers; // W (H, D)
  biases: Numbers; // c (N)
  couplings: Numbers; // J (N, N), symmetric, 0 where the graph has no coupler
  graph: Uint8Array; // (N, N), symmetric: 1 where there is a coupler
  frequencies: Numbers | null; // w (N)
  startPhases: Numbers | null; // theta(0) (N)
  injection: Numbers | null; // s (N), second-harmonic
  lag: number | null; // a, of every coupling
  harmonic: Harmonic | null; // of every coupling
}

/** A trained network, as read from a safetensors file of the package. */
export interface Model extends NetworkParameters {
  name: string; // "mnist-74"
  dataset: string; // "mnist", "wine"
  protocol: string; // "TWO-STAGE-END", "DIRECT"
  classNames: string[];
  mobility: number;
  observationTime: number;
  steps: number;
  preprocessing: Preprocessing;
  reject: RejectOption | null;
  madeFor: unknown; // the hardware it was trained for, as its file has it; null for the ideal network
  card: Card; // what was measured of it
}

/** What makes inputs u (D) of a picture or of a row of numbers. */
export type Preprocessing = PictureScaling | FeatureScaling;

/** p = pixel / 255, z = (p - mean) / sd, u = testNorm z / |z|. */
export interface PictureScaling extends Shape {
  kind: "picture";
  mean: number;
  sd: number;
  testNorm: number;
}

/** z = (x - mean) / sd, u = factor z, feature by feature. */
export interface FeatureScaling {
  kind: "features";
  mean: Float64Array; // (D)
  sd: Float64Array; // (D)
  factor: number;
  names: string[]; // (D)
}

export interface Shape {
  rows: number;
  columns: number;
}

/** A picture of the model's shape, rows first, from 0 to 255 whatever the model's own range. */
export type Pixels = Uint8Array;

/** What a network reads: a picture, or a row of features (D) in their own units. */
export type Given = Pixels | Float64Array;

/** What can be changed about the physics. Nothing changed is exactly the network itself. */
export interface Physics {
  temperature: number; // kT, 0 is deterministic
  observationTime: number;
  steps: number;
  hardware: Hardware; // {} is the ideal network
  chip: number; // the seed that tells a chip from others of its kind
  couplingBits: number | null; // over the full range, in place of the chip's levels; null: as it has them
  mismatch: number; // relative standard deviation of every coupling, in place of the chip's
  cut: [number, number][]; // couplings set to 0, i < j
  silenced: number[]; // oscillators without field, couplings, frequency and injection
  seed: number; // of a run's noise, thermal and of the readout
}

/** What acts on the phases under one input, in the physics chosen; null is absent as above. */
export interface PhaseModel {
  fields: Float64Array; // b (N)
  couplings: Float64Array; // J (N, N)
  frequencies: Float64Array | null; // w (N)
  injection: Float64Array | null; // s (N)
  lag: number | null; // a
  harmonic: Harmonic | null;
  start: Float64Array; // theta(0) (N)
}

/** A rollout: everything the page shows. T = steps + 1 grid times. */
export interface Rollout {
  steps: number;
  phases: Float64Array; // (T, N) of the trajectory shown
  activations: Float64Array; // (T, O): cos(theta) of the outputs; of an ensemble, their mean
  replicates: Float64Array[]; // (T, O) each; one entry, or those of an ensemble
  readings: Float64Array[]; // (O) of each replicate: what the chip reads at the end
  energy: Float64Array; // (T) of the trajectory shown
  answering: Uint8Array; // (O) 0 for outputs that are silenced or dead
  leaders: Int32Array; // (T) output with the largest activation at each time, -1 where none leads
  leads: Float64Array; // (T) of the leader over the second, in cos(theta)
  decidedAt: number | null; // first grid index from which on one leads by DECISIVE_LEAD, to the end
}
