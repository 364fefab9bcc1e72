/** Euler's steps of one example, with what their exact adjoint needs.
 *
 *     theta <- theta - h ( sin (b + J cos) - cos (J sin) ) + sqrt(2 kT h) eta,   h = mu dt
 *
 * With lambda = d loss / d theta after a step and q = -h lambda, the adjoint of the step is
 *
 *     lambda <- lambda + q ( b cos + cos (J cos) + sin (J sin) ) - sin J(q sin) - cos J(q cos),
 *
 * which adds q sin to d loss / d b and (q sin)_i cos_j - (q cos)_i sin_j to d loss / d J_ij. */

import { couple, wavesOf, type Waves } from "../core/simulate";

export class Rollout {
  readonly phases: Float64Array; // (N), after the last step
  private readonly waves: Waves[]; // before each step
  private readonly own: Waves; // of the adjoint: q cos and q sin

  constructor(
    private readonly n: number,
    readonly steps: number,
  ) {
    this.phases = new Float64Array(n);
    this.waves = Array.from({ length: steps }, () => wavesOf(n));
    this.own = wavesOf(n);
  }

  /** From pi/2 under fields (N) and couplings (N, N); `noise` (steps, N) is multiplied by `scale`. */
  forward(
    fields: Float64Array,
    couplings: Float64Array,
    h: number,
    noise: Float64Array | null = null,
    scale = 0,
  ): void {
    this.phases.fill(Math.PI / 2);
    this.proceed(fields, couplings, h, this.steps, noise, scale);
  }

  /** So many steps more, from the phases there are. */
  proceed(
    fields: Float64Array,
    couplings: Float64Array,
    h: number,
    steps: number,
    noise: Float64Array | null = null,
    scale = 0,
  ): void {
    const { phases, n } = this;
    for (let k = 0; k < steps; k++) {
      const waves = this.waves[k]!;
      const { cos, sin, jCos, jSin } = waves;
      for (let i = 0; i < n; i++) {
        cos[i] = Math.cos(phases[i]!);
        sin[i] = Math.sin(phases[i]!);
      }
      couple(couplings, n, waves, null);
      for (let i = 0; i < n; i++) {
        phases[i]! -= h * (sin[i]! * (fields[i]! + jCos[i]!) - cos[i]! * jSin[i]!);
        if (noise !== null) phases[i]! += scale * noise[k * n + i]!;
      }
    }
  }

  /** From d loss / d theta (N) at the end, which is changed: adds d loss / d b (N) to `slope` and
   * d loss / d J (N, N), J_ij apart from J_ji, to `byCouplings`. */
  backward(
    fields: Float64Array,
    couplings: Float64Array,
    h: number,
    adjoint: Float64Array,
    slope: Float64Array,
    byCouplings: Float64Array,
  ): void {
    const { n, own } = this;
    for (let k = this.steps - 1; k >= 0; k--) {
      const { cos, sin, jCos, jSin } = this.waves[k]!;
      for (let i = 0; i < n; i++) {
        const q = -h * adjoint[i]!;
        own.cos[i] = q * cos[i]!;
        own.sin[i] = q * sin[i]!;
        slope[i]! += own.sin[i]!;
        adjoint[i]! +=
          q * (fields[i]! * cos[i]! + cos[i]! * jCos[i]! + sin[i]! * jSin[i]!);
      }
      couple(couplings, n, own, null);
      for (let i = 0; i < n; i++) {
        adjoint[i]! -= sin[i]! * own.jSin[i]! + cos[i]! * own.jCos[i]!;
        const [qSin, qCos, row] = [own.sin[i]!, own.cos[i]!, i * n];
        for (let j = 0; j < n; j++) byCouplings[row + j]! += qSin * cos[j]! - qCos * sin[j]!;
      }
    }
  }
}
