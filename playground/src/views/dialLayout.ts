/** Where the dials sit: the hidden oscillators in rows, a rule, the outputs below. */

export const WIDTH = 400;
const COLUMNS = 8; // of hidden dials, unless they are more than a square of so many
const FLAT_COLUMNS = 13; // on a phone, so that the pad stays in view
const CELL = 50; // width of a hidden dial's place, at most
const ROW = 0.84; // its height over its width
const OUTPUT_CELL = 80; // width of an output's place, at most

export interface DialPlan {
  hidden: number;
  outputs: number;
  narrow: boolean; // few outputs in a row, with larger names
  flat: boolean; // many hidden dials in a row
  lines: 1 | 2; // of the outputs' names
}

function hiddenGrid({ hidden, flat }: DialPlan): { columns: number; cell: number } {
  const columns = Math.min(hidden, Math.max(flat ? FLAT_COLUMNS : COLUMNS, Math.ceil(Math.sqrt(hidden))));
  return { columns, cell: Math.min(CELL, WIDTH / columns) };
}

function outputGrid({ outputs, narrow }: DialPlan): {
  columns: number;
  rows: number;
  height: number;
} {
  const rows = Math.ceil(outputs / (narrow ? 5 : 10));
  return { columns: Math.ceil(outputs / rows), rows, height: narrow ? 80 : 62 };
}

/** Width of an output's place, for its name. */
export function outputCell(plan: DialPlan): number {
  return Math.min(OUTPUT_CELL, WIDTH / outputGrid(plan).columns);
}

/** How much smaller a dial is drawn: hidden ones shrink where there are many. */
export function scaleOf(i: number, plan: DialPlan): number {
  return i < plan.hidden ? hiddenGrid(plan).cell / CELL : 1;
}

/** The height of the rule between hidden and outputs. */
export function ruleOf(plan: DialPlan): number {
  const { columns, cell } = hiddenGrid(plan);
  return Math.ceil(plan.hidden / columns) * ROW * cell + 4;
}

export function heightOf(plan: DialPlan): number {
  const { rows, height } = outputGrid(plan);
  return ruleOf(plan) + (plan.narrow ? 76 : 70) + 16 * (plan.lines - 1) + (rows - 1) * height;
}

export function centre(i: number, plan: DialPlan): { x: number; y: number } {
  if (i < plan.hidden) {
    const { columns, cell } = hiddenGrid(plan);
    const left = (WIDTH - columns * cell) / 2;
    return {
      x: left + cell * ((i % columns) + 0.5),
      y: ROW * cell * (Math.floor(i / columns) + 0.5),
    };
  }
  const { columns, height } = outputGrid(plan);
  const cell = outputCell(plan);
  const output = i - plan.hidden;
  return {
    x: (WIDTH - columns * cell) / 2 + cell * ((output % columns) + 0.5),
    y: ruleOf(plan) + 30 + height * Math.floor(output / columns),
  };
}

/** The oscillator an arrow key leads to. */
export function neighbour(i: number, key: string, plan: DialPlan): number | null {
  const count = plan.hidden + plan.outputs;
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  if (key === "ArrowLeft") return i > 0 ? i - 1 : null;
  if (key === "ArrowRight") return i < count - 1 ? i + 1 : null;
  if (key !== "ArrowUp" && key !== "ArrowDown") return null;
  const here = centre(i, plan);
  const way = key === "ArrowDown" ? 1 : -1;
  let best: number | null = null;
  let least = Infinity;
  for (let other = 0; other < count; other++) {
    const there = centre(other, plan);
    const ahead = way * (there.y - here.y);
    const far = 10 * ahead + Math.abs(there.x - here.x);
    if (ahead > 1 && far < least) [best, least] = [other, far];
  }
  return best;
}
