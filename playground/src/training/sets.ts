/** Points of the plane to learn: in about [-1, 1] x [-1, 1], each with a class. */

import { Draws } from "../core/hardware/draws";

export interface Points {
  rows: Float64Array; // (M, 2)
  labels: Uint8Array; // (M)
}

export const SETS = ["moons", "circles", "spirals", "blobs"] as const;
export type SetName = (typeof SETS)[number];

export const CLASSES: Readonly<Record<SetName, number>> = { moons: 2, circles: 2, spirals: 2, blobs: 3 };
const COUNT = 240;

/** A point of a class without its spread, from a place from 0 to 1 along the class. */
const SHAPES: Record<SetName, (label: number, along: number) => [number, number]> = {
  moons: (label, along) => {
    const angle = Math.PI * along;
    const [x, y] = label === 0 ? [Math.cos(angle), Math.sin(angle)] : [1 - Math.cos(angle), 0.5 - Math.sin(angle)];
    return [(x - 0.5) / 1.5, (y - 0.25) / 1.5];
  },
  circles: (label, along) => {
    const [angle, radius] = [2 * Math.PI * along, label === 0 ? 0.85 : 0.35];
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  },
  spirals: (label, along) => {
    const [radius, angle] = [0.1 + 0.85 * along, 2.6 * Math.PI * along * 0.75 + Math.PI * label];
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  },
  blobs: (label) => {
    const angle = (2 * Math.PI * label) / 3 + Math.PI / 2;
    return [0.55 * Math.cos(angle), 0.55 * Math.sin(angle)];
  },
};
const SPREADS: Record<SetName, number> = { moons: 0.08, circles: 0.07, spirals: 0.03, blobs: 0.16 };

/** A set drawn by a seed, its classes in turn. */
export function pointsOf(name: SetName, seed: number): Points {
  const draws = new Draws(seed);
  const classes = CLASSES[name];
  const rows = new Float64Array(2 * COUNT);
  const labels = Uint8Array.from({ length: COUNT }, (_, i) => i % classes);
  labels.forEach((label, i) => {
    const place = SHAPES[name](label, draws.uniform("pnts", i));
    place.forEach((value, d) => (rows[2 * i + d] = value + SPREADS[name] * draws.normal("pntn", i, d)));
  });
  return { rows, labels };
}
