/** What a model's file says of its own quality: numbers that the package measured and wrote there. */

import { isRecord } from "./safetensors";

export interface Card {
  test: number | null; // top-1 in percent on its test examples, as the ideal network
  onChips: { mean: number; p5: number | null; chips: number | null } | null;
}

/** Of the header's details, which are for the reader: what is not as expected is left out. */
export function cardOf(details: unknown): Card {
  const test = isRecord(details) && isRecord(details["test"]) ? details["test"]["top1"] : null;
  const chips = isRecord(details) ? details["on_chips"] : null;
  const mean = isRecord(chips) ? percent(chips["mean"]) : null;
  return {
    test: percent(test),
    onChips:
      isRecord(chips) && mean !== null
        ? { mean, p5: percent(chips["p5"]), chips: count(chips["chips"]) }
        : null,
  };
}

/** "test 98.74 %; on chips 98.05 % (mean of 1,000), 5th percentile 97.78 %", empty where unknown. */
export function cardWords({ test, onChips }: Card): string {
  const parts: string[] = [];
  if (test !== null) parts.push(`test ${test.toFixed(2)} %`);
  if (onChips !== null) {
    const { mean, p5, chips } = onChips;
    const many = chips === null ? "mean" : `mean of ${chips.toLocaleString("en")}`;
    const low = p5 === null ? "" : `, 5th percentile ${p5.toFixed(2)} %`;
    parts.push(`on chips ${mean.toFixed(2)} % (${many})${low}`);
  }
  return parts.join("; ");
}

function percent(value: unknown): number | null {
  return typeof value === "number" && value >= 0 && value <= 100 ? value : null;
}

function count(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : null;
}
