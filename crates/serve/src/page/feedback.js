// What a person thinks of an answer: a query that is right is proposed to whoever keeps the catalog.

import { propose } from "./api.js";
import { el } from "./dom.js";

/** A line that offers it, where the answer rests on a query of its own. */
export function feedback(found, run) {
  if (!found.questions.some((ran) => !ran.error && !ran.verified && !ran.reused)) return null;
  const said = el("span", { class: "status", role: "status" });
  const button = el("button", { type: "button", class: "quiet small", onclick: async () => {
    button.disabled = true;
    try {
      const { name } = await propose(run);
      said.textContent = `Proposed as ${name}. Once it is checked, the same question is answered by it.`;
      button.remove();
    } catch (error) {
      said.className = "status bad";
      said.textContent = error.message;
      button.disabled = false;
    }
  } }, "It is right: propose its query");
  return el("p", { class: "actions feedback" }, button, said);
}
