/** Axes and words of the lab's drawings, with their colours as attributes so that a saved file has
 * them. */

import { makeSvg } from "../../dom";
import { palette } from "../theme";

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** A scale from numbers to pixels. */
export function scale(from: number, to: number, first: number, last: number): (x: number) => number {
  return (x) => first + ((x - from) / (to - from || 1)) * (last - first);
}

type Anchor = "start" | "middle" | "end";

export function text(
  words: string,
  x: number,
  y: number,
  anchor: Anchor,
  fill = palette().muted,
): SVGTextElement {
  const element = makeSvg("text", { x, y, fill, "text-anchor": anchor });
  element.textContent = words;
  return element;
}

export function line(
  x1: number,
  y1: number,
  x2: number,
  y2: number,
  stroke = palette().line,
  width = 1,
): SVGLineElement {
  return makeSvg("line", { x1, y1, x2, y2, stroke, "stroke-width": width });
}

/** Horizontal lines with their numbers on the left, and numbers below. */
export function grid(
  box: Box,
  y: (value: number) => number,
  yTicks: number[],
  x: (value: number) => number,
  xTicks: number[],
  xLabel: string,
): SVGElement[] {
  const middle = (box.left + box.right) / 2;
  return [
    ...yTicks.flatMap((tick) => [
      line(box.left, y(tick), box.right, y(tick)),
      text(String(tick), box.left - 5, y(tick) + 4, "end"),
    ]),
    ...xTicks.map((tick) => text(String(tick), x(tick), box.bottom + 14, "middle")),
    text(xLabel, middle, box.bottom + 29, "middle"),
  ];
}

/** About `count` round numbers between two. */
export function ticksBetween(from: number, to: number, count: number): number[] {
  const rough = (to - from || 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough)!;
  const found: number[] = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + 1e-9; k++) {
    found.push(Number((k * step).toPrecision(10)));
  }
  return found;
}

/** Of the first network and of the one beside it; also told apart by dashes. */
export function colourOf(subject: number): string {
  const { positive, negative } = palette();
  return `rgb(${(subject === 0 ? positive : negative).join(" ")})`;
}
