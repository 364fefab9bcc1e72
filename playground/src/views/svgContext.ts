/** Records what is drawn on a canvas as SVG: the part of CanvasRenderingContext2D that the page's
 * drawings use. */

import { context, make } from "../dom";

interface State {
  fillStyle: string;
  strokeStyle: string;
  lineWidth: number;
  lineCap: string;
  lineJoin: string;
  globalAlpha: number;
  font: string;
  textAlign: string;
  textBaseline: string;
  dash: number[];
  transform: string;
  clip: string; // id of a clip path, or none
}

const ANCHORS: Record<string, string> = { left: "start", start: "start", center: "middle", right: "end", end: "end" };
const SHIFTS: Record<string, string> = { top: "0.8em", hanging: "0.8em", middle: "0.35em", bottom: "-0.2em" };

export class SvgContext {
  fillStyle = "#000";
  strokeStyle = "#000";
  lineWidth = 1;
  lineCap = "butt";
  lineJoin = "round";
  globalAlpha = 1;
  font = "11px sans-serif";
  textAlign = "start";
  textBaseline = "alphabetic";
  imageSmoothingEnabled = true;
  private dash: number[] = [];
  private transform = "";
  private clipped = "";
  private path = "";
  private clips = 0;
  private readonly parts: string[] = [];
  private readonly kept: State[] = [];
  private readonly ruler = context(make("canvas"));

  constructor(
    readonly width: number,
    readonly height: number,
  ) {}

  /** What was drawn, on this ground. */
  text(ground: string): string {
    const { width, height } = this;
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
      `viewBox="0 0 ${width} ${height}"><rect width="100%" height="100%" fill="${ground}"/>` +
      `${this.parts.join("")}</svg>`
    );
  }

  save(): void {
    const { dash, transform, clipped: clip } = this;
    const { fillStyle, strokeStyle, lineWidth, lineCap, lineJoin, globalAlpha, font } = this;
    const { textAlign, textBaseline } = this;
    const pen = { fillStyle, strokeStyle, lineWidth, lineCap, lineJoin, globalAlpha };
    this.kept.push({ ...pen, font, textAlign, textBaseline, dash, transform, clip });
  }

  restore(): void {
    const state = this.kept.pop();
    if (state === undefined) return;
    const { clip, ...rest } = state;
    Object.assign(this, rest);
    this.clipped = clip;
  }

  beginPath(): void {
    this.path = "";
  }

  moveTo(x: number, y: number): void {
    this.path += `M${short(x)} ${short(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.path += `${this.path === "" ? "M" : "L"}${short(x)} ${short(y)}`;
  }

  closePath(): void {
    this.path += "Z";
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.path += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z`;
  }

  arc(x: number, y: number, radius: number, from: number, to: number, back = false): void {
    const turn = 2 * Math.PI;
    const whole = Math.abs(to - from) >= turn - 1e-9;
    const sweep = back ? -(((from - to) % turn) + turn) % turn : (((to - from) % turn) + turn) % turn;
    const at = (angle: number): string =>
      `${short(x + radius * Math.cos(angle))} ${short(y + radius * Math.sin(angle))}`;
    const piece = (angle: number, by: number): string =>
      `A${short(radius)} ${short(radius)} 0 ${Math.abs(by) > Math.PI ? 1 : 0} ${by > 0 ? 1 : 0} ${at(angle + by)}`;
    this.path += `${this.path === "" || whole ? "M" : "L"}${at(from)}`;
    this.path += whole
      ? piece(from, Math.PI) + piece(from + Math.PI, Math.PI)
      : piece(from, sweep);
  }

  setLineDash(dash: number[]): void {
    this.dash = dash;
  }

  stroke(): void {
    if (this.path !== "") this.add(`<path d="${this.path}" fill="none"${this.pen()}/>`);
  }

  fill(): void {
    if (this.path !== "") this.add(`<path d="${this.path}"${this.ink()}/>`);
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.add(`<rect ${box(x, y, width, height)}${this.ink()}/>`);
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    this.add(`<rect ${box(x, y, width, height)} fill="none"${this.pen()}/>`);
  }

  clearRect(): void {
    // it begins empty
  }

  fillText(words: string, x: number, y: number): void {
    const [, weight = "", size = "11", family = "sans-serif"] =
      /^(?:(bold|\d{3}) )?([\d.]+)px (.*)$/.exec(this.font) ?? [];
    const shift = SHIFTS[this.textBaseline] ?? "0";
    this.add(
      `<text x="${short(x)}" y="${short(y)}" dy="${shift}" font-size="${size}" font-family="${escaped(family)}"` +
        `${weight === "" ? "" : ` font-weight="${weight}"`} text-anchor="${ANCHORS[this.textAlign] ?? "start"}"` +
        `${this.ink()}>${escaped(words)}</text>`,
    );
  }

  measureText(words: string): TextMetrics {
    this.ruler.font = this.font;
    return this.ruler.measureText(words);
  }

  /** A picture stays one: its pixels are in the file. */
  drawImage(picture: CanvasImageSource, ...place: number[]): void {
    if (!(picture instanceof HTMLCanvasElement)) return;
    const [x = 0, y = 0, width = picture.width, height = picture.height] = place.slice(-4);
    const smooth = this.imageSmoothingEnabled ? "" : ' style="image-rendering:pixelated"';
    this.add(`<image ${box(x, y, width, height)} href="${picture.toDataURL()}" preserveAspectRatio="none"${smooth}/>`);
  }

  clip(): void {
    const id = `clip${++this.clips}`;
    this.parts.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath>`);
    this.clipped = id;
  }

  translate(x: number, y: number): void {
    this.transform += `translate(${short(x)} ${short(y)})`;
  }

  rotate(angle: number): void {
    this.transform += `rotate(${short((180 / Math.PI) * angle)})`;
  }

  scale(x: number, y: number): void {
    this.transform += `scale(${short(x)} ${short(y)})`;
  }

  setTransform(): void {
    this.transform = ""; // the file has the page's own pixels
  }

  private ink(): string {
    const alpha = this.globalAlpha === 1 ? "" : ` fill-opacity="${short(this.globalAlpha)}"`;
    return ` fill="${escaped(String(this.fillStyle))}"${alpha}`;
  }

  private pen(): string {
    const alpha = this.globalAlpha === 1 ? "" : ` stroke-opacity="${short(this.globalAlpha)}"`;
    const dash = this.dash.length === 0 ? "" : ` stroke-dasharray="${this.dash.join(" ")}"`;
    return (
      ` stroke="${escaped(String(this.strokeStyle))}" stroke-width="${short(this.lineWidth)}"` +
      ` stroke-linecap="${this.lineCap}" stroke-linejoin="${this.lineJoin}"${alpha}${dash}`
    );
  }

  private add(part: string): void {
    const clip = this.clipped === "" ? "" : ` clip-path="url(#${this.clipped})"`;
    const transform = this.transform === "" ? "" : ` transform="${this.transform}"`;
    this.parts.push(clip + transform === "" ? part : `<g${clip}${transform}>${part}</g>`);
  }
}

function short(value: number): string {
  return String(Number(value.toFixed(2)));
}

function box(x: number, y: number, width: number, height: number): string {
  return `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
