/** The commands that do the same, to copy. */

import { make } from "../../dom";
import { say } from "../announce";
import { button } from "./controls";

export class Commands {
  readonly root = make("div", { class: "commands" });
  private readonly blocks = new Map<string, HTMLElement>();

  /** `titles` by the name of a command's hook. */
  constructor(titles: Record<string, string>) {
    for (const [name, title] of Object.entries(titles)) {
      const text = make("pre", { "data-testid": name, tabindex: "0", "aria-label": title });
      const copy = button(`${name}-copy`, "Copy", () => void copied(text.textContent ?? ""), {
        class: "tiny",
        "aria-label": `Copy: ${title}`,
      });
      this.blocks.set(name, text);
      this.root.append(
        make("div", { class: "figure-head" }, make("h3", {}, title), copy),
        text,
      );
    }
  }

  show(name: string, command: string): void {
    this.blocks.get(name)!.textContent = command;
  }
}

async function copied(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say("The command is copied.");
  } catch {
    say("This browser gives no clipboard: select the command and copy it.", "problem");
  }
}
