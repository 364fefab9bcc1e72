/** A trained network from a file of the package, and what it makes of an image.
 *
 *     p = pixel / pixelMax,  z = (p - mean) / sd,  u = testNorm z / |z|
 *     b(u) = [ W u + c_hidden ; c_output ] */

import { isRecord, parseSafetensors, type Safetensors } from "./safetensors";
import { pairwiseSum } from "./sums";
import type { Model, NetworkParameters, Pixels, Preprocessing } from "./types";

const FORMAT_VERSIONS: unknown[] = [1, 2]; // the first had no digest
const KNOWN_TENSORS = new Set([
  "input_weights",
  "biases",
  "couplings",
  "graph",
  "frequencies",
  "start_phases",
  "injection",
  "lag",
]);

/** An image without content: every pixel is the same. */
export class EmptyImage extends Error {
  constructor() {
    super("the image is constant: it has no content to classify");
    this.name = "EmptyImage";
  }
}

/** The model of a file written by `Model.save` of the package; `name` is for the reader only. */
export function readModel(name: string, buffer: ArrayBuffer): Model {
  try {
    return checkedModel(name, parseSafetensors(buffer));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${name}: ${reason}`, { cause: error });
  }
}

/** Network inputs u (D) of an image of 0 to pixelMax, rounded to float32 as the package does. */
export function inputsOf(model: Model, pixels: Pixels): Float64Array {
  const { rows, columns, pixelMax, mean, sd, testNorm } = model.preprocessing;
  if (pixels.length !== model.inputs) {
    throw new Error(`an image must have ${rows} x ${columns} pixels, got ${pixels.length}`);
  }
  if (pixels.every((pixel) => pixel === pixels[0])) throw new EmptyImage();
  const z = Float64Array.from(pixels, (pixel) => (pixel / pixelMax - mean) / sd);
  const norm = Math.sqrt(pairwiseSum(z.map((value) => value * value)));
  return z.map((value) => Math.fround((testNorm * value) / norm));
}

/** Local fields b(u) (N) of inputs (D). */
export function fieldsOf(model: Model, inputs: Float64Array): Float64Array {
  const { hidden, inputWeights: weights } = model;
  const width = model.inputs;
  if (inputs.length !== width) {
    throw new Error(`there must be ${width} inputs, got ${inputs.length}`);
  }
  const fields = Float64Array.from(model.biases);
  for (let i = 0; i < hidden; i++) {
    const row = i * width;
    let sum = 0;
    for (let d = 0; d < width; d++) sum += weights[row + d]! * inputs[d]!;
    fields[i]! += sum;
  }
  return fields;
}

function checkedModel(name: string, file: Safetensors): Model {
  const header = headerOf(file.metadata);
  const parameters = parametersOf(file);
  const { inputs, outputs } = parameters;
  const dynamics = recordOf(header, "dynamics");
  const preprocessing = preprocessingOf(recordOf(header, "preprocessing"));
  if (preprocessing.rows * preprocessing.columns !== inputs) {
    throw new Error(
      `the images have ${preprocessing.rows} x ${preprocessing.columns} pixels, ` +
        `the network takes ${inputs} inputs`,
    );
  }
  const classNames = header["class_names"];
  if (!Array.isArray(classNames) || classNames.length !== outputs) {
    throw new Error(`there must be one class name for each of the ${outputs} outputs`);
  }
  const steps = positive(dynamics, "steps");
  if (!Number.isInteger(steps)) throw new Error(`steps must be a whole number, got ${steps}`);
  return {
    name,
    dataset: String(header["dataset"]),
    protocol: String(header["protocol"]),
    classNames: classNames.map(String),
    ...parameters,
    mobility: positive(dynamics, "mobility"),
    observationTime: positive(dynamics, "observation_time"),
    steps,
    preprocessing,
  };
}

function headerOf(metadata: Record<string, string>): Record<string, unknown> {
  const text = metadata["entrain"];
  if (text === undefined) throw new Error("a safetensors file without Entrain's header");
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch (error) {
    throw new Error("Entrain's header is not valid JSON", { cause: error });
  }
  if (!isRecord(header)) throw new Error("Entrain's header is not a JSON object");
  if (header["kind"] !== "model") {
    throw new Error(`the file holds a ${String(header["kind"])}, expected a model`);
  }
  if (!FORMAT_VERSIONS.includes(header["version"])) {
    throw new Error(
      `format version ${String(header["version"])}; this page reads ${FORMAT_VERSIONS.join(" and ")}`,
    );
  }
  return header;
}

function parametersOf(file: Safetensors): NetworkParameters {
  for (const name of file.tensors.keys()) {
    // A term that is unknown here must not be left out in silence.
    if (!KNOWN_TENSORS.has(name) && !name.startsWith("teacher.")) {
      throw new Error(`tensor ${name} is unknown to this page`);
    }
  }
  const weights = arrayOf(file, "input_weights", 2);
  const biases = arrayOf(file, "biases", 1).data;
  const couplings = arrayOf(file, "couplings", 2);
  const [hidden, inputs] = weights.shape as [number, number];
  const n = biases.length;
  if (n <= hidden) {
    throw new Error(`there are ${n} biases for ${hidden} hidden oscillators and the outputs`);
  }
  if (couplings.shape[0] !== n || couplings.shape[1] !== n) {
    throw new Error(`the couplings must be ${n} x ${n}, got ${couplings.shape.join(" x ")}`);
  }
  const graph = graphOf(file, n, hidden);
  checkCouplings(couplings.data, graph, n);
  const lag = file.tensors.has("lag") ? arrayOf(file, "lag", 0).data[0]! : 0;
  return {
    inputs,
    hidden,
    outputs: n - hidden,
    inputWeights: weights.data,
    biases,
    couplings: couplings.data,
    graph,
    frequencies: termOf(file, "frequencies", n),
    startPhases: termOf(file, "start_phases", n),
    injection: termOf(file, "injection", n),
    lag: lag === 0 ? null : lag,
  };
}

function arrayOf(
  file: Safetensors,
  name: string,
  dimensions: number,
): { shape: number[]; data: Float32Array } {
  const tensor = file.tensors.get(name);
  if (tensor === undefined) throw new Error(`tensor ${name} is missing`);
  const { data, dtype, shape } = tensor;
  if (!(data instanceof Float32Array)) {
    throw new Error(`tensor ${name} must be float32 (F32), got ${dtype}`);
  }
  if (shape.length !== dimensions || data.length === 0) {
    const expected = dimensions === 0 ? "be one number" : `have ${dimensions} axes`;
    throw new Error(`tensor ${name} must ${expected}, got ${shape.join(" x ")}`);
  }
  if (!data.every(Number.isFinite)) {
    throw new Error(`tensor ${name} must be finite, got NaN or infinity`);
  }
  return { shape, data };
}

/** One number for each of the n oscillators, or null where the file has none. */
function termOf(file: Safetensors, name: string, n: number): Float32Array | null {
  if (!file.tensors.has(name)) return null;
  const { data } = arrayOf(file, name, 1);
  if (data.length !== n) {
    throw new Error(`tensor ${name} must hold ${n} numbers, as there are biases, got ${data.length}`);
  }
  return data;
}

/** Which couplers exist (n, n): without a graph, between any two that are not both outputs. */
function graphOf(file: Safetensors, n: number, hidden: number): Uint8Array {
  const tensor = file.tensors.get("graph");
  if (tensor === undefined) {
    return Uint8Array.from({ length: n * n }, (_, k) => {
      const [i, j] = [Math.floor(k / n), k % n];
      return i !== j && (i < hidden || j < hidden) ? 1 : 0;
    });
  }
  const { data: graph, dtype, shape } = tensor;
  if (!(graph instanceof Uint8Array)) throw new Error(`tensor graph must be U8, got ${dtype}`);
  if (shape.length !== 2 || shape[0] !== n || shape[1] !== n) {
    throw new Error(`tensor graph must be ${n} x ${n}, got ${shape.join(" x ")}`);
  }
  for (let i = 0; i < n; i++) {
    for (let j = i; j < n; j++) {
      const value = graph[i * n + j]!;
      if (value > 1) throw new Error(`tensor graph must hold 0 and 1, got ${value}`);
      if (value !== graph[j * n + i]) {
        throw new Error(`the graph must be symmetric; it is not at ${i} and ${j}`);
      }
      if (value !== 0 && i === j) throw new Error(`the graph couples oscillator ${i} to itself`);
    }
  }
  return graph;
}

/** J must be symmetric, and zero where the graph has no coupler. */
function checkCouplings(couplings: Float32Array, graph: Uint8Array, n: number): void {
  for (let i = 0; i < n; i++) {
    for (let j = i; j < n; j++) {
      const value = couplings[i * n + j]!;
      if (value !== couplings[j * n + i]) {
        throw new Error(`the couplings must be symmetric; those of ${i} and ${j} differ`);
      }
      if (value !== 0 && graph[i * n + j] === 0) {
        throw new Error(`oscillators ${i} and ${j} must not be coupled, got ${value}`);
      }
    }
  }
}

function preprocessingOf(values: Record<string, unknown>): Preprocessing {
  const shape = values["image_shape"];
  if (!Array.isArray(shape) || shape.length !== 2 || !shape.every(Number.isInteger)) {
    throw new Error("image_shape must be two whole numbers");
  }
  const mean = values["mean"];
  if (typeof mean !== "number" || !Number.isFinite(mean)) throw new Error("mean must be finite");
  return {
    rows: shape[0] as number,
    columns: shape[1] as number,
    pixelMax: positive(values, "pixel_max"),
    mean,
    sd: positive(values, "sd"),
    testNorm: positive(values, "test_norm"),
  };
}

function recordOf(values: Record<string, unknown>, name: string): Record<string, unknown> {
  const value = values[name];
  if (!isRecord(value)) throw new Error(`Entrain's header has no ${name}`);
  return value;
}

function positive(values: Record<string, unknown>, name: string): number {
  const value = values[name];
  if (typeof value !== "number" || !Number.isFinite(value) || value <= 0) {
    throw new Error(`${name} must be a positive number, got ${String(value)}`);
  }
  return value;
}
