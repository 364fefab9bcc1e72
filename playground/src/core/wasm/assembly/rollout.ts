/** Rollouts of four examples side by side: `core/simulate`, in WebAssembly with SIMD. AssemblyScript;
 * `scripts/kernel.mjs` compiles it. Arrays (N, 4) hold the four examples of each oscillator. */

import { add, mul, storeNormals, storeWaves, sub } from "./math";

const LANES = 4;
const LANE_BYTES: usize = 8 * LANES;

export let couplings: usize = 0; // J (N, N)
export let frequencies: usize = 0; // w (N)
export let injection: usize = 0; // s (N)
export let fields: usize = 0; // b (N, 4)
export let phases: usize = 0; // theta (N, 4)
let first: usize = 0; // cos, sin, J cos, J sin, (N, 4) each
let second: usize = 0; // the same of twice the phases
let noise: usize = 0; // of four steps, (4, N, 4)

/** Lays out the arrays of N oscillators. */
export function allocate(n: i32): void {
  const column = <usize>n * 8;
  const row = <usize>n * LANE_BYTES;
  couplings = (__heap_base + 15) & ~(<usize>15);
  frequencies = couplings + <usize>n * column;
  injection = frequencies + column;
  fields = (injection + column + 15) & ~(<usize>15);
  phases = fields + row;
  first = phases + row;
  second = first + 4 * row;
  noise = second + 4 * row;
  const pages = <i32>((noise + 4 * row + 0xffff) >>> 16);
  if (pages > memory.size()) memory.grow(pages - memory.size());
}

/** The phases from one step to another, called in the order of the steps. A `scale` of 0 is kT = 0;
 * samples are `sample` to `sample + 3`. */
export function advance(
  n: i32,
  from: i32,
  to: i32,
  timeStep: f64,
  mobility: f64,
  lag: bool,
  lagCos: f64,
  lagSin: f64,
  harmonic: bool,
  c: f64,
  d: f64,
  scale: f64,
  seed: i32,
  temperatureBits: i32,
  sample: i32,
): void {
  const row = <usize>n * LANE_BYTES;
  for (let step = from; step < to; step++) {
    if (scale > 0 && step % 4 == 0) {
      for (let i = 0; i < n; i++) {
        const target = noise + <usize>i * LANE_BYTES;
        storeNormals(step / 4, i, sample, seed, temperatureBits, target, row);
      }
    }
    for (let at: usize = 0; at < row; at += 16) {
      storeWaves(v128.load(phases + at), first + at, first + row + at);
    }
    multiply(n, first);
    if (lag) turn(row, first, lagCos, lagSin);
    if (harmonic) {
      double(row);
      multiply(n, second);
      turn(row, second, c, d);
    }
    for (let i = 0; i < n; i++) {
      const at = <usize>i * LANE_BYTES;
      const thermal = noise + <usize>(step % 4) * row + at;
      move(i, at, row, timeStep, mobility, harmonic, scale, thermal);
      move(i, at + 16, row, timeStep, mobility, harmonic, scale, thermal + 16);
    }
  }
}

/** One Euler step of oscillator i in two examples. */
// @ts-ignore: decorator
@inline
function move(
  i: i32,
  at: usize,
  row: usize,
  timeStep: f64,
  mobility: f64,
  harmonic: bool,
  scale: f64,
  thermal: usize,
): void {
  const cos = v128.load(first + at);
  const sin = v128.load(first + row + at);
  const along = add(v128.load(fields + at), v128.load(first + 2 * row + at));
  let torque = sub(mul(sin, along), mul(cos, v128.load(first + 3 * row + at)));
  const injected = f64x2.splat(4 * load<f64>(injection + (<usize>i << 3)));
  torque = add(torque, mul(injected, mul(sin, cos)));
  if (harmonic) {
    const sin2 = v128.load(second + row + at);
    torque = add(torque, mul(sin2, v128.load(second + 2 * row + at)));
    torque = sub(torque, mul(v128.load(second + at), v128.load(second + 3 * row + at)));
  }
  const drift = f64x2.splat(timeStep * load<f64>(frequencies + (<usize>i << 3)));
  let phase = v128.load(phases + at);
  phase = add(sub(phase, mul(f64x2.splat(timeStep * mobility), torque)), drift);
  if (scale > 0) {
    phase = add(phase, mul(f64x2.splat(scale), v128.load(thermal)));
    const turns = f64x2.nearest(mul(phase, f64x2.splat(0.5 / Math.PI)));
    phase = sub(phase, mul(turns, f64x2.splat(2 * Math.PI)));
  }
  v128.store(phases + at, phase);
}

/** Cosines and sines of twice the phases. */
function double(row: usize): void {
  for (let at: usize = 0; at < row; at += 16) {
    const cos = v128.load(first + at);
    const sin = v128.load(first + row + at);
    v128.store(second + at, sub(mul(cos, cos), mul(sin, sin)));
    v128.store(second + row + at, mul(f64x2.splat(2), mul(sin, cos)));
  }
}

/** J cos and J sin, a coupling at a time for all examples: eight independent sums. */
function multiply(n: i32, waves: usize): void {
  const row = <usize>n * LANE_BYTES;
  let coupling = couplings;
  for (let i = 0; i < n; i++) {
    let cos0 = f64x2.splat(0);
    let cos1 = cos0;
    let sin0 = cos0;
    let sin1 = cos0;
    const end = waves + row;
    for (let at = waves; at < end; at += LANE_BYTES) {
      const j = v128.load64_splat(coupling);
      cos0 = add(cos0, mul(j, v128.load(at)));
      cos1 = add(cos1, mul(j, v128.load(at, 16)));
      sin0 = add(sin0, mul(j, v128.load(at + row)));
      sin1 = add(sin1, mul(j, v128.load(at + row, 16)));
      coupling += 8;
    }
    const target = waves + 2 * row + <usize>i * LANE_BYTES;
    v128.store(target, cos0);
    v128.store(target, cos1, 16);
    v128.store(target + row, sin0);
    v128.store(target + row, sin1, 16);
  }
}

/** J cos and J sin turned in place, by an angle with this cosine and sine, or by (c, d). */
function turn(row: usize, waves: usize, c: f64, s: f64): void {
  for (let at: usize = waves + 2 * row; at < waves + 3 * row; at += 16) {
    const along = v128.load(at);
    const across = v128.load(at + row);
    v128.store(at, add(mul(f64x2.splat(c), along), mul(f64x2.splat(s), across)));
    v128.store(at + row, sub(mul(f64x2.splat(c), across), mul(f64x2.splat(s), along)));
  }
}
