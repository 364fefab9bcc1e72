/** Small helpers around the document. */

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

/** Grey pixels (28 x 28) onto a canvas of that size. */
export function paintGrey(canvas: HTMLCanvasElement, pixels: Uint8Array): void {
  const picture = new ImageData(28, 28);
  pixels.forEach((value, i) => picture.data.set([value, value, value, 255], 4 * i));
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
