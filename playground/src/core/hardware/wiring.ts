/** Which couplers a chip has, and how many of them a network may use. */

import type { Hardware, Wiring } from "./hardware";
import type { Realised } from "./realised";

/** The network with the couplers of the chip alone. */
export function wired(network: Realised, wiring: Wiring): Realised {
  if (isLayered(wiring)) return network;
  const graph = graphOf(wiring, network.hidden, network.outputs);
  return {
    ...network,
    couplings: Float64Array.from(network.couplings, (value, k) => value * graph[k]!),
    graph: network.graph.map((there, k) => there & graph[k]!),
  };
}

/** Whether the chip has every coupler that a network may have. */
export function isLayered({ kind = "layered", mask }: Wiring): boolean {
  return (kind === "layered" || kind === "all-to-all") && mask === undefined;
}

/** The couplers (n, n) between the oscillators of a network, each at its place on the chip: the
 * outputs at the last places, or spread evenly over it. */
export function graphOf(wiring: Wiring, hidden: number, outputs: number): Uint8Array {
  const n = hidden + outputs;
  const graph = placesJoined(wiring, n);
  if (wiring.outputs !== "spread") return graph;
  const chosen = Array.from({ length: outputs }, (_, k) => Math.floor(((2 * k + 1) * n) / (2 * outputs)));
  const others = Array.from({ length: n }, (_, place) => place).filter((each) => !chosen.includes(each));
  const places = [...others, ...chosen];
  return graph.map((_, k) => graph[places[Math.floor(k / n)]! * n + places[k % n]!]!);
}

/** The couplers (n, n) between n places of a wiring; throws where a network has no place on it. */
function placesJoined(wiring: Wiring, n: number): Uint8Array {
  const { kind = "layered", degree = 2, mask } = wiring;
  const graph = new Uint8Array(n * n);
  const join = (i: number, j: number): void => {
    graph[i * n + j] = graph[j * n + i] = 1;
  };
  if (mask === undefined && (kind === "ring" || kind === "random") && degree >= n) {
    throw new Error(`the degree must be below the ${n} oscillators, got ${degree}`);
  }
  if (mask !== undefined) {
    for (const [i, j] of mask) {
      if (j >= n) throw new Error(`the mask has the coupler (${i}, ${j}), the network ${n} oscillators`);
      join(i, j);
    }
  } else if (kind === "ring") {
    for (let i = 0; i < n; i++) {
      for (let step = 1; step <= degree / 2; step++) join(i, (i + step) % n);
    }
  } else {
    const coupled = GRIDS[kind];
    if (coupled === undefined) throw new Error(`a ${kind} wiring cannot be drawn here`);
    for (let i = 0; i < n; i++) {
      for (let j = i + 1; j < n; j++) if (coupled(n, i, j)) join(i, j);
    }
  }
  return graph;
}

const GRIDS: Record<string, (n: number, i: number, j: number) => boolean> = {
  "all-to-all": () => true,
  layered: () => true, // none between outputs is the network's own
  kings: (n, i, j) => {
    const side = sideOf(n);
    const [[row, column], [other, otherColumn]] = [divmod(i, side), divmod(j, side)];
    return Math.max(Math.abs(row - other), Math.abs(column - otherColumn)) === 1;
  },
  hexagonal: (n, i, j) => {
    const side = sideOf(n);
    const [[row, column], [other, otherColumn]] = [divmod(i, side), divmod(j, side)];
    const across = otherColumn - column;
    if (row === other) return Math.abs(across) === 1;
    const shift = row % 2; // odd rows are shifted by half a place to the right
    return Math.abs(row - other) === 1 && (across === shift - 1 || across === shift);
  },
  chimera: (n, i, j) => {
    const cells = sideOf(Math.ceil(n / 8));
    const [[cell, place], [other, otherPlace]] = [divmod(i, 8), divmod(j, 8)];
    if (cell === other) return place < 4 !== otherPlace < 4;
    if (place !== otherPlace) return false;
    const [[row, column], [otherRow, otherColumn]] = [divmod(cell, cells), divmod(other, cells)];
    return place < 4
      ? column === otherColumn && Math.abs(row - otherRow) === 1
      : row === otherRow && Math.abs(column - otherColumn) === 1;
  },
};

/** Columns of the squarest grid that holds n places. */
function sideOf(n: number): number {
  return Math.floor(Math.sqrt(Math.max(n, 1) - 1)) + 1;
}

function divmod(a: number, b: number): [number, number] {
  return [Math.floor(a / b), a % b];
}

/** The network with the share `kept` of its graph's couplers, those with the largest |J_ij|; of two
 * alike the first. */
export function pruned(network: Realised, { kept = 1 }: NonNullable<Hardware["sparsity"]>): Realised {
  if (kept === 1) return network;
  const n = network.hidden + network.outputs;
  const places: number[] = [];
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) if (network.graph[i * n + j] === 1) places.push(i * n + j);
  }
  const count = Math.max(1, halfToEven(kept * places.length));
  const size = (k: number): number => Math.abs(network.couplings[k]!);
  const couplings = new Float64Array(n * n);
  for (const k of places.sort((a, b) => size(b) - size(a) || a - b).slice(0, count)) {
    const mirrored = (k % n) * n + Math.floor(k / n);
    couplings[k] = network.couplings[k]!;
    couplings[mirrored] = network.couplings[mirrored]!;
  }
  return { ...network, couplings };
}

/** The nearest whole number, halves to the even one, as Python's round. */
function halfToEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below;
}
