// "What really happened": the true steps of each push, newest push first, each step in the order it happened.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { state, view, changed } from "./state.js";
import { distance, exactTime } from "./format.js";
import { actorOf, ACTORS } from "./actors.js";

const GROUPS_SHOWN = 40;

// What happened elsewhere is told a little later than it happened, so the moment orders the steps. Within one millisecond the
// way of a push does: nothing reaches a phone before APNs was asked.
const WAY = ["send", "accepted", "apns-request", "apns-answer", "stored", "delivered"];
const place = ({ step }) => (WAY.includes(step) ? WAY.indexOf(step) : WAY.length);

export function inOrder(steps) {
  return [...steps].sort((a, b) => a.at - b.at || place(a) - place(b) || a.seq - b.seq);
}

export function story() {
  const groups = grouped().slice(0, GROUPS_SHOWN);
  return [
    h("header", { class: "story-head", key: "head" },
      h("div", null, h("h2", null, "What really happened"), h("p", null, "Every step as it was measured, while it happens.")),
      groups.length > 0 && h("button", { class: "quiet-button", type: "button", title: "Clear the list", "aria-label": "Clear the list", onclick: clear, "data-testid": "story-clear", key: "clear" },
        icon("trash"))),
    groups.length === 0 ? empty() : h("div", { class: "story-groups", key: "groups", role: "log", "aria-label": "Story of each push" },
      groups.map((group, index) => groupCard(group, isOpen(group, index, groups)))),
  ];
}

function empty() {
  return h("div", { class: "story-empty", key: "empty" },
    h("ol", { class: "journey", "aria-label": "The way of a push" }, ["phone", "backend", "apns", "phone", "person"].map((actor, index) =>
      h("li", { class: `actor ${actor}`, key: index }, h("span", { class: "step-mark" }, icon(ACTORS[actor].icon)), ["App asks", "Backend stores", "APNs carries the id", "Phone fetches", "You look"][index]))),
    h("p", null, "Send a push, and its whole way appears here: who did what, when, with which headers, and what was answered."));
}

function clear() {
  view.clearedBefore = Math.max(0, ...state.steps.keys());
  changed();
}

// Steps of one push share its id. The app's wish to send has none yet: it goes to the push that its answer names, or, when
// the answer names none, to the push that comes with it. What belongs to no push (registering, switches) is gathered where
// it happened.
function grouped() {
  const groups = [];
  const byID = new Map();
  let asked = [];
  let since = null;
  const add = (step) => {
    const last = groups[groups.length - 1];
    if (last && !last.richID) last.steps.push(step);
    else groups.push({ key: `loose ${step.seq}`, richID: null, steps: [step] });
  };
  const adopt = (group) => {
    group.steps = [...asked, ...group.steps];
    asked = [];
  };
  for (const step of [...state.steps.values()].sort((a, b) => a.seq - b.seq)) {
    if (step.seq <= view.clearedBefore) continue;
    if (step.richId) {
      let group = byID.get(step.richId);
      if (!group) {
        group = { key: `push ${step.richId}`, richID: step.richId, steps: [] };
        byID.set(step.richId, group);
        groups.push(group);
        if (asked.length > 1) adopt(group);
        else since = group;
      }
      group.steps.push(step);
      if (step.step === "accepted" && asked.length > 0) adopt(group);
    } else if (step.step === "send") {
      asked.forEach(add);
      asked = [step];
      since = null;
    } else if (step.step === "accepted" && asked.length > 0) {
      asked.push(step);
      if (since) adopt(since);
    } else {
      asked.forEach(add);
      asked = [];
      add(step);
    }
  }
  asked.forEach(add);
  for (const group of groups) group.steps = inOrder(group.steps);
  return groups.reverse();
}

// The newest group and the newest push are open, the others when somebody opened them.
function isOpen(group, index, groups) {
  return view.toggledGroups.get(group.key) ?? (index === 0 || group === groups.find(({ richID }) => richID));
}

function groupCard(group, open) {
  const first = group.steps[0];
  const last = group.steps[group.steps.length - 1];
  return h("article", { class: group.richID ? "story-card" : "story-card loose", key: group.key, "data-testid": group.richID ? "story-push" : "story-loose", "data-rich-id": group.richID },
    h("button", { class: "story-title", type: "button", "aria-expanded": String(open), onclick: () => setOpen(group.key, !open) },
      group.richID ? h("span", { class: "story-number" }, `#${group.richID}`) : icon("phone", "story-phone"),
      h("span", { class: "story-name" }, group.richID ? messageOf(group) : "On the phone"),
      h("time", { class: "story-time" }, exactTime(first.at)),
      icon("down", "story-fold")),
    open && h("ol", { class: "steps", key: "steps" }, group.steps.map((step) => stepLine(step, first))),
    !open && h("p", { class: "story-short", key: "short" }, `${group.steps.length} step${group.steps.length === 1 ? "" : "s"} · ${last.title} ${distance(last.at - first.at)}`));
}

// What the push says, as the phone knows it; the story itself holds no content.
function messageOf(group) {
  const { inbox, notifications, content, alert } = state.snapshot || {};
  const known = [...(inbox || []), ...(notifications || []), content, alert]
    .find((each) => each && (each.richId || each.id) === group.richID);
  const message = known?.title && known.title !== "Clarion" ? known.title : known?.message || known?.body;
  if (message) view.messages.set(group.richID, message);
  return view.messages.get(group.richID) || "Push";
}

function stepLine(step, first) {
  const actor = actorOf(step.step);
  const trouble = step.step === "failed" ? " trouble" : "";
  const details = Object.entries(step.detail || {});
  const open = view.openSteps.has(step.seq);
  const line = [
    h("span", { class: "step-mark", title: ACTORS[actor].name }, icon(ACTORS[actor].icon)),
    h("span", { class: "step-title" }, step.title, statusPill(step)),
    h("time", { class: "step-time" }, step === first ? "0 ms" : distance(step.at - first.at)),
    details.length > 0 && icon("down", "step-more"),
  ];
  return h("li", { class: `step actor ${actor}${trouble}`, key: step.seq, "data-testid": "story-step", "data-step": step.step, "data-at": String(step.at) },
    details.length === 0 ? h("div", { class: "step-line" }, line)
      : h("button", { class: "step-line", type: "button", "aria-expanded": String(open), onclick: () => toggleIn(view.openSteps, step.seq) }, line),
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
  if (!text.startsWith("{") && !text.startsWith("[")) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function setOpen(key, open) {
  view.toggledGroups.set(key, open);
  changed();
}

function toggleIn(set, key) {
  if (!set.delete(key)) set.add(key);
  changed();
}
