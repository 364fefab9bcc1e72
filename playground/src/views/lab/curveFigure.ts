/** One curve of accuracy for each network. */

import { makeSvg } from "../../dom";
import { csvOf } from "../../core/csv";
import type { Axis, Curve } from "../../lab/curves";
import { palette } from "../theme";
import { colourOf, grid, scale, ticksBetween, type Box } from "./axes";
import type { FigureContent } from "./figure";

/** `now` is where the chips of the page are on the axis, null where that is no point of it. */
export function curveFigure(
  axis: Axis,
  curves: Curve[],
  names: string[],
  now: number | null,
): FigureContent {
  const ends = curves.map(({ accuracies }, k) => {
    const shown = accuracies.filter(Number.isFinite);
    return `${names[k]}: ${shown.map((each) => each.toFixed(1)).join(", ")}`;
  });
  return {
    height: 190,
    label: `Accuracy in percent against ${axis.label}, from ${axis.values[0]} to ${axis.values.at(-1)}. ${ends.join("; ")}.`,
    csv: () =>
      csvOf(
        [axis.label, ...names.map((name) => `accuracy % of ${name}`)],
        axis.values.map((value, place) => [value, ...curves.map((each) => each.accuracies[place]!)]),
      ),
    paint: (drawing, width) => paint(drawing, width, axis, curves, now),
  };
}

function paint(
  drawing: SVGSVGElement,
  width: number,
  axis: Axis,
  curves: Curve[],
  now: number | null,
): void {
  const box: Box = { left: 30, right: width - 12, top: 10, bottom: 152 };
  const [first, last] = [axis.ticks[0]!, axis.ticks.at(-1)!];
  const lowest = Math.min(100, ...curves.flatMap(({ accuracies }) => accuracies.filter(Number.isFinite)));
  const floor = Math.max(0, Math.floor((lowest - 2) / 10) * 10);
  const x = scale(first, last, box.left + 4, box.right - 4);
  const y = scale(floor, 100, box.bottom, box.top);
  drawing.append(...grid(box, y, ticksBetween(floor, 100, 5), x, axis.ticks, axis.label));
  if (now !== null && now >= first && now <= last) {
    const dashes = { "stroke-dasharray": "3 3", stroke: palette().muted };
    drawing.append(makeSvg("line", { x1: x(now), x2: x(now), y1: box.top, y2: box.bottom, ...dashes }));
  }
  curves.forEach(({ values, accuracies }, k) => {
    const points = values.flatMap((value, place) =>
      Number.isFinite(accuracies[place]) ? [`${x(value)},${y(accuracies[place]!)}`] : [],
    );
    drawing.append(
      makeSvg("polyline", {
        points: points.join(" "),
        fill: "none",
        stroke: colourOf(k),
        "stroke-width": 2,
        "stroke-dasharray": k === 0 ? "none" : "6 3",
      }),
      ...points.map((point) => {
        const [cx, cy] = point.split(",") as [string, string];
        return makeSvg("circle", { cx, cy, r: 2.5, fill: colourOf(k) });
      }),
    );
  });
}
