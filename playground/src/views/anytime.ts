/** The output that leads at each time, as a coloured bar, with a mark where it is decided. */

import type { Rollout } from "../core";
import { classColour, palette } from "./theme";
import { Plot, type Margins } from "./plot";

export function showAnytime(plot: Plot, rollout: Rollout, names: string[], margins: Margins): void {
  const { leaders, steps, decidedAt } = rollout;
  plot.show(
    margins,
    (drawing, box) => {
      drawing.fillStyle = palette().muted;
      drawing.textBaseline = "middle";
      drawing.textAlign = "left";
      drawing.fillText("leads", box.right + 6, (box.top + box.bottom) / 2);
    },
    (drawing, box) => {
      const { ink, card } = palette();
      const x = (k: number): number => box.left + ((box.right - box.left) * k) / steps;
      drawing.textBaseline = "middle";
      drawing.textAlign = "center";
      for (let from = 0; from <= steps;) {
        let to = from;
        while (to < steps && leaders[to + 1] === leaders[from]) to++;
        const end = Math.min(to + 1, steps);
        const leader = leaders[from];
        const colour = leader === -1 ? palette().line : classColour(leader);
        drawing.fillStyle = colour;
        drawing.fillRect(x(from), box.top, Math.max(1, x(end) - x(from)), box.bottom - box.top);
        const name = leader === -1 ? "none" : names[leader];
        if (drawing.measureText(name).width + 8 < x(end) - x(from)) {
          drawing.fillStyle = readable(colour);
          drawing.fillText(name, (x(from) + x(end)) / 2, (box.top + box.bottom) / 2 + 0.5);
        }
        from = to + 1;
      }
      if (decidedAt === null) return;
      for (const [colour, width] of [[card, 5], [ink, 2]] as const) {
        drawing.strokeStyle = colour;
        drawing.lineWidth = width;
        drawing.beginPath();
        drawing.moveTo(x(decidedAt), box.top - 3);
        drawing.lineTo(x(decidedAt), box.bottom + 3);
        drawing.stroke();
      }
    },
  );
}

/** Black or white, whichever stands out more on a colour #RRGGBB. */
function readable(colour: string): string {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
}
