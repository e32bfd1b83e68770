// Feedback on an answer: a correct query is proposed to the catalog maintainer, a problem is reported to them.

import { object, propose, withdraw } from "./api.js";
import { el } from "./dom.js";

const MAX_WHY = 1000;

/** Renders the question whether an answer is correct. */
export function feedback(found, run) {
  if (!found.answer || found.status === "unanswered") return null;
  const place = el("div", { class: "feedback", role: "group", "aria-label": "Is this correct?" });
  const said = el("p", { class: "status", role: "status" });
  const own = found.questions.some((ran) => !ran.error && !ran.verified && !ran.reused);
  ask();
  return place;

  /** Shows the two verdicts. Only a query generated for the answer can be proposed. */
  function ask(focus = false) {
    const right = own && el("button", { type: "button", class: "quiet small", onclick: (event) => agree(event.currentTarget) }, "Correct: propose as verified query");
    const wrong = el("button", { type: "button", class: "quiet small", onclick: explain }, "Report a problem");
    place.replaceChildren(el("p", { class: "actions" }, [right, wrong].filter(Boolean)), said);
    if (focus) wrong.focus();
  }

  function showStatus(text, kind = "") {
    said.className = `status ${kind}`;
    said.textContent = text;
  }

  async function agree(button) {
    button.disabled = true;
    try {
      const { name } = await propose(run);
      showStatus(`Proposed as ${name}. Once it is approved, it answers this question.`);
      place.replaceChildren(said);
    } catch (error) {
      showStatus(error.message, "bad");
      button.disabled = false;
    }
  }

  /** Asks what is wrong; the text is optional. */
  function explain() {
    const why = el("textarea", { id: "why", rows: 2, maxlength: MAX_WHY, "aria-describedby": "why-hint" });
    const send = el("button", { type: "submit", class: "small" }, "Send report");
    const form = el("form", { class: "why", onsubmit: (event) => { event.preventDefault(); disagree(why.value.trim(), send); } },
      el("label", { for: "why" }, "What is wrong? ", el("small", {}, "Optional.")), why,
      el("p", { class: "actions" }, send, el("button", { type: "button", class: "quiet small", onclick: () => { showStatus(""); ask(true); } }, "Cancel"),
        el("small", { id: "why-hint" }, "Sent to the catalog maintainer with the queries of this answer; never to a model.")));
    why.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    showStatus("");
    place.replaceChildren(form, said);
    why.focus();
  }

  async function disagree(why, button) {
    button.disabled = true;
    try {
      const { name } = await object(run, why);
      const back = el("button", { type: "button", class: "quiet small", onclick: async () => {
        try {
          await withdraw(name);
          showStatus("Withdrawn.");
          ask(true);
        } catch (error) {
          showStatus(error.message, "bad");
        }
      } }, "Withdraw");
      showStatus("Reported to the catalog maintainer.");
      place.replaceChildren(said, el("p", { class: "actions" }, back));
      back.focus();
    } catch (error) {
      showStatus(error.message, "bad");
      button.disabled = false;
    }
  }
}
