/** The phases as hands on dials: the hidden above, the outputs below. What moves is painted by
 * `dialFaces`; here are the places to click, the names, and the couplings of one oscillator. */

import type { Model } from "../core";
import { elided, hook, make, makeSvg } from "../dom";
import { DialFaces, HIDDEN_RADIUS, OUTPUT_RADIUS, type Wire } from "./dialFaces";
import {
  WIDTH,
  centre,
  heightOf,
  neighbour,
  outputCell,
  ruleOf,
  scaleOf,
  type DialPlan,
} from "./dialLayout";
import { palette } from "./theme";

/** Whose oscillators they are, and the names of the outputs. */
export type Named = Pick<Model, "hidden" | "outputs" | "classNames">;

export interface Partner {
  other: number;
  value: number;
}

/** A coupling that is drawn; one that is cut stays, so that a click can restore it. */
export interface Link extends Partner {
  cut: boolean;
}

export interface Marks {
  selected: number | null;
  shown: number | null; // hovered or selected: its links are drawn
  links: Link[];
  silenced: number[];
  winner: number | null; // output at the end
}

export interface DialsView {
  /** Hands of the phases at grid time `at`; the words are renewed only if the time stands still. */
  show(phases: Float64Array, at: number, still: boolean): void;
  mark(marks: Marks): void;
  /** The dials of this network, made anew where it has other oscillators. */
  name(network: Named): void;
  /** The couplings that are drawn as faint wires. */
  wire(wires: Wire[]): void;
}

export interface DialsEvents {
  onSelect(oscillator: number): void;
  onSilence(oscillator: number): void;
  onCut(a: number, b: number): void;
  onHover(oscillator: number | null): void;
  onFocus(oscillator: number): void; // by keyboard
}

const REACH = 16; // width of a link for the pointer

interface Dial {
  group: SVGGElement;
  title: SVGTextElement | null;
  radius: number;
}

export function createDials(events: DialsEvents): DialsView {
  const { onSelect, onSilence, onCut, onHover, onFocus } = events;
  const links = makeSvg("g", { class: "links", "aria-hidden": "true" }); // buttons do the same
  const rule = makeSvg("line", { class: "rule", x1: 0, x2: WIDTH });
  const svg = makeSvg(
    "svg",
    { role: "group", "aria-label": "Dials of the oscillators: arrow keys move, Enter inspects" },
    rule,
    links,
  );
  const faces = new DialFaces();
  hook("dials").append(make("div", { class: "dial-box" }, faces.below, faces.above, svg));
  const phone = matchMedia("(max-width: 30em)");

  let network: Named = { hidden: 0, outputs: 0, classNames: [] };
  let plan: DialPlan = { hidden: 0, outputs: 0, narrow: false, flat: phone.matches, lines: 1 };
  let dials: Dial[] = [];
  let paper = "";
  let drawn: Pick<Marks, "shown" | "links"> = { shown: null, links: [] };
  const drawLinks = (): void => {
    const { positive, negative } = palette();
    const { shown } = drawn;
    links.replaceChildren();
    if (shown === null) return;
    const strength = Math.max(...drawn.links.map(({ value }) => Math.abs(value)), 1e-12);
    const from = centre(shown, plan);
    const length = ({ other }: Link): number => {
      const to = centre(other, plan);
      return Math.hypot(to.x - from.x, to.y - from.y);
    };
    // The shortest come last: on top, where a longer one goes the same way.
    for (const link of drawn.links.toSorted((a, b) => length(b) - length(a))) {
      const { other, value, cut } = link;
      const to = centre(other, plan);
      const ends = { x1: from.x, y1: from.y, x2: to.x, y2: to.y };
      const title = makeSvg("title");
      const word = cut ? "restore" : "cut";
      title.textContent = `Click to ${word} the coupling to ${shortName(other, network)}`;
      const group = makeSvg(
        "g",
        { class: cut ? "link cut" : "link", "data-testid": `link-${other}` },
        title,
        makeSvg("line", {
          ...ends,
          class: "drawn",
          stroke: `rgb(${(value > 0 ? positive : negative).join(" ")})`,
          "stroke-width": (1 + (4 * Math.abs(value)) / strength).toFixed(2),
          "stroke-dasharray": value > 0 ? "none" : "6 4",
        }),
        makeSvg("line", { ...ends, class: "reach", "stroke-width": REACH }),
      );
      group.addEventListener("click", () => onCut(shown, other));
      links.append(group);
    }
  };
  const layOut = (): void => {
    dials.forEach(({ group }, i) => {
      const { x, y } = centre(i, plan);
      const scale = scaleOf(i, plan);
      const scaled = scale === 1 ? "" : ` scale(${scale})`;
      group.setAttribute("transform", `translate(${x} ${y})${scaled}`);
    });
    for (const y of ["y1", "y2"]) rule.setAttribute(y, String(ruleOf(plan)));
    svg.classList.toggle("narrow", plan.narrow);
    writeNames();
    faces.layOut(plan);
    drawLinks();
  };
  const writeNames = (): void => {
    const cell = outputCell(plan);
    const [plain, small] = plan.narrow ? [10, 7.6] : [7, 4.7]; // widths of a letter, about
    const long = network.classNames.some((name) => name.length * plain > cell);
    const fitting = Math.floor(cell / (long ? small : plain));
    let lines = 1;
    network.classNames.forEach((text, i) => {
      const { title, radius } = dials[network.hidden + i];
      title?.setAttribute("y", String(radius + (plan.narrow ? 18 : 13)));
      const spans = linesOf(text, fitting);
      lines = Math.max(lines, spans.length);
      title?.replaceChildren(...spans);
      title?.classList.toggle("long", long);
    });
    plan = { ...plan, lines: lines === 1 ? 1 : 2 };
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${heightOf(plan)}`);
  };
  new ResizeObserver(() => {
    const [narrow, flat] = [svg.clientWidth < 320, phone.matches];
    if (narrow === plan.narrow && flat === plan.flat) return;
    plan = { ...plan, narrow, flat };
    if (dials.length > 0) layOut();
  }).observe(svg);

  const indexOf = (event: Event): number | null => {
    const group = (event.target as Element).closest?.("g.dial");
    return group === null || group === undefined
      ? null
      : Number((group as SVGGElement).dataset.index);
  };
  let tabbable = 0;
  const focus = (i: number): void => {
    dials[tabbable]?.group.setAttribute("tabindex", "-1");
    tabbable = i;
    dials[i].group.setAttribute("tabindex", "0");
    dials[i].group.focus();
  };
  svg.addEventListener("click", (event) => {
    const i = indexOf(event);
    if (i === null) return;
    focus(i);
    if (event.detail < 2) onSelect(i);
  });
  svg.addEventListener("dblclick", (event) => {
    const i = indexOf(event);
    if (i !== null) onSilence(i);
  });
  // The focus stays where it is: a preview that ends would take the link from under the pointer.
  links.addEventListener("mousedown", (event) => event.preventDefault());
  svg.addEventListener("keydown", (event) => {
    const i = indexOf(event);
    if (i === null) return;
    if (event.key === "Enter" || event.key === " ") onSelect(i);
    else {
      const next = neighbour(i, event.key, plan);
      if (next === null) return;
      focus(next);
    }
    event.preventDefault();
  });
  svg.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "touch") onHover(indexOf(event));
  });
  svg.addEventListener("pointerleave", () => onHover(null));
  // Not on the svg: browsers let one that listens for focus take it.
  hook("dials").addEventListener("focusin", (event) => {
    const i = indexOf(event);
    if (i !== null && dials[i].group.matches(":focus-visible")) onFocus(i);
  });

  return {
    show(phases, at, still) {
      const now = phases.subarray(at * dials.length, (at + 1) * dials.length);
      faces.show(now);
      if (!still) return;
      dials.forEach(({ group }, i) => {
        const words = `${dialName(i, network)}, phase ${now[i]!.toFixed(2)} rad`;
        group.setAttribute("aria-label", words);
      });
    },
    wire: (wires) => faces.wire(wires),
    mark({ selected, shown, links, silenced, winner }) {
      dials.forEach(({ group }, i) => {
        group.classList.toggle("selected", i === selected);
        group.setAttribute("aria-pressed", String(i === selected));
        group.classList.toggle("shown", i === shown);
        group.classList.toggle("silenced", silenced.includes(i));
        group.classList.toggle("winner", winner !== null && i === network.hidden + winner);
      });
      faces.mark(silenced, shown !== null);
      drawn = { shown, links };
      drawLinks();
    },
    name(named) {
      const { hidden, outputs } = named;
      // Of one network in one theme nothing moves.
      const same = named.classNames === network.classNames && paper === palette().card;
      paper = palette().card;
      if (hidden !== network.hidden || outputs !== network.outputs) {
        plan = { ...plan, hidden, outputs };
        for (const { group } of dials) group.remove();
        dials = Array.from({ length: hidden + outputs }, (_, i) => makeDial(i, i >= hidden));
        svg.append(...dials.map((dial) => dial.group));
        tabbable = 0;
        drawn = { shown: null, links: [] };
      }
      network = named;
      if (!same) layOut();
    },
  };
}

/** A name in two lines at most, each of so many letters at most. */
function linesOf(name: string, letters: number): SVGTSpanElement[] {
  const lines = [""];
  for (const part of name.split(/(?<=[/ _-])/)) {
    const fits = (lines.at(-1)! + part.trimEnd()).length <= letters || lines.at(-1) === "";
    if (fits || lines.length === 2) lines[lines.length - 1] += part;
    else lines.push(part);
  }
  return lines.map((text, line) => {
    const span = makeSvg("tspan", { x: 0, dy: line === 0 ? "0" : "1.05em" });
    span.textContent = elided(text.trimEnd(), letters);
    return span;
  });
}

/** "hidden oscillator 12", "output 7, oscillator 71". */
export function dialName(i: number, { hidden, classNames }: Named): string {
  return i < hidden
    ? `hidden oscillator ${i}`
    : `output ${classNames[i - hidden] ?? ""}, oscillator ${i}`;
}

/** "hidden 12", "output 7", "Trouser". */
export function shortName(i: number, { hidden, classNames }: Named): string {
  const name = classNames[i - hidden];
  return i < hidden ? `hidden ${i}` : name.length > 2 ? elided(name, 20) : `output ${name}`;
}

function makeDial(i: number, output: boolean): Dial {
  const radius = output ? OUTPUT_RADIUS : HIDDEN_RADIUS;
  const group = makeSvg(
    "g",
    {
      class: output ? "dial output" : "dial",
      role: "button",
      tabindex: i === 0 ? 0 : -1,
      "aria-pressed": "false",
      "aria-label": `oscillator ${i}`,
      "data-testid": `dial-${i}`,
      "data-index": i,
    },
    makeSvg("circle", { class: "ring", r: radius + 2 }),
  );
  const title = output ? makeSvg("text", { class: "title", "aria-hidden": "true" }) : null;
  if (title !== null) group.append(title);
  return { group, title, radius };
}
