/** Numbers the inspector shows. */

import type { NetworkParameters, Numbers } from "./types";

/** The `count` strongest couplings of one oscillator in a matrix (n, n), by |J|, the lower index
 * first where two are equal. Couplings that are 0 are left out. */
export function strongest(
  couplings: Numbers,
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

/** The optional terms of one oscillator, of those the network has: a name, a number, its unit. */
export function termsOf(
  { frequencies, injection, startPhases }: NetworkParameters,
  oscillator: number,
): { name: string; value: number; unit: string }[] {
  const terms = [
    { name: "frequency", values: frequencies, unit: "" },
    { name: "injection", values: injection, unit: "" },
    { name: "start phase", values: startPhases, unit: " rad" },
  ];
  return terms.flatMap(({ name, values, unit }) =>
    values === null ? [] : [{ name, value: values[oscillator]!, unit }],
  );
}
