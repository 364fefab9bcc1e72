/** Sine, cosine, logarithm and normal numbers, two or four at a time, in double precision. The
 * polynomials are those of fdlibm (Sun Microsystems, 1993). */

const PI_HALF_HIGH: f64 = 1.57079632673412561417; // its first 33 bits: products with k are exact
const PI_HALF_LOW: f64 = 6.07710050650619224932e-11;
const LN2_HIGH: f64 = 6.93147180369123816490e-1;
const LN2_LOW: f64 = 1.90821492927058770002e-10;
const SQRT_HALF_BITS: i64 = 0x3fe6a09e00000000; // of about sqrt(1/2)
const ONE_BITS: i64 = 0x3ff0000000000000;

// @ts-ignore: decorator
@inline
export function mul(a: v128, b: v128): v128 {
  return f64x2.mul(a, b);
}

// @ts-ignore: decorator
@inline
export function add(a: v128, b: v128): v128 {
  return f64x2.add(a, b);
}

// @ts-ignore: decorator
@inline
export function sub(a: v128, b: v128): v128 {
  return f64x2.sub(a, b);
}

// @ts-ignore: decorator
@inline
function plus(a: v128, b: f64): v128 {
  return f64x2.add(a, f64x2.splat(b));
}

// @ts-ignore: decorator
@inline
function times(a: v128, b: f64): v128 {
  return f64x2.mul(a, f64x2.splat(b));
}

/** Writes the cosines and the sines of two angles. */
export function storeWaves(angle: v128, cosines: usize, sines: usize): void {
  const k = f64x2.nearest(times(angle, 2 / Math.PI));
  const x = sub(sub(angle, times(k, PI_HALF_HIGH)), times(k, PI_HALF_LOW)); // in [-pi/4, pi/4]
  const z = mul(x, x);
  let p = plus(times(z, 1.58969099521155010221e-10), -2.50507602534068634195e-8);
  p = plus(mul(z, p), 2.75573137070700676789e-6);
  p = plus(mul(z, p), -1.98412698298579493134e-4);
  p = plus(mul(z, p), 8.33333333332248946124e-3);
  p = plus(mul(z, p), -1.66666666666666324348e-1);
  const sine = add(x, mul(mul(z, x), p));
  let q = plus(times(z, -1.13596475577881948265e-11), 2.08757232129817482790e-9);
  q = plus(mul(z, q), -2.75573143513906633035e-7);
  q = plus(mul(z, q), 2.48015872894767294178e-5);
  q = plus(mul(z, q), -1.38888888888741095749e-3);
  q = plus(mul(z, q), 4.16666666666666019037e-2);
  const half = times(z, 0.5);
  const near = sub(f64x2.splat(1), half);
  const rest = sub(sub(f64x2.splat(1), near), half);
  const cosine = add(near, add(rest, mul(mul(z, z), q)));
  // Quarter turns: odd ones swap sine and cosine, and the signs follow.
  const turns = i64x2.extend_low_i32x4_s(i32x4.trunc_sat_f64x2_s_zero(k));
  const odd = i64x2.neg(v128.and(turns, i64x2.splat(1)));
  const sineSign = i64x2.shl(v128.and(turns, i64x2.splat(2)), 62);
  const next = i64x2.add(turns, i64x2.splat(1));
  const cosineSign = i64x2.shl(v128.and(next, i64x2.splat(2)), 62);
  v128.store(sines, v128.xor(v128.bitselect(cosine, sine, odd), sineSign));
  v128.store(cosines, v128.xor(v128.bitselect(sine, cosine, odd), cosineSign));
}

/** Natural logarithms of two positive numbers. */
function log(x: v128): v128 {
  const shifted = i64x2.add(x, i64x2.splat(ONE_BITS - SQRT_HALF_BITS));
  const exponent = i64x2.sub(i64x2.shr_u(shifted, 52), i64x2.splat(0x3ff));
  const k = f64x2.convert_low_i32x4_s(i32x4.shuffle(exponent, exponent, 0, 2, 0, 2));
  const fraction = v128.and(shifted, i64x2.splat(0x000fffffffffffff));
  const f = plus(i64x2.add(fraction, i64x2.splat(SQRT_HALF_BITS)), -1);
  const half = times(mul(f, f), 0.5);
  const s = f64x2.div(f, plus(f, 2));
  const z = mul(s, s);
  const w = mul(z, z);
  let even = plus(times(w, 1.531383769920937332e-1), 2.222219843214978396e-1);
  even = mul(w, plus(mul(w, even), 3.999999999940941908e-1));
  let odd = plus(times(w, 1.479819860511658591e-1), 1.818357216161805012e-1);
  odd = plus(mul(w, odd), 2.857142874366239149e-1);
  odd = mul(z, plus(mul(w, odd), 6.666666666666735130e-1));
  const tail = add(mul(s, add(half, add(even, odd))), times(k, LN2_LOW));
  return add(times(k, LN2_HIGH), add(sub(tail, half), f));
}

/** High and low halves of the products of four unsigned words with one. */
// @ts-ignore: decorator
@inline
function highWords(a: v128, b: v128): v128 {
  const first = i64x2.extmul_low_i32x4_u(a, b);
  return i32x4.shuffle(first, i64x2.extmul_high_i32x4_u(a, b), 1, 3, 5, 7);
}

/** Four normal numbers for each of four samples, `core/noise`'s: number k of the samples s to s + 3
 * is written to `target + k * stride`. */
export function storeNormals(
  block: i32,
  oscillator: i32,
  sample: i32,
  seed: i32,
  temperatureBits: i32,
  target: usize,
  stride: usize,
): void {
  let c0 = i32x4.splat(block);
  let c1 = i32x4.splat(oscillator);
  let c2 = i32x4.add(i32x4.splat(sample), i32x4(0, 1, 2, 3));
  let c3 = i32x4.splat(0); // the replicate
  let k0 = seed;
  let k1 = temperatureBits;
  const first = i32x4.splat(<i32>0xd2511f53);
  const second = i32x4.splat(<i32>0xcd9e8d57);
  for (let round = 0; round < 10; round++) {
    const high0 = highWords(first, c0);
    const high1 = highWords(second, c2);
    const low0 = i32x4.mul(first, c0);
    const low1 = i32x4.mul(second, c2);
    c0 = v128.xor(v128.xor(high1, c1), i32x4.splat(k0));
    c1 = low1;
    c2 = v128.xor(v128.xor(high0, c3), i32x4.splat(k1));
    c3 = low0;
    k0 += <i32>0x9e3779b9;
    k1 += <i32>0xbb67ae85;
  }
  storePair(c0, c1, target, stride);
  storePair(c2, c3, target + 2 * stride, stride);
}

/** Two normal numbers of each of four samples by Box and Muller. */
function storePair(lengths: v128, angles: v128, target: usize, stride: usize): void {
  storeTwo(lengths, angles, target, stride);
  const upper = i32x4.shuffle(lengths, lengths, 2, 3, 2, 3);
  storeTwo(upper, i32x4.shuffle(angles, angles, 2, 3, 2, 3), target + 16, stride);
}

function storeTwo(lengths: v128, angles: v128, target: usize, stride: usize): void {
  const u = times(plus(f64x2.convert_low_i32x4_u(lengths), 0.5), 1 / 4294967296.0);
  const radius = f64x2.sqrt(times(log(u), -2));
  const angle = plus(f64x2.convert_low_i32x4_u(angles), 0.5);
  storeWaves(times(angle, (2 * Math.PI) / 4294967296.0), target, target + stride);
  v128.store(target, mul(radius, v128.load(target)));
  v128.store(target + stride, mul(radius, v128.load(target + stride)));
}
