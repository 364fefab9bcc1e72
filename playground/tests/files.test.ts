/** Files: what is read, and what is refused with a reason. */

import { describe, expect, test } from "vitest";
import { checkDigest, parseSafetensors, prepare, normalisePolarity, readModel } from "../src/core";
import { bytesOf, gallery, shipped } from "./world";

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
    ["another version", headed({ kind: "model", version: 3 }), /format version 3; this page reads 1 and 2/],
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
  test("a constant picture has no content", () => {
    expect(prepare(new Float64Array(30 * 40).fill(0.3), 30, 40)).toBeNull();
    expect(prepare(new Float64Array(28 * 28), 28, 28)).toBeNull();
  });

  test("a single pixel, and a picture of one row", () => {
    const grey = new Float64Array(50 * 50);
    grey[777] = 1;
    expect(Math.max(...prepare(grey, 50, 50)!)).toBe(255);
    expect(prepare(Float64Array.from([0, 0, 1, 0, 0]), 1, 5)!.length).toBe(784);
  });

  test("dark on light is inverted, light on dark is not", () => {
    const grey = new Float64Array(100);
    grey[55] = 1;
    expect(normalisePolarity(grey, 10, 10)).toEqual(grey);
    const dark = grey.map((level) => 1 - level);
    expect(normalisePolarity(dark, 10, 10)).toEqual(grey);
  });
});
