// Options for answers: the mode and the model, among those that the server offers. Stored in this browser only.

import { el, find } from "./dom.js";

const KEY = "prospector-settings";

/** Labels of the modes. */
const MODES = {
  exploratory: "Exploratory",
  auditable: "Auditable (with proof)",
  knowledge: "Definitions and documents",
};

/** Returns the stored choices; a browser may not allow storage. */
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
    // The choice applies to this page.
  }
}

/** Offers the choices of the server; a single model is not offered as a choice. */
export function offer({ modes = Object.keys(MODES), models = [] }) {
  const kept = remembered();
  const option = (value, text) => el("option", { value, selected: value === kept.mode || value === kept.model }, text);
  find("mode").append(...modes.map((mode) => option(mode, MODES[mode] ?? mode)));
  find("model").replaceChildren(...models.map((model) => option(model, model)));
  find("model").parentElement.hidden = models.length < 2;
  for (const name of ["mode", "model"]) find(name).addEventListener("change", remember);
}

/** Returns the options of a question; defaults are omitted. */
export function chosen() {
  const [mode, model] = [find("mode").value, find("model")];
  return { ...(mode ? { mode } : {}), ...(model.selectedIndex > 0 ? { model: model.value } : {}) };
}

/** Shows the options where they apply. */
export function showSettings(isShown) {
  find("options").hidden = !isShown;
  find("model").parentElement.hidden = !isShown || find("model").options.length < 2;
}
