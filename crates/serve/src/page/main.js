// The page: a question, what happens to it, and what comes of it.

import { begin, cancel, get, post, Refused, resume } from "./api.js";
import { browse, open, PLURALS, ready } from "./catalog.js";
import { answer } from "./answer.js";
import { feedback } from "./feedback.js";
import { explore, problems } from "./explore.js";
import { history as conversationsOf, shared } from "./history.js";
import { count, el, find, many } from "./dom.js";
import { markdown } from "./markdown.js";
import { plan } from "./plan.js";
import { chosen, offer, showSettings } from "./settings.js";
import { workflow } from "./workflow.js";

const TASKS = { plan: "Plan", ask: "Answer", reconcile: "Reconcile" };

const SESSION = "prospector-session";

let running = null;
/** The run that can be stopped, the workflows that there are, and the one that is gone on with, as it stands. */
let run = null;
let workflows = [];
let current = null;
let conversations = false;
let mayRun = false;
let sharesLinks = false;
/** What of the address is shown: a run or a workflow. */
let shown = null;
let tools = 0;

async function about() {
  try {
    const [said] = await Promise.all([get("/v1/about"), tries()]);
    offer(said);
    // Where there is a choice, it stands beside the question.
    find("about").textContent = [many(said.records, "record"), said.models?.length > 1 ? null : `model ${said.model}`].filter(Boolean).join(" · ");
    find("to-problems").hidden = !said.problems;
    find("to-problems").textContent = many(said.problems, "problem");
    find("to-history").hidden = !said.sessions;
    mayRun = said.queries;
    sharesLinks = said.shares_links;
    find("nothing").hidden = Object.values(said.things).some((number) => number > 0);
    find("counts").replaceChildren(...Object.entries(said.things).filter(([, number]) => number > 0).map(([kind, number]) =>
      el("button", { type: "button", onclick: () => browse(kind) },
        el("strong", {}, count(number)), el("span", {}, number === 1 ? kind : PLURALS[kind]))));
    conversations = said.sessions;
    workflows = said.workflows;
    // What most come for stands first.
    choices([...said.tasks.toSorted((one, other) => (other === "ask") - (one === "ask")), ...workflows]);
    if (current) choose(current.workflow);
    // All at once: nothing moves under the eyes of whoever reads.
    if (!running) find("examples").hidden = false;
  } catch (error) {
    find("about").textContent = error.message;
  }
}

/** Where a question to begin with comes from. */
const SOURCES = {
  query: ({ by }) => `✓ checked by ${by}`,
  metric: ({ about: name }) => `metric ${name}`,
  asked: () => "asked before",
  table: ({ about: table }) => `table ${table}`,
  fact: () => "a term of this catalog",
};

/** Questions to begin with. */
async function tries() {
  const { items } = await get("/v1/examples");
  find("tries-title").hidden = items.length === 0;
  find("tries").replaceChildren(...items.map((item) => el("li", {},
    el("button", { type: "button", onclick: () => { choose("ask"); again(item.question); } },
      el("span", { class: "try" }, item.question), el("small", { class: `source ${item.kind}` }, SOURCES[item.kind]?.(item) ?? item.about)))));
}

/** What can be done with a question; one thing alone is no choice. */
function choices(tasks) {
  const box = find("tasks");
  for (const task of tasks) {
    const input = el("input", { type: "radio", name: "task", value: task, checked: task === tasks[0], onchange: label });
    box.append(el("label", {}, input, TASKS[task] ?? task));
  }
  box.hidden = tasks.length < 2;
  label();
}

/** Sets what is to be done. */
function choose(name) {
  const input = document.querySelector(`input[name=task][value="${CSS.escape(name)}"]`);
  if (input) input.checked = true;
  label();
}

/** The conversation of this tab. */
async function conversation() {
  if (!sessionStorage.getItem(SESSION)) sessionStorage.setItem(SESSION, (await post("/v1/sessions")).session);
  find("fresh").hidden = false;
  return sessionStorage.getItem(SESSION);
}

const task = () => document.querySelector("input[name=task]:checked")?.value ?? "ask";
const isWorkflow = () => workflows.includes(task());
function label() {
  const goesOn = isWorkflow() && current?.workflow === task();
  find("send").textContent = goesOn ? "Reply" : TASKS[task()] ?? task();
  showSettings(!isWorkflow());
  find("fresh").hidden = isWorkflow() ? !goesOn : !sessionStorage.getItem(SESSION);
}

/** Shows where a workflow stands. */
function stand(state) {
  current = state.state === "over" ? null : state;
  find("run-title").textContent = state.turns[0]?.said ?? state.pending ?? state.workflow;
  find("result").replaceChildren(...workflow(state, () => converse({}), (message) => converse({ message })));
  label();
}

/** Takes a turn of a workflow: begins one, or goes on with the one that is shown. */
function converse(said) {
  const state = current;
  const signal = start(state?.turns[0]?.said ?? said.message ?? state?.pending ?? "…");
  if (state) {
    const turns = [...state.turns, { said: said.message ?? state.pending }];
    find("result").replaceChildren(...workflow({ ...state, state: "running", turns }));
  }
  find("question").value = "";
  const path = state ? `/v1/workflows/${encodeURIComponent(state.handle)}` : "/v1/workflows";
  const asked = state ? said : { workflow: task(), ...said };
  let stands = false;
  const note = (tell) => (name, data) => {
    stands ||= name === "workflow";
    tell(name, data);
  };
  go(async (tell) => {
    try {
      await begin(path, asked, note(tell), signal);
    } finally {
      // A turn that was not taken leaves everything as it was.
      if (!stands && state && !signal.aborted) stand(state);
    }
    find("question").focus();
  });
}

function status(text, kind = "") {
  find("status").textContent = text;
  find("status").className = `status ${kind}`;
}

/** Clears the page for a question. */
function start(question) {
  const sent = document.activeElement === find("send");
  show("ask");
  running?.abort();
  running = new AbortController();
  tools = 0;
  find("examples").hidden = true;
  find("run").hidden = false;
  find("run-title").textContent = question;
  find("timeline").replaceChildren();
  find("result").replaceChildren();
  find("tally").textContent = "";
  find("trail").open = true;
  find("trail").hidden = false;
  find("send").disabled = true;
  // A button that is disabled would lose the focus to nothing.
  if (sent) find("run-title").focus();
  find("stop").hidden = false;
  status("Thinking…", "busy");
  return running.signal;
}

function over() {
  const stopped = document.activeElement === find("stop");
  find("send").disabled = false;
  find("stop").hidden = true;
  if (stopped) find("run-title").focus();
}

/** What the address names is not there any more. */
function gone(message) {
  history.replaceState(null, "", location.pathname);
  find("run-title").textContent = "That question is not kept any more";
  find("trail").hidden = true;
  find("examples").hidden = false;
  status(message, "bad");
}

const line = (kind, ...children) => {
  const item = el("li", { class: kind }, ...children);
  find("timeline").append(item);
  return item;
};

/** The arguments of a call, short. */
function spoken(given) {
  if (!given || typeof given !== "object") return String(given ?? "");
  return Object.entries(given).map(([name, value]) =>
    `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`).join(" · ");
}

/** The first call of that name that waits for its answer. */
const pending = (name) =>
  [...find("timeline").querySelectorAll("li.tool:not(.done):not(.failed)")].find((item) => item.dataset.name === name);

/** What was shown as it was written is shown whole now. */
const written = () => find("timeline").querySelectorAll("li.writing").forEach((item) => item.remove());

/** What each event shows. */
const TELL = {
  started(data) {
    run = data.handle;
    shown = data.workflow ?? data.handle;
    if (!data.workflow) find("run-title").textContent = data.question;
    location.replace(`#${shown}`);
  },
  phase(data) { line("round", `Phase ${data.name}`, data.reason ? el("p", { class: "why" }, data.reason) : null); },
  resumed(data) { line("thinking", `Reading back ${many(data.turns, "turn")}…`); },
  round(data) { line("round", `Round ${data.number}`); },
  text(data) {
    const last = find("timeline").lastElementChild;
    const item = last?.classList.contains("writing") ? last : line("thinking writing");
    item.textContent += data.text ?? "";
  },
  thinking(data) {
    written();
    line("thinking", data.text ?? "");
  },
  tool(data) {
    tools += 1;
    find("tally").textContent = `· ${many(tools, "call")}`;
    const item = line("tool", el("div", { class: "call" },
      el("span", { class: "name" }, data.name), el("span", { class: "with" }, spoken(data.arguments)), el("span", { class: "size" }, "…")));
    item.dataset.name = data.name;
    status(`Calling ${data.name}…`, "busy");
  },
  executing(data) {
    const item = line("query", el("div", { class: "call" }, el("span", { class: "name" }, data.id),
      el("span", { class: "with" }, data.question), el("span", { class: "size" }, "…")), el("pre", { tabindex: 0 }, data.sql));
    item.dataset.query = data.id;
    status("Running a query…", "busy");
  },
  result(data) {
    for (const ran of data.queries ?? []) {
      const query = [...find("timeline").querySelectorAll("li.query")].findLast((item) => item.dataset.query === ran.id);
      query?.classList.add(ran.error ? "failed" : "done");
      if (query) query.querySelector(".size").textContent = ran.error ?? many(ran.rows ?? 0, "row");
    }
    const item = pending(data.name);
    if (!item) return;
    item.classList.add(data.failed ? "failed" : "done");
    if (data.failed && data.reason) item.append(el("p", { class: "why" }, data.reason));
    item.querySelector(".size").textContent = data.failed ? "failed" : data.bytes === undefined ? "" : `${count(data.bytes)} bytes`;
  },
  verified(data) {
    written();
    line(data.ok ? "tool done" : "tool failed", data.ok ? "Checked: all of it holds." : `Checked: ${count(data.failed)} of it do not hold.`);
  },
  plan(data) { find("result").replaceChildren(...plan(data, open)); },
  answer(data) { if (!current) find("result").replaceChildren(el("div", { class: "reason text" }, markdown(data.text))); },
  workflow: (data) => stand(data),
  answered(data) {
    const parts = answer(data, open, again, mayRun);
    const offer = conversations && run ? feedback(data, run) : null;
    find("result").replaceChildren(...parts.slice(0, -1), ...[offer, parts.at(-1)].filter(Boolean));
  },
  error(data) { status(data.message ?? "it failed", "bad"); },
  done(data) {
    written();
    // Who hears the page hears how it ended.
    const verdict = document.querySelector("#result .verdict .mark")?.textContent.replace(/^\S+ /, "");
    const told = data.reason ? `${data.ended}: ${data.reason}` : verdict ? `Done: ${verdict.toLowerCase()}.` : "Done.";
    // Who sees the page sees the verdict.
    status(told, data.reason ? "bad" : "away");
    find("trail").open = Boolean(data.reason);
  },
};

function again(question) {
  show("ask");
  find("question").value = question;
  find("ask").requestSubmit();
  window.scrollTo({ top: 0 });
}

async function go(follow) {
  try {
    await follow((name, data) => TELL[name]?.(data));
  } catch (error) {
    if (error.name === "AbortError") return;
    if (error instanceof Refused && ["expired", "not_found"].includes(error.code)) gone(error.message);
    else status(error instanceof Refused ? error.message : `The connection is lost: ${error.message}`, "bad");
  }
  over();
}

find("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const question = find("question").value.trim();
  if (!question) return;
  if (isWorkflow()) {
    if (current?.workflow !== task()) current = null;
    converse({ message: question });
    return;
  }
  current = null;
  const asked = { question, ...chosen() };
  const signal = start(question);
  go(async (tell) => {
    if (task() === "ask" && conversations) asked.session = await conversation();
    await begin(`/v1/${task()}`, asked, tell, signal);
  });
});
find("fresh").addEventListener("click", () => {
  if (isWorkflow()) {
    current = null;
    history.replaceState(null, "", location.pathname);
  } else {
    sessionStorage.removeItem(SESSION);
  }
  label();
  find("question").focus();
});
find("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    if (!find("send").disabled) find("ask").requestSubmit();
  }
});
find("stop").addEventListener("click", () => {
  if (run) cancel(run).catch((error) => status(error.message, "bad"));
});

/** Shows the place where one asks, or another view in its place. */
function show(view) {
  find("view-ask").hidden = view !== "ask";
  find("view-other").hidden = view === "ask";
  for (const name of ["ask", "explore", "history"]) {
    if (name === view) find(`to-${name}`).setAttribute("aria-current", "page");
    else find(`to-${name}`).removeAttribute("aria-current");
  }
  document.title = view === "ask" ? "Prospector" : `${view[0].toUpperCase()}${view.slice(1)} · Prospector`;
}

/** Goes on with a conversation that is kept. */
function goOn(name, question) {
  sessionStorage.setItem(SESSION, name);
  choose("ask");
  if (question) return again(question);
  location.hash = "";
  label();
  find("question").focus();
}

/** What the address names. */
async function route() {
  const parts = location.hash.slice(1).split("/").map(decodeURIComponent);
  const [view, ...rest] = parts;
  const box = find("view-other");
  const views = {
    explore: () => explore(box, rest, open, browse),
    history: () => conversationsOf(box, rest[0], { open, goOn, mayRun, sharesLinks }),
    shared: () => shared(box, rest[0], { open, goOn: again, mayRun }),
    problems: () => problems(box),
  };
  if (!Object.hasOwn(views, view)) {
    show("ask");
    if (/^run_[0-9a-f]{32}$/.test(view) && view !== shown) follow(view);
    if (/^workflow_[0-9a-f]{32}$/.test(view) && view !== shown) followWorkflow(view);
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

/** A page that is loaded again goes on with what it showed. */
function follow(handle) {
  const signal = start("…");
  run = shown = handle;
  go((tell) => resume(handle, tell, signal));
}
function followWorkflow(handle) {
  const signal = start("…");
  shown = handle;
  go(async (tell) => {
    const state = await get(`/v1/workflows/${handle}`);
    stand(state);
    choose(state.workflow);
    status("");
    find("trail").hidden = !state.run;
    if (state.run) await resume(run = state.run, tell, signal);
  });
}

ready();
about();
find("skip").addEventListener("click", (event) => {
  event.preventDefault();
  if (find("view-ask").hidden) find("main").focus();
  else find("question").focus();
});
// Back at the beginning, with an empty page.
find("to-ask").addEventListener("click", (event) => {
  if (find("view-ask").hidden || run === null) return;
  event.preventDefault();
  history.replaceState(null, "", location.pathname);
  if (!find("send").disabled) {
    run = shown = current = null;
    find("run").hidden = true;
    find("examples").hidden = false;
    find("question").value = "";
  }
  find("question").focus();
});
window.addEventListener("hashchange", route);
route();
