// Clarifying questions as a form: the choices are buttons, and the conversation continues with the chosen one.

import { capital, coded, el } from "./dom.js";

const MOST_CHOICES = 8;
let made = 0;

/** Returns the choices of a question: the list that follows its colon. */
export function choices(text) {
  const plain = text.replace(/\*\*|__|`/g, "").trim();
  const asked = /^([^?]*)\?/.exec(plain)?.[1] ?? plain;
  const listed = /[:–—]\s+([^:]+)$/.exec(asked)?.[1] ?? "";
  const found = listed.split(/\s*[;,]\s*(?:or\s+)?|\s+or\s+/i).map((choice) => choice.replace(/^\(?[a-z\d]\)\s*/i, "").trim()).filter(Boolean);
  return found.length > 1 && found.length <= MOST_CHOICES && found.every((choice) => choice.length <= 80) ? found : [];
}

/** Returns the choices of an answer. */
export const choicesOf = (found) => ((found.choices ?? []).length <= MOST_CHOICES ? found.choices ?? [] : []);

/** Returns the text of an answer without what its choices show as buttons. */
export const withoutChoices = (text) => text.replace(/ The closest queries are:$/m, "")
  .replace(/^Reply with a number, or rephrase the question\.[ ]*/m, "");

/** Renders the questions about a plan, with the readings of its question as buttons; `again` plans the chosen one. */
export function readings(found, again) {
  const offered = found.choices ?? [];
  return el("ul", { class: "questions" }, found.clarifications.map((text) => el("li", {}, coded(text))),
    again && offered.length
      ? el("li", {}, el("div", { class: "clarify", role: "group", "aria-label": "Readings of the question" }, list(offered, again)))
      : offered.map((choice) => el("li", {}, choice)));
}

const list = (offered, again) => el("ul", { class: "offers stacked" }, offered.map((choice) => el("li", {},
  el("button", { type: "button", class: "quiet", onclick: () => again(choice) }, choice))));

/** Renders the form; `again` continues with the reply. */
export function clarify(found, again) {
  const mine = `clarify-${(made += 1)}`;
  const numbered = choicesOf(found);
  if (numbered.length) {
    return el("div", { class: "clarify", role: "group", "aria-labelledby": `${mine}-title` },
      el("h3", { id: `${mine}-title` }, capital(found.clarifications[0] ?? (numbered.length > 1 ? "Closest queries" : "Closest query"))),
      list(numbered, again));
  }
  const said = found.clarifications.map(() => "");
  const questions = found.clarifications.map((text, at) => {
    const input = el("input", { type: "text", id: `${mine}-${at}`, autocomplete: "off", maxlength: 500, oninput: () => { said[at] = input.value; } });
    const offered = choices(text).map((choice) => el("button", { type: "button", class: "quiet", onclick: () => {
      said[at] = choice;
      input.value = choice;
      if (found.clarifications.length === 1) form.requestSubmit();
    } }, choice));
    return el("div", { class: "clarification" },
      el("label", { for: `${mine}-${at}` }, text),
      offered.length ? el("p", { class: "offers" }, offered) : null,
      input);
  });
  const form = el("form", { class: "clarify", "aria-labelledby": `${mine}-title`, onsubmit: (event) => {
    event.preventDefault();
    const replies = found.clarifications.map((text, at) => (said[at].trim() ? `${text} ${said[at].trim()}.` : "")).filter(Boolean);
    if (replies.length) again(`${found.question}\n${replies.join("\n")}`);
  } },
  el("h3", { id: `${mine}-title` }, "Please clarify"), questions, el("button", { type: "submit" }, "Continue"));
  return form;
}
