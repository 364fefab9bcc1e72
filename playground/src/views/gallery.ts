/** Test images as buttons: of both datasets, or of a given network's own. */

import type { Gallery } from "../core";
import { hook, make, paintGrey } from "../dom";
import { DATASETS, type Dataset } from "../state";

export interface GalleryView {
  /** The strips of these datasets, none or some; the image of `dataset` that is shown is marked. */
  show(datasets: readonly string[], dataset: string, index: number | null): void;
}

const TITLES: Record<Dataset, string> = {
  mnist: "Test digits",
  "fashion-mnist": "Test clothes",
};

const CLOTHES = [
  "T-shirt/top",
  "Trouser",
  "Pullover",
  "Dress",
  "Coat",
  "Sandal",
  "Shirt",
  "Sneaker",
  "Bag",
  "Ankle boot",
];

export function labelName(dataset: Dataset, label: number): string {
  return dataset === "mnist" ? `digit ${label}` : CLOTHES[label];
}

export function createGallery(
  gallery: Gallery,
  onPick: (dataset: Dataset, index: number) => void,
): GalleryView {
  const buttons = new Map<string, HTMLButtonElement>();
  const strips = new Map<string, HTMLElement>();
  // Tiles are images: a browser hands every canvas in view to its compositor again in each frame.
  const canvas = make("canvas");
  for (const dataset of DATASETS) {
    const strip = make("div", {
      class: "strip",
      role: "group",
      "aria-label": `${TITLES[dataset]}: arrow keys move`,
    });
    gallery.get(dataset)?.forEach((image, i) => {
      paintGrey(canvas, image.pixels, image.shape);
      const tile = make("img", { class: "pixels", alt: "", src: canvas.toDataURL() });
      const name = `test image ${image.index}: ${labelName(dataset, image.label)}`;
      const button = make(
        "button",
        {
          type: "button",
          "data-testid": `gallery-${dataset}-${i}`,
          "aria-label": name,
          "aria-pressed": "false",
          title: name,
        },
        tile,
      );
      button.tabIndex = i === 0 ? 0 : -1;
      button.addEventListener("click", () => onPick(dataset, i));
      buttons.set(`${dataset} ${i}`, button);
      strip.append(button);
    });
    moveByArrows(strip);
    const titled = make("div", {}, make("h3", {}, TITLES[dataset]), strip);
    strips.set(dataset, titled);
    hook("gallery").append(titled);
  }
  let marked: HTMLButtonElement | undefined;
  return {
    show(datasets, dataset, index) {
      for (const [name, strip] of strips) strip.hidden = !datasets.includes(name);
      const chosen = index === null ? undefined : buttons.get(`${dataset} ${index}`);
      if (chosen === marked) return; // where it is need not be looked up again
      marked?.setAttribute("aria-pressed", "false");
      marked = chosen;
      marked?.setAttribute("aria-pressed", "true");
      if (marked !== undefined) bringIntoView(marked);
    },
  };
}

/** Sideways only: the page itself stays where it is. */
function bringIntoView(button: HTMLElement): void {
  const strip = button.parentElement as HTMLElement;
  const [outer, inner] = [strip.getBoundingClientRect(), button.getBoundingClientRect()];
  if (inner.left < outer.left) strip.scrollLeft -= outer.left - inner.left + 4;
  else if (inner.right > outer.right) strip.scrollLeft += inner.right - outer.right + 4;
}

/** One stop of the Tab key for the strip, whose columns hold two pictures each. */
function moveByArrows(strip: HTMLElement): void {
  const ways: Record<string, number> = { ArrowLeft: -2, ArrowRight: 2, ArrowUp: -1, ArrowDown: 1 };
  strip.addEventListener("focusin", (event) => {
    for (const button of strip.children) (button as HTMLElement).tabIndex = -1;
    (event.target as HTMLElement).tabIndex = 0;
  });
  strip.addEventListener("keydown", (event) => {
    const way = ways[event.key];
    if (way === undefined) return;
    const buttons = [...strip.children] as HTMLElement[];
    buttons[buttons.indexOf(event.target as HTMLElement) + way]?.focus();
    event.preventDefault();
  });
}
