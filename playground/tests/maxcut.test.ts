/** Cuts of small graphs: known largest ones, and what the oscillators reach. */

import { expect, test } from "vitest";
import { cutOf, graphOf, withEdgeToggled, withNode } from "../src/maxcut/graph";
import { Machine } from "../src/maxcut/machine";
import { largestCut } from "../src/maxcut/search";

/** Largest cuts: an odd ring leaves one edge, a grid none, the Petersen graph three. */
const LARGEST = { ring: 14, grid: 60, Petersen: 12 } as const;

test.each(["ring", "grid", "Petersen"] as const)("%s: the known largest cut is found", (name) => {
  expect(largestCut(graphOf(name, 0)).cut).toBe(LARGEST[name]);
});

test.each(["ring", "grid", "Petersen"] as const)("%s: annealed oscillators cut it, in the best of ten", (name) => {
  const cuts = Array.from({ length: 10 }, (_, seed) => {
    const machine = new Machine(graphOf(name, 0), seed);
    for (let k = 1; k <= 150; k++) {
      machine.ramp(k / 150);
      machine.run(4);
    }
    return machine.cut;
  });
  expect(Math.max(...cuts)).toBe(LARGEST[name]);
});

test("injection leaves every phase at 0 or pi", () => {
  const machine = new Machine(graphOf("random", 0), 1);
  machine.injection = 1.5;
  machine.run(2000);
  for (const phase of machine.phases) expect(Math.abs(Math.sin(phase))).toBeLessThan(1e-3);
});

test("two oscillators on an edge come to rest in different camps", () => {
  let graph = { places: [] as [number, number][], edges: [] as [number, number][] };
  graph = withEdgeToggled(withNode(withNode(graph, [0, 0]), [1, 1]), 1, 0);
  expect(graph.edges).toEqual([[0, 1]]);
  const machine = new Machine(graph, 3);
  machine.run(500);
  expect(cutOf(graph.edges, machine.camps)).toBe(1);
  expect(withEdgeToggled(graph, 0, 1).edges).toEqual([]);
});
