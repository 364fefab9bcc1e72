/** The class that was read, in large type, with its margin, the time it was decided at, and why it
 * is unsure. */

import { margin, scoresOf, winnerAt, type Rollout } from "../core";
import { hook, make } from "../dom";
import { classColour } from "./theme";

export class Verdict {
  private readonly root: HTMLElement;
  private readonly title = make("p", { class: "caption" });
  private readonly read: HTMLElement;
  private readonly truth = make("span", { class: "truth" });
  private readonly doubt: HTMLElement;
  private readonly margin: HTMLElement;
  private readonly decided: HTMLElement;
  private readonly votes = make("span", {});

  constructor(suffix: string) {
    this.read = make("strong", { "data-testid": `verdict${suffix}` });
    this.doubt = make("span", { class: "doubt", "data-testid": `doubt${suffix}` });
    this.margin = make("span", { "data-testid": `margin${suffix}` });
    this.decided = make("span", { "data-testid": `decided${suffix}` });
    const facts = make("p", { class: "facts" }, this.margin, this.decided, this.votes);
    this.root = make(
      "div",
      { class: "verdict" },
      this.title,
      make("p", { class: "read" }, this.read, this.truth, this.doubt),
      facts,
    );
    hook("verdicts").append(this.root);
  }

  set hidden(hidden: boolean) {
    this.root.hidden = hidden;
  }

  /** `truth` is the class of a test image, `doubt` why the answer is unsure. */
  show(
    title: string,
    rollout: Rollout,
    names: string[],
    winner: number,
    truth: number | null,
    doubt: string | null,
  ): void {
    const outputs = names.length;
    const { steps, replicates } = rollout;
    this.title.textContent = `${title} reads`;
    this.read.textContent = names[winner];
    this.root.style.borderLeftColor = classColour(winner);
    this.truth.textContent =
      truth === null ? "" : truth === winner ? "✓ correct" : `✗ it is ${names[truth]}`;
    this.truth.classList.toggle("wrong", truth !== null && truth !== winner);
    this.doubt.textContent = doubt === null ? "" : `unsure: ${doubt}`;
    const scores = scoresOf(rollout);
    this.margin.textContent = outputs > 1 ? `margin ${margin(scores).toFixed(2)}` : "";
    this.margin.title = names.map((name, o) => `${name} ${scores[o].toFixed(6)}`).join(", ");
    this.decided.textContent = `decided at t = ${(rollout.decidedAt / steps).toFixed(2)} t_f`;
    const agree = replicates.filter((one) => winnerAt(one, outputs, steps) === winner).length;
    this.votes.textContent = replicates.length > 1 ? `${agree} of ${replicates.length} agree` : "";
  }
}
