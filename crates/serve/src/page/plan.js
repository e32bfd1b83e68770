// A plan: its steps with their resources, its definitions, and its cost.

import { readings } from "./clarify.js";
import { chip, coded, count, el, many, named } from "./dom.js";
import { graph } from "./graph.js";
import { markdown } from "./markdown.js";
import { highlight } from "./sql.js";
import { modelName } from "./status.js";

/** The lists of a step, and the kind of their entries. */
const LISTS = [
  ["databases", "database"], ["tables", "table"], ["operations", "operation"], ["documents", "document"], ["skills", "skill"],
];

const ENDS = {
  round_limit: "stopped: the limit of rounds was reached",
  all_tools_failed: "stopped: every tool call failed",
  no_plan: "stopped: the model returned no plan",
  provider_failed: "stopped: the model provider failed",
  cancelled: "cancelled: partial result",
};

const chips = (pairs, open) =>
  pairs.length ? el("ul", { class: "things" }, pairs.map(([kind, id]) => el("li", {}, chip(kind, id, open)))) : null;

/** Groups columns under their tables. */
function columns(ids, open) {
  if (!ids?.length) return null;
  const tables = new Map();
  for (const id of ids) {
    const table = id.slice(0, id.lastIndexOf("."));
    tables.set(table, [...(tables.get(table) ?? []), id]);
  }
  return el("dl", { class: "columns-of" }, [...tables].map(([table, columns]) => el("div", {},
    el("dt", {}, named(table)),
    el("dd", {}, el("ul", { class: "things" }, columns.map((id) =>
      el("li", {}, chip("column", id, open, id.slice(table.length + 1)))))))));
}

/** Renders a plan. `again` plans another question. */
export function plan(found, open, again = null) {
  const { failed, warnings = [] } = found.verification;
  const of = (step, at) => [...failed, ...warnings].filter(({ path }) => path.startsWith(`plan.steps[${at}]`));
  // The verdict names the built-in planner.
  const notes = found.model === "offline" ? found.reasoning.replace(/^Written by the built-in planner,[^.]*\.\s*(It\b)?/, (_, it) => (it ? "The built-in planner" : "")) : found.reasoning;
  const isOfStep = ({ path }) => found.plan.steps.some((_, at) => path.startsWith(`plan.steps[${at}]`));
  return [
    verdict(found),
    part("Plan overview", graph(found.plan.steps, (number) => document.getElementById(`step-${number}`)?.focus())),
    part("Steps", found.plan.steps.length
      ? el("ol", { class: "steps" }, found.plan.steps.map((step, at) => stepOf(step, of(step, at), failed, open, found.plan.steps.length === 1)))
      : null),
    part("Failed", findings(failed.filter((finding) => !isOfStep(finding)))),
    part("Warnings", findings(warnings.filter((finding) => !isOfStep(finding)))),
    part("Definitions used", facts(found.discovered_context.facts ?? [], open)),
    part("To be clarified", found.clarifications.length ? readings(found, again) : null),
    notes ? part(found.plan.steps.length ? "Notes" : "", el("div", { class: "text" }, markdown(notes))) : null,
    cost(found.metrics, found.model),
  ].filter(Boolean);
}

function verdict(found) {
  const ok = found.verification.ok && found.ended === "completed";
  if (ok && found.plan.steps.length === 0) {
    return el("p", { class: "verdict unanswered" }, el("span", { class: "mark" }, "○ No plan"), " ",
      el("span", {}, `${found.clarifications.length ? "the question needs clarification" : "nothing in the catalog is relevant enough"} · ${modelName(found.model)}`));
  }
  const { executable, failed, warnings = [], checked, confirmed } = found.verification;
  const what = !found.verification.ok ? "Not verified" : found.ended !== "completed" ? "Not finished"
    : executable ? "Verified" : "Verified, not executable";
  const names = [
    failed.length ? `${many(failed.length, "failure")}, ${count(checked)} names and steps checked`
      : `${many(checked, "name or step", "names and steps")} checked`,
    warnings.length ? many(warnings.length, "warning") : null,
    confirmed ? "reviewed by the model" : null,
  ].filter(Boolean).join(" · ");
  const end = found.ended === "completed" ? null : ENDS[found.ended] ?? found.ended;
  return el("p", { class: `verdict ${ok ? "good" : "bad"}` },
    el("span", { class: "mark" }, `${ok ? "✓" : "✗"} ${what}`), " ",
    el("span", {}, [names, modelName(found.model), end].filter(Boolean).join(" · ")));
}

function part(title, body) {
  return body ? el("section", {}, title ? el("h3", {}, title) : null, body) : null;
}

/** Renders a failure or a warning, with its suggestion. */
const finding = ({ message, suggestion }) => el("li", {}, coded(message), suggestion ? el("small", {}, " ", coded(suggestion)) : null);

const findings = (list) => (list.length ? el("ul", { class: "questions" }, list.map(finding)) : null);

function stepOf(step, found, failed, open, isAlone) {
  const things = LISTS.flatMap(([list, kind]) => (step[list] ?? []).map((id) => [kind, id]));
  const metrics = (step.metrics?.metrics ?? []).map((id) => ["metric", id]);
  const flow = [
    step.inputs?.length ? `from ${step.inputs.join(", ")}` : null,
    step.outputs?.length ? `returns ${step.outputs.join(", ")}` : null,
  ].filter(Boolean).join(" · ");
  return el("li", { class: "step", id: `step-${step.number}`, tabindex: -1 },
    el("span", { class: "number", "aria-hidden": "true" }, String(step.number)),
    el("p", { class: "goal" }, el("span", { class: "away" }, `Step ${step.number}: `), step.goal),
    step.explanation ? el("p", { class: "computed" }, step.explanation) : null,
    chips([...things, ...metrics], open),
    columns(step.columns, open),
    action(step),
    flow && !isAlone ? el("p", { class: "flow" }, flow) : null,
    found.map((one) => el("p", { class: "finding" },
      el("span", {}, failed.includes(one) ? "Failed: " : "Warning: "), coded(one.message), one.suggestion ? [" (", ...coded(one.suggestion), ")"] : "")));
}

/** Renders what a step does: its statement, its call, or what it reads. */
function action(step) {
  const given = (values) => Object.entries(values ?? {}).map(([name, value]) =>
    `${name} = ${value?.column ?? (typeof value === "string" ? value : JSON.stringify(value))}`).join(", ");
  const parts = [
    ["Verified query", step.verified_query ? [step.verified_query.name, given(step.verified_query.parameters)] : []],
    ["Call", step.call ? [step.call.operation, given(step.call.arguments)] : []],
    ["Read", step.read ?? []],
  ].map(([word, texts]) => [word, texts.filter(Boolean)]).filter(([, texts]) => texts.length);
  const sql = step.sql ?? step.compiled?.sql;
  return [
    parts.length ? el("dl", { class: "computed" }, parts.map(([word, texts]) => el("div", {},
      el("dt", {}, word), el("dd", {}, texts.map((text) => el("code", {}, text)))))) : null,
    sql ? el("details", { class: "sql-of" }, el("summary", {}, "SQL"), el("pre", { class: "sql" }, highlight(sql))) : null,
  ];
}

/** A longer definition is shown by its first paragraph. */
const LONG = 300;

function definition(text) {
  const [first, ...rest] = text.trim().split(/\n+/);
  if (text.length <= LONG || !rest.length) return text;
  return [first, el("details", {}, el("summary", {}, "Full definition"), el("div", { class: "text" }, markdown(rest.join("\n"))))];
}

export function facts(found, open) {
  if (!found.length) return null;
  return el("dl", { class: "facts" }, found.map((fact) => el("div", {},
    el("dt", {}, fact.term),
    el("dd", {}, definition(fact.definition),
      el("small", {}, [fact.source, fact.confidence ? `confidence ${Math.round(fact.confidence * 100)} %` : null].filter(Boolean).join(" · "))))));
}

/** Renders the cost of a run, compared with a prompt with the whole catalog. The built-in planner sends no prompt: only its time is
  * shown. */
export function cost(metrics, model = "") {
  if (!metrics) return null;
  if (model === "offline") return null;
  const full = metrics.tokens_full_prompt ?? 0;
  const used = (metrics.input_tokens ?? 0) + (metrics.output_tokens ?? 0);
  const most = Math.max(full, used, 1);
  const bar = (label, value) => [
    el("span", { class: "what" }, label),
    el("meter", { min: 0, max: most, value, "aria-label": `${label}: ${count(value)} tokens` }),
    el("span", { class: "how-much" }, `${count(value)} tokens`),
  ];
  const saved = used <= full
    ? `${Math.round((metrics.saved ?? 0) * 100)} % fewer tokens than with the whole catalog in the prompt.`
    : "The whole catalog in the prompt would have used fewer tokens, because the catalog is small.";
  const seconds = ((metrics.durations_ms?.total ?? 0) / 1000).toFixed(1);
  const spent = metrics.cost_dollars ? el("span", { class: "money" }, ` · $${metrics.cost_dollars.toFixed(4)} spent`) : null;
  return el("details", { class: "cost" },
    el("summary", {}, `Cost · ${seconds} s · ${count(used)} tokens`, spent),
    full ? el("div", { class: "bars" }, bar("This run", used), bar("Whole catalog in the prompt", full)) : null,
    el("p", {}, [
      full ? saved : null,
      `${many(metrics.model_calls ?? 0, "round")}, ${many(metrics.tool_calls ?? 0, "tool call")}, ${seconds} s; in all `
      + `${count(metrics.input_tokens ?? 0)} tokens in (${count(metrics.cached_tokens ?? 0)} cached), ${count(metrics.output_tokens ?? 0)} out.`,
    ].filter(Boolean).join(" ")));
}
