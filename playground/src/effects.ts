/** Which controls have an effect: why a button that would change nothing is disabled. */

import type { Hardware, Physics } from "./core";

type Changing = Pick<Physics, "hardware" | "mismatch" | "temperature">;

/** Whether chips of this kind differ: something of them is drawn by their number. */
export function chipsDiffer({ hardware, mismatch }: Omit<Changing, "temperature">): boolean {
  const { offset, asymmetry, dead, stuck, frequency_spread: spread, readout } = hardware;
  const drawn: (number | undefined)[] = [
    ...Object.values({ ...(hardware.mismatch as Hardware["mismatch"]), couplings: mismatch }),
    ...Object.values((offset ?? {}) as Record<string, number>),
    asymmetry?.sd,
    dead?.couplers,
    dead?.oscillators,
    stuck?.oscillators,
    spread?.sd,
    readout?.offset,
    readout?.spread,
  ];
  return drawn.some((value) => (value ?? 0) !== 0);
}

/** Whether runs of one chip differ: thermal noise, or a readout with noise. */
export function runsDiffer({ hardware: { readout }, temperature }: Omit<Changing, "mismatch">): boolean {
  return temperature > 0 || (readout?.noise ?? 0) !== 0 || (readout?.jitter ?? 0) !== 0;
}

export const NO_NOISE = "“New noise” is off: at temperature 0 every run of this chip is the same.";
export const NO_ENSEMBLE = "An ensemble needs a temperature above 0.";
export const ONE_CHIP =
  "“New chip” is off: nothing of this hardware is left to chance, so all chips are the same. " +
  "Choose an imperfect kind, or set a mismatch.";
