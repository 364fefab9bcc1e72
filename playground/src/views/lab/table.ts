/** What chips of a kind achieve, as numbers. */

import { meanError, meanOf, NORMAL_95, shareAbove, summaryOf, wilson } from "../../core/yield";
import { make } from "../../dom";
import type { Batch } from "../../lab/chips";
import { colourOf } from "./axes";

const HEADS = ["network", "mean %", "SD", "5th pct.", "worst", "chips above"];

export class YieldTable {
  readonly root = make("div", { class: "table-box" });
  private readonly body = make("tbody", {});
  private readonly note = make("p", { class: "caption", "data-testid": "yield-note" });

  constructor() {
    const head = make("tr", {}, ...HEADS.map((words) => make("th", { scope: "col" }, words)));
    this.root.append(
      make("table", { "data-testid": "yield-table" }, make("thead", {}, head), this.body),
      this.note,
    );
  }

  /** `cards` are the means that the models' files have of such chips, where they have one. */
  show(
    { accuracies, rights, images, seeds }: Batch,
    names: string[],
    cards: (number | null)[],
    threshold: number,
  ): void {
    this.body.replaceChildren(
      ...accuracies.map((each, k) => {
        const { mean, sd, p5, worst } = summaryOf(each);
        const key = make("span", { class: "key" });
        key.style.background = colourOf(k);
        const numbers = [mean.toFixed(2), sd.toFixed(2), p5.toFixed(2), worst.toFixed(1)];
        const share = `${shareAbove(each, threshold).toFixed(0)} %`;
        return make(
          "tr",
          { "data-testid": `yield-row-${k}` },
          make("th", { scope: "row" }, key, names[k]!),
          ...[...numbers, share].map((words) => make("td", {}, words)),
        );
      }),
    );
    const intervals = accuracies.map((each, k) => {
      const [mean, half] = [meanOf(each), NORMAL_95 * meanError(each, rights[k]!)];
      const above = wilson(each.filter((one) => one >= threshold).length, each.length);
      const ends = [Math.max(0, mean - half), Math.min(100, mean + half)].map((end) => end.toFixed(1));
      const shares = above.map((end) => end.toFixed(0));
      const card = cards[k] === null ? "" : ` (on the whole test set ${cards[k]!.toFixed(2)} %)`;
      return `${names[k]!} mean ${ends.join(" to ")} %${card}, chips above ${shares.join(" to ")} %`;
    });
    this.note.textContent =
      `${seeds.length} ${seeds.length === 1 ? "chip" : "chips"}, each with its own noise and on the same ${images} test images. ` +
      `95 % intervals over chips, noise and images: ${intervals.join("; ")}.`;
  }
}
