/** A graph with its phases: nodes coloured by camp, with hands; edges that are cut are thick. */

import { make } from "../../dom";
import type { Machine } from "../../maxcut/machine";
import { Drawing } from "../drawing";
import { palette } from "../theme";

const RADIUS = 0.026; // of a node, in the drawing's width
const GRASP = 1.8; // radii around a node that count as it

export interface GraphEvents {
  onNode(place: [number, number]): void;
  onEdge(a: number, b: number): void;
}

export class GraphDrawing {
  readonly canvas = make("canvas", { class: "cut-canvas", role: "img", "data-testid": "cut-canvas" });
  private readonly drawing = new Drawing(this.canvas);
  private machine: Machine | null = null;
  private picked: number | null = null;

  constructor({ onNode, onEdge }: GraphEvents) {
    this.drawing.show((drawing, width, height) => this.paint(drawing, Math.min(width, height)));
    this.canvas.addEventListener("click", (event) => {
      const { left, top, width } = this.canvas.getBoundingClientRect();
      const place: [number, number] = [(event.clientX - left) / width, (event.clientY - top) / width];
      const node = this.nodeAt(place);
      if (node === null) onNode(place);
      else if (this.picked !== null && this.picked !== node) onEdge(this.picked, node);
      this.picked = node === null || this.picked !== null ? null : node;
    });
  }

  show(machine: Machine): void {
    this.machine = machine;
    const label = `A graph of ${machine.phases.length} nodes, ${machine.cut} of ${machine.graph.edges.length} edges cut`;
    if (this.canvas.getAttribute("aria-label") !== label) this.canvas.setAttribute("aria-label", label);
    this.drawing.redraw();
  }

  private nodeAt([x, y]: [number, number]): number | null {
    const places = this.machine?.graph.places ?? [];
    const found = places.findIndex(([px, py]) => Math.hypot(px - x, py - y) < GRASP * RADIUS);
    return found < 0 ? null : found;
  }

  private paint(drawing: CanvasRenderingContext2D, size: number): void {
    if (this.machine === null) return;
    const { graph, camps, phases } = this.machine;
    const { positive, negative, edge, ink, card, accent } = palette();
    for (const [i, j] of graph.edges) {
      const cut = camps[i] !== camps[j];
      drawing.strokeStyle = cut ? ink : edge;
      drawing.lineWidth = cut ? 2 : 1;
      drawing.setLineDash(cut ? [] : [3, 4]);
      drawing.beginPath();
      for (const [x, y] of [graph.places[i]!, graph.places[j]!]) drawing.lineTo(x * size, y * size);
      drawing.stroke();
    }
    drawing.setLineDash([]);
    graph.places.forEach(([x, y], i) => {
      const [px, py, radius] = [x * size, y * size, RADIUS * size];
      const cos = Math.cos(phases[i]!);
      drawing.fillStyle = card;
      drawing.strokeStyle = i === this.picked ? accent : edge;
      drawing.lineWidth = i === this.picked ? 4 : 1;
      drawing.beginPath();
      drawing.arc(px, py, radius, 0, 2 * Math.PI);
      drawing.fill();
      drawing.fillStyle = `rgb(${(cos < 0 ? negative : positive).join(" ")} / ${0.15 + 0.65 * Math.abs(cos)})`;
      drawing.fill();
      drawing.stroke();
      drawing.strokeStyle = ink;
      drawing.lineWidth = 2;
      drawing.beginPath();
      drawing.moveTo(px, py);
      drawing.lineTo(px + radius * Math.sin(phases[i]!), py - radius * cos);
      drawing.stroke();
    });
  }
}
