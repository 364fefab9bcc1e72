/** The pages beside the reader, and the ways from one to another. */

import { loadDigits } from "./models";
import { Pages } from "./pages";
import { MaxCutView } from "./views/maxcut/maxcut";
import { StoryView } from "./views/story/story";
import { TrainingView } from "./views/training/training";

export interface ReaderPage {
  /** Its state becomes the address. */
  write(): void;
  /** A model file is shown. */
  open(file: File): Promise<void>;
}

export function createPages(reader: ReaderPage): Pages {
  const pages: Pages = new Pages(
    {
      learn: (root) =>
        new TrainingView(root, {
          digits: loadDigits,
          onOpen: async (file) => {
            pages.go("read");
            await reader.open(file);
          },
          onTrained: () => pages.go("read"),
        }),
      understand: (root) =>
        new StoryView(root, {
          onRead: () => pages.go("read"),
          onLearn: () => pages.go("learn"),
        }),
      cut: (root) => new MaxCutView(root),
    },
    () => reader.write(),
  );
  return pages;
}
