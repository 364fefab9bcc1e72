/** Which landscape is shown: of a network with test images one, known once it came; of others that of
 * what they read now. */

import type { Model } from "./core";
import type { Landscape } from "./engine/landscape";
import type { Input } from "./run";

export class Landscapes {
  private readonly known = new Map<Model, Landscape>();
  private shown: { model: Model; lasting: boolean; of: unknown } | null = null;

  /** `show` gets the landscape of the network that is shown, null until it comes. */
  constructor(private readonly show: (landscape: Landscape | null) => void) {}

  /** A network is shown, with test images or none; `ask` is called where its landscape is missing. */
  look(model: Model, tests: Input[], input: Input, ask: (inputs: Input[]) => void): void {
    const lasting = tests.length > 0;
    const of = lasting ? model : input.values;
    if (this.shown?.of === of) return;
    this.shown = { model, lasting, of };
    const known = this.known.get(model);
    this.show(known ?? null);
    if (known === undefined) setTimeout(() => ask(lasting ? tests : [input])); // the verdict comes first
  }

  /** A landscape that was asked for. */
  come(model: Model, landscape: Landscape): void {
    if (this.shown?.model !== model) return;
    if (this.shown.lasting) this.known.set(model, landscape);
    this.show(landscape);
  }
}
