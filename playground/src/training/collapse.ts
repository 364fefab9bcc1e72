/** When a training has failed: what is seen of it, in words. */

import type { Progress } from "./messages";

const WARMING = 60; // steps before which nothing is judged
const ONE_CLASS = 0.97; // share of examples that are read as one class
const LOST = 0.2; // of the accuracy that was reached

/** Why the training has collapsed, null where it has not; `best` is the accuracy it had reached. */
export function collapseOf(
  { step, accuracy, commonest, losses }: Pick<Progress, "step" | "accuracy" | "commonest" | "losses">,
  best: number,
): string | null {
  if (!losses.every(Number.isFinite)) return "The loss is no number any more.";
  if (step < WARMING) return null;
  if (commonest >= ONE_CLASS) return "Nearly every example is read as one class.";
  if (accuracy < best - LOST) {
    return `Accuracy fell from ${percent(best)} to ${percent(accuracy)}.`;
  }
  return null;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`;
}
