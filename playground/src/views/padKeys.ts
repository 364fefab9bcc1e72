/** The pad by keyboard. */

import { CELL, SIDE } from "./padReading";

export type Point = { x: number; y: number };

export interface Pen {
  keep(): void;
  stroke(from: Point, to: Point): void;
  clear(): void;
  changed(done: boolean): void;
}

/** Arrow keys move a cursor, Space puts the pen down or lifts it. */
export function drawByKeyboard(canvas: HTMLCanvasElement, pen: Pen): void {
  const cursor = document.querySelector<HTMLElement>(".pad-cursor")!;
  const at: Point = { x: SIDE / 2, y: SIDE / 4 };
  const moves: Record<string, Point> = {
    ArrowLeft: { x: -CELL, y: 0 },
    ArrowRight: { x: CELL, y: 0 },
    ArrowUp: { x: 0, y: -CELL },
    ArrowDown: { x: 0, y: CELL },
  };
  let down = false;
  const show = (): void => {
    cursor.style.left = `${(100 * at.x) / SIDE}%`;
    cursor.style.top = `${(100 * at.y) / SIDE}%`;
    cursor.classList.toggle("down", down);
  };
  canvas.addEventListener("focus", () => {
    cursor.hidden = !canvas.matches(":focus-visible");
    show();
  });
  canvas.addEventListener("blur", () => {
    cursor.hidden = true;
    down = false;
  });
  canvas.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (move !== undefined) {
      const from = { ...at };
      at.x = Math.min(SIDE - CELL, Math.max(CELL, at.x + move.x));
      at.y = Math.min(SIDE - CELL, Math.max(CELL, at.y + move.y));
      if (down) {
        pen.stroke(from, at);
        pen.changed(false);
      }
    } else if (event.key === " ") {
      down = !down;
      if (down) {
        pen.keep();
        pen.stroke(at, at);
      }
      pen.changed(!down);
    } else if (event.key === "Delete") {
      pen.clear();
    } else return;
    event.preventDefault();
    cursor.hidden = false;
    show();
  });
}
