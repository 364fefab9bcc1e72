/** The networks and the gallery, fetched beside the page when first needed and then kept. */

import { UnfitModel, checkDigest, readGallery, readModel, type Gallery, type Model } from "./core";
import { isRecord } from "./core/safetensors";
import { inlined } from "./inlined";
import { DATASETS, PROTOCOLS, modelName, otherProtocol, type Network } from "./state";

/** A model of models.json, which `entrain play` was given, or one that was dropped on the page. */
export interface Entry {
  name: string;
  file: string; // in models/
}

/** Shipped as well, beside the networks that are chosen by dataset and training. */
const OTHERS: readonly Entry[] = [{ name: "mnist-48-chip", file: "mnist-48-chip.safetensors" }];

const MOST_BYTES = 400e6; // of a file that is dropped; the largest network has a third of that

export class Models {
  private readonly ready = new Map<string, Model>();
  private readonly coming = new Map<string, Promise<Model>>();

  private readonly entries: Entry[];

  constructor(private readonly listed: Entry[]) {
    const known = new Set(listed.map(({ file }) => file));
    this.entries = [...listed, ...OTHERS.filter(({ file }) => !known.has(file))];
  }

  /** The names of those that are chosen by them: given, dropped and other ones. */
  get given(): string[] {
    return this.entries.filter((entry) => shippedNetwork(entry) === null).map(({ name }) => name);
  }

  /** Every shipped network of a dataset, by name. */
  shipped(dataset: string): string[] {
    const names = DATASETS.flatMap((each) =>
      each === dataset ? PROTOCOLS.map((protocol) => modelName(each, protocol)) : [],
    );
    const others = OTHERS.filter(({ name }) => name.startsWith(`${dataset}-`));
    return [...names, ...others.map(({ name }) => name)];
  }

  /** A shipped network by its name. */
  named(name: string): Promise<Model> {
    return this.loadOne({ name, file: fileOf(name) });
  }

  /** A file of the visitor's own becomes a model of the page; throws UnfitModel. Its name, which
   * takes the place of one that was dropped under the same before. */
  async drop(file: File): Promise<string> {
    if (file.size > MOST_BYTES) {
      throw new UnfitModel(`${file.name}: larger than ${MOST_BYTES / 1e6} MB, which no network here is`);
    }
    const bytes = await file.arrayBuffer();
    const name = this.freeName(file.name.replace(/\.safetensors$/i, ""));
    const model = readModel(name, bytes);
    await checkDigest(name, bytes);
    const key = droppedKey(name);
    this.ready.set(key, model);
    this.coming.set(key, Promise.resolve(model));
    if (!this.entries.some((entry) => entry.file === key)) this.entries.unshift({ name, file: key });
    return name;
  }

  /** A name that survives in a link, and that no other model has. */
  private freeName(wanted: string): string {
    const plain = wanted.replace(/[\p{Cc}\p{Cs}]/gu, "_") || "model";
    const taken = (name: string): boolean =>
      this.entries.some((entry) => entry.name === name && entry.file !== droppedKey(name));
    if (!taken(plain)) return plain;
    let count = 2;
    while (taken(`${plain} (${count})`)) count++;
    return `${plain} (${count})`;
  }

  /** The network that is opened first, if one is asked for. */
  get first(): Partial<Network> | null {
    const [entry] = this.listed;
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

  // Files come as they are, in single precision. Half of it would save half of each transfer and
  // changes no verdict on the 230 images here of any of the nine networks, but it moves outputs by up
  // to 0.002: the page would no longer give the package's numbers, nor a file its digest.
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

/** What no file is called. */
function droppedKey(name: string): string {
  return `dropped ${name}`;
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

export function loadGallery(): Promise<Gallery> {
  return galleryOf("gallery.safetensors", DATASETS);
}

/** The digits of 8 x 8 pixels that are learnt here. */
export function loadDigits(): Promise<Gallery> {
  return galleryOf("digits.safetensors", ["digits"]);
}

let testImages: Promise<Gallery> | null = null;

/** The images that chips are measured on; fetched once, when the first are made. */
export function loadTestImages(): Promise<Gallery> {
  testImages ??= galleryOf("test-images.safetensors", DATASETS);
  testImages.catch(() => (testImages = null));
  return testImages;
}

async function galleryOf(path: string, datasets: readonly string[]): Promise<Gallery> {
  const bytes = await fetchBytes(path);
  const gallery = readGallery(bytes);
  await checkDigest(path, bytes);
  for (const dataset of datasets) {
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
