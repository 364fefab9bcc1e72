/** Rollouts of four examples side by side in WebAssembly, where the browser has its SIMD and the page
 * may compile it; `readingsAlong` computes the same without. Source: assembly/rollout.ts. */

import { fromBase64 } from "../../inlined";
import { float32Bits } from "../noise";
import type { PhaseModel, Physics } from "../types";
import rollout from "./rollout.json";

export const LANES = 4;

interface Exports {
  memory: WebAssembly.Memory;
  allocate(n: number): void;
  advance(n: number, from: number, to: number, ...rest: number[]): void;
  couplings: WebAssembly.Global;
  frequencies: WebAssembly.Global;
  injection: WebAssembly.Global;
  fields: WebAssembly.Global;
  phases: WebAssembly.Global;
}

export class Kernel {
  private constructor(private readonly code: Exports) {}

  /** Null where the browser has no SIMD or the policy of the page forbids WebAssembly. */
  static load(): Kernel | null {
    try {
      const instance = new WebAssembly.Instance(new WebAssembly.Module(fromBase64(rollout.wasm)));
      return new Kernel(instance.exports as unknown as Exports);
    } catch {
      return null;
    }
  }

  /** Phases (N) of at most four examples, [example][place], at rising grid indices. `acting` is what
   * acts in each; they differ in their fields. Example k has the noise of sample `sample + k`. */
  phasesAlong(
    acting: PhaseModel,
    fields: Float64Array[],
    mobility: number,
    physics: Physics,
    sample: number,
    places: number[],
  ): Float64Array[][] {
    const n = acting.start.length;
    const timeStep = physics.observationTime / physics.steps;
    const { temperature, seed } = physics;
    const scale = Math.sqrt(2 * mobility * temperature * timeStep);
    const { lag, harmonic } = acting;
    const turned = lag === null ? [0, 1, 0] : [1, Math.cos(lag), Math.sin(lag)];
    const second = harmonic === null ? [0, 0, 0] : [1, ...harmonic];
    const dynamics = [timeStep, mobility, ...turned, ...second];
    const noise = [scale, seed, float32Bits(temperature), sample];
    this.enter(acting, fields);
    const found = fields.map((): Float64Array[] => []);
    let step = 0;
    for (const place of places) {
      this.code.advance(n, step, place, ...dynamics, ...noise);
      step = place;
      const phases = this.array("phases", n * LANES);
      found.forEach((rows, k) => rows.push(Float64Array.from({ length: n }, (_, i) => phases[i * LANES + k]!)));
    }
    return found;
  }

  private enter(acting: PhaseModel, fields: Float64Array[]): void {
    const n = acting.start.length;
    this.code.allocate(n);
    this.array("couplings", n * n).set(acting.couplings);
    for (const name of ["frequencies", "injection"] as const) {
      this.array(name, n).set(acting[name] ?? new Float64Array(n));
    }
    const [ofFields, ofPhases] = [this.array("fields", n * LANES), this.array("phases", n * LANES)];
    for (let i = 0; i < n; i++) {
      for (let k = 0; k < LANES; k++) {
        ofFields[i * LANES + k] = fields[k]?.[i] ?? 0;
        ofPhases[i * LANES + k] = acting.start[i]!;
      }
    }
  }

  private array(name: "couplings" | "frequencies" | "injection" | "fields" | "phases", length: number): Float64Array {
    return new Float64Array(this.code.memory.buffer, this.code[name].value as number, length);
  }
}
