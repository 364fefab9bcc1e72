/** The output activations against time, labelled where they end. */

import type { Rollout } from "../core";
import { classColour, palette } from "./theme";
import { FONT, Plot, curve, type Box, type Margins } from "./plot";

const LABEL_HEIGHT = 12;

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
    (drawing, box) => {
      const { ink, muted, line } = palette();
      drawing.textBaseline = "middle";
      drawing.textAlign = "right";
      for (const [value, text] of [
        [1, "1"],
        [0, "0"],
        [-1, "−1"],
      ] as const) {
        drawing.strokeStyle = line;
        drawing.beginPath();
        drawing.moveTo(box.left, y(box, value));
        drawing.lineTo(box.right, y(box, value));
        drawing.stroke();
        drawing.fillStyle = muted;
        drawing.fillText(text, box.left - 6, y(box, value));
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
      drawing.textAlign = "left";
      drawing.textBaseline = "middle";
      const ends = names.map((_, o) => y(box, activations[steps * outputs + o]));
      const labelled = highest(ends, box);
      spread(labelled.map((o) => ends[o]), box).forEach((height, k) => {
        const o = labelled[k];
        drawing.strokeStyle = classColour(o);
        drawing.lineWidth = 1;
        drawing.beginPath();
        drawing.moveTo(box.right + 3, ends[o]);
        drawing.lineTo(box.right + 11, height);
        drawing.stroke();
        drawing.fillStyle = classColour(o);
        drawing.fillRect(box.right + 11, height - 4, 7, 8);
        drawing.font = o === winner ? `bold ${FONT}` : FONT;
        drawing.fillStyle = o === winner ? ink : muted;
        drawing.fillText(names[o], box.right + 22, height);
      });
    },
    (drawing, box) => {
      for (const o of order) {
        drawing.strokeStyle = classColour(o);
        if (replicates.length > 1) {
          drawing.lineWidth = 0.7;
          drawing.globalAlpha = 0.4;
          for (const one of replicates)
            curve(drawing, box, steps + 1, (k) => y(box, one[k * outputs + o]));
          drawing.globalAlpha = 1;
        }
        drawing.lineWidth = o === winner ? 3.5 : 1.6;
        curve(drawing, box, steps + 1, (k) => y(box, activations[k * outputs + o]));
      }
    },
    (drawing, box, fraction) => {
      const { card } = palette();
      const k = Math.round(fraction * steps);
      const x = box.left + fraction * (box.right - box.left);
      for (const o of order) {
        drawing.beginPath();
        drawing.arc(
          x,
          y(box, activations[k * outputs + o]),
          o === winner ? 4.5 : 3,
          0,
          2 * Math.PI,
        );
        drawing.fillStyle = classColour(o);
        drawing.strokeStyle = card;
        drawing.fill();
        drawing.stroke();
      }
    },
  );
}

/** The outputs that get a label: all, or the highest of them that there is room for. */
function highest(ends: number[], { top, bottom }: Box): number[] {
  const room = Math.floor((bottom - top + 8) / LABEL_HEIGHT) + 1;
  const order = ends.map((_, o) => o).sort((a, b) => ends[a] - ends[b]);
  return order.slice(0, room).sort((a, b) => a - b);
}

/** Heights near `wanted`, far enough apart for labels, within the box where they fit. */
function spread(wanted: number[], { top, bottom }: Box): number[] {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b]);
  const gap = Math.min(LABEL_HEIGHT, (bottom - top + 8) / (wanted.length - 1));
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
