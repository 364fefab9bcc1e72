/** The networks and the gallery, fetched beside the page when first needed and then kept. */

import { checkDigest, readGallery, readModel, type Gallery, type Model } from "./core";
import { DATASETS, GALLERY_SIZE } from "./state";

export class Models {
  private readonly ready = new Map<string, Model>();
  private readonly coming = new Map<string, Promise<Model>>();

  /** The model if it is here already. */
  get(name: string): Model | undefined {
    return this.ready.get(name);
  }

  /** The model, fetched once; a fetch that failed is tried again next time. */
  load(name: string): Promise<Model> {
    let model = this.coming.get(name);
    if (model === undefined) {
      model = fetchBytes(`models/${name}.safetensors`).then(async (bytes) => {
        const read = readModel(name, bytes);
        await checkDigest(name, bytes);
        this.ready.set(name, read);
        return read;
      });
      model.catch(() => this.coming.delete(name));
      this.coming.set(name, model);
    }
    return model;
  }
}

export async function loadGallery(): Promise<Gallery> {
  const bytes = await fetchBytes("gallery.safetensors");
  const gallery = readGallery(bytes);
  await checkDigest("gallery", bytes);
  for (const dataset of DATASETS) {
    if (gallery.get(dataset)?.length !== GALLERY_SIZE)
      throw new Error(`the gallery lacks ${dataset}`);
  }
  return gallery;
}

async function fetchBytes(path: string): Promise<ArrayBuffer> {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.arrayBuffer();
}
