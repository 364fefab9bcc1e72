/** How it works, told in order. */

import { make, reducedMotion } from "../../dom";
import { button } from "../lab/controls";
import { CHAPTERS } from "./chapters";
import { Stage } from "./stage";
import "./story.css";

export interface StoryEvents {
  onRead(): void;
  onLearn(): void;
}

export class StoryView {
  private readonly stages = CHAPTERS.map((chapter) => new Stage(chapter));
  private running = false;

  constructor(root: HTMLElement, { onRead, onLearn }: StoryEvents) {
    root.append(
      make("h2", {}, "How oscillators read"),
      make("div", { class: "chapters" }, ...this.stages.map((stage) => stage.root), lastChapter(onRead, onLearn)),
    );
    this.resume();
  }

  resume(): void {
    if (this.running || reducedMotion()) return;
    this.running = true;
    const frame = (): void => {
      if (!this.running) return;
      for (const stage of this.stages) stage.advance();
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  pause(): void {
    this.running = false;
  }

  redraw(): void {
    for (const stage of this.stages) stage.redraw();
  }
}

function lastChapter(onRead: () => void, onLearn: () => void): HTMLElement {
  return make(
    "section",
    { class: "chapter" },
    make("h3", {}, "5. The network"),
    make(
      "p",
      {},
      "The same two pulls on every oscillator. The picture u sets the fields b of the hidden ones through the input weights W; the couplings J are what was learnt. After t_f the outputs are read.",
    ),
    make("p", { class: "equation" }, "dθᵢ/dt = −μ ( bᵢ(u) sin θᵢ + Σⱼ Jᵢⱼ sin(θᵢ − θⱼ) ),  b = W u + c"),
    make(
      "div",
      { class: "tools" },
      button("story-read", "Watch 74 of them read a digit", onRead, { class: "primary" }),
      button("story-learn", "Watch them learn", onLearn),
    ),
  );
}
