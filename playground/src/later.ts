/** Work that can wait: one piece in each frame, so that what comes first is on the screen before it. */

const PATIENCE = 3; // frames that a piece gives way

export class Later {
  private readonly pieces = new Map<string, () => void>();
  private asked = false; // for a frame
  private waited = 0; // frames

  /** While `isBusy` pieces give way, for some frames; `onEmpty` is called when all are done. */
  constructor(
    private readonly isBusy: () => boolean,
    private readonly onEmpty: () => void,
  ) {}

  get empty(): boolean {
    return this.pieces.size === 0;
  }

  /** A piece that takes the place of the one that waits under the same name. */
  put(name: string, piece: () => void): void {
    this.pieces.set(name, piece);
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => this.ask()); // the next frame shows what was done before
  }

  /** All that waits is not needed any more. */
  clear(): void {
    this.pieces.clear();
  }

  private ask(): void {
    requestAnimationFrame(() => this.work());
  }

  private work(): void {
    if (this.isBusy() && this.waited++ < PATIENCE) {
      this.ask();
      return;
    }
    this.waited = 0;
    const [first] = this.pieces;
    this.asked = this.pieces.size > 1;
    if (this.asked) this.ask();
    if (first !== undefined) {
      const [name, piece] = first;
      this.pieces.delete(name);
      piece();
    }
    if (this.empty) this.onEmpty();
  }
}
