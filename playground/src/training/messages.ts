/** What the page and the worker that trains say to each other. */

import type { Examples, TrainingSettings } from "./trainer";
import type { Sizes, Weights } from "./weights";

/** What a training is of: `tests` are not learnt, `map` (M, D) are inputs whose classes are drawn: places of the
 * plane, or test digits. */
export interface Lesson {
  sizes: Sizes;
  examples: Examples;
  tests: Examples | null;
  map: Float64Array;
}

/** To the worker; `turn` numbers the trainings. */
export type Order =
  | { kind: "begin"; turn: number; lesson: Lesson; settings: TrainingSettings }
  | { kind: "run" | "pause" | "step" }
  | { kind: "rate"; rate: number };

/** Where a training is. Accuracies are shares. */
export interface Progress {
  turn: number;
  step: number;
  losses: number[]; // of the steps since the last report
  accuracy: number; // of the examples, on the chip
  ideal: number; // of the examples, by the ideal network
  tested: number | null; // of the tests, on the chip
  commonest: number; // share of the examples that are read as the commonest class
  agreement: number | null; // cosine of the rule's gradient with the exact one
  weights: Weights;
  map: { classes: Uint8Array; leads: Float32Array };
}
