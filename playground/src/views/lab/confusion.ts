/** Which class is read as which: shares of the images of each class, over all chips. */

import { makeSvg } from "../../dom";
import { csvOf } from "../../core/csv";
import { elided } from "../../dom";
import { palette } from "../theme";
import { text } from "./axes";
import type { FigureContent } from "./figure";

const LONGEST = 10; // letters of a class name

export function confusion(counts: Int32Array, classNames: string[], subject: string): FigureContent {
  const classes = classNames.length;
  const rows = classNames.map((_, row) => [...counts.subarray(row * classes, (row + 1) * classes)]);
  const worst = worstMistake(rows, classNames);
  return {
    height: 26 + 24 * classes,
    label: `Confusion matrix of ${subject}: rows are classes, columns what is read. ${worst}`,
    csv: () =>
      csvOf(
        ["class", ...classNames.map((name) => `read as ${name}`)],
        rows.map((row, k) => [classNames[k]!, ...row]),
      ),
    paint: (drawing, width) => paint(drawing, width, rows, classNames),
  };
}

function paint(drawing: SVGSVGElement, width: number, rows: number[][], names: string[]): void {
  const { ink, card, positive, negative } = palette();
  const long = Math.max(...names.map((name) => Math.min([...name].length, LONGEST)));
  const left = Math.min(12 + 6.2 * long, width / 3);
  const side = (width - left) / names.length;
  const abbreviated = (name: string): string => elided(name, Math.max(1, Math.floor(side / 6.5)));
  names.forEach((name, column) => {
    drawing.append(text(abbreviated(name), left + (column + 0.5) * side, 12, "middle"));
  });
  rows.forEach((row, k) => {
    const total = row.reduce((sum, count) => sum + count, 0);
    const y = 20 + 24 * k;
    drawing.append(text(elided(names[k]!, LONGEST), left - 6, y + 15, "end"));
    row.forEach((count, column) => {
      const share = total === 0 ? 0 : count / total;
      const colour = `rgb(${(column === k ? positive : negative).join(" ")})`;
      const x = left + column * side;
      const cell = { x: x + 0.5, y: y + 0.5, width: Math.max(1, side - 1), height: 23 };
      drawing.append(
        makeSvg("rect", { ...cell, fill: colour, "fill-opacity": 0.08 + 0.8 * Math.sqrt(share) * Number(count > 0) }),
      );
      if (count === 0 || side < 18) return;
      const percent = 100 * share;
      const words = percent < 0.5 ? "<1" : percent.toFixed(0);
      drawing.append(text(words, x + side / 2, y + 16, "middle", share > 0.45 ? card : ink));
    });
  });
}

function worstMistake(rows: number[][], names: string[]): string {
  let [most, words] = [0, "There are no mistakes."];
  rows.forEach((row, k) => {
    const total = row.reduce((sum, count) => sum + count, 0);
    row.forEach((count, column) => {
      if (column === k || count <= most) return;
      most = count;
      words = `Most often ${names[k]} is read as ${names[column]}, ${((100 * count) / total).toFixed(1)} percent of the time.`;
    });
  });
  return words;
}
