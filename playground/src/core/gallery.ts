/** The gallery: a few official test images of each dataset, in one safetensors file.
 *
 * For each dataset the tensors "<dataset>.images" (n, rows, columns), "<dataset>.labels" (n), both
 * U8, and "<dataset>.indices" (n), I64, the images' places in the official test set. */

import { parseSafetensors } from "./safetensors";
import type { Model, Pixels, Shape } from "./types";

export interface GalleryImage {
  pixels: Pixels;
  shape: Shape;
  label: number;
  index: number; // in the official test set; the sample index of its thermal noise
}

/** Images by dataset ("mnist", "fashion-mnist"), ordered by class. */
export type Gallery = Map<string, GalleryImage[]>;

/** The gallery of a file made by tools/playground_data.py. */
export function readGallery(buffer: ArrayBuffer): Gallery {
  const { tensors } = parseSafetensors(buffer);
  const gallery: Gallery = new Map();
  for (const name of tensors.keys()) {
    if (!name.endsWith(".images")) continue;
    const dataset = name.slice(0, -".images".length);
    const images = tensors.get(name)!;
    const labels = tensors.get(`${dataset}.labels`)?.data;
    const indices = tensors.get(`${dataset}.indices`)?.data;
    const count = images.shape[0] ?? 0;
    if (
      !(images.data instanceof Uint8Array && labels instanceof Uint8Array) ||
      !(indices instanceof BigInt64Array) ||
      images.shape.length !== 3 ||
      labels.length !== count ||
      indices.length !== count
    ) {
      throw new Error(`the gallery's images of ${dataset} are incomplete`);
    }
    const [, rows, columns] = images.shape as [number, number, number];
    const size = rows * columns;
    const all = images.data;
    gallery.set(
      dataset,
      Array.from({ length: count }, (_, i) => ({
        pixels: all.slice(i * size, (i + 1) * size),
        shape: { rows, columns },
        label: labels[i]!,
        index: Number(indices[i]),
      })),
    );
  }
  return gallery;
}

/** The test images a model can be shown: those of its dataset, if it has their shape and classes. */
export function testImages(gallery: Gallery, model: Model): GalleryImage[] {
  const { dataset, outputs, preprocessing } = model;
  return (gallery.get(dataset) ?? []).filter(
    ({ shape, label }) =>
      preprocessing.kind === "picture" &&
      preprocessing.rows === shape.rows &&
      preprocessing.columns === shape.columns &&
      label < outputs,
  );
}
