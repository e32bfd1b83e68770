// The status of an answer: the four states, each with its label, sign and colour.

import { capital, chip, coded, el, many } from "./dom.js";

const STATES = {
  verified: ["✓", "Verified"], answered: ["●", "Answered"], partial: ["◐", "Partly answered"], unanswered: ["○", "Not answered"],
};

/** Returns the display name of a model. */
export const modelName = (name) => (name === "offline" ? "built-in planner" : name);

/** Renders the state of an answer, its sources, why it is incomplete, and its notes. */
export function verdict(found, open) {
  const [icon, label] = STATES[found.status] ?? STATES.unanswered;
  const ran = found.questions.filter((one) => !one.error);
  const checked = [...new Map(ran.filter((one) => one.verified).map((one) => [one.verified.query, one.verified])).values()];
  const basis = found.status === "unanswered" ? [] : [ran.length ? `from ${many(ran.length, "query", "queries")}` : null];
  const remarks = [...(found.caveats ?? []), ...(found.notes ?? [])];
  return el("div", { class: `verdict ${found.status}` },
    el("p", {}, el("span", { class: "mark" }, el("span", { class: "icon", "aria-hidden": "true" }, icon), ` ${label}`), " ",
      el("span", { class: "basis" }, [...basis, modelName(found.model)].filter(Boolean).join(" · "))),
    checked.map((verified) => el("p", { class: "checked" }, `Verified by ${verified.by}${verified.on ? ` on ${verified.on}` : ""} `, chip("query", verified.query, open))),
    remarks.length ? el("ul", { class: "caveats" }, remarks.map((text) => el("li", {}, coded(capital(text))))) : null);
}

/** Renders the label of a state. */
export const stateOf = (found) => (STATES[found.status] ?? STATES.unanswered)[1];
