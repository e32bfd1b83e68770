// Clarifying questions as a form: the choices are buttons, and the conversation continues with the chosen one.

import { capital, coded, el } from "./dom.js";

const MOST_CHOICES = 8;
let made = 0;

/** Returns the choices of a question: what follows its colon, or both sides of "or". */
export function choices(text) {
  const plain = text.replace(/\*\*|__|`/g, "").trim();
  const asked = /^([^?]*)\?/.exec(plain)?.[1] ?? plain;
  const listed = /[:–—]\s+([^:]+)$/.exec(asked)?.[1] ?? /\b(?:mean|want|prefer|use|count|is it)\s+(.+\bor\b.+)$/i.exec(asked)?.[1] ?? "";
  const found = listed.split(/\s*[;,]\s*(?:or\s+)?|\s+or\s+/i).map((choice) => choice.replace(/^\(?[a-z\d]\)\s*/i, "").trim()).filter(Boolean);
  return found.length > 1 && found.length <= MOST_CHOICES && found.every((choice) => choice.length <= 80) ? found : [];
}

/** The readings of a question that cannot be planned. */
const READINGS = / It may mean: (.+?)\.(?= The closest sources:| Nothing in the catalog|$)/;

/** Returns the choices of an answer. */
export const choicesOf = (found) => ((found.choices ?? []).length <= MOST_CHOICES ? found.choices ?? [] : []);

/** Returns the text of an answer without what its choices show as buttons. */
export const withoutChoices = (text) => text.replace(/ The closest queries are:$/m, "")
  .replace(/^Reply with a number, or rephrase the question\.[ ]*/m, "");

/** Renders a question about a plan, with its readings as buttons; `again` plans the chosen one. */
export function reading(text, again) {
  const offered = (again && READINGS.exec(text)?.[1].split("; or ")) || [];
  return el("li", {}, coded(offered.length ? text.replace(READINGS, "") : text),
    offered.length ? el("div", { class: "clarify", role: "group", "aria-label": "Readings of the question" }, list(offered, again)) : null);
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
