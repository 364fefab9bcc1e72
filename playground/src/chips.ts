/** The hardware that a network can be put on: the ideal one, the package's presets, and the one
 * it was made for. */

import { checkedHardware, misfitOf, type Hardware, type Model } from "./core";
import presets from "./presets.json"; // from the package, by tools/playground_chips.py

export const IDEAL = "ideal";
export const OWN = "own"; // the one a network was made for

export interface Kind {
  name: string;
  title: string;
  hardware: Hardware;
  misfit: string | null; // why the network cannot be put on it
}

/** All hardware, for this network. */
export function kindsOf(model: Model): Kind[] {
  return listed(model).map((kind) => kindOf(kind, model));
}

/** A chip that the network cannot be put on. */
export class UnfitChip extends Error {}

/** The hardware of a kind that fits the network; throws UnfitChip where there is none. */
export function hardwareNamed(name: string, model: Model): Hardware {
  const found = listed(model).find((each) => each.name === name);
  if (found === undefined) throw new UnfitChip(`there is no chip named ${name}`);
  const kind = kindOf(found, model);
  if (kind.misfit !== null) throw new UnfitChip(`the chip ${name} does not fit: ${kind.misfit}`);
  return kind.hardware;
}

interface Listed {
  name: string;
  title: string;
  hardware: unknown;
}

function listed({ madeFor }: Model): Listed[] {
  return [
    { name: IDEAL, title: "The equations themselves, without an imperfection", hardware: {} },
    ...presets,
    ...(madeFor === null
      ? []
      : [{ name: OWN, title: "What this network was trained for", hardware: madeFor }]),
  ];
}

function kindOf({ name, title, hardware }: Listed, model: Model): Kind {
  try {
    const checked = checkedHardware(hardware);
    return { name, title, hardware: checked, misfit: misfitOf(model, checked) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { name, title, hardware: {}, misfit: reason };
  }
}
