/** Accuracy against what can be set: the time of reading, or a number of the chip. */

import type { Hardware } from "../core";
import { withChanges, type Change } from "../core/hardware/changes";
import { meanOf } from "../core/yield";
import { trialOf, type Running } from "./chips";
import type { Pool, Subject, Task } from "./pool";

/** What a curve is drawn against. */
export interface Axis {
  name: "time" | Change;
  label: string;
  values: number[]; // rising
  ticks: number[];
}

const LATEST = 2; // in units of the time of reading
const EVERY = 0.1;

export const AXES: readonly Axis[] = [
  {
    name: "time",
    label: "time of reading, in t_f",
    values: Array.from({ length: LATEST / EVERY }, (_, k) => Number(((k + 1) * EVERY).toFixed(1))),
    ticks: [0, 0.5, 1, 1.5, 2],
  },
  {
    name: "temperature",
    label: "temperature kT",
    values: [0, 0.1, 0.2, 0.5, 1, 1.5, 2],
    ticks: [0, 0.5, 1, 1.5, 2],
  },
  {
    name: "couplingBits",
    label: "bits of the couplings",
    values: [2, 3, 4, 5, 6, 7, 8],
    ticks: [2, 3, 4, 5, 6, 7, 8],
  },
];

/** One curve of one subject: mean accuracy in percent over the chips done, NaN before the first. */
export interface Curve {
  values: number[];
  accuracies: number[];
  chips: number; // done at every value
}

/** Curves [axis][subject] on some chips; refined chip by chip, so that all are seen early. */
export function measureCurves(
  pool: Pool,
  subjects: Subject[],
  running: Running,
  seeds: number[],
  onMore: (curves: Curve[][], done: number, all: number) => void,
): void {
  const found = AXES.map(({ values }) => subjects.map(() => values.map((): number[] => [])));
  const tasks: Task[] = [];
  let done = 0;
  const more = (axis: number, subject: number, place: number, accuracy: number): void => {
    found[axis]![subject]![place]!.push(accuracy);
  };
  const told = (): void => onMore(curvesOf(found), ++done, tasks.length);
  for (const seed of seeds) {
    AXES.forEach(({ name, values }, a) => {
      subjects.forEach((subject, s) => {
        const images = subject.examples.labels.length;
        if (name === "time") {
          tasks.push({
            subject,
            trial: alongTime(subject, running, seed, values),
            done: ({ correct }) => {
              correct.forEach((count, place) => more(a, s, place, (100 * count) / images));
              told();
            },
          });
          return;
        }
        values.forEach((value, place) => {
          const hardware = changed(running.hardware, name, value);
          tasks.push({
            subject,
            trial: trialOf(subject, { ...running, hardware }, seed),
            done: ({ correct }) => {
              more(a, s, place, (100 * correct[0]!) / images);
              told();
            },
          });
        });
      });
    });
  }
  pool.add(tasks);
}

function changed(hardware: Hardware, change: Change, value: number): Hardware {
  return withChanges(hardware, { [change]: value });
}

/** One run to the latest time, read on its way. */
function alongTime(subject: Subject, running: Running, seed: number, values: number[]) {
  const trial = trialOf(subject, running, seed);
  const steps = LATEST * trial.steps;
  const places = values.map((value) => Math.max(1, Math.round(value * trial.steps)));
  return { ...trial, steps, observationTime: LATEST * trial.observationTime, places };
}

function curvesOf(found: number[][][][]): Curve[][] {
  return found.map((subjects, a) =>
    subjects.map((places) => ({
      values: AXES[a]!.values,
      accuracies: places.map((each) => (each.length === 0 ? NaN : meanOf(each))),
      chips: Math.min(...places.map((each) => each.length)),
    })),
  );
}
