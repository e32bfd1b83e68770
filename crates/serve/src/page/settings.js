// How questions are answered here: the mode and the model, of those that the server offers. Remembered in this browser alone.

import { el, find } from "./dom.js";

const KEY = "prospector-settings";

/** What each mode is called. */
const MODES = {
  exploratory: "Exploratory",
  auditable: "Auditable (with proof)",
  knowledge: "Definitions and documents",
};

/** What was chosen here before; a browser may keep nothing. */
function remembered() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return kept && typeof kept === "object" ? kept : {};
  } catch {
    return {};
  }
}

function remember() {
  const chosen = { mode: find("mode").value, model: find("model").value };
  const isUsual = !chosen.mode && find("model").selectedIndex <= 0;
  try {
    if (isUsual) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, JSON.stringify(chosen));
  } catch {
    // It holds for this page.
  }
}

/** Offers what the server does; one model alone is no choice. */
export function offer({ modes = Object.keys(MODES), models = [] }) {
  const kept = remembered();
  const option = (value, text) => el("option", { value, selected: value === kept.mode || value === kept.model }, text);
  find("mode").append(...modes.map((mode) => option(mode, MODES[mode] ?? mode)));
  find("model").replaceChildren(...models.map((model) => option(model, model)));
  find("model").parentElement.hidden = models.length < 2;
  for (const name of ["mode", "model"]) find(name).addEventListener("change", remember);
}

/** What a question says of it; what is usual goes without saying. */
export function chosen() {
  const [mode, model] = [find("mode").value, find("model")];
  return { ...(mode ? { mode } : {}), ...(model.selectedIndex > 0 ? { model: model.value } : {}) };
}

/** Shows it where it counts. */
export function showSettings(isShown) {
  find("options").hidden = !isShown;
  find("model").parentElement.hidden = !isShown || find("model").options.length < 2;
}
