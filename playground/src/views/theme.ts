/** Light and dark: the visitor's system decides, the button overrides. */

import { hook } from "../dom";

export interface Palette {
  ink: string;
  muted: string;
  line: string;
  card: string;
  positive: [number, number, number];
  negative: [number, number, number];
  classes: string[];
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
  card: "#ffffff",
  positive: [0, 92, 153],
  negative: [190, 84, 0],
  classes: CLASSES,
};

const DARK: Palette = {
  ink: "#e7ecf3",
  muted: "#a3b0c2",
  line: "#313c4b",
  card: "#171e27",
  positive: [102, 184, 240],
  negative: [240, 150, 70],
  classes: CLASSES.map(
    (colour) => ({ "#000000": "#FFFFFF", "#882255": "#AA3377" })[colour] ?? colour,
  ),
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
