/** The story in order: from a reference oscillator to the network. Each chapter is a system small enough
 * to be watched, with its equation. */

export interface Setting {
  symbol: string; // that it lights in the equation
  label: string;
  least: number;
  most: number;
  value: number;
}

export interface Chapter {
  name: string;
  title: string;
  words: string;
  equation: string; // symbols between *stars* can be lit
  settings: Setting[];
  oscillators: string[]; // their titles
  start: number[]; // phases
  wave: boolean; // the reference and the oscillator as waves
  /** d theta / dt of phases under the settings' values. */
  velocity(phases: number[], values: number[]): number[];
}

const ASIDE = Math.PI / 2;
const OUTPUTS = 10;

export const CHAPTERS: readonly Chapter[] = [
  {
    name: "reference",
    title: "1. A reference, and a phase against it",
    words:
      "Every oscillator here swings at one common rate. A reference oscillator swings at it too, and θ is by how far an oscillator is ahead of it. A dial turns with the reference: its hand shows θ alone, straight up where both swing together. So a hand that rests belongs to an oscillator that swings.",
    equation: "x = cos(ωt + *θ*)",
    settings: [{ symbol: "θ", label: "Phase θ", least: -3.14, most: 3.14, value: 0.8 }],
    oscillators: ["reference", "oscillator"],
    start: [0, 0.8],
    wave: true,
    velocity: ([, phase], [wanted]) => [0, 12 * Math.sin(wanted! - phase!)],
  },
  {
    name: "field",
    title: "2. One oscillator in a field",
    words:
      "A field b pulls the oscillator into step with the reference, or against it if b is negative. The pull is strongest where the hand points to the side, and zero where it points straight up or down.",
    equation: "dθ/dt = −*b* sin *θ*",
    settings: [{ symbol: "b", label: "Field b", least: -3, most: 3, value: 1.5 }],
    oscillators: [""],
    start: [ASIDE],
    wave: false,
    velocity: ([phase], [b]) => [-b! * Math.sin(phase!)],
  },
  {
    name: "coupled",
    title: "3. Two coupled oscillators",
    words:
      "A coupling J acts on the difference of two phases. J > 0 pulls the hands together, J < 0 pushes them apart. Here a field holds the left one up a little; the right one has no field and follows.",
    equation: "dθ₁/dt = −*b* sin θ₁ − *J* sin(θ₁ − θ₂),  dθ₂/dt = −*J* sin(θ₂ − θ₁)",
    settings: [
      { symbol: "b", label: "Field b of the left one", least: -3, most: 3, value: 1 },
      { symbol: "J", label: "Coupling J", least: -3, most: 3, value: 2 },
    ],
    oscillators: ["θ₁", "θ₂"],
    start: [1.2, 2.4],
    wave: false,
    velocity: ([one, two], [b, J]) => {
      const pull = J! * Math.sin(one! - two!);
      return [-b! * Math.sin(one!) - pull, pull];
    },
  },
  {
    name: "outputs",
    title: "4. Ten outputs, and an answer",
    words:
      "Ten outputs start to the side. One hidden oscillator pulls on the output you choose and pushes the others away. At t_f the output that points highest, with the largest cos θ, is the answer.",
    equation: "answer = the largest cos *θₒ* at t_f,  dθₒ/dt = −*Jₒ* sin(θₒ − θ₀)",
    settings: [
      { symbol: "θₒ", label: "Output that is wired to it", least: 0, most: 9, value: 7 },
      { symbol: "Jₒ", label: "Strength of its wires", least: 0, most: 3, value: 1.2 },
    ],
    oscillators: ["θ₀", ...Array.from({ length: OUTPUTS }, (_, o) => String(o))],
    start: Array.from({ length: OUTPUTS + 1 }, () => ASIDE),
    wave: false,
    velocity: ([hidden, ...outputs], [chosen, strength]) => [
      -3 * Math.sin(hidden!), // a field holds it up
      ...outputs.map((phase, o) => {
        const J = strength! * (o === Math.round(chosen!) ? 1 : -0.5);
        return -J * Math.sin(phase - hidden!);
      }),
    ],
  },
];
