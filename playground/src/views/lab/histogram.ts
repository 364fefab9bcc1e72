/** How many chips have which accuracy, and where the threshold is. */

import { makeSvg } from "../../dom";
import { csvOf } from "../../core/csv";
import { binsOf } from "../../core/yield";
import type { Batch } from "../../lab/chips";
import { palette } from "../theme";
import { colourOf, grid, line, scale, text, ticksBetween, type Box } from "./axes";
import type { FigureContent } from "./figure";

export function histogram(batch: Batch, names: string[], threshold: number): FigureContent {
  return {
    height: 220,
    label: `Histogram of the accuracy of ${batch.seeds.length} chips. ${names
      .map((name, k) => `${name}: ${Math.min(...batch.accuracies[k]!)} to ${Math.max(...batch.accuracies[k]!)} percent`)
      .join("; ")}.`,
    csv: () =>
      csvOf(
        ["chip", ...names.map((name) => `accuracy % of ${name}`)],
        batch.seeds.map((seed, c) => [seed, ...batch.accuracies.map((each) => each[c]!)]),
      ),
    paint: (drawing, width) => paint(drawing, width, batch, threshold),
  };
}

function paint(drawing: SVGSVGElement, width: number, batch: Batch, threshold: number): void {
  const box: Box = { left: 30, right: width - 14, top: 18, bottom: 182 };
  const all = batch.accuracies.flat();
  const bins = binsOf(all);
  const step = bins[0]!.to - bins[0]!.from;
  const from = Math.min(bins[0]!.from, threshold - step);
  const to = Math.min(Math.max(bins.at(-1)!.to, threshold + step), 100 + step);
  const counts = batch.accuracies.map((each) =>
    bins.map((bin) => each.filter((value) => value >= bin.from && value < bin.to).length),
  );
  const most = Math.max(4, ...counts.flat());
  const x = scale(from, to, box.left, box.right);
  const y = scale(0, most, box.bottom, box.top);
  const xTicks = ticksBetween(from, Math.min(to, 100), Math.max(3, Math.floor(width / 70)));
  const yTicks = ticksBetween(0, most, 4).filter(Number.isInteger);
  drawing.append(...grid(box, y, yTicks, x, xTicks, "accuracy of a chip, %"));
  counts.forEach((heights, k) => {
    heights.forEach((count, b) => {
      if (count === 0) return;
      const { from: low, to: high } = bins[b]!;
      const wide = Math.max(2, (x(high) - x(low)) / counts.length - 1);
      drawing.append(
        makeSvg("rect", {
          x: x(low) + 0.5 + k * (wide + 1),
          y: y(count),
          width: wide,
          height: y(0) - y(count),
          fill: colourOf(k),
        }),
      );
    });
  });
  const at = x(threshold);
  const { ink } = palette();
  const left = at > (box.left + box.right) / 2;
  drawing.append(
    line(at, box.top - 4, at, box.bottom, ink, 1.5),
    text(`threshold ${threshold} %`, at + (left ? -5 : 5), box.top + 4, left ? "end" : "start", ink),
    text("chips", box.left - 24, box.top - 8, "start"),
  );
}
