// The page: the current conversation, the catalog, and earlier conversations.

import { begin, cancel, get, post, Refused, resume } from "./api.js";
import { catalog, problems } from "./catalog.js";
import { offerModel, ways } from "./connect.js";
import { history as conversationsOf, shared } from "./history.js";
import { count, el, find, many } from "./dom.js";
import { open, PLURALS, ready } from "./panel.js";
import { chosen, offer, showSettings } from "./settings.js";
import { Turn } from "./turn.js";
import { workflow } from "./workflow.js";

const TASKS = { ask: "Answer", plan: "Plan", reconcile: "Reconcile" };

/** State of this tab: its conversation, the runs shown, and the number of earlier turns. */
const [SESSION, RUNS, BEFORE] = ["prospector-session", "prospector-runs", "prospector-before"];

let running = null;
/** The latest turn, the workflow that is continued, and what the server offers. */
let live = null;
let current = null;
let workflows = [];
const offers = { open, again: (question) => repeat("ask", question), replan: (question) => repeat("plan", question), mayRun: false, conversations: false, onUnanswered: unanswered };
let sharesLinks = false;
let isBuiltIn = false;
/** Returns what the address names: a run or a workflow. */
let shown = null;
const aboutRead = about();

async function about() {
  try {
    const [said] = await Promise.all([get("/v1/about"), tries()]);
    offer(said);
    find("about").textContent = said.models?.length > 1 ? "" : said.built_in ? "Built-in planner" : said.model;
    find("to-problems").hidden = !said.problems;
    find("to-problems").textContent = many(said.problems, "problem");
    find("to-history").hidden = !said.sessions;
    Object.assign(offers, { mayRun: said.queries, conversations: said.sessions });
    sharesLinks = said.shares_links;
    isBuiltIn = said.built_in && !(said.models?.length > 1);
    offerModel(find("connect"), isBuiltIn);
    const kinds = Object.entries(said.things).filter(([, number]) => number > 0);
    find("nothing").hidden = kinds.length > 0;
    find("counts").replaceChildren(...kinds.length ? ["In this catalog: ", ...kinds.flatMap(([kind, number], at) => [at ? ", " : "",
      `${count(number)} ${number === 1 ? PLURALS[kind].replace(/ies$/, "y").replace(/s$/, "") : PLURALS[kind]}`]), ". ", el("a", { href: "#catalog" }, "Browse the catalog")] : []);
    workflows = said.workflows;
    // The most common choice comes first.
    choices([...said.tasks.toSorted((one, other) => (other === "ask") - (one === "ask")), ...workflows]);
    if (current) choose(current.workflow);
    // Inserted at once, so that nothing moves while it is read.
    arrange();
  } catch (error) {
    find("about").textContent = error.message;
  }
}

/** Describes the origin of an example question. */
const SOURCES = {
  query: ({ by }) => `✓ Verified by ${by}`,
  metric: ({ about: name }) => `Metric ${name}`,
  asked: () => "Asked before",
  table: ({ about: table }) => `Table ${table}`,
  fact: () => "Definition",
};

/** Renders example questions. */
async function tries() {
  const { items } = await get("/v1/examples");
  find("examples").hidden = items.length === 0;
  find("tries").replaceChildren(...items.map((item) => el("li", {},
    el("button", { type: "button", onclick: () => repeat("ask", item.question) },
      el("span", { class: "try" }, item.question), el("small", { class: `source ${item.kind}` }, SOURCES[item.kind]?.(item) ?? item.about)))));
}

/** Offers the available tasks; a single one is not offered as a choice. */
function choices(tasks) {
  const box = find("tasks");
  for (const task of tasks) {
    const input = el("input", { type: "radio", name: "task", value: task, checked: task === tasks[0], onchange: label });
    box.append(el("label", {}, input, TASKS[task] ?? task));
  }
  box.hidden = tasks.length < 2;
  label();
}

/** Selects the task. */
function choose(name) {
  const input = document.querySelector(`input[name=task][value="${CSS.escape(name)}"]`);
  if (input) input.checked = true;
  label();
}

/** Returns the conversation of this tab. */
async function conversation() {
  if (!sessionStorage.getItem(SESSION)) sessionStorage.setItem(SESSION, (await post("/v1/sessions")).session);
  return sessionStorage.getItem(SESSION);
}

const task = () => document.querySelector("input[name=task]:checked")?.value ?? "ask";
const isWorkflow = () => workflows.includes(task());
const HINTS = { ask: ["Ask about your data", "Ask a follow-up question"], plan: ["Ask a question to plan", "Ask a question to plan"] };
function label() {
  const goesOn = isWorkflow() && current?.workflow === task();
  find("send").textContent = goesOn ? "Reply" : "Send";
  find("question").placeholder = isWorkflow() ? goesOn ? "Reply" : "Which records should be matched?" : HINTS[task()]?.[live ? 1 : 0] ?? "";
  showSettings(!isWorkflow());
}

/** Shows the start page, or the conversation with the composer below it. */
function arrange() {
  const isEmpty = !find("thread").childElementCount;
  find("view-ask").classList.toggle("talking", !isEmpty);
  find("welcome").hidden = !isEmpty;
  find("start").hidden = !isEmpty;
  find("thread").hidden = isEmpty;
  find("fresh").hidden = isEmpty;
  label();
}

/** Returns the runs that this tab shows. */
const kept = () => {
  try { return JSON.parse(sessionStorage.getItem(RUNS) ?? "[]"); } catch { return []; }
};
const keepRuns = (runs) => sessionStorage.setItem(RUNS, JSON.stringify(runs));

/** Starts a new conversation; runs continue without this page. */
function clear() {
  running?.abort();
  [live, current, shown] = [null, null, null];
  for (const key of [SESSION, RUNS, BEFORE]) sessionStorage.removeItem(key);
  find("thread").replaceChildren();
  over();
}

/** Adds a turn to the conversation, and follows it. */
function start(question) {
  const sent = document.activeElement === find("send");
  show("ask");
  running?.abort();
  running = new AbortController();
  const turn = new Turn(question, offers);
  live = turn;
  find("thread").append(turn.node);
  arrange();
  find("send").disabled = true;
  // Disabling the focused button would lose the focus.
  if (sent) turn.title.focus({ preventScroll: true });
  find("stop").hidden = false;
  turn.say("Thinking…", "busy");
  turn.node.scrollIntoView({ block: "start" });
  return turn;
}

function over() {
  const stopped = document.activeElement === find("stop");
  find("send").disabled = false;
  find("stop").hidden = true;
  if (stopped) live?.title.focus();
}

/** Follows a turn until it ends. */
async function go(turn, follow) {
  const mine = running;
  const onEvent = (name, data) => {
    if (name === "started") began(turn, data);
    turn.onEvent(name, data);
    if (name === "workflow") showWorkflow(turn, data);
  };
  try {
    await follow(onEvent, mine.signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    if (error instanceof Refused && ["expired", "not_found"].includes(error.code)) gone(turn, error.message);
    else turn.say(error instanceof Refused ? error.message : `The connection was lost: ${error.message}`, "bad");
    turn.trail.hidden = !turn.timeline.childElementCount;
  }
  if (mine === running) over();
}

function began(turn, data) {
  shown = data.workflow ?? data.handle;
  if (data.workflow) turn.isWorkflow = true;
  else if (!kept().includes(data.handle)) keepRuns([...kept(), data.handle]);
  location.replace(`#${shown}`);
}

/** Reports that the run of the address is no longer available. */
function gone(turn, message) {
  turn.node.remove();
  keepRuns(kept().filter((handle) => handle !== turn.run));
  if (find("thread").childElementCount) return;
  clear();
  history.replaceState(null, "", location.pathname);
  arrange();
  find("thread").hidden = false;
  find("thread").append(el("p", { class: "status bad", role: "alert" }, `This question is no longer available. ${message}`));
}

/** Offers what to do after an unanswered question. */
function unanswered(found) {
  const withChoices = found.clarifications?.length > 0;
  return el("div", { class: "instead" },
    withChoices ? null : el("p", { class: "actions" },
      el("button", { type: "button", class: "quiet small", onclick: () => {
        find("question").value = found.question;
        find("question").focus();
      } }, "Rephrase"),
      el("a", { class: "button quiet small", href: "#catalog" }, "Show tables and columns")),
    isBuiltIn && !withChoices ? el("details", {}, el("summary", {}, "Connect a model for free-form questions"), ways()) : null);
}

/** Shows the state of a workflow. */
function showWorkflow(turn, state) {
  current = state.state === "over" ? null : state;
  turn.isWorkflow = true;
  turn.title.textContent = state.turns[0]?.said ?? state.pending ?? state.workflow;
  turn.result.replaceChildren(...workflow(state, () => converse({}), (message) => converse({ message })));
  label();
}

/** Runs a turn of a workflow: starts one, or continues the one that is shown. */
function converse(said) {
  const state = current;
  // A workflow uses the page alone, with its turns in one place.
  clear();
  const turn = start(state?.turns[0]?.said ?? said.message ?? state?.pending ?? "…");
  turn.isWorkflow = true;
  current = state;
  if (state) {
    const turns = [...state.turns, { said: said.message ?? state.pending }];
    turn.result.replaceChildren(...workflow({ ...state, state: "running", turns }));
  }
  find("question").value = "";
  label();
  const path = state ? `/v1/workflows/${encodeURIComponent(state.handle)}` : "/v1/workflows";
  const asked = state ? said : { workflow: task(), ...said };
  let isUpdated = false;
  go(turn, async (onEvent, signal) => {
    try {
      await begin(path, asked, (name, data) => {
        isUpdated ||= name === "workflow";
        onEvent(name, data);
      }, signal);
    } finally {
      // A turn that was not run changes nothing.
      if (!isUpdated && state && !signal.aborted) showWorkflow(turn, state);
    }
    find("question").focus();
  });
}

/** Answers or plans a question that the page offers. */
function repeat(doing, question) {
  choose(doing);
  again(question);
}

/** Asks a question. */
function again(question) {
  show("ask");
  find("question").value = question;
  find("ask").requestSubmit();
}

find("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const question = find("question").value.trim();
  if (!question || find("send").disabled) return;
  if (isWorkflow()) {
    if (current?.workflow !== task()) current = null;
    converse({ message: question });
    return;
  }
  if (live?.isWorkflow) clear();
  find("thread").querySelectorAll(":scope > .status").forEach((node) => node.remove());
  current = null;
  const [asked, doing] = [{ question, ...chosen() }, task()];
  find("question").value = "";
  const turn = start(question);
  go(turn, async (onEvent, signal) => {
    if (doing === "ask" && offers.conversations) asked.session = await conversation();
    await begin(`/v1/${doing}`, asked, onEvent, signal);
  });
});
find("fresh").addEventListener("click", () => {
  clear();
  show("ask");
  history.replaceState(null, "", location.pathname);
  arrange();
  find("question").focus();
});
find("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    find("ask").requestSubmit();
  }
});
find("stop").addEventListener("click", () => {
  if (live?.run) cancel(live.run).catch((error) => live.say(error.message, "bad"));
});

/** Shows the conversation, or another view in its place. */
function show(view) {
  find("view-ask").hidden = view !== "ask";
  find("view-other").hidden = view === "ask";
  for (const name of ["ask", "catalog", "history"]) {
    if (name === view) find(`to-${name}`).setAttribute("aria-current", "page");
    else find(`to-${name}`).removeAttribute("aria-current");
  }
  document.title = view === "ask" ? "Prospector" : `${view[0].toUpperCase()}${view.slice(1)} · Prospector`;
}

/** Continues a stored conversation, with a question or without. */
async function goOn(name, question) {
  clear();
  sessionStorage.setItem(SESSION, name);
  choose("ask");
  history.replaceState(null, "", location.pathname);
  show("ask");
  await restoreTurns(name);
  if (question) return again(question);
  find("thread").lastElementChild?.scrollIntoView({ block: "end" });
  find("question").focus();
}

/** Shows the last turns of a stored conversation, or all of them. */
async function restoreTurns(name, most = Infinity) {
  const { turns } = await get(`/v1/sessions/${encodeURIComponent(name)}`);
  const before = turns.slice(0, most);
  sessionStorage.setItem(BEFORE, String(before.length));
  for (const { answered } of before) {
    const turn = new Turn(answered.question, offers);
    turn.showAnswered(answered);
    find("thread").append(turn.node);
    live = turn;
  }
  arrange();
}

/** Shows what the address names. */
async function route() {
  const [view, ...rest] = location.hash.slice(1).split("/").map(decodeURIComponent);
  const box = find("view-other");
  await aboutRead;
  const views = {
    catalog: () => catalog(box, rest, open),
    history: () => conversationsOf(box, rest[0], { open, goOn, mayRun: offers.mayRun, sharesLinks }),
    shared: () => shared(box, rest[0], { open, goOn: offers.again, mayRun: offers.mayRun }),
    problems: () => problems(box),
  };
  if (!Object.hasOwn(views, view)) {
    show("ask");
    if (/^run_[0-9a-f]{32}$/.test(view) && view !== shown) await restore(view);
    else if (/^workflow_[0-9a-f]{32}$/.test(view) && view !== shown) restoreWorkflow(view);
    else if (!view && !live && (kept().length || sessionStorage.getItem(BEFORE))) await restore();
    if (!view && !running) find("question").focus();
    return;
  }
  show(view);
  box.setAttribute("aria-busy", "true");
  try {
    await views[view]();
  } catch (error) {
    box.replaceChildren(el("p", { class: "status bad", role: "alert" }, error.message));
  }
  box.removeAttribute("aria-busy");
  window.scrollTo({ top: 0 });
}

/** Restores the tab's conversation after a reload; another run is shown alone. */
async function restore(handle) {
  const runs = kept();
  const mine = !handle || runs.includes(handle);
  shown = handle ?? null;
  if (!mine) clear();
  const [name, before] = [sessionStorage.getItem(SESSION), Number(sessionStorage.getItem(BEFORE) ?? 0)];
  if (mine && name && before) await restoreTurns(name, before).catch(() => sessionStorage.removeItem(BEFORE));
  for (const one of mine ? runs : [handle]) {
    const turn = start("…");
    turn.run = one;
    await go(turn, (onEvent, signal) => resume(one, onEvent, signal));
  }
}
function restoreWorkflow(handle) {
  clear();
  const turn = start("…");
  shown = handle;
  go(turn, async (onEvent, signal) => {
    const state = await get(`/v1/workflows/${handle}`);
    showWorkflow(turn, state);
    choose(state.workflow);
    turn.say("");
    turn.trail.hidden = !state.run;
    if (state.run) await resume(turn.run = state.run, onEvent, signal);
  });
}

ready(() => ({ ask: offers.again, mayRun: offers.mayRun }));
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  if (location.hash === "#catalog") find("filter")?.focus();
  else location.hash = "catalog";
});
// Closes the options when something else is used.
document.addEventListener("pointerdown", (event) => {
  if (!find("options").contains(event.target)) find("options").open = false;
});
find("skip").addEventListener("click", (event) => {
  event.preventDefault();
  if (find("view-ask").hidden) find("main").focus();
  else find("question").focus();
});
// Returns to the current conversation.
find("to-ask").addEventListener("click", (event) => {
  event.preventDefault();
  show("ask");
  history.replaceState(null, "", shown ? `#${shown}` : location.pathname);
  find("question").focus();
});
window.addEventListener("hashchange", route);
route();
