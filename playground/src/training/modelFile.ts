/** What was learnt as a model file of the package: entrain/models/model_file.py. */

import { describedTensor } from "../core/digest";
import type { Preprocessing } from "../core/types";
import { hardwareOf, type Chip } from "./onChip";
import { GAIN, type Dynamics } from "./trainer";
import type { Weights } from "./weights";

export interface Learnt {
  dataset: string;
  classNames: string[];
  preprocessing: Preprocessing;
  protocol: string;
  weights: Weights;
  dynamics: Dynamics;
  chip: Chip;
  details: Record<string, unknown>;
}

/** The bytes of a file that `entrain.load` and this page read. */
export async function modelFile(learnt: Learnt): Promise<ArrayBuffer> {
  const { weights } = learnt;
  const n = weights.hidden + weights.outputs;
  const tensors = [
    { name: "biases", shape: [n], data: weights.biases },
    { name: "couplings", shape: [n, n], data: weights.couplings },
    { name: "input_weights", shape: [weights.hidden, weights.inputs], data: weights.inputWeights },
  ];
  const text = await sealed(headerOf(learnt), tensors);
  const entries: Record<string, unknown> = { __metadata__: { entrain: text } };
  let end = 0;
  for (const { name, shape, data } of tensors) {
    entries[name] = { dtype: "F64", shape, data_offsets: [end, (end += data.byteLength)] };
  }
  const header = new TextEncoder().encode(JSON.stringify(entries));
  const file = new Uint8Array(8 + header.length + end);
  new DataView(file.buffer).setBigUint64(0, BigInt(header.length), true);
  file.set(header, 8);
  let at = 8 + header.length;
  for (const { data } of tensors) {
    file.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    at += data.byteLength;
  }
  return file.buffer;
}

function headerOf(learnt: Learnt): Record<string, unknown> {
  const { dataset, protocol, classNames, dynamics, preprocessing, chip, details } = learnt;
  const { mobility, observationTime, steps } = dynamics;
  const hardware = hardwareOf(chip);
  return {
    kind: "model",
    version: 2,
    dataset,
    protocol,
    class_names: classNames,
    dynamics: { mobility, observation_time: observationTime, steps },
    preprocessing: scalingOf(preprocessing),
    teacher_widths: null,
    details: { ...details, ...featureNames(preprocessing) },
    gain: GAIN,
    reject: null,
    trainable: [],
    ...(Object.keys(hardware).length === 0 ? {} : { hardware }),
  };
}

function scalingOf(preprocessing: Preprocessing): Record<string, unknown> {
  if (preprocessing.kind === "features") {
    const { mean, sd, factor } = preprocessing;
    return { mean: [...mean], sd: [...sd], factor };
  }
  const { rows, columns, mean, sd, testNorm } = preprocessing;
  return { image_shape: [rows, columns], pixel_max: 255, mean, sd, norm: testNorm, test_norm: testNorm };
}

function featureNames(preprocessing: Preprocessing): Record<string, unknown> {
  return preprocessing.kind === "features" ? { feature_names: preprocessing.names } : {};
}

/** The header's text with the digest of itself and of the tensors (by name) at its end. */
async function sealed(
  header: Record<string, unknown>,
  tensors: { name: string; shape: number[]; data: Float64Array }[],
): Promise<string> {
  if (globalThis.crypto?.subtle === undefined) {
    throw new Error("a page that came over plain http from another machine cannot sign a file");
  }
  const text = JSON.stringify(header);
  const parts: BlobPart[] = [text];
  for (const { name, shape, data } of tensors) {
    parts.push(`\n${describedTensor(name, { dtype: "F64", shape })}\n`, data as Float64Array<ArrayBuffer>);
  }
  const content = await new Blob(parts).arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${text.slice(0, -1)}, "digest": "${hex}"}`;
}
