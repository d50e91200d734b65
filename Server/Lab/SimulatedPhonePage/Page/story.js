// "What really happened": the true steps of each push, newest push first, each step in the order it happened.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { state, view, changed } from "./state.js";
import { distance, exactTime } from "./format.js";
import { actorName, actorOf, ACTORS } from "./actors.js";
import { groupsOf, messageOf } from "./pushes.js";
import { inLines } from "./bodytext.js";

const GROUPS_SHOWN = 40;

export function story() {
  const phone = state.selected;
  const groups = phone ? groupsOf(phone).slice(0, GROUPS_SHOWN) : [];
  return [
    h("header", { class: "story-head", key: "head" },
      h("div", null, h("h2", null, "What really happened"),
        h("p", null, state.phones.length > 1 ? `Every measured step to ${phone?.name}.` : "Every step as it was measured, while it happens.")),
      groups.length > 0 && h("button", { class: "quiet-button", type: "button", title: "Clear the list", "aria-label": "Clear the list", onclick: () => clear(phone), "data-testid": "story-clear", key: "clear" },
        icon("trash"))),
    groups.length === 0 ? empty() : h("div", { class: "story-groups", key: "groups", role: "log", "aria-label": "Story of each push" },
      groups.map((group, index) => groupCard(group, isOpen(group, index, groups)))),
  ];
}

function empty() {
  return h("div", { class: "story-empty", key: "empty" },
    h("ol", { class: "journey", "aria-label": "The way of a push" }, ["phone", "backend", "apns", "phone", "user"].map((actor, index) =>
      h("li", { class: `actor ${actor}`, key: index }, h("span", { class: "step-mark" }, icon(ACTORS[actor].icon)), ["App asks", "Backend stores", "APNs carries the id", "Phone fetches", "You look"][index]))),
    h("p", null, "Send a push, and its whole way appears here: who did what, when, with which headers, and what was answered."));
}

function clear(phone) {
  phone.view.clearedBefore = Math.max(0, ...phone.steps.keys());
  changed();
}

// The newest group and the newest push are open, the others when the user opened them.
function isOpen(group, index, groups) {
  return view.toggledGroups.get(group.key) ?? (index === 0 || group === groups.find(({ id }) => id));
}

function groupCard(group, open) {
  const first = group.steps[0];
  const last = group.steps[group.steps.length - 1];
  return h("article", { class: group.id ? "story-card" : "story-card loose", key: group.key, "data-testid": group.id ? "story-push" : "story-loose", "data-rich-id": group.richID },
    h("button", { class: "story-title", type: "button", "aria-expanded": String(open), onclick: () => setOpen(group.key, !open) },
      group.richID ? h("span", { class: "story-number" }, `#${group.richID}`) : icon(group.id ? "tower" : "phone", "story-phone"),
      h("span", { class: "story-name" }, group.id ? messageOf(group) : "On the phone"),
      h("time", { class: "story-time" }, exactTime(first.at)),
      icon("down", "story-fold")),
    open && h("ol", { class: "steps", key: "steps" }, group.steps.map((step) => stepLine(group.phone, step, first))),
    !open && h("p", { class: "story-short", key: "short" }, `${group.steps.length} step${group.steps.length === 1 ? "" : "s"} · ${last.title} ${distance(last.at - first.at)}`));
}

function stepLine(phone, step, first) {
  const actor = actorOf(step.step);
  const trouble = step.step === "failed" ? " trouble" : "";
  const details = Object.entries(step.detail || {});
  const open = view.openSteps.has(`${phone.id} ${step.seq}`);
  const line = [
    h("span", { class: "step-mark", title: actorName(phone, actor) }, icon(ACTORS[actor].icon)),
    h("span", { class: "step-title" }, step.title, statusPill(step)),
    h("time", { class: "step-time" }, step === first ? "0 ms" : distance(step.at - first.at)),
    details.length > 0 && icon("down", "step-more"),
  ];
  return h("li", { class: `step actor ${actor}${trouble}`, key: step.seq, "data-testid": "story-step", "data-step": step.step, "data-at": String(step.at) },
    details.length === 0 ? h("div", { class: "step-line" }, line)
      : h("button", { class: "step-line", type: "button", "aria-expanded": String(open), onclick: () => toggleIn(view.openSteps, `${phone.id} ${step.seq}`) }, line),
    open && details.length > 0 && h("dl", { class: "step-detail", key: "detail" },
      details.map(([name, value]) => detailLine(name, pretty(value)))));
}

function detailLine(name, text) {
  return h("div", { key: name, class: text.includes("\n") ? "block" : "" }, h("dt", null, name), h("dd", null, text));
}

function statusPill(step) {
  const status = step.detail && (step.detail.status || step.detail[":status"]);
  if (!/^\d{3}$/.test(String(status || ""))) return null;
  return h("span", { class: `pill ${Number(status) < 400 ? "good" : "bad"}`, key: "status" }, String(status));
}

function pretty(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.startsWith("{") || text.startsWith("[") ? inLines(text) : text;
}

function setOpen(key, open) {
  view.toggledGroups.set(key, open);
  changed();
}

function toggleIn(set, key) {
  if (!set.delete(key)) set.add(key);
  changed();
}
