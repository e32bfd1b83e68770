// Clarifying questions as a form: the choices are buttons, and the conversation continues with the chosen one.

import { el } from "./dom.js";

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

/** Returns the numbered choices after the only clarifying question of an answer or a refusal. */
export function choicesOf(found) {
  if (found.clarifications?.length !== 1 && !isDeclined(found)) return [];
  const lines = found.answer.split("\n").map((line) => /^\s*\d+[.)]\s+(.+)$/.exec(line)?.[1].trim()).filter(Boolean);
  return lines.length <= MOST_CHOICES ? lines : [];
}

const isDeclined = (found) => !found.clarifications?.length && /^I cannot answer this/i.test(found.answer);

/** Renders the form; `again` continues with the reply. */
export function clarify(found, again) {
  const mine = `clarify-${(made += 1)}`;
  const numbered = choicesOf(found);
  if (numbered.length) {
    return el("div", { class: "clarify", role: "group", "aria-labelledby": `${mine}-title` },
      el("h3", { id: `${mine}-title` }, found.clarifications[0]?.replace(/^./, (first) => first.toUpperCase()) ?? "Nearest queries"),
      el("ul", { class: "offers stacked" }, numbered.map((choice) => el("li", {},
        el("button", { type: "button", class: "quiet", onclick: () => again(choice) }, choice)))));
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
