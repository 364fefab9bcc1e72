/** The time shown: a slider, play, step and speed. */

import { hook, reducedMotion } from "../dom";

const SECONDS = 3; // a whole rollout at 1x
const JUMP = 0.05; // of the rollout, where motion is reduced

export class Timeline {
  private readonly slider = hook<HTMLInputElement>("time-slider");
  private readonly button = hook("play");
  private readonly label = hook("time-label");
  private readonly speed = hook<HTMLSelectElement>("speed");
  private steps = 1;
  private position = 0; // of 0 to 1
  private moving = false;
  private before = 0;

  /** `onTime` gets the fraction of t_f, its grid index, and whether the time stands still. */
  constructor(private readonly onTime: (fraction: number, at: number, still: boolean) => void) {
    this.slider.addEventListener("input", () => this.seek(Number(this.slider.value) / this.steps));
    this.button.addEventListener("click", () => (this.moving ? this.pause() : this.play()));
    hook("step").addEventListener("click", () => {
      const at = Math.round(this.position * this.steps);
      this.seek(at >= this.steps ? 0 : (at + 1) / this.steps);
    });
  }

  get at(): number {
    return Math.round(this.position * this.steps);
  }

  /** A rollout of this many steps is shown; the fraction of t_f stays. */
  setSteps(steps: number): void {
    this.steps = steps;
    this.slider.max = String(steps);
    this.show();
  }

  seek(fraction: number): void {
    this.position = fraction;
    this.pause();
  }

  play(fromStart = false): void {
    if (fromStart || this.position >= 1) this.position = 0;
    this.before = performance.now();
    if (this.moving) return;
    this.moving = true;
    this.button.textContent = "Pause";
    requestAnimationFrame((now) => this.tick(now));
  }

  pause(): void {
    this.moving = false;
    this.button.textContent = "Play";
    this.show();
  }

  private tick(now: number): void {
    if (!this.moving) return;
    const passed = (Math.max(0, now - this.before) / 1000 / SECONDS) * Number(this.speed.value);
    if (!reducedMotion()) {
      this.position = Math.min(1, this.position + passed);
      this.before = now;
    } else if (passed >= JUMP) {
      this.position = Math.min(1, this.position + JUMP);
      this.before = now;
    }
    if (this.position >= 1) {
      this.pause();
      return;
    }
    this.show();
    requestAnimationFrame((next) => this.tick(next));
  }

  private show(): void {
    const { at } = this;
    const words = `t = ${(at / this.steps).toFixed(2)} t_f`;
    this.slider.value = String(at);
    this.slider.setAttribute("aria-valuetext", words);
    this.label.textContent = words;
    this.onTime(this.position, at, !this.moving);
  }
}
