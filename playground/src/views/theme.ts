/** Light and dark: the visitor's system decides, the button overrides. */

import { hook } from "../dom";

export interface Palette {
  ink: string;
  muted: string;
  line: string;
  edge: string;
  soft: string;
  card: string;
  accent: string;
  positive: [number, number, number];
  negative: [number, number, number];
  classes: string[]; // the first few; the others follow by hue
  lightness: number; // of those
}

/** Told apart with any colour vision. */
const CLASSES = [
  "#0072B2",
  "#E69F00",
  "#009E73",
  "#D55E00",
  "#CC79A7",
  "#56B4E9",
  "#8C6D1F",
  "#000000",
  "#882255",
  "#999999",
];

const LIGHT: Palette = {
  ink: "#1d2430",
  muted: "#566173",
  line: "#d9dee6",
  edge: "#848f9f",
  soft: "#eef1f5",
  card: "#ffffff",
  accent: "#0b5fa5",
  positive: [0, 92, 153],
  negative: [190, 84, 0],
  classes: CLASSES,
  lightness: 0.4,
};

const DARK: Palette = {
  ink: "#e7ecf3",
  muted: "#a3b0c2",
  line: "#313c4b",
  edge: "#76859a",
  soft: "#222b37",
  card: "#171e27",
  accent: "#7cc0f5",
  positive: [102, 184, 240],
  negative: [240, 150, 70],
  classes: CLASSES.map(
    (colour) => ({ "#000000": "#FFFFFF", "#882255": "#AA3377" })[colour] ?? colour,
  ),
  lightness: 0.65,
};

const KEY = "entrain-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen === undefined ? system.matches : chosen === "dark";
}

export function palette(): Palette {
  return isDark() ? DARK : LIGHT;
}

/** The colour #RRGGBB of a class; beyond the named ones hues apart by the golden angle. */
export function classColour(index: number): string {
  const { classes, lightness } = palette();
  return classes[index] ?? hexOf((index * 137.508) % 360, 0.6, lightness);
}

/** Hue in degrees, saturation and lightness from 0 to 1. */
function hexOf(hue: number, saturation: number, lightness: number): string {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const channel = (n: number): string => {
    const k = (n + hue / 30) % 12;
    const level = lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * level).toString(16).padStart(2, "0");
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}

export function startTheme(onChange: () => void): void {
  const button = hook("theme");
  const remembered = recall();
  if (remembered !== null) document.documentElement.dataset.theme = remembered;
  const label = (): void => {
    button.textContent = isDark() ? "Light theme" : "Dark theme";
  };
  button.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    remember(theme);
    label();
    onChange();
  });
  system.addEventListener("change", () => {
    label();
    onChange();
  });
  label();
}

function recall(): "light" | "dark" | null {
  try {
    const theme = localStorage.getItem(KEY);
    return theme === "light" || theme === "dark" ? theme : null;
  } catch {
    return null; // storage may be forbidden
  }
}

function remember(theme: string): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // then it lasts as long as the page
  }
}
