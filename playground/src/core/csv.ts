/** Comma-separated values (RFC 4180), with a point in numbers, whatever the visitor's language. */

import type { Rollout } from "./types";

export type Cell = string | number;

export function csvOf(header: string[], rows: Iterable<Cell[]>): string {
  const lines = [header, ...rows].map((row) => row.map(cellOf).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

function cellOf(cell: Cell): string {
  const text = typeof cell === "number" ? (Number.isFinite(cell) ? String(cell) : "") : inert(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A name that a spreadsheet would run as a formula is marked as text. */
function inert(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

/** A trajectory: time, the energy, every phase (rad) and cos(theta) of every output, of an ensemble
 * the mean; one line for each grid time. */
export function trajectoryCsv(
  rollout: Rollout,
  { hidden, classNames }: { hidden: number; classNames: string[] },
  observationTime: number,
): string {
  const { steps, phases, activations, energy } = rollout;
  const outputs = classNames.length;
  const n = hidden + outputs;
  const names = Array.from({ length: n }, (_, i) =>
    i < hidden ? `theta hidden ${i}` : `theta output ${classNames[i - hidden]}`,
  );
  const header = ["t", "energy", ...names, ...classNames.map((name) => `cos output ${name}`)];
  const rows = Array.from({ length: steps + 1 }, (_, k) => [
    Number(((observationTime * k) / steps).toPrecision(12)),
    energy[k]!,
    ...phases.subarray(k * n, (k + 1) * n),
    ...activations.subarray(k * outputs, (k + 1) * outputs),
  ]);
  return csvOf(header, rows);
}
