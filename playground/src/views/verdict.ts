/** The class that was read, in large type, with its margin, the time it was decided at, and why it
 * is unsure; no answer where outputs are read alike or none is left. */

import { DECISIVE_LEAD, highestOf, margin, scoresOf } from "../core";
import { hook, make, write } from "../dom";
import type { Outcome } from "../run";
import { trainingName } from "../words";
import { Bars } from "./bars";
import { revealAt } from "./moment";
import { classColour } from "./theme";

export const DECIDING = "deciding…";

export class Verdict {
  private readonly root: HTMLElement;
  private readonly title = make("p", { class: "caption who" });
  private readonly answer: HTMLElement;
  private readonly truth = make("span", { class: "truth" });
  private readonly doubt: HTMLElement;
  private readonly margin: HTMLElement;
  private readonly decided: HTMLElement;
  private readonly votes = make("span", {});
  private readonly bars: Bars;
  private shown: { outcome: Outcome; truth: number | null } | null = null;
  private stage: "deciding" | "decided" | "read" | null = null;

  constructor(suffix: string) {
    this.answer = make("strong", { "data-testid": `verdict${suffix}` });
    this.doubt = make("span", { class: "doubt", "data-testid": `doubt${suffix}` });
    this.margin = make("span", { "data-testid": `margin${suffix}` });
    this.decided = make("span", { "data-testid": `decided${suffix}` });
    this.bars = new Bars(suffix);
    const facts = make("p", { class: "facts" }, this.margin, this.decided, this.votes);
    const words = make(
      "div",
      { class: "verdict-words" },
      this.title,
      make("p", { class: "read" }, this.answer, this.truth, this.doubt),
      facts,
    );
    if (suffix === "") words.append(make("p", { class: "score", "data-testid": "score-box" }));
    this.root = make("div", { class: "verdict" }, words, this.bars.canvas);
    hook("verdicts").append(this.root);
  }

  set hidden(hidden: boolean) {
    this.root.hidden = hidden;
  }

  /** `truth` is the class of a test image. */
  show(outcome: Outcome, truth: number | null): void {
    const { protocol } = outcome.model;
    this.shown = { outcome, truth };
    this.stage = null;
    const name = trainingName(outcome.model);
    const [words, second] = [`The network ${name}`, name === protocol ? "" : ` ${protocol}`];
    if (this.title.textContent !== words + second) {
      this.title.replaceChildren(words, second === "" ? "" : make("small", {}, second));
    }
    this.bars.show(outcome);
  }

  /** At grid time `at`: the verdict once it is made; what the outputs are read as at the end alone. */
  time(at: number, still: boolean): void {
    if (this.shown === null) return;
    this.bars.time(at, still);
    const { outcome } = this.shown;
    const read = at === outcome.rollout.steps;
    const stage = read ? "read" : at >= revealAt(outcome) ? "decided" : "deciding";
    if (stage === this.stage) return;
    this.stage = stage;
    if (stage === "deciding") this.conceal();
    else this.reveal();
    if (stage === "read") this.readOut();
    else this.forget();
  }

  private conceal(): void {
    write(this.answer, DECIDING);
    this.root.style.borderLeftColor = "";
    this.root.classList.add("deciding");
    for (const each of [this.truth, this.decided]) write(each, "");
  }

  /** Nothing is read out before the end. */
  private forget(): void {
    for (const each of [this.doubt, this.margin, this.votes]) write(each, "");
    this.margin.removeAttribute("title");
  }

  private reveal(): void {
    const { outcome, truth } = this.shown!;
    const { model, answer } = outcome;
    this.root.classList.remove("deciding");
    write(this.answer, answerOf(outcome));
    this.root.style.borderLeftColor = answer === null ? "" : classColour(answer);
    write(this.truth, truth === null ? "" : judgement(truth, answer, model.classNames));
    this.truth.classList.toggle("wrong", truth !== null && truth !== answer);
    write(this.decided, decisionOf(outcome));
  }

  /** What the readout gives at t_f. */
  private readOut(): void {
    const { outcome } = this.shown!;
    const { model, rollout, answer } = outcome;
    const { classNames: names, outputs } = model;
    const { readings, answering } = rollout;
    write(this.doubt, doubtOf(outcome));
    const scores = scoresOf(rollout);
    const lead = margin(scores, answering);
    write(this.margin, outputs > 1 && Number.isFinite(lead) ? `margin ${lead.toFixed(2)}` : "");
    this.margin.title = names.map((name, o) => `${name} ${scores[o].toFixed(6)}`).join(", ");
    const agree = readings.filter((one) => {
      const highest = highestOf(one, answering);
      return highest.length === 1 && highest[0] === answer;
    }).length;
    write(this.votes, readings.length > 1 ? `${agree} of ${readings.length} agree` : "");
  }
}

/** The class that is read, or that there is none. */
export function answerOf({ model, answer }: Outcome): string {
  return answer === null ? "no answer" : model.classNames[answer]!;
}

/** When it was decided, in the network's time and as a share of t_f; words where it was not. */
export function decisionOf({ physics, rollout, answer }: Outcome): string {
  const { decidedAt, leaders, steps, answering } = rollout;
  if (answering.reduce((sum, one) => sum + one, 0) < 2) return "";
  if (answer === null || leaders[steps] !== answer) return ""; // what is read is not what leads
  if (decidedAt === null) return `not decided by t_f: its lead is below ${DECISIVE_LEAD}`;
  const share = decidedAt / steps;
  const time = Number((share * physics.observationTime).toPrecision(3));
  return `decided at t = ${time} (${share.toFixed(2)} t_f)`;
}

/** Why there is no answer, or why the answer is unsure; else nothing. */
function doubtOf({ model, rollout, answer, tied, doubt }: Outcome): string {
  if (answer !== null) return doubt === null ? "" : `unsure: ${doubt}${threshold(model, doubt)}`;
  if (tied.length > 0) return tie(tied, model.classNames);
  return rollout.answering.every((one) => one === 0) ? "every output is silenced" : (doubt ?? "");
}

/** What the margin of this network is compared with. */
function threshold({ reject }: Outcome["model"], doubt: string): string {
  return doubt === "small margin" && reject !== null ? `, below ${reject.margin.toFixed(2)}` : "";
}

/** The verdict in a sentence. */
export function spokenOf(outcome: Outcome): string {
  const { model, answer } = outcome;
  const doubt = doubtOf(outcome);
  if (answer === null) return `No answer: ${doubt}.`;
  return `Read as ${model.classNames[answer]}${doubt === "" ? "" : `, ${doubt}`}.`;
}

/** Outputs that were read alike; accuracies count the first, as the package's do. */
function tie(tied: number[], names: string[]): string {
  const last = names[tied.at(-1)!];
  const others = tied.slice(0, -1).map((o) => names[o]);
  return `${others.join(", ")} and ${last} are read alike (accuracies count ${names[tied[0]!]})`;
}

export function judgement(truth: number, read: number | null, names: string[]): string {
  if (read === null) return `it is ${names[truth]}`;
  return truth === read ? "✓ correct" : `✗ it is ${names[truth]}`;
}
