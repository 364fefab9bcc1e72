/** What the cut of a small graph is compared with: all camps where they are few, else local searches. */

import { Draws } from "../core/hardware/draws";
import type { Graph } from "./graph";

const MOST_EXACT = 20; // nodes whose camps are all tried
const SEARCHES = 500;

export interface Comparison {
  cut: number;
  exact: boolean;
}

/** The largest cut, or the best of 500 local searches where it would take too long. */
export function largestCut({ places, edges }: Graph): Comparison {
  const n = places.length;
  const neighbours: number[][] = Array.from({ length: n }, () => []);
  for (const [i, j] of edges) {
    neighbours[i]!.push(j);
    neighbours[j]!.push(i);
  }
  const exact = n <= MOST_EXACT;
  return { cut: exact ? enumerated(neighbours) : searched(neighbours, edges.length), exact };
}

/** What the cut gains when a node changes its camp. */
function gainOf(camps: Uint8Array, neighbours: number[][], i: number): number {
  return neighbours[i]!.reduce((sum, j) => sum + (camps[i] === camps[j] ? 1 : -1), 0);
}

/** Every division, the last node's camp fixed, each one change from the one before (Gray's code). */
function enumerated(neighbours: number[][]): number {
  const camps = new Uint8Array(neighbours.length);
  let [cut, best] = [0, 0];
  for (let k = 1; k < 2 ** (neighbours.length - 1); k++) {
    const i = 31 - Math.clz32(k & -k);
    cut += gainOf(camps, neighbours, i);
    camps[i]! ^= 1;
    best = Math.max(best, cut);
  }
  return best;
}

function searched(neighbours: number[][], edges: number): number {
  let best = 0;
  for (let search = 0; search < SEARCHES && best < edges; search++) {
    const draws = new Draws(search);
    const camps = Uint8Array.from(neighbours, (_, i) => Number(draws.uniform("srch", i) < 0.5));
    for (let improved = true; improved; ) {
      improved = false;
      neighbours.forEach((_, i) => {
        if (gainOf(camps, neighbours, i) <= 0) return;
        camps[i]! ^= 1;
        improved = true;
      });
    }
    const same = neighbours.reduce((sum, each, i) => sum + each.filter((j) => camps[i] !== camps[j]).length, 0);
    best = Math.max(best, same / 2);
  }
  return best;
}
