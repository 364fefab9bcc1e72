/** Parts that do not work: couplers and oscillators that are dead, oscillators that are stuck. */

import { INITIAL_PHASE } from "../types";
import type { Draws } from "./draws";
import type { Dead, Hardware } from "./hardware";
import { ordered } from "./mismatch";
import { stopped, type Realised } from "./realised";

/** Couplers and oscillators that are missing, each with a probability. A dead oscillator feels
 * nothing and nobody feels it. */
export function withDead(network: Realised, dead: Dead, draws: Draws): Realised {
  const { couplers = 0, oscillators = 0 } = dead;
  const n = network.hidden + network.outputs;
  let found = network;
  if (couplers !== 0) {
    found = masked(found, (i, j) => draws.uniform("dead", ...ordered(i, j)) >= couplers);
  }
  if (oscillators !== 0) {
    const alive = Uint8Array.from({ length: n }, (_, i) =>
      draws.uniform("deao", i) >= oscillators ? 1 : 0,
    );
    found = stopped(masked(found, (i, j) => alive[i] === 1 && alive[j] === 1), alive);
    found = { ...found, dead: alive.map((each) => 1 - each) };
  }
  return found;
}

/** Oscillators that stand still at a random phase, each with a probability: others feel them. */
export function withStuck(
  network: Realised,
  { oscillators = 0 }: NonNullable<Hardware["stuck"]>,
  draws: Draws,
): Realised {
  if (oscillators === 0) return network;
  const n = network.hidden + network.outputs;
  const free = Uint8Array.from({ length: n }, (_, i) =>
    draws.uniform("stuc", i) >= oscillators ? 1 : 0,
  );
  const startPhases = Float64Array.from({ length: n }, (_, i) =>
    free[i] === 1
      ? (network.startPhases?.[i] ?? INITIAL_PHASE)
      : 2 * Math.PI * draws.uniform("stup", i) - Math.PI,
  );
  const found = masked(network, (i) => free[i] === 1); // row i acts on oscillator i
  return stopped({ ...found, startPhases }, free);
}

/** The network with the couplings for which `there` holds. */
function masked(network: Realised, there: (i: number, j: number) => boolean): Realised {
  const n = network.hidden + network.outputs;
  const couplings = Float64Array.from(network.couplings, (value, k) =>
    value !== 0 && there(Math.floor(k / n), k % n) ? value : 0,
  );
  return { ...network, couplings };
}
