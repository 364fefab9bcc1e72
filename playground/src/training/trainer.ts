/** A training from labels: batches, the gradient of a rule, and Adam. */

import { normals, philox } from "../core/noise";
import { Adam, normOf } from "./adamw";
import { contrast } from "./equilibrium";
import { crossEntropy, readingOf } from "./loss";
import { couplingsOn, gainsOf, type Chip } from "./onChip";
import { Rollout } from "./rollout";
import {
  addFieldGradient,
  initialWeights,
  scaleWeights,
  symmetrise,
  writeFields,
  zeroWeights,
  type Part,
  type Sizes,
  type Weights,
} from "./weights";

/** What is learnt: network inputs (M, D) row by row, and classes (M). */
export interface Examples {
  rows: Float64Array;
  labels: Uint8Array;
}

export type TrainingRule = "gradient" | "equilibrium";

export interface TrainingSettings {
  rule: TrainingRule;
  rate: number; // of couplings and biases; input weights have INPUT_SHARE of it
  temperature: number; // kT of every run in training
  chip: Chip;
  batch: number;
  seed: number;
}

export interface Dynamics {
  mobility: number;
  observationTime: number;
  steps: number;
}

/** Equilibrium propagation reads a network at rest, the gradient one on its way. */
export const DYNAMICS: Readonly<Record<TrainingRule, Dynamics>> = {
  gradient: { mobility: 1, observationTime: 1, steps: 40 },
  equilibrium: { mobility: 1, observationTime: 10, steps: 200 },
};

export const GAIN = 4;
const INPUT_SHARE = 0.5;

export class Trainer {
  readonly weights: Weights;
  readonly dynamics: Dynamics;
  step = 0;
  rate: number;
  private readonly adam: Adam;
  private readonly gains: Float64Array;
  private readonly rollout: Rollout;
  private readonly h: number;
  private order: Uint32Array = new Uint32Array(0);

  constructor(
    private readonly sizes: Sizes,
    readonly settings: TrainingSettings,
    private readonly examples: Examples,
  ) {
    this.weights = initialWeights(sizes, settings.seed);
    this.rate = settings.rate;
    this.adam = new Adam(sizes);
    this.dynamics = DYNAMICS[settings.rule];
    const n = sizes.hidden + sizes.outputs;
    this.gains = gainsOf(settings.chip, n);
    this.rollout = new Rollout(n, this.dynamics.steps);
    this.h = (this.dynamics.mobility * this.dynamics.observationTime) / this.dynamics.steps;
  }

  /** One step of Adam on the next batch: its mean loss. */
  train(): number {
    const { loss, gradient } = this.lossAndGradient(this.nextBatch());
    const { rate } = this;
    const rates: Record<Part, number> = { inputWeights: INPUT_SHARE * rate, biases: rate, couplings: rate };
    this.adam.step(this.weights, gradient, rates);
    this.step++;
    return loss;
  }

  /** The mean loss of examples, and this rule's estimate of its gradient. */
  lossAndGradient(
    batch: ArrayLike<number>,
    rule: TrainingRule = this.settings.rule,
  ): { loss: number; gradient: Weights } {
    const { weights, rollout, sizes, h } = this;
    const { rows, labels } = this.examples;
    const n = sizes.hidden + sizes.outputs;
    const couplings = couplingsOn(this.settings.chip, this.gains, weights);
    const gradient = zeroWeights(sizes);
    const fields = new Float64Array(n);
    const push = new Float64Array(sizes.outputs);
    let loss = 0;
    for (let k = 0; k < batch.length; k++) {
      const [row, slope] = [batch[k]!, new Float64Array(n)];
      writeFields(weights, rows, row, fields);
      this.run(fields, couplings, k);
      loss += crossEntropy(rollout.phases, labels[row]!, GAIN, push);
      if (rule === "equilibrium") {
        contrast(rollout, fields, couplings, h, labels[row]!, GAIN, push, slope, gradient.couplings);
      } else {
        const adjoint = new Float64Array(n);
        push.forEach((by, o) => {
          const i = sizes.hidden + o;
          adjoint[i] = -by * Math.sin(rollout.phases[i]!);
        });
        rollout.backward(fields, couplings, h, adjoint, slope, gradient.couplings);
      }
      addFieldGradient(gradient, slope, rows, row);
    }
    this.gains.forEach((gain, k) => (gradient.couplings[k]! *= gain));
    symmetrise(gradient);
    scaleWeights(gradient, 1 / batch.length);
    return { loss: loss / batch.length, gradient };
  }

  /** The classes that inputs (M, D) are read as, on the chip or by the ideal network, without noise. */
  classes(rows: Float64Array, onChip = true): Uint8Array {
    const classes = new Uint8Array(rows.length / this.sizes.inputs);
    this.readAll(rows, onChip, (row, phases) => (classes[row] = readingOf(phases, this.sizes.outputs).label));
    return classes;
  }

  /** The classes of inputs (M, D) on the chip, and how far their outputs lead, in cos theta. */
  leads(rows: Float64Array): { classes: Uint8Array; leads: Float32Array } {
    const count = rows.length / this.sizes.inputs;
    const [classes, leads] = [new Uint8Array(count), new Float32Array(count)];
    this.readAll(rows, true, (row, phases) => {
      const { label, lead } = readingOf(phases, this.sizes.outputs);
      classes[row] = label;
      leads[row] = lead;
    });
    return { classes, leads };
  }

  /** `take` is given the phases (N) at t_f of each input. */
  private readAll(
    rows: Float64Array,
    onChip: boolean,
    take: (row: number, phases: Float64Array) => void,
  ): void {
    const { weights, rollout, sizes, h } = this;
    const couplings = onChip ? couplingsOn(this.settings.chip, this.gains, weights) : weights.couplings;
    const fields = new Float64Array(sizes.hidden + sizes.outputs);
    for (let row = 0; row < rows.length / sizes.inputs; row++) {
      writeFields(weights, rows, row, fields);
      rollout.forward(fields, couplings, h);
      take(row, rollout.phases);
    }
  }

  /** Cosine of this rule's gradient with the exact one, over some examples. */
  agreement(batch: ArrayLike<number>): number {
    const [own, exact] = [this.settings.rule, "gradient" as const].map(
      (rule) => this.lossAndGradient(batch, rule).gradient,
    ) as [Weights, Weights];
    let product = 0;
    for (const part of ["inputWeights", "biases", "couplings"] as const) {
      own[part].forEach((value, k) => (product += value * exact[part][k]!));
    }
    return product / (normOf(own) * normOf(exact));
  }

  /** A run in training: place `k` of its batch has thermal noise of its own. */
  private run(fields: Float64Array, couplings: Float64Array, k: number): void {
    const { temperature, seed, batch } = this.settings;
    const { h, dynamics, rollout } = this;
    if (temperature === 0) {
      rollout.forward(fields, couplings, h);
      return;
    }
    const sample = (this.step * batch + k) % 2 ** 31;
    const eta = normals(seed, temperature, 0, sample, fields.length, dynamics.steps);
    rollout.forward(fields, couplings, h, eta, Math.sqrt(2 * temperature * h));
  }

  /** Rows of the next batch; every epoch has an order of its own. */
  private nextBatch(): Uint32Array {
    const count = this.examples.labels.length;
    const size = Math.min(this.settings.batch, count);
    const inEpoch = Math.floor(count / size);
    const place = this.step % inEpoch;
    if (place === 0) this.order = shuffled(count, this.settings.seed, Math.floor(this.step / inEpoch));
    return this.order.subarray(place * size, (place + 1) * size);
  }
}

const ORDER_KEY = 0x6c726e6f; // "lrno"

/** 0 .. count-1 in the order of an epoch: by the first word of Philox at (index, epoch). */
export function shuffled(count: number, seed: number, epoch: number): Uint32Array {
  const words = new Uint32Array(4);
  const keys = Float64Array.from({ length: count }, (_, i) => {
    philox(i, epoch, 0, 0, seed, ORDER_KEY, words);
    return words[0]!;
  });
  return Uint32Array.from(keys.keys()).sort((a, b) => keys[a]! - keys[b]!);
}
