/** A row of numbers in place of the pad: each by a slider about its training mean, in units of its
 * standard deviation, and as a number in its own unit; or all of them in one field. */

import { meanRow, valueAt, type FeatureScaling } from "../core";
import { hook, make, signed } from "../dom";
import { counted } from "../words";
import { say } from "./announce";

const REACH = 3; // standard deviations either side of the mean
const MOST_FIELDS = 500; // with a slider; the text field holds them all

export interface RowView {
  /** The features that are set from now on. */
  features(scaling: FeatureScaling): void;
  show(values: Float64Array): void;
}

interface Field {
  slider: HTMLInputElement;
  number: HTMLInputElement;
}

export function createRow(onChange: (values: Float64Array) => void): RowView {
  const text = hook<HTMLInputElement>("row-text");
  let scaling: FeatureScaling | null = null;
  let values: Float64Array = new Float64Array(0);
  let fields: Field[] = [];

  const set = (d: number, value: number): void => {
    const changed = values.slice();
    changed[d] = value;
    onChange(changed);
  };
  const makeField = (of: FeatureScaling, d: number): Field => {
    const number = make("input", {
      type: "number",
      id: `feature-${d}`,
      step: "any",
      "data-testid": `feature-${d}`,
    });
    const slider = make("input", {
      type: "range",
      min: String(-REACH),
      max: String(REACH),
      step: "0.05",
      "aria-label": `${of.names[d]}, in standard deviations`,
      "data-testid": `feature-${d}-slider`,
    });
    slider.addEventListener("input", () => set(d, valueAt(of, d, Number(slider.value))));
    number.addEventListener("input", () => {
      const value = number.valueAsNumber;
      if (Number.isFinite(value)) set(d, value);
    });
    number.addEventListener("change", () => {
      if (!Number.isFinite(number.valueAsNumber)) number.value = String(values[d]);
    });
    return { slider, number };
  };

  hook("row-random").addEventListener("click", () => {
    if (scaling === null) return;
    const of = scaling;
    onChange(of.mean.map((_, d) => valueAt(of, d, normal())));
    say("A random row: every number drawn about its training mean, on its own.");
  });
  hook("row-mean").addEventListener("click", () => {
    if (scaling === null) return;
    onChange(meanRow(scaling));
    say("The training mean of every number.");
  });
  text.addEventListener("change", () => {
    const found = text.value.split(/[\s,;]+/).filter((item) => item !== "");
    const numbers = Float64Array.from(found, Number);
    if (numbers.length === values.length && numbers.every(Number.isFinite)) {
      onChange(numbers);
      say("Your row.");
    } else {
      say(
        `There must be ${values.length} numbers, separated by commas or spaces; got ` +
          `${numbers.every(Number.isFinite) ? numbers.length : "something else"}. The last row stays.`,
        "problem",
      );
    }
  });

  return {
    features(of) {
      if (of === scaling) return;
      scaling = of;
      const shown = Math.min(of.names.length, MOST_FIELDS);
      fields = Array.from({ length: shown }, (_, d) => makeField(of, d));
      hook("features").replaceChildren(
        ...fields.map(({ slider, number }, d) =>
          make(
            "div",
            { class: "feature" },
            make("label", { for: number.id, title: of.names[d] }, of.names[d]),
            slider,
            number,
          ),
        ),
      );
      hook("row-note").textContent =
        `Sliders go ${REACH} standard deviations either side of the training mean` +
        (shown < of.names.length ? `; they are those of the first ${shown} numbers.` : ".");
      hook("row-text-label").textContent = `All of ${counted(of.names.length, "number")}, to copy or paste`;
    },
    show(row) {
      values = row;
      if (scaling === null) return;
      const { mean, sd } = scaling;
      fields.forEach(({ slider, number }, d) => {
        const z = (row[d] - mean[d]) / sd[d];
        slider.value = String(z);
        slider.setAttribute("aria-valuetext", `${row[d]}, ${signed(z, 2)} standard deviations`);
        slider.title = `${signed(z, 2)} standard deviations`;
        if (document.activeElement !== number || number.valueAsNumber !== row[d]) {
          number.value = String(row[d]);
        }
      });
      text.value = Array.from(row, String).join(", ");
    },
  };
}

/** A standard normal number, by the polar method of Box and Muller, within the sliders' reach. */
function normal(): number {
  const radius = Math.sqrt(-2 * Math.log(1 - Math.random()));
  const z = radius * Math.cos(2 * Math.PI * Math.random());
  return Math.min(REACH, Math.max(-REACH, z));
}
