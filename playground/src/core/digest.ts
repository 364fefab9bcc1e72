/** The digest that a file of the package has at the end of its header, since format version 2:
 * SHA-256 of the header without it and of every tensor, by name (see tensorfile.py). */

import { UnfitModel } from "./model";
import { parseSafetensors, type Dtype, type TensorEntry } from "./safetensors";

const SEAL = /, "digest": "([0-9a-f]{64})"\}$/;
const TYPES: Record<Dtype, string> = { F32: "float32", F64: "float64", U8: "uint8", I64: "int64" };

/** Refuse a file whose content is not what was written. Without a digest there is nothing to
 * compare, and a page that came over plain http from another machine has no SHA-256. */
export async function checkDigest(name: string, buffer: ArrayBuffer): Promise<void> {
  const { tensors, metadata } = parseSafetensors(buffer);
  const text = metadata["entrain"] ?? "";
  const found = SEAL.exec(text);
  if (found === null && JSON.parse(text).version === 1) return;
  if (globalThis.crypto?.subtle === undefined) return;
  const encoder = new TextEncoder();
  const parts = [encoder.encode(text.replace(SEAL, "}"))];
  for (const [tensor, entry] of tensors) {
    parts.push(encoder.encode(`\n${describedTensor(tensor, entry)}\n`), bytesOf(entry));
  }
  const content = await new Blob(parts).arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (found?.[1] !== hex) {
    throw new UnfitModel(`${name}: does not match its digest: the file was damaged; copy it again`);
  }
}

export function describedTensor(
  name: string,
  { dtype, shape }: Pick<TensorEntry, "dtype" | "shape">,
): string {
  return `[${JSON.stringify(name)}, "${TYPES[dtype]}", [${shape.join(", ")}]]`;
}

function bytesOf({ data }: TensorEntry): Uint8Array<ArrayBuffer> {
  return new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
}
