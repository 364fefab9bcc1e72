/** Files: what is read, and what is refused with a reason. */

import { describe, expect, test } from "vitest";
import {
  UnfitInput,
  checkDigest,
  inputsOf,
  meanRow,
  normalisePolarity,
  parseSafetensors,
  prepare,
  readModel,
  testImages,
  valueAt,
} from "../src/core";
import { Models } from "../src/models";
import { bytesOf, featureFile, features, gallery, modelFile, shipped } from "./world";

/** A safetensors file of a header (JSON, or a text as it is) and `size` bytes of data. */
function file(header: unknown, size: number): ArrayBuffer {
  const text = typeof header === "string" ? header : JSON.stringify(header);
  const bytes = new TextEncoder().encode(text);
  const buffer = new ArrayBuffer(8 + bytes.length + size);
  new DataView(buffer).setBigUint64(0, BigInt(bytes.length), true);
  new Uint8Array(buffer).set(bytes, 8);
  return buffer;
}

function entry(dtype: string, shape: unknown, begin: number, end: number): unknown {
  return { dtype, shape, data_offsets: [begin, end] };
}

describe("safetensors", () => {
  test("tensors of each type, at offsets that no typed array could start at", () => {
    const header = {
      a: entry("U8", [3], 0, 3),
      b: entry("F64", [1], 3, 11),
      c: entry("I64", [1, 1], 11, 19),
      d: entry("F32", [], 19, 23),
      e: entry("F32", [0, 4], 23, 23),
      __metadata__: { origin: "here" },
    };
    const { tensors, metadata } = parseSafetensors(file(header, 23));
    expect([...tensors.keys()]).toEqual(["a", "b", "c", "d", "e"]);
    expect(tensors.get("c")!.data).toEqual(new BigInt64Array(1));
    expect(tensors.get("d")!.data.length).toBe(1);
    expect(metadata).toEqual({ origin: "here" });
  });

  const huge = file({}, 0);
  new DataView(huge).setBigUint64(0, 2n ** 63n, true);
  const whole = bytesOf("src/entrain/models/mnist-74.safetensors");
  const cases: [string, ArrayBuffer, RegExp][] = [
    ["nothing", new ArrayBuffer(0), /too short/],
    ["a huge header", huge, /header would have 9223372036854775808 bytes/],
    ["a header cut off", whole.slice(0, 1000), /truncated: the header ends/],
    ["data cut off", whole.slice(0, whole.byteLength - 4), /may be truncated/],
    ["bytes to spare", file({ a: entry("U8", [2], 0, 2) }, 3), /3 bytes of data.*describes 2/],
    ["bad JSON", file('{"a": ', 0), /not valid JSON/],
    ["bad UTF-8", file("{}", 0), /not valid JSON/],
    ["a list", file([], 0), /not a JSON object/],
    ["metadata of numbers", file({ __metadata__: { a: 1 } }, 0), /metadata/],
    ["an entry that is none", file({ a: 3 }, 0), /tensor a: its entry/],
    ["a type unknown here", file({ a: entry("BF16", [1], 0, 2) }, 2), /type is BF16/],
    ["a type of the language", file({ a: entry("toString", [1], 0, 2) }, 2), /its type/],
    ["a negative side", file({ a: entry("U8", [-1, -2], 0, 2) }, 2), /shape/],
    ["offsets that overflow", file({ a: entry("U8", [2], 0, 1e300) }, 2), /offsets/],
    ["offsets reversed", file({ a: entry("U8", [2], 2, 0) }, 2), /bytes 2 to 0/],
    ["a shape that does not fit", file({ a: entry("F32", [2], 0, 4) }, 4), /takes 8 bytes, not 4/],
    [
      "an overlap",
      file({ a: entry("U8", [3], 0, 3), b: entry("U8", [3], 2, 5) }, 5),
      /tensor b.*overlaps/,
    ],
    [
      "a hole",
      file({ a: entry("U8", [1], 0, 1), b: entry("U8", [1], 2, 3) }, 3),
      /tensor b.*unused/,
    ],
  ];
  new Uint8Array(cases.find(([name]) => name === "bad UTF-8")![1])[9] = 0xff;

  test.each(cases)("%s is refused", (_, buffer, reason) => {
    expect(() => parseSafetensors(buffer)).toThrow(reason);
    expect(() => readModel("mine", buffer)).toThrow(/^mine: /);
  });
});

describe("models", () => {
  test("a shipped model", () => {
    const model = shipped("mnist-74");
    expect(model).toMatchObject({
      name: "mnist-74",
      dataset: "mnist",
      protocol: "TWO-STAGE-END",
      inputs: 784,
      hidden: 64,
      outputs: 10,
      mobility: 1,
      observationTime: 0.2,
      steps: 200,
    });
    expect(model.classNames).toEqual([..."0123456789"]);
  });

  /** The shipped model with one float32 of a tensor set, by its index. */
  function altered(tensor: string, index: number, value: number): ArrayBuffer {
    const buffer = bytesOf("src/entrain/models/mnist-74.safetensors");
    const length = Number(new DataView(buffer).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
    const at = 8 + length + header[tensor].data_offsets[0] + 4 * index;
    new DataView(buffer).setFloat32(at, value, true);
    return buffer;
  }

  /** A file with this Entrain header and no tensors. */
  function headed(header: unknown): ArrayBuffer {
    const text = typeof header === "string" ? header : JSON.stringify(header);
    return file({ __metadata__: { entrain: text } }, 0);
  }

  test.each<[string, ArrayBuffer, RegExp]>([
    ["a NaN weight", altered("input_weights", 5, NaN), /input_weights must be finite/],
    ["an infinite bias", altered("biases", 1, Infinity), /biases must be finite/],
    ["an asymmetric coupling", altered("couplings", 1, 3), /symmetric; those of 0 and 1/],
    ["a self-coupling", altered("couplings", 0, 3), /must not be coupled/],
    ["a coupling of outputs", altered("couplings", 70 * 74 + 70, 3), /must not be coupled/],
    ["no header", file({}, 0), /without Entrain's header/],
    ["a bad header", headed("{"), /not valid JSON/],
    ["another kind", headed({ kind: "gallery", version: 1 }), /holds a gallery/],
    ["another version", headed({ kind: "model", version: 3 }), /version 3; this page reads 1 and 2/],
    ["no tensors", headed({ kind: "model", version: 1 }), /input_weights is missing/],
    ["the gallery", bytesOf("playground/public/gallery.safetensors"), /holds a gallery/],
  ])("%s is refused", (_, buffer, reason) => {
    expect(() => readModel("mine", buffer)).toThrow(reason);
  });
});

describe("digests", () => {
  const model = "src/entrain/models/mnist-74.safetensors";

  test("files of the package match theirs", async () => {
    await checkDigest("mnist-74", bytesOf(model));
    await checkDigest("gallery", bytesOf("playground/public/gallery.safetensors"));
  });

  test("a file of the first version has none", async () => {
    const entrain = JSON.stringify({ kind: "model", version: 1 });
    await checkDigest("old", file({ __metadata__: { entrain } }, 0));
  });

  test.each([1000, 5000, 300_000])("a bit flipped in byte %i is noticed", async (place) => {
    const damaged = bytesOf(model);
    new Uint8Array(damaged)[place]! ^= 1;
    await expect(checkDigest("mnist-74", damaged)).rejects.toThrow(/mnist-74: does not match/);
  });
});

describe("models of rows", () => {
  const model = features(3); // means 0, 10, 20, sds 1, 2, 3, factor 2

  test("u = factor (x - mean) / sd, in single precision", () => {
    const inputs = inputsOf(model, Float64Array.from([1, 10.1, 17]));
    expect([...inputs]).toEqual([2, (2 * (10.1 - 10)) / 2, -2].map(Math.fround));
    expect(() => inputsOf(model, Float64Array.from([0, 1e300, 0]))).toThrow(UnfitInput);
    expect(() => inputsOf(model, new Float64Array(2))).toThrow(/3 numbers, got 2/);
  });

  test("their names are the file's where it has one for each", () => {
    const named = { details: { feature_names: ["size", " ", "x".repeat(99)] } };
    const read = readModel("mine", featureFile(3, named)).preprocessing;
    expect(read).toMatchObject({ names: ["size", "feature 2", "x".repeat(60)] });
    const short = readModel("mine", featureFile(3, { details: { feature_names: ["a"] } }));
    expect(short.preprocessing).toMatchObject({ names: ["feature 1", "feature 2", "feature 3"] });
  });

  test("values are set to a thousandth of the sd", () => {
    const { preprocessing } = model;
    if (preprocessing.kind !== "features") throw new Error("it reads rows");
    expect([...meanRow(preprocessing)]).toEqual([0, 10, 20]);
    expect(valueAt(preprocessing, 2, 1 / 3)).toBe(21);
    const tiny = { ...preprocessing, mean: Float64Array.of(1e-9), sd: Float64Array.of(2e-9) };
    expect(valueAt(tiny, 0, 1)).toBeCloseTo(3e-9, 14);
    const huge = { ...preprocessing, mean: Float64Array.of(1e9), sd: Float64Array.of(3e7) };
    expect(valueAt(huge, 0, 0.1)).toBe(1.003e9);
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ["means that are none", { mean: ["a", "b", "c"], sd: [1, 1, 1], factor: 1 }, /list of finite/],
    ["too few means", { mean: [1], sd: [1, 1, 1], factor: 1 }, /mean has 1 numbers.*3 inputs/],
    ["an sd of 0", { mean: [1, 1, 1], sd: [1, 0, 1], factor: 1 }, /sd must be positive/],
    ["no factor", { mean: [1, 1, 1], sd: [1, 1, 1] }, /factor must be a positive number/],
    ["a shape of texts", { image_shape: ["1", "3"] }, /two whole numbers/],
    ["another shape", { image_shape: [2, 2], pixel_max: 1 }, /2 x 2 pixels.*3 inputs/],
  ])("%s are refused", (_, preprocessing, reason) => {
    expect(() => readModel("mine", featureFile(3, { preprocessing }))).toThrow(reason);
  });

  test("networks that are too large are refused with a sentence", () => {
    const dynamics = { mobility: 1, observation_time: 1, steps: 16_385 };
    expect(() => readModel("mine", featureFile(3, { dynamics }))).toThrow(
      /16385 Euler steps of 5 oscillators; this page simulates 16384 at most/,
    );
    const row = (width: number): number[] => Array<number>(width).fill(0);
    const tensors = {
      input_weights: [row(2)],
      biases: row(513),
      couplings: Array.from({ length: 513 }, () => row(513)),
    };
    const file = modelFile(tensors, { kind: "model", version: 1 });
    expect(() => readModel("mine", file)).toThrow(/513 oscillators; this page simulates 512/);
  });

  test("they have no test images", () => {
    expect(testImages(gallery(), shipped("mnist-74")).length).toBe(30);
    expect(testImages(gallery(), { ...model, dataset: "mnist" })).toEqual([]);
    const small = readModel("mine", featureFile(6, {
      dataset: "mnist",
      preprocessing: { image_shape: [2, 3], pixel_max: 16, mean: 0, sd: 1, test_norm: 1 },
    }));
    expect(testImages(gallery(), small)).toEqual([]);
  });
});

describe("the list of models", () => {
  test("a file of one's own is given, a shipped one is opened as such", () => {
    const own = new Models([{ name: "mnist-74", file: "given.safetensors" }]);
    expect(own.given).toEqual(["mnist-74", "mnist-48-chip"]);
    expect(own.first).toEqual({ given: "mnist-74" });
    const shippedOne = new Models([
      { name: "fashion-mnist-74-path", file: "fashion-mnist-74-path.safetensors" },
    ]);
    expect(shippedOne.given).toEqual(["mnist-48-chip"]);
    expect(shippedOne.first).toEqual({ dataset: "fashion-mnist", protocol: "path" });
    expect(new Models([]).first).toBeNull();
    const chip = new Models([{ name: "mnist-48-chip", file: "mnist-48-chip.safetensors" }]);
    expect(chip.given).toEqual(["mnist-48-chip"]);
    expect(chip.first).toEqual({ given: "mnist-48-chip" });
  });
});

test("the gallery has three images of each class", () => {
  const all = gallery();
  expect([...all.keys()]).toEqual(["fashion-mnist", "mnist"]);
  for (const images of all.values()) {
    expect(images.map(({ label }) => label)).toEqual(
      Array.from({ length: 30 }, (_, i) => Math.floor(i / 3)),
    );
    expect(images.every(({ pixels }) => pixels.length === 784 && Math.max(...pixels) > 0)).toBe(
      true,
    );
    expect(new Set(images.map(({ index }) => index)).size).toBe(30);
  }
});

describe("pictures", () => {
  const shape = { rows: 28, columns: 28 };

  test("a constant picture has no content", () => {
    expect(prepare(new Float64Array(30 * 40).fill(0.3), 30, 40, shape)).toBeNull();
    expect(prepare(new Float64Array(28 * 28), 28, 28, shape)).toBeNull();
  });

  test("a single pixel, and a picture of one row", () => {
    const grey = new Float64Array(50 * 50);
    grey[777] = 1;
    expect(Math.max(...prepare(grey, 50, 50, shape)!)).toBe(255);
    expect(prepare(Float64Array.from([0, 0, 1, 0, 0]), 1, 5, shape)!.length).toBe(784);
  });

  test("the content fills 20/28 of any other frame, in its middle", () => {
    const grey = new Float64Array(60 * 60);
    for (let y = 10; y < 50; y++) grey.fill(1, 60 * y + 10, 60 * y + 50);
    const pixels = prepare(grey, 60, 60, { rows: 7, columns: 14 })!;
    const lit = [...pixels.keys()].filter((k) => pixels[k] === 255);
    expect(lit).toEqual([1, 2, 3, 4, 5].flatMap((y) => [4, 5, 6, 7, 8].map((x) => 14 * y + x)));
    expect(pixels.filter((pixel) => pixel > 0).length).toBe(lit.length);
  });

  test("a picture of the model's own shape is taken as it is", () => {
    const grey = Float64Array.from({ length: 12 }, (_, k) => k / 255);
    expect([...prepare(grey, 3, 4, { rows: 3, columns: 4 })!]).toEqual([...Array(12).keys()]);
  });

  test("dark on light is inverted, light on dark is not", () => {
    const grey = new Float64Array(100);
    grey[55] = 1;
    expect(normalisePolarity(grey, 10, 10)).toEqual(grey);
    const dark = grey.map((level) => 1 - level);
    expect(normalisePolarity(dark, 10, 10)).toEqual(grey);
  });
});
