/** The safetensors format: an 8-byte little-endian header length, a JSON header, then the data.
 *
 * Read defensively: every length and offset is checked before it is used, so that a truncated,
 * foreign or corrupt file ends in an Error that says what is wrong. */

export type Dtype = "F32" | "F64" | "U8" | "I64";
export type TensorData = Float32Array | Float64Array | Uint8Array | BigInt64Array;

export interface TensorEntry {
  dtype: Dtype;
  shape: number[];
  data: TensorData; // row-major, a copy of its own
}

export interface Safetensors {
  tensors: Map<string, TensorEntry>;
  metadata: Record<string, string>;
}

const LARGEST_HEADER = 4 * 1024 * 1024; // bytes
const BYTES: Record<Dtype, number> = { F32: 4, F64: 8, U8: 1, I64: 8 };

/** The tensors and the metadata of a safetensors file. */
export function parseSafetensors(buffer: ArrayBuffer): Safetensors {
  if (buffer.byteLength < 8) {
    throw new Error(`not a safetensors file: ${buffer.byteLength} bytes, too short for a header`);
  }
  const length = new DataView(buffer).getBigUint64(0, true);
  if (length > BigInt(LARGEST_HEADER)) {
    throw new Error(
      `not a safetensors file: its header would have ${length} bytes, at most ${LARGEST_HEADER}`,
    );
  }
  const start = 8 + Number(length);
  if (start > buffer.byteLength) {
    throw new Error(
      `the file is truncated: the header ends at byte ${start}, the file at ${buffer.byteLength}`,
    );
  }
  const header = parsedHeader(new Uint8Array(buffer, 8, Number(length)));
  const metadata = checkedMetadata(header.get("__metadata__"));
  header.delete("__metadata__");

  const size = buffer.byteLength - start;
  const entries = [...header].map(([name, value]) => checkedEntry(name, value, size));
  checkCover(entries, size);
  // By name: the file's order is that of its data.
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const tensors = new Map<string, TensorEntry>();
  for (const { name, dtype, shape, begin, end } of entries) {
    // A copy: a typed array's offset must be a multiple of its element size.
    tensors.set(name, {
      dtype,
      shape,
      data: view(dtype, buffer.slice(start + begin, start + end)),
    });
  }
  return { tensors, metadata };
}

interface Entry {
  name: string;
  dtype: Dtype;
  shape: number[];
  begin: number; // bytes from the start of the data
  end: number;
}

function parsedHeader(bytes: Uint8Array): Map<string, unknown> {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new Error("not a safetensors file: its header is not valid JSON", { cause: error });
  }
  if (!isRecord(header)) {
    throw new Error("not a safetensors file: its header is not a JSON object");
  }
  return new Map(Object.entries(header));
}

function checkedMetadata(value: unknown): Record<string, string> {
  if (value === undefined) return {};
  if (!isRecord(value) || !Object.values(value).every((each) => typeof each === "string")) {
    throw new Error("the metadata of the safetensors file must map names to texts");
  }
  return value as Record<string, string>;
}

function checkedEntry(name: string, value: unknown, size: number): Entry {
  if (!isRecord(value)) throw new Error(`tensor ${name}: its entry is not a JSON object`);
  const { dtype, shape, data_offsets: offsets } = value;
  if (typeof dtype !== "string" || !Object.hasOwn(BYTES, dtype)) {
    throw new Error(
      `tensor ${name}: its type is ${String(dtype)}, expected ${Object.keys(BYTES).join(", ")}`,
    );
  }
  if (!isCounts(shape)) throw new Error(`tensor ${name}: its shape must be whole numbers`);
  if (!isCounts(offsets) || offsets.length !== 2) {
    throw new Error(`tensor ${name}: its offsets must be two whole numbers`);
  }
  const [begin, end] = offsets as [number, number];
  if (begin > end || end > size) {
    throw new Error(
      `tensor ${name}: its data would lie in bytes ${begin} to ${end}, the file holds ${size}; ` +
        "the file may be truncated",
    );
  }
  const bytes = shape.reduce((product, side) => product * side, BYTES[dtype as Dtype]);
  if (bytes !== end - begin) {
    throw new Error(
      `tensor ${name}: its shape ${shape.join(" x ")} takes ${bytes} bytes, not ${end - begin}`,
    );
  }
  return { name, dtype: dtype as Dtype, shape, begin, end };
}

/** The tensors must cover the data without overlap and without holes. */
function checkCover(entries: Entry[], size: number): void {
  entries.sort((a, b) => a.begin - b.begin || a.end - b.end);
  let reached = 0;
  for (const { name, begin, end } of entries) {
    if (begin < reached) throw new Error(`tensor ${name}: its data overlaps another tensor's`);
    if (begin > reached) throw new Error(`tensor ${name}: unused bytes lie before its data`);
    reached = end;
  }
  if (reached !== size) {
    throw new Error(`the file holds ${size} bytes of data, its header describes ${reached}`);
  }
}

/** Little-endian data as a typed array: the byte order of every platform a browser runs on. */
function view(dtype: Dtype, bytes: ArrayBuffer): TensorData {
  switch (dtype) {
    case "F32":
      return new Float32Array(bytes);
    case "F64":
      return new Float64Array(bytes);
    case "U8":
      return new Uint8Array(bytes);
    case "I64":
      return new BigInt64Array(bytes);
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((each) => Number.isSafeInteger(each) && each >= 0);
}
