/** One network's rollout: traces, the class at each time, energy. Two stand side by side to compare. */

import { context, elided, hook, make, signed } from "../dom";
import type { Outcome, Shown } from "../run";
import { showAnytime } from "./anytime";
import { showEnergy } from "./energy";
import { font, textSize } from "./drawing";
import { Plot } from "./plot";
import { showTraces } from "./traces";
import { decisionOf } from "./verdict";

const LONGEST_NAME = 20; // letters beside the traces
const measure = context(make("canvas")); // of the width of words

export class Panel {
  private readonly root = make("div", { class: "panel" });
  private readonly heading = make("h3", {});
  private readonly rise: HTMLElement; // of a network that is no gradient flow
  private readonly unit: HTMLElement; // of the energy
  private readonly canvases: HTMLCanvasElement[];
  private readonly plots: Plot[];

  /** `suffix` tells the second panel's parts from the first's. */
  constructor(suffix: string, onSeek: (fraction: number) => void) {
    this.canvases = ["traces", "anytime", "energy"].map((name) =>
      make("canvas", {
        class: name,
        role: "img",
        "aria-label": name,
        "data-testid": name + suffix,
      }),
    );
    this.rise = make("p", { class: "caption rise", "data-testid": `lag${suffix}` });
    this.unit = make("p", { class: "caption unit", "data-testid": `energy-unit${suffix}` });
    const [traces, anytime, energy] = this.canvases;
    this.root.append(this.heading, traces!, anytime!, this.unit, energy!, this.rise);
    this.plots = this.canvases.map((canvas) => new Plot(canvas, onSeek));
    hook("panels").append(this.root);
  }

  set hidden(hidden: boolean) {
    this.root.hidden = hidden;
  }

  show(title: string | null, outcome: Outcome): void {
    const { model, rollout } = outcome;
    const leader = rollout.leaders[rollout.steps];
    const why = notConservative(model);
    const names = model.classNames.map((name) => elided(name, LONGEST_NAME));
    this.heading.textContent = title ?? "";
    this.heading.hidden = title === null;
    const coarse = why.length === 0 ? tooCoarse(outcome) : null;
    this.rise.hidden = why.length === 0 && coarse === null;
    this.rise.classList.toggle("problem", coarse !== null);
    this.rise.textContent = coarse ?? `${why.join(", ")}: the energy may rise`;
    measure.font = font(true);
    const ends = [Math.min(...rollout.energy), Math.max(...rollout.energy)].map((e) => signed(e, 0));
    const wide = [...names, ...ends].map((text) => measure.measureText(text).width);
    const right = 20 + Math.max(20, ...wide);
    const margins = { left: Math.max(24, 2.2 * textSize()), right };
    const { replicates } = rollout;
    const one = replicates.length > 1 ? `, run 1 of ${replicates.length}` : "";
    this.unit.textContent = `Energy E${one}, in the unit of the couplings`;
    const first = leader === -1 ? "no output" : names[leader];
    const words = [
      `Output activations against time: ${first} ends highest.`,
      `The output that leads at each time: ${decisionOf(outcome) || "no decision"}.`,
      `Energy against time: from ${rollout.energy[0].toFixed(1)} to ${rollout.energy[rollout.steps].toFixed(1)}.`,
    ];
    this.canvases.forEach((canvas, i) => canvas.setAttribute("aria-label", words[i]));
    const [traces, anytime, energy] = this.plots;
    showTraces(traces, rollout, names, leader, { ...margins, top: 8, bottom: 20 });
    showAnytime(anytime, rollout, names, { ...margins, top: 4, bottom: 4 });
    showEnergy(energy, rollout, { ...margins, top: 5, bottom: 5 });
  }

  at(fraction: number, revealed: boolean): void {
    for (const plot of this.plots) plot.at(fraction, revealed);
  }
}

/** Why the network on its chip is no gradient flow. */
function notConservative({ lag, harmonic, hardware }: Shown): string[] {
  const even = harmonic?.[1] ?? 0;
  return [
    lag !== null && `couplings lag by ${signed(lag, 2)} rad`,
    even !== 0 && `the coupling function has ${signed(even, 2)} cos 2φ`,
    hardware.asymmetry?.sd && "couplers differ by direction",
  ].filter((words) => typeof words === "string");
}

/** Words where the energy rises though a gradient flow at kT = 0 cannot: the Euler step is too coarse
 * for what is shown to be physics. Null where it does not. */
export function tooCoarse({ rollout, physics }: Outcome): string | null {
  if (physics.temperature > 0) return null;
  const { energy, steps } = rollout;
  const most = Math.max(...energy.map(Math.abs));
  let rises = 0;
  for (let t = 1; t <= steps; t++) if (energy[t] - energy[t - 1] > 1e-9 * most) rises++;
  if (rises === 0) return null;
  const step = Number((physics.observationTime / steps).toPrecision(2));
  return (
    `The energy rises in ${rises} of ${steps} steps, which physics forbids at temperature 0: ` +
    `the Euler step of ${step} is too coarse. Take more steps, or read earlier.`
  );
}
