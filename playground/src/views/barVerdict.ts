/** The verdict in the bar that stays in view, beside play. */

import { hook, write } from "../dom";
import type { Outcome } from "../run";
import { DECIDING, answerOf } from "./verdict";
import { classColour } from "./theme";

export class BarVerdict {
  private readonly root = hook("bar-verdict");
  private shown: { outcome: Outcome; truth: number | null } | null = null;

  /** `truth` is the class of a test image. */
  show(outcome: Outcome, truth: number | null): void {
    this.shown = { outcome, truth };
  }

  reveal(revealed: boolean): void {
    if (this.shown === null) return;
    const { outcome, truth } = this.shown;
    const { answer } = outcome;
    const mark = truth === null ? "" : truth === answer ? " ✓" : " ✗";
    write(this.root, revealed ? `${answerOf(outcome)}${mark}` : DECIDING);
    this.root.classList.toggle("deciding", !revealed);
    const coloured = revealed && answer !== null;
    this.root.style.borderColor = coloured ? classColour(answer) : "";
  }
}
