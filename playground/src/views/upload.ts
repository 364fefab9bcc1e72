/** A picture of the visitor's own: chosen or dropped, decoded, made small, prepared; and a network of
 * the visitor's own, which is a file of another kind. */

import { fromRgba, preparePicture, type Pixels, type Shape } from "../core";
import { context, hook, make } from "../dom";
import { say } from "./announce";

const MOST_BYTES = 60e6;
const LONGEST_SIDE = 512; // larger pictures are scaled down before their pixels are read
const MOST_PIXELS = 50e6; // as the package has it

/** `shape` is that of the network's pictures, or null where it reads none. */
export function createUpload(
  shape: () => Shape | null,
  onPicture: (pixels: Pixels) => void,
  onModel: (file: File) => void,
): void {
  const input = hook<HTMLInputElement>("upload");
  const networks = hook<HTMLInputElement>("model-upload");
  networks.addEventListener("change", () => {
    const file = networks.files?.[0];
    if (file !== undefined) onModel(file);
    networks.value = "";
  });
  const take = async (file: File | undefined): Promise<void> => {
    const wanted = shape();
    if (file === undefined) return;
    if (/\.safetensors$/i.test(file.name)) {
      onModel(file);
      return;
    }
    if (wanted === null) {
      say("This network reads numbers, not pictures.", "problem");
      return;
    }
    say("Reading the picture …");
    try {
      onPicture(await readPicture(file, wanted));
    } catch (error) {
      say(
        error instanceof Unreadable ? error.message : "This picture could not be read.",
        "problem",
      );
    }
  };
  input.addEventListener("change", () => {
    void take(input.files?.[0]);
    input.value = ""; // so that the same file can be chosen again
  });
  let depth = 0; // of the elements the dragged file has entered
  const dragging = (change: number): void => {
    depth = Math.max(0, depth + change);
    document.body.classList.toggle("dragging", depth > 0);
  };
  document.addEventListener("dragenter", () => dragging(1));
  document.addEventListener("dragleave", () => dragging(-1));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    dragging(-depth);
    const file = event.dataTransfer?.files[0];
    if (file === undefined) say("Drop a picture or a .safetensors file here.", "problem");
    else void take(file);
  });
}

class Unreadable extends Error {}

async function readPicture(file: File, shape: Shape): Promise<Pixels> {
  if (file.size > MOST_BYTES) {
    throw new Unreadable("This file is larger than 60 MB. Please choose a smaller picture.");
  }
  if (file.type !== "" && !file.type.startsWith("image/")) {
    throw new Unreadable("This is not a picture. Please choose a PNG, JPEG, GIF, WebP or SVG file.");
  }
  const decoded = file.type === "image/svg+xml" ? drawnSvg(file) : createImageBitmap(file);
  const bitmap = await decoded.catch(() => {
    throw new Unreadable("This file could not be read as a picture: it may be broken.");
  });
  if (bitmap.width * bitmap.height > MOST_PIXELS) {
    bitmap.close();
    throw new Unreadable("This picture has more than 50 million pixels. Please make it smaller.");
  }
  const { data, width, height } = pixelsOf(bitmap);
  const pixels = preparePicture(fromRgba(data, width, height), height, width, shape);
  if (pixels === null || pixels.every((value) => value === pixels[0])) {
    throw new Unreadable("This picture has one colour only: there is nothing to read.");
  }
  return pixels;
}

/** A drawing of lines has no pixels of its own: it is drawn as large as pictures are read, on white
 * paper where it has no ground. As an image it runs no script and asks for no other file. */
async function drawnSvg(file: File): Promise<ImageBitmap> {
  const address = URL.createObjectURL(file);
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const { naturalWidth: width, naturalHeight: height } = image;
    const scale = LONGEST_SIDE / Math.max(width, height, 1);
    const [across, down] = [width, height].map((side) => Math.max(1, Math.round(side * scale)));
    const canvas = make("canvas", { width: String(across), height: String(down) });
    const drawing = context(canvas);
    drawing.fillStyle = "#fff";
    drawing.fillRect(0, 0, canvas.width, canvas.height);
    drawing.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await createImageBitmap(canvas);
  } finally {
    URL.revokeObjectURL(address);
  }
}

function pixelsOf(bitmap: ImageBitmap): ImageData {
  const scale = Math.min(1, LONGEST_SIDE / Math.max(bitmap.width, bitmap.height));
  const width = Math.max(1, Math.round(bitmap.width * scale));
  const height = Math.max(1, Math.round(bitmap.height * scale));
  const canvas = make("canvas", { width: String(width), height: String(height) });
  const drawing = context(canvas, true);
  drawing.imageSmoothingQuality = "high";
  drawing.drawImage(bitmap, 0, 0, width, height);
  bitmap.close();
  return drawing.getImageData(0, 0, width, height);
}
