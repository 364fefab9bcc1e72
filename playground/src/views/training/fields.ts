/** The settings of a training as controls. */

import { make } from "../../dom";
import { SETS } from "../../training/sets";
import type { TrainingRule, TrainingSettings } from "../../training/trainer";
import { chooser } from "../lab/controls";
import { slider } from "../slider";

export type Subject = (typeof SETS)[number] | "drawn" | "digits";

const RATES = { least: 0.001, most: 1 };
const BATCH = 32;

export interface FieldEvents {
  onSubject(subject: Subject): void;
  /** The rate changes while it learns. */
  onRate(rate: number): void;
  /** Anything else begins a new training. */
  onChange(): void;
}

export class Fields {
  readonly root: HTMLElement;
  private readonly subject;
  private readonly rule;
  private readonly bits;
  private readonly rate;
  private readonly temperature;
  private readonly mismatch;
  private readonly seed;

  constructor(events: FieldEvents) {
    const { onChange } = events;
    const subjects: [Subject, string][] = [
      ...SETS.map((name): [Subject, string] => [name, name]),
      ["drawn", "points of your own"],
      ["digits", "digits, 8 × 8 pixels"],
    ];
    this.subject = chooser("learn-set", "To learn", subjects, (value) => events.onSubject(value as Subject));
    this.rule = chooser(
      "learn-rule",
      "Rule",
      [
        ["gradient", "exact gradient"],
        ["equilibrium", "equilibrium propagation"],
      ],
      onChange,
    );
    this.bits = chooser(
      "learn-bits",
      "Coupling bits",
      [["", "any value"], ...["8", "6", "5", "4", "3", "2"].map((b): [string, string] => [b, `${b} bits`])],
      onChange,
    );
    this.rate = slider("learn-rate", "Learning rate", Math.log10(RATES.least), Math.log10(RATES.most), 0.05, {
      words: (value) => String(Number((10 ** value).toPrecision(2))),
      onInput: () => events.onRate(this.settings.rate),
    });
    this.temperature = slider("learn-temperature", "Noise kT", 0, 1, 0.01, { onChange });
    this.mismatch = slider("learn-mismatch", "Mismatch", 0, 0.5, 0.01, {
      words: (value) => `${Math.round(100 * value)} %`,
      onChange,
    });
    this.seed = make("input", { type: "number", id: "learn-seed", "data-testid": "learn-seed", min: "0", max: "4294967295", step: "1", value: "0" });
    this.seed.addEventListener("change", () => {
      if (!this.seed.checkValidity() || this.seed.value === "") this.seed.value = "0";
      onChange();
    });
    const seed = make("div", { class: "choice" }, make("label", { for: "learn-seed" }, "Seed"), this.seed);
    this.root = make(
      "div",
      { class: "learn-fields" },
      this.subject.root,
      this.rule.root,
      this.rate.root,
      this.temperature.root,
      this.mismatch.root,
      this.bits.root,
      seed,
    );
  }

  showRate(rate: number): void {
    this.rate.value = Math.log10(rate);
  }

  showSubject(subject: Subject): void {
    this.subject.select.value = subject;
  }

  get settings(): TrainingSettings {
    const bits = this.bits.select.value;
    const seed = Number(this.seed.value);
    return {
      rule: this.rule.select.value as TrainingRule,
      rate: Number((10 ** this.rate.value).toPrecision(2)),
      temperature: this.temperature.value,
      chip: { bits: bits === "" ? null : Number(bits), mismatch: this.mismatch.value, seed },
      batch: BATCH,
      seed,
    };
  }
}
