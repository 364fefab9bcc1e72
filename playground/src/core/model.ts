/** A trained network from a file of the package, and its local fields.
 *
 *     b(u) = [ W u + c_hidden ; c_output ] */

import { cardOf } from "./card";
import { positive, preprocessingOf, recordOf } from "./preprocessing";
import { isRecord, parseSafetensors, type Safetensors } from "./safetensors";
import type { RejectOption } from "./reject";
import type { Harmonic, Model, NetworkParameters, Numbers } from "./types";

/** The largest networks that the page simulates: at the limits a run took 0.8 s on two busy cores,
 * twice that with a second harmonic. `entrain play` has the same limits
 * (entrain/playground/files.py). */
export const MOST_OSCILLATORS = 512;
const MOST_INPUTS = 65_536;

/** Euler steps that a network of n oscillators, each a product with J (n, n), may take. */
function mostSteps(n: number): number {
  return Math.floor(2 ** 28 / Math.max(n, 128) ** 2);
}

const LONGEST_NAME = 200;
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
  "harmonic",
]);

/** A file that is no model, or one that this page cannot show. */
export class UnfitModel extends Error {}

/** The model of a file written by `Model.save` of the package; `name` is for the reader only. */
export function readModel(name: string, buffer: ArrayBuffer): Model {
  try {
    return checkedModel(name, parseSafetensors(buffer));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UnfitModel(`${name}: ${reason}`, { cause: error });
  }
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
  const preprocessing = preprocessingOf(header, inputs);
  const classNames = header["class_names"];
  if (!Array.isArray(classNames) || classNames.length !== outputs) {
    throw new Error(`there must be one class name for each of the ${outputs} outputs`);
  }
  const steps = positive(dynamics, "steps");
  if (!Number.isInteger(steps)) throw new Error(`steps must be a whole number, got ${steps}`);
  const n = parameters.hidden + outputs;
  if (steps > mostSteps(n)) {
    throw tooMany(`${steps} Euler steps of ${n} oscillators`, mostSteps(n));
  }
  return {
    name,
    dataset: String(header["dataset"]),
    protocol: String(header["protocol"]),
    classNames: classNames.map((each) => String(each).slice(0, LONGEST_NAME)),
    ...parameters,
    mobility: positive(dynamics, "mobility"),
    observationTime: positive(dynamics, "observation_time"),
    steps,
    preprocessing,
    reject: rejectOf(file, header["reject"], inputs),
    madeFor: header["hardware"] ?? null,
    card: cardOf(header["details"]),
  };
}

/** When the model should not be believed; files of earlier versions do not say. */
function rejectOf(file: Safetensors, values: unknown, inputs: number): RejectOption | null {
  if (values === undefined || values === null) return null;
  if (!isRecord(values)) throw new Error("reject must be an object");
  const mean = arrayOf(file, "reject.mean", 1).data;
  const variances = arrayOf(file, "reject.variances", 1).data;
  const { data: directions, shape } = arrayOf(file, "reject.directions", 2);
  if (mean.length !== inputs || shape[1] !== inputs || shape[0] !== variances.length) {
    throw new Error(`the reject option must have directions of ${inputs} inputs`);
  }
  const least = values["margin"];
  if (typeof least !== "number") throw new Error("the reject option has no margin");
  const [distance, rest] = [positive(values, "distance"), positive(values, "rest")];
  const contrast = values["contrast"] ?? 0; // files of earlier versions have none
  if (typeof contrast !== "number") throw new Error("the least contrast must be a number");
  return { margin: least, distance, rest, mean, directions, variances, contrast };
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
    if (!KNOWN_TENSORS.has(name) && !/^(teacher|reject)\./.test(name)) {
      throw new Error(`tensor ${name} is unknown to this page`);
    }
  }
  const weights = arrayOf(file, "input_weights", 2);
  const biases = arrayOf(file, "biases", 1).data;
  const couplings = arrayOf(file, "couplings", 2);
  const [hidden, inputs] = weights.shape as [number, number];
  const n = biases.length;
  if (n > MOST_OSCILLATORS) throw tooMany(`${n} oscillators`, MOST_OSCILLATORS);
  if (inputs > MOST_INPUTS) throw tooMany(`${inputs} inputs`, MOST_INPUTS);
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
    harmonic: harmonicOf(file),
  };
}

function tooMany(found: string, most: number): Error {
  return new Error(`it has ${found}; this page simulates ${most} at most`);
}

function arrayOf(
  file: Safetensors,
  name: string,
  dimensions: number,
): { shape: number[]; data: Numbers } {
  const tensor = file.tensors.get(name);
  if (tensor === undefined) throw new Error(`tensor ${name} is missing`);
  const { data, dtype, shape } = tensor;
  if (!(data instanceof Float32Array || data instanceof Float64Array)) {
    throw new Error(`tensor ${name} must be float32 or float64, got ${dtype}`);
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
function termOf(file: Safetensors, name: string, n: number): Numbers | null {
  if (!file.tensors.has(name)) return null;
  const { data } = arrayOf(file, name, 1);
  if (data.length !== n) {
    throw new Error(`tensor ${name} must hold ${n} numbers, as there are biases, got ${data.length}`);
  }
  return data;
}

/** c and d of the coupling function, or null where the file has none or zeros. */
function harmonicOf(file: Safetensors): Harmonic | null {
  if (!file.tensors.has("harmonic")) return null;
  const { data } = arrayOf(file, "harmonic", 1);
  if (data.length !== 2) throw new Error(`tensor harmonic must hold 2 numbers, got ${data.length}`);
  return data.some((value) => value !== 0) ? [data[0]!, data[1]!] : null;
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
function checkCouplings(couplings: Numbers, graph: Uint8Array, n: number): void {
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
