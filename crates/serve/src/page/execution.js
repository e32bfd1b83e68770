// Buttons that execute, copy or save a plan.

import { executePlan } from "./api.js";
import { el, many } from "./dom.js";
import { evidence } from "./evidence.js";
import { keep } from "./files.js";

/** Renders the buttons of a plan, and below them the results of its execution. `handle` identifies the run that made the plan. */
export function execution(found, handle, mayRun) {
  if (!found.plan.steps.length) return null;
  const said = el("p", { class: "status", role: "status" });
  const place = el("div", { class: "executed" });
  const text = () => JSON.stringify(found, null, 2);
  const run = handle && found.verification.ok && el("button", { type: "button", onclick: () => execute() }, "Run plan");
  const copy = el("button", { type: "button", class: "quiet", onclick: async () => {
    const copied = await navigator.clipboard.writeText(text()).then(() => true, () => false);
    said.textContent = copied ? "Copied as JSON." : "The browser did not allow copying.";
  } }, "Copy");
  const save = el("button", { type: "button", class: "quiet", onclick: () => keep("plan.json", text(), "application/json") }, "Save");
  async function execute() {
    run.disabled = true;
    said.className = "status busy";
    said.textContent = "Running the plan…";
    try {
      const done = await executePlan(handle);
      const failed = done.steps.find((step) => step.error);
      said.className = done.ok ? "status" : "status bad";
      said.textContent = done.ok ? `Done: ${many(done.steps.length, "step")}.`
        : failed ? `Step ${failed.step.number} failed: ${[failed.error.message, failed.error.suggestion].filter(Boolean).join("; ")}`
          : "The plan did not run to its end.";
      place.replaceChildren(...results(done, mayRun));
    } catch (error) {
      said.className = "status bad";
      said.textContent = error.message;
    }
    run.disabled = false;
    run.textContent = "Run again";
  }
  return el("div", { class: "execution" }, el("p", { class: "actions" }, [run, copy, save].filter(Boolean), said), place);
}

/** Renders the rows of each step, the result first and in full. */
function results(done, mayRun) {
  const shown = done.steps.filter((step) => step.rows?.length || step.error || step.sql);
  const titleOf = (step) => step.goal.replace(/^Compute what the question asks for: /, "");
  const of = (step) => ({ id: `Step ${step.step.number}`, question: step.step.goal, title: titleOf(step.step), sql: step.sql, database: step.database, databases: [],
    columns: step.columns ?? [], rows: step.rows ?? [], has_more: Boolean(step.has_more) || (step.row_count ?? 0) > (step.rows?.length ?? 0), error: step.error?.message });
  const result = shown.find((step) => step.step.number === done.result);
  return [
    result ? el("section", { class: "shown" }, el("h3", {}, "Result"), evidence(of(result), mayRun, true, "")) : "",
    ...shown.filter((step) => step !== result).map((step) => evidence(of(step), mayRun, false)),
    ...done.steps.filter((step) => step.notes?.length).map((step) => el("p", { class: "status" }, `Step ${step.step.number}: ${step.notes.join("; ")}`)),
  ];
}
