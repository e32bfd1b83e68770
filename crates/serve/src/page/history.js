// Stored conversations: search, open, rename, delete.

import { get, post, remove, send } from "./api.js";
import { answer } from "./answer.js";
import { count, el, find, many } from "./dom.js";

const SESSION = "prospector-session";
const path = (name) => `/v1/sessions/${encodeURIComponent(name)}`;
const isMade = (name) => /^session_[0-9a-f]{32}$/.test(name);

/** Shows the list, or one conversation. */
export function history(box, name, tools) {
  return name ? one(box, name, tools) : list(box);
}

async function list(box) {
  const { items } = await get("/v1/sessions");
  const filter = el("input", { type: "search", placeholder: "Search conversations", "aria-label": "Search conversations", autocomplete: "off" });
  const said = el("p", { class: "status", role: "status" }, items.length ? many(items.length, "conversation") : "No conversations yet.");
  const place = el("ul", { class: "conversations", "aria-label": "Conversations" });
  const fill = () => {
    const wanted = filter.value.trim().toLowerCase();
    const shown = items.filter((item) => `${item.session} ${item.question}`.toLowerCase().includes(wanted));
    let day = "";
    place.replaceChildren(...shown.flatMap((item) => {
      const heading = dayOf(item);
      const head = heading === day ? null : el("li", { class: "day" }, el("h3", {}, heading));
      day = heading;
      return [head, row(item, said, () => list(box))].filter(Boolean);
    }));
    if (wanted) said.textContent = many(shown.length, "conversation");
  };
  filter.addEventListener("input", fill);
  fill();
  box.replaceChildren(el("h2", { id: "other-title", tabindex: -1 }, "Conversations"), items.length ? el("p", { class: "actions" }, filter) : "", said, place);
  find("other-title").focus();
}

const when = (item) => (item.latest ? new Date(`${item.latest.replace(" ", "T")}Z`) : null);

/** Formats the day of a conversation. */
function dayOf(item) {
  const at = when(item);
  if (!at) return "Earlier";
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(at).setHours(0, 0, 0, 0)) / 86_400_000);
  return days <= 0 ? "Today" : days === 1 ? "Yesterday" : at.toLocaleDateString(undefined, { dateStyle: "long" });
}

const title = (item) => (isMade(item.session) ? item.question : item.session);

function row(item, said, again) {
  const node = el("li", {});
  const show = () => node.replaceChildren(
    el("a", { href: `#history/${encodeURIComponent(item.session)}` }, title(item)),
    el("small", {}, [many(item.turns, "question"), when(item)?.toLocaleTimeString(undefined, { timeStyle: "short" }),
      isMade(item.session) ? null : item.question].filter(Boolean).join(" · ")),
    el("span", { class: "actions" },
      el("button", { type: "button", class: "quiet small", "aria-label": `Rename ${title(item)}`, onclick: rename }, "Rename"),
      el("button", { type: "button", class: "quiet small", "aria-label": `Delete ${title(item)}`, onclick: ask }, "Delete")));
  const failed = (error) => { said.textContent = error.message; said.className = "status bad"; };
  function rename() {
    const input = el("input", { type: "text", maxlength: 100, "aria-label": "New name", required: true });
    input.value = title(item).slice(0, 60);
    const form = el("form", { class: "actions", onsubmit: async (event) => {
      event.preventDefault();
      const name = input.value.trim();
      try {
        await send(path(item.session), { name });
        if (sessionStorage.getItem(SESSION) === item.session) sessionStorage.setItem(SESSION, name);
        again();
      } catch (error) { failed(error); }
    } }, input, el("button", { type: "submit", class: "small" }, "Save"), el("button", { type: "button", class: "quiet small", onclick: show }, "Cancel"));
    node.replaceChildren(form);
    input.focus();
    input.select();
  }
  function ask() {
    const yes = el("button", { type: "button", class: "small", onclick: async () => {
      try {
        await remove(path(item.session));
        if (sessionStorage.getItem(SESSION) === item.session) sessionStorage.removeItem(SESSION);
        again();
      } catch (error) { failed(error); }
    } }, "Delete it");
    node.replaceChildren(el("span", {}, `Delete "${title(item)}" for good?`), el("span", { class: "actions" }, yes,
      el("button", { type: "button", class: "quiet small", onclick: show }, "Cancel")));
    yes.focus();
  }
  show();
  return node;
}

async function one(box, name, { open, goOn, mayRun, sharesLinks }) {
  const found = await get(path(name));
  const tokens = found.turns.reduce((sum, { answered }) => sum + (answered.metrics?.input_tokens ?? 0) + (answered.metrics?.output_tokens ?? 0), 0);
  const dollars = found.turns.reduce((sum, { answered }) => sum + (answered.metrics?.cost_dollars ?? 0), 0);
  const first = found.turns[0]?.answered.question ?? name;
  box.replaceChildren(
    el("p", { class: "crumbs" }, el("a", { href: "#history" }, "History"), " / ", isMade(name) ? first : name),
    el("h2", { id: "other-title", tabindex: -1 }, isMade(name) ? first : name),
    el("p", { class: "status" }, [many(found.turns.length, "question"), tokens && found.turns.some(({ answered }) => answered.model !== "offline") ? `${count(tokens)} tokens` : null, dollars ? `$${dollars.toFixed(4)}` : null].filter(Boolean).join(" · ")),
    el("p", { class: "actions" }, el("button", { type: "button", onclick: () => goOn(name) }, "Continue"), sharesLinks ? share(name) : null),
    ...turns(found, open, (text) => goOn(name, text), mayRun, isMade(name)));
  find("other-title").focus();
}

/** Renders the questions with their answers, omitting the first question if it is the title. */
const turns = (found, open, again, mayRun, isTitled) => found.turns.map(({ number, answered }, at) =>
  el("article", { class: "turn", "aria-label": `Question ${number}` },
    el("h3", { class: isTitled && at === 0 ? "away" : "asked" }, answered.question),
    el("div", { class: "result" }, answer(answered, open, again, mayRun))));

/** Renders a button that creates a link to the current state of a conversation. */
function share(name) {
  const said = el("span", { class: "status", role: "status" });
  const button = el("button", { type: "button", class: "quiet", onclick: async () => {
    try {
      const { link } = await post(`${path(name)}/link`);
      const address = `${location.origin}${location.pathname}#shared/${link}`;
      const copied = await navigator.clipboard.writeText(address).then(() => true, () => false);
      said.replaceChildren(copied ? "Copied: " : "", el("a", { href: address }, "the link"), " shows this conversation as it is now to everyone with access.");
      button.remove();
    } catch (error) {
      said.className = "status bad";
      said.textContent = error.message;
    }
  } }, "Share by link");
  return [button, said];
}

/** Shows the content of a link; its owner may revoke it. */
export async function shared(box, link, { open, goOn, mayRun }) {
  const place = `/v1/links/${encodeURIComponent(link)}`;
  const found = await get(place);
  const first = found.turns[0]?.answered.question ?? found.session;
  const back = el("button", { type: "button", class: "quiet", onclick: async () => {
    await remove(place);
    box.replaceChildren(el("p", { class: "status", role: "status" }, "The link no longer works."));
  } }, "Revoke the link");
  box.replaceChildren(
    el("h2", { id: "other-title", tabindex: -1 }, isMade(found.session) ? first : found.session),
    el("p", { class: "status" }, `${many(found.turns.length, "question")} · as it was when shared`),
    found.is_mine ? el("p", { class: "actions" }, back) : "",
    ...turns(found, open, goOn, mayRun, isMade(found.session)));
  find("other-title").focus();
}
