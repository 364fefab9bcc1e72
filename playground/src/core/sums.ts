/** Sums in the package's order, so that a result at the edge of rounding rounds the same way. */

const BLOCK = 128;

/** The sum of values[begin .. end) by pairwise summation as NumPy does it: halves down to blocks of
 * at most 128 numbers, eight partial sums in each. */
export function pairwiseSum(values: Float64Array, begin = 0, end = values.length): number {
  const count = end - begin;
  if (count > BLOCK) {
    let half = count >> 1;
    half -= half % 8;
    return pairwiseSum(values, begin, begin + half) + pairwiseSum(values, begin + half, end);
  }
  let total = 0;
  let i = begin;
  if (count >= 8) {
    const r = values.slice(begin, begin + 8);
    for (i += 8; i + 8 <= end; i += 8) {
      for (let k = 0; k < 8; k++) r[k]! += values[i + k]!;
    }
    total = r[0]! + r[1]! + (r[2]! + r[3]!) + (r[4]! + r[5]! + (r[6]! + r[7]!));
  }
  for (; i < end; i++) total += values[i]!;
  return total;
}
