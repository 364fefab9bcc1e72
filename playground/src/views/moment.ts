/** What is shown of a run at one time. */

import type { PhaseModel } from "../core";
import type { Outcome } from "../run";

export interface Moment {
  outcome: Outcome;
  acting: PhaseModel; // what moves the phases
  at: number; // grid index
  phases: Float64Array; // (N)
  revealed: boolean; // the verdict is made
  still: boolean; // the time does not move on
  shown: number | null; // the oscillator that is looked at
}

/** The grid index at which the verdict is made: when it is decided, at the end where what is read is
 * not what leads or the lead is too small. */
export function revealAt({ rollout, answer }: Outcome): number {
  const { decidedAt, leaders, steps } = rollout;
  return decidedAt !== null && answer !== null && leaders[steps] === answer ? decidedAt : steps;
}
