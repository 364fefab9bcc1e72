/** From the state to the rollouts that are shown. */

import {
  doubtOf,
  fieldsOf,
  inputsOf,
  scoresOf,
  simulate,
  winnerAt,
  type Gallery,
  type Model,
  type Pixels,
  type Rollout,
} from "./core";
import { ENSEMBLE, modelName, otherProtocol, type AppState, type Protocol } from "./state";

export interface Outcome {
  protocol: Protocol;
  model: Model;
  fields: Float64Array;
  rollout: Rollout;
  winner: number; // class that is read at the end
  doubt: string | null; // why it is unsure
}

export interface Input {
  pixels: Pixels;
  truth: number | null; // class of a test image
  sample: number; // index of the picture in the thermal noise
}

/** The protocols to run: the chosen one first. */
export function protocolsOf(state: AppState): Protocol[] {
  return state.compare ? [state.protocol, otherProtocol(state.protocol)] : [state.protocol];
}

export function modelsOf(state: AppState): string[] {
  return protocolsOf(state).map((protocol) => modelName(state.dataset, protocol));
}

export function inputOf(state: AppState, gallery: Gallery): Input {
  const { picture } = state;
  if (picture.kind !== "gallery") return { pixels: picture.pixels, truth: null, sample: 0 };
  const image = gallery.get(state.dataset)?.[picture.index];
  if (image === undefined) throw new Error(`the gallery has no image ${picture.index}`);
  return { pixels: image.pixels, truth: image.label, sample: image.index };
}

/** Throws EmptyImage for a picture without content. */
export function runAll(state: AppState, models: Model[], input: Input): Outcome[] {
  return protocolsOf(state).map((protocol, i) => {
    const model = models[i];
    const inputs = inputsOf(model, input.pixels);
    const fields = fieldsOf(model, inputs);
    const rollout = simulate(model, fields, state.physics, {
      replicates: state.ensemble && state.physics.temperature > 0 ? ENSEMBLE : 1,
      sample: input.sample,
      shown: 0,
    });
    const winner = winnerAt(rollout.activations, model.outputs, rollout.steps);
    const doubt = doubtOf(model, inputs, scoresOf(rollout));
    return { protocol, model, fields, rollout, winner, doubt };
  });
}
