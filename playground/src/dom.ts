/** Small helpers around the document. */

import type { Shape } from "./core";

/** The element with this data-testid; the page is broken without it. */
export function hook<T extends Element = HTMLElement>(name: string): T {
  const element = document.querySelector<T>(`[data-testid="${name}"]`);
  if (element === null) throw new Error(`the page holds no ${name}`);
  return element;
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function makeSvg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number> = {},
  ...children: Node[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

export function context(canvas: HTMLCanvasElement, often = false): CanvasRenderingContext2D {
  const found = canvas.getContext("2d", { willReadFrequently: often });
  if (found === null) throw new Error("this browser cannot draw on a canvas");
  return found;
}

/** Other words in an element; the same again would make the browser lay the page out for nothing. */
export function write(element: Element, words: string): void {
  if (element.textContent !== words) element.textContent = words;
}

/** Grey pixels onto a canvas, which takes their shape. */
export function paintGrey(canvas: HTMLCanvasElement, pixels: ArrayLike<number>, shape: Shape): void {
  const { rows, columns } = shape;
  canvas.width = columns;
  canvas.height = rows;
  const picture = new ImageData(columns, rows);
  for (let i = 0; i < pixels.length; i++) {
    const value = pixels[i]!;
    picture.data.set([value, value, value, 255], 4 * i);
  }
  context(canvas).putImageData(picture, 0, 0);
}

export function reducedMotion(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** With a true minus sign. */
export function signed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

/** At most so many characters, the last of them an ellipsis where some are left out. */
export function elided(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join("")}…`;
}
