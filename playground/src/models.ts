/** The networks and the gallery, fetched beside the page when first needed and then kept. */

import { checkDigest, readGallery, readModel, type Gallery, type Model } from "./core";
import { isRecord } from "./core/safetensors";
import { inlined } from "./inlined";
import { DATASETS, PROTOCOLS, modelName, otherProtocol, type Network } from "./state";

/** A model of models.json: one that `entrain play` was given. */
export interface Entry {
  name: string;
  file: string; // in models/
}

export class Models {
  private readonly ready = new Map<string, Model>();
  private readonly coming = new Map<string, Promise<Model>>();

  constructor(private readonly entries: Entry[]) {}

  /** The names of those that are not shipped. */
  get given(): string[] {
    return this.entries.filter((entry) => shippedNetwork(entry) === null).map(({ name }) => name);
  }

  /** The network that is opened first, if one is asked for. */
  get first(): Partial<Network> | null {
    const [entry] = this.entries;
    return entry === undefined ? null : (shippedNetwork(entry) ?? { given: entry.name });
  }

  has({ given }: Network): boolean {
    return given === null || this.given.includes(given);
  }

  /** The models of a network if they are here already: the chosen one first. */
  get(network: Network): Model[] | null {
    const found = this.entriesOf(network).map(({ file }) => this.ready.get(file));
    return found.every((model) => model !== undefined) ? found : null;
  }

  /** The models, each fetched once; a fetch that failed is tried again next time. */
  load(network: Network): Promise<Model[]> {
    return Promise.all(this.entriesOf(network).map((entry) => this.loadOne(entry)));
  }

  private loadOne({ name, file }: Entry): Promise<Model> {
    let model = this.coming.get(file);
    if (model === undefined) {
      model = fetchBytes(`models/${file}`).then(async (bytes) => {
        const read = readModel(name, bytes);
        await checkDigest(name, bytes);
        this.ready.set(file, read);
        return read;
      });
      model.catch(() => this.coming.delete(file));
      this.coming.set(file, model);
    }
    return model;
  }

  private entriesOf({ given, dataset, protocol, compare }: Network): Entry[] {
    if (given !== null) return this.entries.filter(({ name }) => name === given).slice(0, 1);
    const protocols = compare ? [protocol, otherProtocol(protocol)] : [protocol];
    return protocols.map((each) => {
      const name = modelName(dataset, each);
      return { name, file: fileOf(name) };
    });
  }
}

function fileOf(name: string): string {
  return `${name}.safetensors`;
}

/** The shipped network of an entry, or null where its file is another. */
function shippedNetwork({ file }: Entry): Partial<Network> | null {
  for (const dataset of DATASETS) {
    for (const protocol of PROTOCOLS) {
      if (file === fileOf(modelName(dataset, protocol))) return { dataset, protocol };
    }
  }
  return null;
}

/** The models that `entrain play` was given. */
export async function loadModels(): Promise<Models> {
  const list: unknown = JSON.parse(new TextDecoder().decode(await fetchBytes("models.json")));
  if (!Array.isArray(list) || !list.every(isEntry)) {
    throw new Error("models.json must list models as {name, file}");
  }
  return new Models(list);
}

function isEntry(value: unknown): value is Entry {
  if (!isRecord(value)) return false;
  const { name, file } = value;
  return (
    typeof name === "string" &&
    /^[^\p{Cc}\p{Cs}]+$/u.test(name) && // it must survive in a link
    typeof file === "string" &&
    /^[\w-]+\.safetensors$/.test(file)
  );
}

export async function loadGallery(): Promise<Gallery> {
  const bytes = await fetchBytes("gallery.safetensors");
  const gallery = readGallery(bytes);
  await checkDigest("gallery", bytes);
  for (const dataset of DATASETS) {
    if (!gallery.get(dataset)?.length) throw new Error(`the gallery lacks ${dataset}`);
  }
  return gallery;
}

/** A file that did not come. */
export class Unreachable extends Error {}

async function fetchBytes(path: string): Promise<ArrayBuffer> {
  const here = inlined(path);
  if (here !== null) return here;
  const answer = await fetch(path).catch((error: unknown) => {
    throw new Unreachable(`${path}: ${String(error)}`);
  });
  if (!answer.ok) throw new Unreachable(`${path}: ${answer.status}`);
  return answer.arrayBuffer();
}
