/** Files that stand in the document itself: the page as one HTML file has all of them there, as
 * base64 (entrain/playground/single.py). */

/** The content of a file that the document holds, null where it holds none of this name. */
export function inlined(path: string): ArrayBuffer | null {
  const found = document.querySelector(`script[data-file="${CSS.escape(path)}"]`);
  return found === null ? null : fromBase64(found.textContent ?? "");
}

export function fromBase64(text: string): ArrayBuffer {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer;
}
