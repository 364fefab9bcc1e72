/** One network's rollout: traces, the class at each time, energy. Two stand side by side to compare. */

import type { Realised, Rollout } from "../core";
import { context, elided, hook, make, signed } from "../dom";
import { showAnytime } from "./anytime";
import { showEnergy } from "./energy";
import { FONT, Plot } from "./plot";
import { showTraces } from "./traces";

const LONGEST_NAME = 20; // letters beside the traces

export class Panel {
  private readonly root = make("div", { class: "panel" });
  private readonly heading = make("h3", {});
  private readonly rise: HTMLElement; // of a network that is no gradient flow
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
    this.rise = make("p", { class: "caption", "data-testid": `lag${suffix}` });
    this.root.append(this.heading, ...this.canvases, this.rise);
    this.plots = this.canvases.map((canvas) => new Plot(canvas, onSeek));
    hook("panels").append(this.root);
  }

  set hidden(hidden: boolean) {
    this.root.hidden = hidden;
  }

  show(title: string | null, rollout: Rollout, model: Realised): void {
    const winner = rollout.winners[rollout.steps];
    const why = notConservative(model);
    const names = model.classNames.map((name) => elided(name, LONGEST_NAME));
    this.heading.textContent = title ?? "";
    this.heading.hidden = title === null;
    this.rise.hidden = why.length === 0;
    this.rise.textContent = `${why.join(", ")}: the energy may rise`;
    const measure = context(make("canvas"));
    measure.font = `bold ${FONT}`;
    const right = 26 + Math.max(20, ...names.map((name) => measure.measureText(name).width));
    const margins = { left: 24, right };
    const decided = (rollout.decidedAt / rollout.steps).toFixed(2);
    const words = [
      `Output activations against time: ${names[winner]} ends highest.`,
      `The class read at each time: ${names[winner]} from t = ${decided} t_f on.`,
      `Energy against time: from ${rollout.energy[0].toFixed(1)} to ${rollout.energy[rollout.steps].toFixed(1)}.`,
    ];
    this.canvases.forEach((canvas, i) => canvas.setAttribute("aria-label", words[i]));
    const [traces, anytime, energy] = this.plots;
    showTraces(traces, rollout, names, winner, { ...margins, top: 8, bottom: 20 });
    showAnytime(anytime, rollout, names, { ...margins, top: 4, bottom: 4 });
    showEnergy(energy, rollout, { ...margins, top: 5, bottom: 5 });
  }

  at(fraction: number): void {
    for (const plot of this.plots) plot.at(fraction);
  }
}

/** Why the network on its chip is no gradient flow. */
function notConservative({ lag, harmonic, hardware }: Realised): string[] {
  const even = harmonic?.[1] ?? 0;
  return [
    lag !== null && `couplings lag by ${signed(lag, 2)} rad`,
    even !== 0 && `the coupling function has ${signed(even, 2)} cos 2φ`,
    hardware.asymmetry?.sd && "couplers differ by direction",
  ].filter((words) => typeof words === "string");
}
