/** Frames on slow machines: where they come too seldom, the views take turns, so that the time and the
 * verdict move as smoothly as before. */

const USUAL = 20; // milliseconds of a frame: 50 a second
const FORGET = 0.15; // weight of the newest frame

export class Pace {
  private before = 0;
  private frame = 0; // milliseconds, on average
  private turn = 0;

  /** Paints all `parts` if the time stands `still` or frames are quick, else one part of them. */
  paint(parts: (() => void)[], still: boolean): void {
    const now = performance.now();
    const passed = now - this.before;
    this.before = now;
    if (!still && passed < 500) this.frame += FORGET * (passed - this.frame);
    const groups = Math.min(parts.length, Math.max(1, Math.floor(this.frame / USUAL) + 1));
    this.turn++;
    parts.forEach((paint, i) => {
      if (still || i % groups === this.turn % groups) paint();
    });
  }
}
