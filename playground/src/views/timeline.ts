/** The time shown: a slider, play, step and speed; and the verdict beside them, once it is made. */

import { hook, reducedMotion } from "../dom";

const SECONDS = 3; // a whole rollout at 1x
const JUMP = 0.05; // of the rollout, where motion is reduced

export class Timeline {
  private readonly slider = hook<HTMLInputElement>("time-slider");
  private readonly button = hook("play");
  private readonly label = hook("time-label");
  private readonly speed = hook<HTMLSelectElement>("speed");
  private steps = 1;
  private end = 1; // t_f, in the network's time
  private place = 0; // of 0 to 1
  private moving = false;
  private before = 0;

  /** `onTime` gets the fraction of t_f, its grid index, and whether the time stands still. */
  constructor(private readonly onTime: (fraction: number, at: number, still: boolean) => void) {
    this.slider.addEventListener("input", () => this.seek(Number(this.slider.value) / this.steps));
    this.button.addEventListener("click", () => (this.moving ? this.pause() : this.play()));
    hook("step").addEventListener("click", () => {
      const { at } = this;
      this.seek(at >= this.steps ? 0 : (at + 1) / this.steps);
    });
  }

  /** The share of t_f that is shown. */
  get position(): number {
    return this.place;
  }

  get at(): number {
    return Math.round(this.place * this.steps);
  }

  /** A rollout of this many steps to this time is shown, at `place` of t_f or where the time is. */
  setSteps(steps: number, end: number, place: number | null = null): void {
    this.steps = steps;
    this.end = end;
    this.slider.max = String(steps);
    if (place === null) this.show();
    else this.seek(place);
  }

  seek(fraction: number): void {
    this.place = fraction;
    this.pause();
  }

  play(fromStart = false): void {
    if (fromStart || this.place >= 1) this.place = 0;
    this.before = performance.now();
    if (this.moving) return;
    this.moving = true;
    this.name("Pause");
    requestAnimationFrame((now) => this.tick(now));
  }

  pause(): void {
    this.moving = false;
    this.name("Play");
    this.show();
  }

  private name(words: string): void {
    if (this.button.textContent !== words) this.button.textContent = words;
    this.button.classList.toggle("playing", this.moving);
  }

  private tick(now: number): void {
    if (!this.moving) return;
    const passed = (Math.max(0, now - this.before) / 1000 / SECONDS) * Number(this.speed.value);
    if (!reducedMotion()) {
      this.place = Math.min(1, this.place + passed);
      this.before = now;
    } else if (passed >= JUMP) {
      this.place = Math.min(1, this.place + JUMP);
      this.before = now;
    }
    if (this.place >= 1) {
      this.pause();
      return;
    }
    this.show();
    requestAnimationFrame((next) => this.tick(next));
  }

  private show(): void {
    const { at } = this;
    const share = at / this.steps;
    const time = (share * this.end).toFixed(Math.max(0, 2 - Math.floor(Math.log10(this.end))));
    const words = `t = ${time} (${share.toFixed(2)} t_f)`;
    this.slider.value = String(at);
    this.slider.setAttribute("aria-valuetext", words);
    if (this.label.textContent !== words) this.label.textContent = words;
    this.onTime(this.place, at, !this.moving);
  }
}
