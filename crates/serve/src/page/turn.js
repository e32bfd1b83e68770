// A turn of the conversation: a question, the events of its run, and the result.

import { answer } from "./answer.js";
import { count, el, many } from "./dom.js";
import { execution } from "./execution.js";
import { feedback } from "./feedback.js";
import { markdown } from "./markdown.js";
import { plan } from "./plan.js";
import { stateOf } from "./status.js";

/** Formats the arguments of a call. */
function formatArguments(given) {
  if (!given || typeof given !== "object") return String(given ?? "");
  return Object.entries(given).map(([name, value]) =>
    `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`).join(" · ");
}

/** A question with its place in the conversation. `offers` has what an answer needs: `open`, `again`, `mayRun`, `conversations`, and
  * `onUnanswered`, which returns further actions for an unanswered question. */
export class Turn {
  constructor(question, offers) {
    this.offers = offers;
    this.run = null;
    this.tools = 0;
    this.title = el("h2", { class: "asked", tabindex: -1 }, question);
    this.status = el("p", { class: "status", role: "status", "aria-live": "polite" });
    this.result = el("div", { class: "result" });
    this.tally = el("span", { class: "tally" });
    this.timeline = el("ol", { class: "timeline", "aria-label": "Thoughts, tool calls and queries, in order" });
    this.trail = el("details", { class: "trail", open: true }, el("summary", {}, "Steps taken ", this.tally), this.timeline);
    this.node = el("article", { class: "turn" }, this.title, this.status, this.result, this.trail);
  }

  say(text, kind = "") {
    this.status.textContent = text;
    this.status.className = `status ${kind}`;
  }

  /** Shows a stored answer. */
  showAnswered(answered) {
    this.trail.hidden = true;
    this.title.textContent = answered.question;
    this.result.replaceChildren(...answer(answered, this.offers.open, this.offers.again, this.offers.mayRun));
  }

  /** Shows an event of its run. */
  onEvent(name, data) {
    EVENTS[name]?.(this, data);
  }

  line(kind, ...children) {
    const item = el("li", { class: kind }, ...children);
    this.timeline.append(item);
    return item;
  }

  /** Removes streamed text, because the complete text follows. */
  removeWriting() {
    this.timeline.querySelectorAll("li.writing").forEach((item) => item.remove());
  }
}

/** Renderers per event. */
const EVENTS = {
  started(turn, data) {
    turn.run = data.handle;
    if (!data.workflow) turn.title.textContent = data.question;
  },
  phase(turn, data) { turn.line("round", `Phase ${data.name}`, data.reason ? el("p", { class: "why" }, data.reason) : null); },
  resumed(turn, data) { turn.line("thinking", `Restoring ${many(data.turns, "turn")}…`); },
  round(turn, data) { turn.line("round", `Round ${data.number}`); },
  text(turn, data) {
    const last = turn.timeline.lastElementChild;
    const item = last?.classList.contains("writing") ? last : turn.line("thinking writing");
    item.textContent += data.text ?? "";
  },
  thinking(turn, data) {
    turn.removeWriting();
    turn.line("thinking", data.text ?? "");
  },
  tool(turn, data) {
    turn.tools += 1;
    turn.tally.textContent = `· ${many(turn.tools, "call")}`;
    const item = turn.line("tool", el("div", { class: "call" },
      el("span", { class: "name" }, data.name), el("span", { class: "with" }, formatArguments(data.arguments)), el("span", { class: "size" }, "…")));
    item.dataset.name = data.name;
    turn.say(`Calling ${data.name}…`, "busy");
  },
  executing(turn, data) {
    const item = turn.line("query", el("div", { class: "call" }, el("span", { class: "name" }, data.id),
      el("span", { class: "with" }, data.question), el("span", { class: "size" }, "…")), el("pre", { tabindex: 0 }, data.sql));
    item.dataset.query = data.id;
    turn.say("Running a query…", "busy");
  },
  result(turn, data) {
    for (const ran of data.queries ?? []) {
      const query = [...turn.timeline.querySelectorAll("li.query")].findLast((item) => item.dataset.query === ran.id);
      query?.classList.add(ran.error ? "failed" : "done");
      if (query) query.querySelector(".size").textContent = ran.error ?? many(ran.rows ?? 0, "row");
    }
    const item = [...turn.timeline.querySelectorAll("li.tool:not(.done):not(.failed)")].find((one) => one.dataset.name === data.name);
    if (!item) return;
    item.classList.add(data.failed ? "failed" : "done");
    if (data.failed && data.reason) item.append(el("p", { class: "why" }, data.reason));
    item.querySelector(".size").textContent = data.failed ? "failed" : data.bytes === undefined ? "" : `${count(data.bytes)} bytes`;
  },
  verified(turn, data) {
    turn.removeWriting();
    turn.line(data.ok ? "tool done" : "tool failed", data.ok ? "Checked: no failures." : `Checked: ${many(data.failed, "failure")}.`);
  },
  plan(turn, data) {
    const [verdict, ...parts] = plan(data, turn.offers.open, turn.offers.replan);
    turn.ended = verdict.querySelector(".mark").textContent.replace(/^\S+ /, "");
    turn.result.replaceChildren(...[verdict, execution(data, turn.run, turn.offers.mayRun), ...parts].filter(Boolean));
  },
  answer(turn, data) {
    if (!turn.isWorkflow) turn.result.replaceChildren(el("div", { class: "reason text" }, markdown(data.text)));
  },
  answered(turn, data) {
    const { open, again, mayRun, conversations, onUnanswered } = turn.offers;
    turn.ended = stateOf(data);
    turn.result.replaceChildren(...[...answer(data, open, again, mayRun),
      data.status === "unanswered" ? onUnanswered?.(data) : null,
      conversations && turn.run ? feedback(data, turn.run) : null].filter(Boolean));
  },
  error(turn, data) { turn.say(data.message ?? "it failed", "bad"); },
  done(turn, data) {
    turn.removeWriting();
    // The status line is for screen readers; the page shows the verdict.
    const outcome = data.reason ? `${data.ended}: ${data.reason}` : turn.ended ? `Done: ${turn.ended.toLowerCase()}.` : "Done.";
    turn.say(outcome, data.reason ? "bad" : "away");
    turn.trail.open = Boolean(data.reason);
  },
};
