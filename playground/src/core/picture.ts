import type { Pixels } from "./types";

export function prepare(grey: Float64Array, rows: number, columns: number): Pixels | null {
  throw new Error(`not implemented ${grey.length} ${rows} ${columns}`);
}

export function normalisePolarity(grey: Float64Array, rows: number, columns: number): Float64Array {
  throw new Error(`not implemented ${grey.length} ${rows} ${columns}`);
}

export function fromRgba(data: Uint8ClampedArray, width: number, height: number): Float64Array {
  throw new Error(`not implemented ${data.length} ${width} ${height}`);
}
