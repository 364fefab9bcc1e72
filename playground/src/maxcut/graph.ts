/** Small graphs to cut: nodes with places from 0 to 1, and edges i < j. */

import { Draws } from "../core/hardware/draws";

export const MOST_NODES = 64;

export interface Graph {
  places: [number, number][];
  edges: [number, number][];
}

export const GRAPHS = ["ring", "grid", "Petersen", "random", "drawn"] as const;
export type GraphName = (typeof GRAPHS)[number];

const TAU = 2 * Math.PI;

/** A graph by its name; the seed draws the random one. */
export function graphOf(name: Exclude<GraphName, "drawn">, seed: number): Graph {
  if (name === "ring") return { places: circle(15, 0.42), edges: ringEdges(15) };
  if (name === "grid") return grid(6);
  return name === "Petersen" ? petersen() : randomGraph(40, 90, seed);
}

function circle(count: number, radius: number): [number, number][] {
  return Array.from({ length: count }, (_, i) => [
    0.5 + radius * Math.sin((TAU * i) / count),
    0.5 - radius * Math.cos((TAU * i) / count),
  ]);
}

function ringEdges(count: number): [number, number][] {
  return Array.from({ length: count }, (_, i) => ordered(i, (i + 1) % count));
}

function grid(side: number): Graph {
  const places: [number, number][] = [];
  const edges: [number, number][] = [];
  for (let i = 0; i < side * side; i++) {
    const [row, column] = [Math.floor(i / side), i % side];
    places.push([(column + 0.5) / side, (row + 0.5) / side]);
    if (column + 1 < side) edges.push([i, i + 1]);
    if (row + 1 < side) edges.push([i, i + side]);
  }
  return { places, edges };
}

/** Five outer and five inner nodes; no more than 12 of its 15 edges can be cut. */
function petersen(): Graph {
  const spokes = Array.from({ length: 5 }, (_, i): [number, number] => [i, i + 5]);
  const inner = Array.from({ length: 5 }, (_, i) => ordered(5 + i, 5 + ((i + 2) % 5)));
  return { places: [...circle(5, 0.42), ...circle(5, 0.2)], edges: [...ringEdges(5), ...spokes, ...inner] };
}

/** Nodes on a circle, and so many different edges drawn among them. */
function randomGraph(nodes: number, count: number, seed: number): Graph {
  const draws = new Draws(seed);
  const keyed: [number, [number, number]][] = [];
  for (let i = 0; i < nodes; i++) {
    for (let j = i + 1; j < nodes; j++) keyed.push([draws.uniform("edge", i, j), [i, j]]);
  }
  keyed.sort(([a], [b]) => a - b);
  return { places: circle(nodes, 0.45), edges: keyed.slice(0, count).map(([, edge]) => edge) };
}

function ordered(i: number, j: number): [number, number] {
  return i < j ? [i, j] : [j, i];
}

/** The graph with a node more, or itself where it has as many as it may. */
export function withNode({ places, edges }: Graph, place: [number, number]): Graph {
  return places.length >= MOST_NODES ? { places, edges } : { places: [...places, place], edges };
}

/** The graph with an edge more, or without it if it was there. */
export function withEdgeToggled({ places, edges }: Graph, a: number, b: number): Graph {
  const [i, j] = ordered(a, b);
  const rest = edges.filter(([p, q]) => p !== i || q !== j);
  return { places, edges: rest.length < edges.length ? rest : [...edges, [i, j]] };
}

/** Edges whose ends are in different camps. */
export function cutOf(edges: [number, number][], camps: ArrayLike<number>): number {
  return edges.reduce((sum, [i, j]) => sum + Number(camps[i] !== camps[j]), 0);
}
