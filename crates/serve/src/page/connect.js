// A banner that explains how to connect a language model, shown while the built-in planner answers.

import { el } from "./dom.js";

const KEY = "prospector-banner";
const WAYS = [
  ["Anthropic", "ANTHROPIC_API_KEY", "planner serve --model claude-sonnet-4-5"],
  ["OpenAI, or a compatible server", "OPENAI_API_KEY", "planner serve --model gpt-4.1"],
  ["Google", "GEMINI_API_KEY", "planner serve --model gemini-2.5-pro"],
  ["Ollama, on this machine", "", "planner serve --model ollama/qwen3"],
];

/** Renders the steps for each provider. */
export const ways = () => el("dl", { class: "ways" }, WAYS.map(([who, variable, command]) => el("div", {},
  el("dt", {}, who),
  el("dd", {}, variable ? ["set ", el("code", {}, variable), ", then "] : null, el("code", {}, command)))));

/** Fills the banner; a dismissed banner stays hidden. */
export function offerModel(place, isBuiltIn) {
  const isDismissed = () => {
    try { return localStorage.getItem(KEY) === "dismissed"; } catch { return false; }
  };
  place.hidden = !isBuiltIn || isDismissed();
  if (place.hidden) return;
  place.replaceChildren(
    el("h2", { id: "connect-title" }, "Connect a model for free-form questions"),
    el("p", {}, "Without one, the built-in planner counts, sums, averages and ranks by columns, values and periods."),
    el("details", {}, el("summary", {}, "How to connect"), ways()),
    el("button", { type: "button", class: "quiet small", onclick: () => {
      place.hidden = true;
      try { localStorage.setItem(KEY, "dismissed"); } catch { /* It is away until the page is loaded again. */ }
    } }, "Dismiss"));
}
