/** The class that was read, in large type, with its margin, the time it was decided at, and why it
 * is unsure; no answer where the chip reads two outputs alike. */

import { highestOf, margin, scoresOf } from "../core";
import { hook, make } from "../dom";
import type { Outcome } from "../run";
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

  /** `truth` is the class of a test image. */
  show({ model, rollout, winner, tied, doubt }: Outcome, truth: number | null): void {
    const { classNames: names, outputs, protocol } = model;
    const { steps, readings, winners } = rollout;
    const answered = tied.length === 0;
    this.title.textContent = `${protocol} reads`;
    this.read.textContent = answered ? names[winner] : "no answer";
    this.root.style.borderLeftColor = answered ? classColour(winner) : "";
    this.truth.textContent = truth === null ? "" : judgement(truth, answered ? winner : null, names);
    this.truth.classList.toggle("wrong", truth !== null && !(answered && truth === winner));
    this.doubt.textContent = answered ? (doubt === null ? "" : `unsure: ${doubt}`) : tie(tied, names);
    const scores = scoresOf(rollout);
    this.margin.textContent = outputs > 1 ? `margin ${margin(scores).toFixed(2)}` : "";
    this.margin.title = names.map((name, o) => `${name} ${scores[o].toFixed(6)}`).join(", ");
    const lasting = answered && winners[steps] === winner; // what is read is what was decided
    const decided = (rollout.decidedAt / steps).toFixed(2);
    this.decided.textContent = lasting ? `decided at t = ${decided} t_f` : "";
    const agree = readings.filter((one) => highestOf(one)[0] === winner).length;
    this.votes.textContent = readings.length > 1 ? `${agree} of ${readings.length} agree` : "";
  }
}

/** Outputs that were read alike; accuracies count the first, as the package's do. */
export function tie(tied: number[], names: string[]): string {
  const last = names[tied.at(-1)!];
  const others = tied.slice(0, -1).map((o) => names[o]);
  return `${others.join(", ")} and ${last} are read alike (accuracies count ${names[tied[0]!]})`;
}

function judgement(truth: number, read: number | null, names: string[]): string {
  if (read === null) return `it is ${names[truth]}`;
  return truth === read ? "✓ correct" : `✗ it is ${names[truth]}`;
}
