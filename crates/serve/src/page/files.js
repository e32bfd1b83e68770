// Files that a person keeps.

import { el } from "./dom.js";

/** Whether anything can be kept here. */
export const canKeep = () => true;

/** Has the browser keep a text or an image under a name. */
export function keep(name, parts, type) {
  const link = el("a", { href: URL.createObjectURL(new Blob([parts], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
