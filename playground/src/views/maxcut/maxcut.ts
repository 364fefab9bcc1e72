/** A graph cut by oscillators: phases split into two camps under injection. */

import { make, reducedMotion, write } from "../../dom";
import { GRAPHS, MOST_NODES, graphOf, withEdgeToggled, withNode, type Graph, type GraphName } from "../../maxcut/graph";
import { Machine } from "../../maxcut/machine";
import { largestCut, type Comparison } from "../../maxcut/search";
import { button, chooser } from "../lab/controls";
import { slider } from "../slider";
import { GraphDrawing } from "./graphDrawing";
import "./maxcut.css";

const STEPS = 4; // of a frame
const ANNEALING = 300; // frames

export class MaxCutView {
  private graph: Graph = graphOf("ring", 0);
  private seed = 0;
  private machine: Machine;
  private known: Comparison = { cut: 0, exact: true };
  private running = false;
  private annealing: number | null = null; // frames of it that are done

  private readonly name = chooser("cut-graph", "Graph", GRAPHS.map((each): [string, string] => [each, each === "drawn" ? "your own" : each]), (value) => this.choose(value as GraphName));
  private readonly injection = slider("cut-injection", "Injection", 0, 1.5, 0.01, { words: (v) => v.toFixed(2), onInput: () => this.adjust() });
  private readonly noise = slider("cut-noise", "Noise kT", 0, 0.5, 0.01, { words: (v) => v.toFixed(2), onInput: () => this.adjust() });
  private readonly facts = make("p", { class: "learn-facts", role: "status", "data-testid": "cut-facts" });
  private readonly edges = make("input", { type: "text", id: "cut-edges", "data-testid": "cut-edges", autocomplete: "off", spellcheck: "false" });
  private readonly drawing = new GraphDrawing({
    onNode: (place) => this.draw(withNode(this.graph, place)),
    onEdge: (a, b) => this.draw(withEdgeToggled(this.graph, a, b)),
  });

  constructor(root: HTMLElement) {
    this.injection.value = 0.35;
    this.machine = new Machine(this.graph, this.seed);
    this.edges.addEventListener("change", () => this.readEdges());
    root.append(
      make("h2", {}, "Cut a graph"),
      make(
        "p",
        { class: "caption" },
        "Colour the nodes in two colours so that as many edges as possible join different ones. Every edge pushes two oscillators apart. Injection at twice their frequency lets each rest only in step with the reference or against it: two camps.",
      ),
      make(
        "div",
        { class: "cut-body" },
        this.drawing.canvas,
        make(
          "div",
          { class: "cut-controls" },
          this.name.root,
          this.injection.root,
          this.noise.root,
          make(
            "div",
            { class: "tools" },
            button("cut-anneal", "Anneal", () => this.anneal(), { class: "primary" }),
            button("cut-again", "New start", () => this.begin(this.seed + 1)),
            button("cut-clear", "Draw your own", () => this.draw({ places: [], edges: [] })),
          ),
          this.facts,
          make("label", { for: "cut-edges", class: "caption" }, `Edges, such as 1-2 2-3 3-1; or click: an empty place adds a node (${MOST_NODES} at most), two nodes an edge`),
          this.edges,
        ),
      ),
    );
    this.show(this.graph);
    this.resume();
  }

  resume(): void {
    if (this.running) return;
    this.running = true;
    const frame = (): void => {
      if (!this.running) return;
      this.advance();
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  pause(): void {
    this.running = false;
  }

  redraw(): void {
    this.drawing.show(this.machine);
  }

  private advance(): void {
    const { machine } = this;
    if (this.annealing !== null) {
      machine.ramp(++this.annealing / ANNEALING);
      this.injection.value = machine.injection;
      this.noise.value = machine.temperature;
      if (this.annealing === ANNEALING) this.annealing = null;
    }
    machine.run(STEPS);
    this.drawing.show(machine);
    this.say();
  }

  private adjust(): void {
    this.annealing = null;
    this.machine.injection = this.injection.value;
    this.machine.temperature = this.noise.value;
  }

  /** From new phases, injection and noise as the package's solver ramps them. */
  private anneal(): void {
    this.begin(this.seed + 1);
    this.annealing = 0;
    if (!reducedMotion()) return;
    while (this.annealing !== null) this.advance();
  }

  private begin(seed: number): void {
    const { best } = this.machine;
    this.seed = seed;
    this.annealing = null;
    this.machine = new Machine(this.graph, seed);
    this.machine.best = best;
    this.adjust();
  }

  private choose(name: GraphName): void {
    this.show(name === "drawn" ? this.graph : graphOf(name, 0));
  }

  private draw(graph: Graph): void {
    this.name.select.value = "drawn";
    this.show(graph);
  }

  private show(graph: Graph): void {
    this.graph = graph;
    this.machine = new Machine(graph, this.seed);
    this.adjust();
    this.known = largestCut(graph);
    this.edges.value = graph.edges.map(([i, j]) => `${i + 1}-${j + 1}`).join(" ");
    this.edges.removeAttribute("aria-invalid");
  }

  /** Edges that were typed; the nodes stand on a circle. */
  private readEdges(): void {
    const pairs = this.edges.value.split(/[\s,;]+/).filter((each) => each !== "").map((each) => /^(\d+)-(\d+)$/.exec(each));
    const ends = pairs.map((pair) => (pair === null ? [0, 0] : [Number(pair[1]), Number(pair[2])])) as [number, number][];
    const most = Math.max(0, ...ends.flat());
    if (ends.some(([a, b]) => a < 1 || b < 1 || a === b) || most > MOST_NODES) {
      this.edges.setAttribute("aria-invalid", "true");
      write(this.facts, `Edges are pairs of different nodes from 1 to ${MOST_NODES}, such as 1-2.`);
      return;
    }
    const places = Array.from({ length: most }, (_, i): [number, number] => {
      const angle = (2 * Math.PI * i) / most;
      return [0.5 + 0.43 * Math.sin(angle), 0.5 - 0.43 * Math.cos(angle)];
    });
    const distinct = new Map(ends.map(([a, b]) => [`${Math.min(a, b)}-${Math.max(a, b)}`, [Math.min(a, b) - 1, Math.max(a, b) - 1] as [number, number]]));
    this.draw({ places, edges: [...distinct.values()] });
  }

  private say(): void {
    if (this.edges.hasAttribute("aria-invalid")) return;
    const { graph, machine, known } = this;
    const compared = known.exact ? `the largest possible is ${known.cut}` : `500 local searches reach ${known.cut}`;
    write(this.facts, `${machine.cut} of ${graph.edges.length} edges cut now, ${machine.best} at best; ${compared}.`);
  }
}
