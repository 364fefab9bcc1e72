/** Random numbers of chips: a pure function of a seed and of what they are for, as the package's
 * `entrain.hardware.draws`.
 *
 *     key = (seed, four letters that name the effect),   counter = (i, j, replicate, 0)
 *
 * A chip has the replicate 0; a run's readout has that of its trajectory. */

import { angleOf, philox, radiusOf, TWO_32 } from "../noise";

export class Draws {
  private readonly words = new Uint32Array(4);

  constructor(
    private readonly seed: number,
    private readonly replicate = 0,
  ) {
    if (!Number.isInteger(seed) || seed < 0 || seed >= TWO_32) {
      throw new Error(`the seed must be a whole number from 0 to ${TWO_32 - 1}, got ${seed}`);
    }
  }

  /** A standard normal number. */
  normal(tag: string, i: number, j = 0): number {
    this.draw(tag, i, j);
    return radiusOf(this.words[0]!) * Math.cos(angleOf(this.words[1]!));
  }

  /** A number between 0 and 1. */
  uniform(tag: string, i: number, j = 0): number {
    this.draw(tag, i, j);
    return (this.words[2]! + 0.5) / TWO_32;
  }

  private draw(tag: string, i: number, j: number): void {
    philox(i, j, this.replicate, 0, this.seed, keyOf(tag), this.words);
  }
}

/** The seed of the noise of inferences on a chip, as `noise_seeds` of the package: each chip has its
 * own draw, the same whichever chips are beside it. */
export function chipNoiseSeed(noiseSeed: number, chip: number): number {
  const words = new Uint32Array(4);
  philox(chip, 0, 0, 0, noiseSeed, keyOf("infr"), words);
  return words[0]!;
}

/** Four letters as a word, the first the highest byte. */
function keyOf(tag: string): number {
  let key = 0;
  for (let k = 0; k < tag.length; k++) key = (key << 8) | tag.charCodeAt(k);
  return key;
}
