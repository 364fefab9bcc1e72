/** The words of the page that say how large the network is. */

import type { Model } from "../core";
import { hook, make } from "../dom";
import { counted } from "../words";

export function showTitle({ hidden, outputs, inputs, preprocessing }: Model): void {
  const reads = preprocessing.kind === "picture" ? "what you draw" : counted(inputs, "number");
  const given = preprocessing.kind === "picture" ? "Your picture pulls" : "Your numbers pull";
  hook("title-read").replaceChildren(
    make("span", { class: "brand" }, ": "),
    `${hidden + outputs} oscillators read ${reads}`,
  );
  hook("summary").textContent =
    `${given} on ${counted(hidden, "hidden oscillator")}, they pull on each other and on ` +
    `${counted(outputs, "output")}; the output that points highest at the end is the answer.`;
  hook("outcome-title").textContent =
    outputs === 1 ? "The output" : `The ${outputs} outputs decide`;
}
