/** Cross-entropy of softmax(gain cos theta_out), as the package's DIRECT. */

/** The loss of outputs' phases, the last of `phases` (N), for a class; d loss / d cos theta (O) goes
 * into `slope`. */
export function crossEntropy(
  phases: Float64Array,
  label: number,
  gain: number,
  slope: Float64Array,
): number {
  const outputs = slope.length;
  const hidden = phases.length - outputs;
  let most = -Infinity;
  for (let o = 0; o < outputs; o++) {
    slope[o] = gain * Math.cos(phases[hidden + o]!);
    most = Math.max(most, slope[o]!);
  }
  const own = slope[label]! - most;
  let sum = 0;
  for (let o = 0; o < outputs; o++) sum += slope[o] = Math.exp(slope[o]! - most);
  for (let o = 0; o < outputs; o++) slope[o] = gain * (slope[o]! / sum - (o === label ? 1 : 0));
  return Math.log(sum) - own;
}

/** The class of the output that points highest, the first where several do, and its lead over the
 * second in cos theta. */
export function readingOf(phases: Float64Array, outputs: number): { label: number; lead: number } {
  const hidden = phases.length - outputs;
  let [label, first, second] = [0, -Infinity, -Infinity];
  for (let o = 0; o < outputs; o++) {
    const value = Math.cos(phases[hidden + o]!);
    if (value > first) [label, second, first] = [o, first, value];
    else if (value > second) second = value;
  }
  return { label, lead: first - second };
}
