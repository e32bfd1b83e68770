// A workflow with its user: the conversation, its state, and its results.

import { get } from "./api.js";
import { count, el, shown, table } from "./dom.js";
import { markdown } from "./markdown.js";
import { cost } from "./plan.js";

/** Number of rows of a file shown at once. */
const ROWS = 200;

const STATES = {
  waiting: "Waiting for your reply", running: "Running", interrupted: "Interrupted", over: "Finished",
};

/** The choices of a phase that waits for one: the label of each button, and the message that it sends. */
const CHOICES = {
  demonstration: { needs: "proposals", hint: "Or by ids, one line each: yes p1 p2, no p3", buttons: [["All pairs are right", "yes"], ["No pair is right", "no"]] },
  validation: { needs: "validation", hint: "", buttons: [["Run over all rows", "yes"], ["End without a result", "no"]] },
};

/** Renders the choices of the phase while the workflow waits for one. */
function choices(state, choose) {
  const offered = state.workflow === "reconcile" && state.state === "waiting" && choose ? CHOICES[state.phase] : null;
  if (!offered || !state.products?.[offered.needs]) return null;
  return el("p", { class: "offers" },
    offered.buttons.map(([label, message]) => el("button", { type: "button", class: "quiet", onclick: () => choose(message) }, label)),
    offered.hint ? el("span", { class: "status" }, offered.hint) : null);
}

/** Renders a workflow; `retry` repeats an interrupted turn, `choose` sends a message of the user. */
export function workflow(state, retry, choose) {
  const done = state.state === "over";
  return [
    el("p", { class: `verdict ${done ? (state.completed ? "good" : "bad") : ""}` },
      el("span", { class: "mark" }, done ? (state.completed ? "✓ Completed" : "✗ Stopped") : `– ${STATES[state.state] ?? state.state}`),
      el("span", {}, [state.workflow, !done && state.phase ? `phase ${state.phase}` : null, state.stopped].filter(Boolean).join(" · "))),
    el("ol", { class: "talk", "aria-label": "Conversation" }, state.turns.flatMap((turn) => [
      turn.said ? el("li", { class: "said" }, el("span", { class: "away" }, "You: "), turn.said) : null,
      turn.answer ? el("li", { class: "reply text" }, markdown(turn.answer)) : null,
    ])),
    state.state === "interrupted" ? el("p", {},
      "The last turn was interrupted and has no effect. ",
      el("button", { type: "button", class: "quiet", onclick: retry }, "Retry")) : null,
    choices(state, choose),
    written(state),
    cost(state.metrics, state.model),
  ].filter(Boolean);
}

/** Renders the final results. */
function written(state) {
  const result = state.products?.result;
  if (!result?.files) return null;
  return el("section", {}, el("h3", {}, "Result"),
    result.counts ? shown(result.counts) : null,
    result.files.map((name) => file(state.handle, name)));
}

/** Flattens a row of a file: records by their columns, evidence as text. */
function flat({ row, evidence, ...rest }) {
  const words = (seen) => `${seen.columns}${seen.differs ? ` (${seen.left} / ${seen.right})` : ""}`;
  return { ...rest, ...row, ...(evidence ? { evidence: evidence.map(words).join("; ") } : {}) };
}

/** Renders a file, which is loaded on demand, page by page. */
function file(handle, name) {
  const rows = [];
  const place = el("div", {});
  const more = el("button", { type: "button", class: "quiet", onclick: read, hidden: true }, "More rows");
  const title = name.replace(/\.jsonl$/, "").replaceAll("_", " ");
  let next = 0;
  let reading = false;
  async function read() {
    if (reading || next === null) return;
    reading = true;
    try {
      const part = await get(`/v1/workflows/${encodeURIComponent(handle)}/files/${encodeURIComponent(name)}?offset=${next}&limit=${ROWS}`);
      rows.push(...part.items.map(flat));
      next = part.next ?? null;
      const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
      const parts = [];
      for (let from = 0; from < rows.length; from += ROWS) parts.push(table(columns, rows.slice(from, from + ROWS)));
      place.replaceChildren(...(rows.length ? parts : [el("p", { class: "status" }, "None.")]));
      more.textContent = `More rows (${count(rows.length)} shown)`;
      more.hidden = next === null;
    } catch (error) {
      place.append(el("p", { class: "status bad" }, error.message));
    }
    reading = false;
  }
  const node = el("details", {}, el("summary", {}, title), place, more);
  node.addEventListener("toggle", () => { if (node.open && !rows.length) read(); });
  return node;
}
