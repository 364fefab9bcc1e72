/** The pad by keyboard. */

const STEP = 10 / 280; // of the pad's longer side

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
  const at: Point = { x: 0.5, y: 0.25 }; // in shares of the pad, whose size may change
  const moves: Record<string, Point> = {
    ArrowLeft: { x: -STEP, y: 0 },
    ArrowRight: { x: STEP, y: 0 },
    ArrowUp: { x: 0, y: -STEP },
    ArrowDown: { x: 0, y: STEP },
  };
  const onPad = ({ x, y }: Point): Point => ({ x: x * canvas.width, y: y * canvas.height });
  let down = false;
  const show = (): void => {
    cursor.style.left = `${100 * at.x}%`;
    cursor.style.top = `${100 * at.y}%`;
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
      const longer = Math.max(canvas.width, canvas.height);
      at.x = Math.min(1 - STEP, Math.max(STEP, at.x + (move.x * longer) / canvas.width));
      at.y = Math.min(1 - STEP, Math.max(STEP, at.y + (move.y * longer) / canvas.height));
      if (down) {
        pen.stroke(onPad(from), onPad(at));
        pen.changed(false);
      }
    } else if (event.key === " ") {
      down = !down;
      if (down) {
        pen.keep();
        pen.stroke(onPad(at), onPad(at));
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
