/** Frames on slow machines: where they come too seldom, the views take turns, so that the time and the
 * verdict move as smoothly as before. */

const LONG = 18; // milliseconds of a frame: beyond it, of 60 a second some are lost
const LOOKED_AT = 8; // frames before the pace is judged again
const PAUSE = 500; // milliseconds: this was no frame of a run that plays

export class Pace {
  private before = 0;
  private frames = 0;
  private passed = 0; // milliseconds of these frames
  private groups = 1;
  private turn = 0;

  /** Paints all `parts` if the time stands `still` or frames are quick, else one part of them. */
  paint(parts: (() => void)[], still: boolean): void {
    const now = performance.now();
    if (!still) this.judge(now - this.before, parts.length);
    this.before = now;
    this.turn++;
    parts.forEach((paint, i) => {
      if (still || i % this.groups === this.turn % this.groups) paint();
    });
  }

  /** More groups while frames are long; one fewer is tried with each run. */
  private judge(passed: number, most: number): void {
    if (passed > PAUSE) {
      this.groups = Math.max(1, this.groups - 1);
      this.frames = this.passed = 0;
      return;
    }
    this.passed += passed;
    if (++this.frames < LOOKED_AT) return;
    if (this.passed / this.frames > LONG) this.groups = Math.min(most, this.groups + 1);
    this.frames = this.passed = 0;
  }
}
