/** An oscillator Ising machine: phases pushed apart along the edges, and by injection at twice the
 * frequency towards 0 or pi.
 *
 *     d theta_i / dt = (1 / r) sum_j A_ij sin(theta_i - theta_j) - 2 s sin 2 theta_i,  and noise of kT
 *
 * for the adjacency matrix A and the root r of its mean row sum, as the package's solver has it. */

import { Draws } from "../core/hardware/draws";
import { normals } from "../core/noise";
import { couple, torqueOf, wavesOf } from "../core/simulate";
import { cutOf, type Graph } from "./graph";

const TIME_STEP = 0.1;
const INJECTION = 0.35; // at the end of an annealing, as `entrain.ising.Annealing` has it
const TEMPERATURE = 0.25; // at its start
const COOLING = 0.7; // exponent of the ramp of noise

export class Machine {
  readonly phases: Float64Array; // (n)
  injection = INJECTION;
  temperature = 0;
  best = 0; // the largest cut so far
  private readonly couplings: Float64Array;
  private piece = 0; // of the noise

  constructor(
    readonly graph: Graph,
    private readonly seed: number,
  ) {
    const n = graph.places.length;
    const draws = new Draws(seed);
    this.phases = Float64Array.from({ length: n }, (_, i) => 2 * Math.PI * draws.uniform("strt", i));
    const strength = 1 / Math.sqrt(Math.max(1, (2 * graph.edges.length) / Math.max(1, n)));
    this.couplings = new Float64Array(n * n);
    for (const [i, j] of graph.edges) this.couplings[i * n + j] = this.couplings[j * n + i] = -strength;
  }

  /** 0 or 1 for each node: the half of the circle that its phase is in. */
  get camps(): number[] {
    return Array.from(this.phases, (phase) => Number(Math.cos(phase) < 0));
  }

  get cut(): number {
    return cutOf(this.graph.edges, this.camps);
  }

  /** Euler-Maruyama steps. */
  run(steps: number): void {
    const { phases, couplings, temperature } = this;
    const n = phases.length;
    if (n === 0) return;
    const injection = new Float64Array(n).fill(this.injection);
    const fields = new Float64Array(n);
    const model = { fields, couplings, injection, frequencies: null, lag: null, harmonic: null, start: phases };
    const waves = wavesOf(n);
    const torque = new Float64Array(n);
    const noise = temperature === 0 ? null : normals(this.seed, temperature, 0, this.piece++, n, steps);
    const scale = Math.sqrt(2 * temperature * TIME_STEP);
    for (let k = 0; k < steps; k++) {
      phases.forEach((phase, i) => {
        waves.cos[i] = Math.cos(phase);
        waves.sin[i] = Math.sin(phase);
      });
      couple(couplings, n, waves, null);
      torqueOf(model, waves, null, torque);
      for (let i = 0; i < n; i++) {
        phases[i]! += -TIME_STEP * torque[i]! + (noise === null ? 0 : scale * noise[k * n + i]!);
      }
    }
    this.best = Math.max(this.best, this.cut);
  }

  /** Injection and noise at a share of an annealing, from 0 to 1, as the package ramps them. */
  ramp(done: number): void {
    this.injection = INJECTION * done ** 2;
    this.temperature = TEMPERATURE * (1 - done) ** COOLING;
  }
}
