/** What the page says about the picture or the row that is shown. */

import type { GalleryImage, Model } from "./core";
import type { Picture } from "./state";

const DRAWN: Record<string, string> = {
  mnist: "a digit",
  "fashion-mnist": "a piece of clothing",
  digits: "a digit",
};

const TRAININGS: Record<string, string> = {
  "TWO-STAGE-END": "trained in two stages",
  PATH: "trained in one stage",
  DIRECT: "trained on labels alone",
};

/** What a training is, in words; protocols without some keep their names. */
export function trainingName({ protocol, madeFor }: Pick<Model, "protocol" | "madeFor">): string {
  if (madeFor !== null) return "trained for imperfect chips";
  return TRAININGS[protocol] ?? protocol;
}

/** Whether the pictures of a dataset fill their frame, as scikit-learn's digits do; others are
 * expected to be prepared as MNIST's were. */
export function fillsFrame({ dataset }: Model): boolean {
  return dataset === "digits";
}

/** "1 output", "10 outputs". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export function invitation({ dataset, preprocessing }: Model): string {
  if (preprocessing.kind === "features") return "Set the numbers";
  return `Draw ${DRAWN[dataset] ?? "a picture"}`;
}

export function describe(picture: Picture, model: Model, tests: GalleryImage[]): string {
  if (picture.kind === "row") return "A row of numbers: set them, or draw a random row.";
  if (picture.kind === "bar") return `A bar, for want of test images. ${invitation(model)} to begin.`;
  if (picture.kind !== "gallery") {
    return picture.kind === "drawn" ? "Your drawing." : "Your picture.";
  }
  const image = tests[picture.index];
  if (image === undefined) return "";
  const name = model.classNames[image.label]!;
  const named = model.dataset === "mnist" ? `digit ${name}` : name;
  return `Test image ${image.index}: ${named}. ${invitation(model)} to begin.`;
}
