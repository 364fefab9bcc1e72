/** Files that leave the page: downloads, and pictures of what is drawn. */

const SVG_TYPE = "image/svg+xml";
const PNG_SCALE = 2; // pixels of a file for one of the page

export function download(name: string, content: Blob | string, type = "text/plain"): void {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000); // once the browser has taken it
}

/** A drawing as a file of its own; its colours are in its attributes. */
export function svgText(drawing: SVGSVGElement, background: string): string {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const { width, height } = sizeOf(drawing);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.removeAttribute("class");
  copy.removeAttribute("data-testid");
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  paper.setAttribute("width", "100%");
  paper.setAttribute("height", "100%");
  paper.setAttribute("fill", background);
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}

export async function pngOf(text: string, width: number, height: number): Promise<Blob> {
  const address = URL.createObjectURL(new Blob([text], { type: SVG_TYPE }));
  try {
    const picture = new Image(width, height);
    picture.src = address;
    await picture.decode();
    const canvas = document.createElement("canvas");
    canvas.width = PNG_SCALE * width;
    canvas.height = PNG_SCALE * height;
    canvas.getContext("2d")!.drawImage(picture, 0, 0, canvas.width, canvas.height);
    return await blobOf(canvas);
  } finally {
    URL.revokeObjectURL(address);
  }
}

function blobOf(canvas: HTMLCanvasElement): Promise<Blob> {
  return new Promise((done, failed) => {
    canvas.toBlob((blob) => (blob === null ? failed(new Error("no picture")) : done(blob)));
  });
}

/** In pixels of its view box. */
export function sizeOf(drawing: SVGSVGElement): { width: number; height: number } {
  const { width, height } = drawing.viewBox.baseVal;
  return { width: Math.round(width), height: Math.round(height) };
}

export function saveSvg(name: string, text: string): void {
  download(`${name}.svg`, text, SVG_TYPE);
}

export async function savePng(name: string, text: string, width: number, height: number): Promise<void> {
  download(`${name}.png`, await pngOf(text, width, height));
}

export function saveCsv(name: string, text: string): void {
  download(`${name}.csv`, text, "text/csv");
}
