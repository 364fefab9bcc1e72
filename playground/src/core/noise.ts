/** Thermal noise as a pure function of where it acts, word for word the package's.
 *
 * The increment eta of (seed, temperature, replicate, sample, step, oscillator) comes from the
 * counter-based generator Philox 4x32-10 (Salmon et al., SC 2011) and the Box-Muller transform:
 *
 *     key     = (seed, bits of the temperature as float32)
 *     counter = (step div 4, oscillator, sample, replicate)
 *
 * With u = (w + 1/2) / 2^32 the words w0..w3 serve the four steps of a block:
 *
 *     eta_0, eta_1 = sqrt(-2 ln u(w0)) (cos, sin)(2 pi u(w1)),   eta_2, eta_3 from w2, w3. */

const ROUNDS = 10;
const STEPS_PER_BLOCK = 4;
const MULTIPLIER_0 = 0xd2511f53;
const MULTIPLIER_1 = 0xcd9e8d57;
const WEYL_0 = 0x9e3779b9;
const WEYL_1 = 0xbb67ae85;
export const TWO_32 = 4294967296;

/** Four counter words and two key words -> four random words, written to `words` (4). */
export function philox(
  c0: number,
  c1: number,
  c2: number,
  c3: number,
  k0: number,
  k1: number,
  words: Uint32Array,
): void {
  for (let round = 0; round < ROUNDS; round++) {
    const high0 = highWord(MULTIPLIER_0, c0);
    const high1 = highWord(MULTIPLIER_1, c2);
    const low0 = Math.imul(MULTIPLIER_0, c0);
    const low1 = Math.imul(MULTIPLIER_1, c2);
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 = (k0 + WEYL_0) | 0;
    k1 = (k1 + WEYL_1) | 0;
  }
  words[0] = c0;
  words[1] = c1;
  words[2] = c2;
  words[3] = c3;
}

/** floor(a b / 2^32) of two unsigned words, as a signed word: products of 16-bit halves. */
function highWord(a: number, b: number): number {
  const aHigh = a >>> 16;
  const aLow = a & 0xffff;
  const bHigh = b >>> 16;
  const bLow = b & 0xffff;
  // (2^16 - 1)^2 + (2^16 - 1) < 2^32: each sum is an unsigned word, exact in a double.
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const other = aLow * bHigh + (middle & 0xffff);
  return (aHigh * bHigh + (middle >>> 16) + (other >>> 16)) | 0;
}

/** The standard normal numbers (steps, N) that force one trajectory. `seed` is from 0 to 2^32 - 1,
 * `temperature` positive; `replicate` and `sample` are indices. */
export function normals(
  seed: number,
  temperature: number,
  replicate: number,
  sample: number,
  oscillators: number,
  steps: number,
): Float64Array {
  const key = float32Bits(temperature);
  const words = new Uint32Array(4);
  const blocks = Math.ceil(steps / STEPS_PER_BLOCK);
  // Room for the last block's unused steps.
  const found = new Float64Array(blocks * STEPS_PER_BLOCK * oscillators);
  for (let block = 0; block < blocks; block++) {
    const first = block * STEPS_PER_BLOCK * oscillators;
    for (let i = 0; i < oscillators; i++) {
      philox(block, i, sample, replicate, seed, key, words);
      const at = first + i;
      let radius = radiusOf(words[0]!);
      let angle = angleOf(words[1]!);
      found[at] = radius * Math.cos(angle);
      found[at + oscillators] = radius * Math.sin(angle);
      radius = radiusOf(words[2]!);
      angle = angleOf(words[3]!);
      found[at + 2 * oscillators] = radius * Math.cos(angle);
      found[at + 3 * oscillators] = radius * Math.sin(angle);
    }
  }
  return found.subarray(0, steps * oscillators);
}

export function radiusOf(word: number): number {
  return Math.sqrt(-2 * Math.log((word + 0.5) / TWO_32));
}

export function angleOf(word: number): number {
  return ((2 * Math.PI) / TWO_32) * (word + 0.5);
}

export function float32Bits(value: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  return view.getUint32(0);
}
