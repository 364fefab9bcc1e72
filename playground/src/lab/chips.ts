/** "Make 100 chips": networks on the same chips, one after the other. */

import type { Hardware } from "../core";
import type { ChipResult } from "../core/yield";
import type { Pool, Subject } from "./pool";

/** How chips are run: as the page runs its own. */
export interface Running {
  hardware: Hardware; // thermal noise included
  noiseSeed: number;
  observationTime: number; // in units of the model's own
  steps: number; // in units of the model's own
}

/** What chips of one kind answered so far; arrays are in the order of the subjects. */
export interface Batch {
  seeds: number[]; // of the chips that are done with every network, rising
  accuracies: number[][]; // in percent, at those seeds
  rights: Int32Array[]; // (M) chips that read each image as its class, of those at the seeds
  confusions: Int32Array[]; // (O, O), over all chips and images
  images: number;
  chips: number; // asked for
}

export function emptyBatch(subjects: Subject[], chips: number): Batch {
  return {
    seeds: [],
    accuracies: subjects.map(() => []),
    rights: subjects.map(({ examples }) => new Int32Array(examples.labels.length)),
    confusions: subjects.map(({ model }) => new Int32Array(model.outputs ** 2)),
    images: subjects[0]?.examples.labels.length ?? 0,
    chips,
  };
}

/** Measure every subject on chips with the seeds first, first + 1, ... `onMore` is given what there
 * is after each chip. */
export function makeChips(
  pool: Pool,
  subjects: Subject[],
  running: Running,
  first: number,
  chips: number,
  onMore: (batch: Batch) => void,
): void {
  const batch = emptyBatch(subjects, chips);
  const found = new Map<number, (ChipResult | undefined)[]>(); // by seed
  const finished = (seed: number): void => {
    const results = found.get(seed)!;
    if (results.length < subjects.length || results.includes(undefined)) return;
    const place = batch.seeds.findIndex((other) => other > seed);
    const at = place < 0 ? batch.seeds.length : place;
    batch.seeds.splice(at, 0, seed);
    results.forEach((result, k) => {
      const { correct, right } = result!;
      batch.accuracies[k]!.splice(at, 0, (100 * correct.at(-1)!) / right.length);
      right.forEach((one, image) => (batch.rights[k]![image]! += one));
    });
    found.delete(seed);
    onMore(batch);
  };
  const tasks = Array.from({ length: chips }, (_, c) => {
    const chip = (first + c) % 2 ** 32;
    found.set(chip, subjects.map(() => undefined));
    return subjects.map((subject, k) => ({
      subject,
      trial: trialOf(subject, running, chip),
      done: (result: ChipResult) => {
        result.confusion.forEach((count, cell) => (batch.confusions[k]![cell]! += count));
        found.get(chip)![k] = result;
        finished(chip);
      },
    }));
  });
  pool.add(tasks.flat());
}

/** A chip that is read once, at the end. */
export function trialOf({ model }: Subject, running: Running, chip: number) {
  const steps = Math.max(1, Math.round(running.steps * model.steps));
  const observationTime = running.observationTime * model.observationTime;
  const { hardware, noiseSeed } = running;
  return { hardware, chip, noiseSeed, observationTime, steps, places: [steps] };
}
