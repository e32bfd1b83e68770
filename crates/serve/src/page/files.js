// Saves files.

import { el } from "./dom.js";

/** Whether files can be saved here. */
export const canKeep = () => true;

/** Saves a text or an image as a file. */
export function keep(name, parts, type) {
  const link = el("a", { href: URL.createObjectURL(new Blob([parts], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
