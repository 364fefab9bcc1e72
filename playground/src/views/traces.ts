/** The output activations against time, labelled where they are now. */

import type { Rollout } from "../core";
import { font, textSize } from "./drawing";
import { Plot, curve, type Box, type Margins } from "./plot";
import { classColour, palette } from "./theme";

const LABEL_HEIGHT = 12 / 11; // of the text

/** `winner` stands out once it is revealed; -1 for none. */
export function showTraces(
  plot: Plot,
  rollout: Rollout,
  names: string[],
  winner: number,
  margins: Margins,
): void {
  const outputs = names.length;
  const { steps, activations, replicates } = rollout;
  const y = ({ top, bottom }: Box, value: number): number =>
    bottom - ((value + 1) / 2) * (bottom - top);
  const order = names
    .map((_, o) => o)
    .filter((o) => o !== winner)
    .concat(winner === -1 ? [] : winner);

  plot.show(
    margins,
    (drawing, box) => paintAxes(drawing, box, (value) => y(box, value)),
    (drawing, box, revealed) => {
      for (const o of order) {
        drawing.strokeStyle = classColour(o);
        if (replicates.length > 1) {
          drawing.lineWidth = 0.7;
          drawing.globalAlpha = 0.4;
          for (const one of replicates)
            curve(drawing, box, steps + 1, (k) => y(box, one[k * outputs + o]));
          drawing.globalAlpha = 1;
        }
        drawing.lineWidth = revealed && o === winner ? 3.5 : 1.8;
        curve(drawing, box, steps + 1, (k) => y(box, activations[k * outputs + o]));
      }
    },
    (drawing, box, fraction, revealed) => {
      const k = Math.round(fraction * steps);
      const now = names.map((_, o) => y(box, activations[k * outputs + o]));
      paintDots(drawing, box, fraction, now, order, revealed ? winner : -1);
      paintLabels(drawing, box, names, now, revealed ? winner : -1);
    },
  );
}

function paintAxes(
  drawing: CanvasRenderingContext2D,
  box: Box,
  y: (value: number) => number,
): void {
  const { muted, line } = palette();
  drawing.textBaseline = "middle";
  drawing.textAlign = "right";
  for (const [value, text] of [
    [1, "1"],
    [0, "0"],
    [-1, "−1"],
  ] as const) {
    drawing.strokeStyle = line;
    drawing.beginPath();
    drawing.moveTo(box.left, y(value));
    drawing.lineTo(box.right, y(value));
    drawing.stroke();
    drawing.fillStyle = muted;
    drawing.fillText(text, box.left - 6, y(value));
  }
  drawing.textBaseline = "top";
  for (const [x, text, align] of [
    [0, "0", "left"],
    [0.5, "t / t_f", "center"],
    [1, "1", "right"],
  ] as const) {
    drawing.textAlign = align;
    drawing.fillText(text, box.left + x * (box.right - box.left), box.bottom + 5);
  }
}

function paintDots(
  drawing: CanvasRenderingContext2D,
  box: Box,
  fraction: number,
  now: number[],
  order: number[],
  winner: number,
): void {
  const x = box.left + fraction * (box.right - box.left);
  drawing.strokeStyle = palette().card;
  drawing.lineWidth = 1;
  for (const o of order) {
    drawing.beginPath();
    drawing.arc(x, now[o]!, o === winner ? 4.5 : 3, 0, 2 * Math.PI);
    drawing.fillStyle = classColour(o);
    drawing.fill();
    drawing.stroke();
  }
}

function paintLabels(
  drawing: CanvasRenderingContext2D,
  box: Box,
  names: string[],
  now: number[],
  winner: number,
): void {
  const { ink, muted } = palette();
  drawing.textAlign = "left";
  drawing.textBaseline = "middle";
  drawing.lineWidth = 1;
  const labelled = highest(now, box);
  spread(labelled.map((o) => now[o]!), box).forEach((height, k) => {
    const o = labelled[k]!;
    drawing.fillStyle = classColour(o);
    drawing.fillRect(box.right + 6, height - 4, 7, 8);
    drawing.font = font(o === winner);
    drawing.fillStyle = o === winner ? ink : muted;
    drawing.fillText(names[o]!, box.right + 17, height);
  });
}

/** The outputs that get a label: all, or the highest of them that there is room for. */
function highest(ends: number[], { top, bottom }: Box): number[] {
  const room = Math.floor((bottom - top + 8) / (LABEL_HEIGHT * textSize())) + 1;
  const order = ends.map((_, o) => o).sort((a, b) => ends[a] - ends[b]);
  return order.slice(0, room).sort((a, b) => a - b);
}

/** Heights near `wanted`, far enough apart for labels, within the box where they fit. */
function spread(wanted: number[], { top, bottom }: Box): number[] {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b]);
  const gap = Math.min(LABEL_HEIGHT * textSize(), (bottom - top + 8) / (wanted.length - 1));
  const placed = wanted.slice();
  let floor = top - 4;
  for (const i of order) {
    placed[i] = Math.max(placed[i], floor);
    floor = placed[i] + gap;
  }
  let ceiling = bottom + 4;
  for (const i of order.reverse()) {
    placed[i] = Math.min(placed[i], ceiling);
    ceiling = placed[i] - gap;
  }
  return placed;
}
