/** The words of the page, explained where they stand. `page` is where the documentation says more. */

export interface Entry {
  words: string;
  page: string;
}

const PHYSICS = "how-it-works/physics.html";
const HARDWARE = "hardware.html";

export const GLOSSARY: Record<string, Entry> = {
  oscillator: {
    words:
      "An oscillator is something that swings at a steady rate: a ring oscillator on a chip, a metronome. All here swing at one rate, that of a reference oscillator. Only the phase θ matters: by how far it is ahead of the reference. The hand of a dial shows it, in a frame that turns with the reference.",
    page: PHYSICS,
  },
  cos: {
    words:
      "cos θ is how far a hand points up: 1 straight up, 0 to the side, −1 straight down. All start to the side; the output that points highest is the answer.",
    page: PHYSICS,
  },
  coupling: {
    words:
      "A coupling J is a spring between two hands. J > 0 pulls them together, J < 0 pushes them apart. Training sets the couplings; the picture does not change them.",
    page: PHYSICS,
  },
  decided: {
    words:
      "Decided: from this time on one output leads the second by at least 0.1 in cos θ, to the end. Time is counted in the network's own unit; t_f is when it is read.",
    page: PHYSICS,
  },
  training: {
    words:
      "In the first stage (PATH) the phases learn a prescribed path to the targets of a teacher, a neural network. The second stage (TWO-STAGE-END) trains the outputs at t_f. DIRECT has no teacher: the outputs at t_f learn the labels. For imperfect chips, DIRECT draws eight new chips for every step.",
    page: "how-it-works/training.html",
  },
  margin: {
    words:
      "The margin is how far the first output is above the second when they are read, in cos θ. A small one means: unsure.",
    page: "predicting.html",
  },
  energy: {
    words:
      "The energy E = −Σ b cos θ − ½ Σ J cos(θᵢ − θⱼ) falls as hands follow their pulls, as a ball rolls downhill. Its unit is that of b and J: the temperature is given in it.",
    page: PHYSICS,
  },
  temperature: {
    words:
      "Heat shakes every hand at random. T is kT in the unit of the energy E; 0 is no noise. With noise, two runs differ.",
    page: PHYSICS,
  },
  time: {
    words:
      "t_f is the time at which the outputs are read: earlier is faster and less sure. The network was trained for its own t_f.",
    page: PHYSICS,
  },
  steps: {
    words:
      "The computer follows the hands in so many steps (Euler's method). Too few, and what you see is the computer's error, not physics: the page says so.",
    page: PHYSICS,
  },
  mismatch: {
    words:
      "On a chip no two parts are equal. A mismatch of 5 % changes every coupling at random by about 5 %, once for each chip.",
    page: HARDWARE,
  },
  bits: {
    words: "A chip can set a coupling to a few values only: with b bits, to 2ᵇ − 1 of them.",
    page: HARDWARE,
  },
  ensemble: {
    words: "Ten runs of one chip under different noise: curves show the mean, thin lines each run.",
    page: PHYSICS,
  },
  chip: {
    words:
      "Hardware describes how imperfect chips are; each chip has imperfections of its own. The same number is the same chip, here and in Python.",
    page: HARDWARE,
  },
  order: {
    words:
      "R is the length of the mean of all hands: 1 if all point the same way, near 0 if they point everywhere.",
    page: PHYSICS,
  },
  pulls: {
    words:
      "Each dot is an oscillator: across, the pull of the picture on it; up, the pull of its neighbours. On the dashed line the two balance, and it rests.",
    page: PHYSICS,
  },
  plane: {
    words:
      "All hands together are one point in a space of many dimensions. This is the plane in which trajectories of this network differ most (principal components); the path is your picture's, the marks are where test images end.",
    page: PHYSICS,
  },
  map: {
    words:
      "One square for each pair of oscillators: blue pulls together, orange pushes apart, the stronger the darker. Rows that are alike stand side by side; the outputs are last.",
    page: PHYSICS,
  },
};
