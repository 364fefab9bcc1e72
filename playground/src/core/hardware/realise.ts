/** The one place where imperfections enter a network: the package's `entrain.hardware.realise`. */

import type { Model, Physics } from "../types";
import { withDead, withStuck } from "./defects";
import { Draws } from "./draws";
import { reached } from "./fanIn";
import type { Hardware } from "./hardware";
import { levelled, withFieldLevels } from "./levels";
import { lopsided, mismatched, shifted } from "./mismatch";
import { detuned, withFunction } from "./oscillators";
import type { Realised } from "./realised";
import { graphOf, isLayered, pruned, wired } from "./wiring";

/** What the chip with this seed makes of a network: every effect that is on, in its order. */
export function realise(model: Model, hardware: Hardware, chip: number): Realised {
  const small = tooSmall(model, hardware);
  if (small !== null) throw new Error(small);
  const draws = new Draws(chip);
  let network: Realised = { ...model, hardware, chip, fieldChanges: [], moving: null, dead: null };
  if (hardware.wiring) network = wired(network, hardware.wiring);
  if (hardware.sparsity) network = pruned(network, hardware.sparsity);
  if (hardware.fan_in) network = reached(network, hardware.fan_in);
  if (hardware.coupling_levels) network = levelled(network, hardware.coupling_levels, "couplings");
  if (hardware.weight_levels) network = levelled(network, hardware.weight_levels, "inputWeights");
  if (hardware.bias_levels) network = levelled(network, hardware.bias_levels, "biases");
  if (hardware.mismatch) network = mismatched(network, hardware.mismatch, draws);
  if (hardware.offset) network = shifted(network, hardware.offset, draws);
  if (hardware.asymmetry) network = lopsided(network, hardware.asymmetry, draws);
  if (hardware.field_levels) network = withFieldLevels(network, hardware.field_levels);
  if (hardware.dead) network = withDead(network, hardware.dead, draws);
  if (hardware.stuck) network = withStuck(network, hardware.stuck, draws);
  if (hardware.frequency_spread) network = detuned(network, hardware.frequency_spread, draws);
  if (hardware.coupling_function) network = withFunction(network, hardware.coupling_function);
  return network; // phase_noise is the run's temperature, readout reads its end: see simulate
}

/** The network as the chip of a physics holds it: the kind that was chosen, with the bits and the
 * mismatch of couplings that were set by hand. */
export function onChip(model: Model, physics: Physics): Realised {
  return realise(model, hardwareOf(physics), physics.chip);
}

/** The hardware of a physics, with everything that was set by hand, thermal noise included. */
export function kindOf(physics: Physics): Hardware {
  return { ...hardwareOf(physics), phase_noise: { temperature: physics.temperature } };
}

function hardwareOf({ hardware, couplingBits, mismatch }: Physics): Hardware {
  if (couplingBits !== null && !(Number.isInteger(couplingBits) && couplingBits >= 2)) {
    throw new Error(`couplings must have 2 bits or more, got ${couplingBits}`);
  }
  if (!Number.isFinite(mismatch) || mismatch < 0) {
    throw new Error(`the mismatch must be a number from 0 on, got ${mismatch}`);
  }
  const bits = couplingBits === null ? null : { bits: couplingBits, range: 1, rule: "max" as const };
  return {
    ...hardware,
    ...(bits && { coupling_levels: bits }),
    mismatch: { ...hardware.mismatch, couplings: mismatch },
  };
}

/** Why a network is not for such a chip: too few oscillators, or couplers in use that it lacks. Null
 * where it fits. */
export function misfitOf(model: Model, hardware: Hardware): string | null {
  const small = tooSmall(model, hardware);
  if (small !== null || hardware.wiring === undefined || isLayered(hardware.wiring)) return small;
  const n = model.hidden + model.outputs;
  let [used, missing] = [0, 0];
  const graph = graphOf(hardware.wiring, model.hidden, model.outputs);
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      if (model.couplings[i * n + j] === 0) continue;
      used++;
      if (graph[i * n + j] === 0) missing++;
    }
  }
  return missing === 0 ? null : `it lacks ${missing} of the network's ${used} couplers`;
}

function tooSmall({ hidden, outputs }: Model, { oscillators = Infinity }: Hardware): string | null {
  const n = hidden + outputs;
  return n > oscillators ? `it has ${oscillators} oscillators, the network ${n}` : null;
}
