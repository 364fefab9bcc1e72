/** Trajectories in a plane: the two directions along which states differ most. A state is (cos, sin) of
 * every phase, so that a full turn is no distance. */

export interface Plane {
  mean: Float64Array; // (2N)
  axes: Float64Array; // (2, 2N), orthonormal
  shares: [number, number]; // of the variance
}

const ROUNDS = 60;

/** (cos, sin) (2N) of phases (N). */
export function stateOf(phases: Float64Array): Float64Array {
  const n = phases.length;
  const state = new Float64Array(2 * n);
  for (let i = 0; i < n; i++) {
    state[i] = Math.cos(phases[i]!);
    state[n + i] = Math.sin(phases[i]!);
  }
  return state;
}

/** The principal plane of states: mean, and the two leading eigenvectors of their covariance by power
 * iteration. */
export function planeOf(states: Float64Array[]): Plane {
  const width = states[0]!.length;
  const mean = new Float64Array(width);
  for (const state of states) for (let d = 0; d < width; d++) mean[d]! += state[d]! / states.length;
  const moved = states.map((state) => state.map((value, d) => value - mean[d]!));
  const total = moved.reduce((sum, row) => sum + dot(row, row), 0);
  const axes = new Float64Array(2 * width);
  const shares: [number, number] = [0, 0];
  for (let a = 0; a < 2; a++) {
    const earlier = a === 0 ? null : axes.slice(0, width);
    const { axis, variance } = leading(moved, earlier);
    axes.set(axis, a * width);
    shares[a] = total === 0 ? 0 : variance / total;
  }
  return { mean, axes, shares };
}

/** The place (x, y) of phases (N) in the plane. */
export function placeIn({ mean, axes }: Plane, phases: Float64Array): [number, number] {
  const width = mean.length;
  const state = stateOf(phases);
  let [x, y] = [0, 0];
  for (let d = 0; d < width; d++) {
    const away = state[d]! - mean[d]!;
    x += away * axes[d]!;
    y += away * axes[width + d]!;
  }
  return [x, y];
}

/** The direction in which rows vary most, orthogonal to `earlier`; zero where they do not vary. */
function leading(
  rows: Float64Array[],
  earlier: Float64Array | null,
): { axis: Float64Array; variance: number } {
  const width = rows[0]!.length;
  // Any start that is not orthogonal to the answer; the same one each time.
  let axis = Float64Array.from({ length: width }, (_, d) => Math.sin(1 + d));
  let variance = 0;
  for (let round = 0; round < ROUNDS; round++) {
    if (earlier !== null) {
      const along = dot(axis, earlier);
      for (let d = 0; d < width; d++) axis[d]! -= along * earlier[d]!;
    }
    const length = Math.sqrt(dot(axis, axis));
    if (length < 1e-12) return { axis: new Float64Array(width), variance: 0 };
    const unit = axis.map((value) => value / length);
    const next = new Float64Array(width);
    variance = 0;
    for (const row of rows) {
      const along = dot(row, unit);
      variance += along * along;
      for (let d = 0; d < width; d++) next[d]! += along * row[d]!;
    }
    axis = next;
    if (round === ROUNDS - 1) return { axis: unit, variance };
  }
  throw new Error("unreachable");
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let d = 0; d < a.length; d++) sum += a[d]! * b[d]!;
  return sum;
}
