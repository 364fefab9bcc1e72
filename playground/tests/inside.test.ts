/** What is shown of the inside of a network: order, plane, pulls, order parameter. */

import { describe, expect, test } from "vitest";
import {
  couplingOrder,
  fieldsOf,
  inputsOf,
  onChip,
  orderParameter,
  phaseModelOf,
  placeIn,
  planeOf,
  projectedState,
  pullsOf,
  unchangedPhysics,
} from "../src/core";
import { farthest, gallery, run, shipped } from "./world";

const model = shipped("mnist-74");
const own = unchangedPhysics(model);
const n = model.hidden + model.outputs;
const fields = fieldsOf(model, inputsOf(model, gallery().get("mnist")![21]!.pixels));
const rollout = run(model, fields, own, { replicates: 1, sample: 0, shown: 0 });
const phasesAt = (t: number) => rollout.phases.slice(t * n, (t + 1) * n);

test("field and neighbours together move the phases", () => {
  const acting = phaseModelOf(onChip(model, own), fields, own);
  const dt = own.observationTime / own.steps;
  for (const t of [0, 50, 199]) {
    const { field, neighbours } = pullsOf(acting, phasesAt(t));
    const moved = phasesAt(t).map((phase, i) => phase + dt * model.mobility * (field[i]! + neighbours[i]!));
    expect(farthest(moved, phasesAt(t + 1))).toBeLessThan(1e-12);
  }
});

describe("the order of the couplings", () => {
  const order = couplingOrder(model);
  const J = model.couplings;

  test("holds every oscillator once, the outputs last and in their order", () => {
    expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: n }, (_, i) => i));
    expect([...order.slice(model.hidden)]).toEqual(Array.from({ length: 10 }, (_, o) => 64 + o));
  });

  test("puts those side by side that are coupled alike", () => {
    const roughness = (path: ArrayLike<number>): number => {
      let sum = 0;
      for (let k = 1; k < model.hidden; k++)
        for (let j = 0; j < n; j++) sum += Math.abs(J[path[k]! * n + j]! - J[path[k - 1]! * n + j]!);
      return sum;
    };
    const asTheyCome = Array.from({ length: n }, (_, i) => i);
    expect(roughness(order)).toBeLessThan(0.9 * roughness(asTheyCome));
  });
});

describe("the plane of a trajectory", () => {
  const states = Array.from({ length: 51 }, (_, k) => projectedState(phasesAt(4 * k)));
  const plane = planeOf(states);
  const [a, b] = [plane.axes.slice(0, 2 * n), plane.axes.slice(2 * n)];
  const dot = (x: Float64Array, y: Float64Array) => x.reduce((sum, value, d) => sum + value * y[d]!, 0);
  const along = (axis: Float64Array) =>
    states.reduce((sum, s) => sum + dot(s.map((v, d) => v - plane.mean[d]!), axis) ** 2, 0);

  test("has orthonormal axes, the first with the larger share", () => {
    expect([dot(a, a), dot(b, b), dot(a, b)].map((v) => Math.abs(Math.round(v * 1e9) / 1e9))).toEqual([1, 1, 0]);
    expect(plane.shares[0]).toBeGreaterThan(plane.shares[1]);
    expect(plane.shares[0] + plane.shares[1]).toBeLessThanOrEqual(1 + 1e-12);
  });

  test("no direction between them or beside them holds more", () => {
    const most = along(a);
    for (let k = 1; k < 40; k++) {
      const other = Float64Array.from({ length: 2 * n }, (_, d) => Math.cos(k * d + k));
      const length = Math.sqrt(dot(other, other));
      expect(along(other.map((v) => v / length))).toBeLessThan(most);
      const tilt = a.map((v, d) => (v + (0.1 * k * other[d]!) / length) / 1);
      const size = Math.sqrt(dot(tilt, tilt));
      expect(along(tilt.map((v) => v / size))).toBeLessThanOrEqual(most * (1 + 1e-9));
    }
  });

  test("places: a full turn is no way", () => {
    const turned = phasesAt(10).map((phase, i) => phase + (i % 3) * 2 * Math.PI);
    expect(farthest(placeIn(plane, turned), placeIn(plane, phasesAt(10)))).toBeLessThan(1e-9);
  });
});

test("the order parameter is 1 in unison and 0 on a balanced circle", () => {
  expect(orderParameter(new Float64Array(5).fill(2))).toEqual({ size: expect.closeTo(1), angle: expect.closeTo(2) });
  const spread = Float64Array.from({ length: 8 }, (_, i) => (i * Math.PI) / 4);
  expect(orderParameter(spread).size).toBeLessThan(1e-12);
});
