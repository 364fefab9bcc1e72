/** Numbers the inspector shows. */

/** The `count` strongest couplings of one oscillator in a matrix (n, n), by |J|, the lower index
 * first where two are equal. Couplings that are 0 are left out. */
export function strongest(
  couplings: Float64Array | Float32Array,
  n: number,
  oscillator: number,
  count: number,
): { other: number; value: number }[] {
  const found: { other: number; value: number }[] = [];
  for (let other = 0; other < n; other++) {
    const value = couplings[oscillator * n + other]!;
    if (other !== oscillator && value !== 0) found.push({ other, value });
  }
  found.sort((a, b) => Math.abs(b.value) - Math.abs(a.value) || a.other - b.other);
  return found.slice(0, count);
}
