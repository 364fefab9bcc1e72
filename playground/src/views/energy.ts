/** The energy of the trajectory shown, against time, in the unit of the couplings: that in which the
 * temperature is kT. */

import type { Rollout } from "../core";
import { signed } from "../dom";
import { palette } from "./theme";
import { Plot, curve, type Margins } from "./plot";

export function showEnergy(plot: Plot, { energy, steps }: Rollout, margins: Margins): void {
  let [low, high] = [Infinity, -Infinity];
  for (const value of energy) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const range = Math.max(high - low, 1e-9);
  plot.show(
    margins,
    (drawing, box) => {
      const { muted, line } = palette();
      drawing.strokeStyle = line;
      drawing.strokeRect(box.left, box.top, box.right - box.left, box.bottom - box.top);
      drawing.fillStyle = muted;
      drawing.textBaseline = "middle";
      drawing.textAlign = "right";
      drawing.fillText("E", box.left - 6, (box.top + box.bottom) / 2);
      drawing.textAlign = "left";
      drawing.fillText(signed(high, 0), box.right + 6, box.top + 4);
      drawing.fillText(signed(low, 0), box.right + 6, box.bottom - 4);
    },
    (drawing, box) => {
      drawing.strokeStyle = palette().ink;
      drawing.lineWidth = 1.8;
      const height = box.bottom - box.top - 8;
      curve(drawing, box, steps + 1, (k) => box.bottom - 4 - ((energy[k] - low) / range) * height);
    },
  );
}
