/** How a chip reads its outputs: phases of a few bits, comparators, and when they are read. */

import { Draws } from "./draws";
import type { Readout } from "./hardware";

/** A reading of one run: of the chip with this seed, under noise of another. */
export interface Reading {
  chip: number;
  seed: number;
  sample: number;
  replicate: number;
  time: number; // t_f
}

export function isExact(readout: Readout | undefined): boolean {
  const { bits, noise = 0, offset = 0 } = readout ?? {};
  return bits === undefined && noise === 0 && offset === 0 && !needsVelocity(readout);
}

/** Whether the time of reading varies. */
export function needsVelocity(readout: Readout | undefined): boolean {
  return (readout?.jitter ?? 0) !== 0 || (readout?.spread ?? 0) !== 0;
}

/** Scores (O) of output phases (O), whose velocity matters where the time of reading varies:
 *
 *     theta = theta(t_f) + theta'(t_f) t_f (spread g_chip + jitter g_run)
 *     score = cos(theta at 2^bits places of the circle) + offset g_chip + noise g_run */
export function readingOf(
  readout: Readout,
  phases: Float64Array,
  velocity: Float64Array | null,
  { chip, seed, sample, replicate, time }: Reading,
): Float64Array {
  const { bits, noise = 0, offset = 0, jitter = 0, spread = 0 } = readout;
  const [device, run] = [new Draws(chip), new Draws(seed, replicate)];
  let late = 0;
  if (spread !== 0) late += spread * device.normal("tfsp", 0);
  if (jitter !== 0) late += jitter * run.normal("tfji", sample, 0);
  return phases.map((phase, o) => {
    const theta = velocity === null ? phase : phase + velocity[o]! * time * late;
    let score = bits === undefined ? Math.cos(theta) : coarse(theta, 2 ** bits);
    if (offset !== 0) score += offset * device.normal("roff", o);
    if (noise !== 0) score += noise * run.normal("rnoi", sample, o);
    return score;
  });
}

/** The cosine at the nearest of so many places; places with the same cosine give it exactly, so that
 * a tie is one. */
function coarse(phase: number, places: number): number {
  const turned = Math.floor(phase * (places / (2 * Math.PI)) + 0.5) % places;
  const place = turned < 0 ? turned + places : turned;
  return Math.cos(Math.min(place, places - place) * ((2 * Math.PI) / places));
}
