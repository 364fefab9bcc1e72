/** From the state to the rollouts that are shown. */

import {
  doubtOf,
  fieldsOn,
  highestOf,
  inputsOf,
  onChip,
  scoresOf,
  simulate,
  testImages,
  type Gallery,
  type Given,
  type Model,
  type Physics,
  type Pixels,
  type Realised,
  type Rollout,
  type Shape,
} from "./core";
import { chipNoiseSeed } from "./core/hardware/draws";
import { kindOf } from "./core/hardware/realise";
import { isIdeal } from "./lab/commands";
import { ENSEMBLE, damageOf, physicsOf, type AppState } from "./state";

/** A network as its chip holds it, without what only a run needs. */
export type Shown = Omit<Realised, "fieldChanges">;

export interface Outcome {
  model: Shown;
  physics: Physics;
  fields: Float64Array;
  rollout: Rollout;
  answer: number | null; // class that is read at the end; null where outputs tie or none answers
  tied: number[]; // classes that are read alike; else none
  doubt: string | null; // why it is unsure
}

export interface Input {
  values: Given;
  truth: number | null; // class of a test image
  sample: number; // index of the picture in the thermal noise
}

export function inputOf({ picture }: AppState, model: Model, gallery: Gallery): Input {
  if (picture.kind === "row") return { values: picture.values, truth: null, sample: 0 };
  if (picture.kind === "bar") {
    if (model.preprocessing.kind !== "picture") throw new Error("a bar is a picture");
    return { values: barOf(model.preprocessing), truth: null, sample: 0 };
  }
  if (picture.kind !== "gallery") return { values: picture.pixels, truth: null, sample: 0 };
  const image = testImages(gallery, model)[picture.index];
  if (image === undefined) throw new Error(`the gallery has no image ${picture.index}`);
  return { values: image.pixels, truth: image.label, sample: image.index };
}

/** The test images of a model's dataset, as it reads them. */
export function testInputs(gallery: Gallery, model: Model): Input[] {
  return testImages(gallery, model).map(({ pixels, label, index }) => ({
    values: pixels,
    truth: label,
    sample: index,
  }));
}

/** An upright bar in the middle, for a network whose pictures are unknown here. */
function barOf({ rows, columns }: Shape): Pixels {
  const inside = (k: number, side: number, margin: number): boolean =>
    k >= Math.floor(side * margin) && k < Math.ceil(side * (1 - margin));
  const pixels = Uint8Array.from({ length: rows * columns }, (_, i) =>
    inside(Math.floor(i / columns), rows, 1 / 7) && inside(i % columns, columns, 3 / 7) ? 255 : 0,
  );
  if (pixels.every((pixel) => pixel === pixels[0])) pixels[0] = 255 - pixels[0]!;
  return pixels;
}

/** The rollout of each model, the chosen one first. Throws UnfitInput for what cannot be read. */
export function runAll(state: AppState, models: Model[], input: Input): Outcome[] {
  return models.map((model, place) => {
    const physics = physicsOf(state.physics, model, damageOf(state, place));
    const inputs = inputsOf(model, input.values);
    const network = kept(model, physics);
    const fields = fieldsOn(network, inputs);
    const rollout = simulate(network, fields, { ...physics, seed: noiseSeedOf(physics) }, {
      replicates: state.ensemble && physics.temperature > 0 ? ENSEMBLE : 1,
      sample: input.sample,
      shown: 0,
    });
    const scores = scoresOf(rollout);
    const highest = highestOf(scores, rollout.answering);
    const doubt = doubtOf(model, input.values, inputs, scores, rollout.answering);
    const answer = highest.length === 1 ? highest[0]! : null;
    const tied = highest.length > 1 ? highest : [];
    return { model: shownOf(network), physics, fields, rollout, answer, tied, doubt };
  });
}

/** The seed of the noise: the chip's own draw, and of the ideal network that of
 * `entrain evaluate --temperature`. */
function noiseSeedOf(physics: Physics): number {
  const { phase_noise: _, ...rest } = kindOf(physics);
  return isIdeal(rest) ? physics.seed : chipNoiseSeed(physics.seed, physics.chip);
}

const chips = new WeakMap<Model, { key: string; network: Realised }>();

/** The model on its chip, made once: a chip with input weights of its own takes milliseconds. */
function kept(model: Model, physics: Physics): Realised {
  const { hardware, chip, couplingBits, mismatch } = physics;
  const key = JSON.stringify([hardware, chip, couplingBits, mismatch]);
  let found = chips.get(model);
  if (found?.key !== key) {
    found = { key, network: onChip(model, physics) };
    chips.set(model, found);
  }
  return found.network;
}

const shown = new WeakMap<Realised, Shown>();

/** The same object for the same network. */
function shownOf(network: Realised): Shown {
  let found = shown.get(network);
  if (found === undefined) {
    const { fieldChanges: _, ...rest } = network;
    shown.set(network, (found = rest));
  }
  return found;
}
