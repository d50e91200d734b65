// Live Activities as the system shows them: the card on the lock screen, and the Dynamic Island. The simulated phone has no app that draws
// them, so the values of the state stand there with their names.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { changed } from "./state.js";
import { exactTime } from "./format.js";
import { longPress, swipe } from "./gestures.js";
import { isAppOpen } from "./app.js";
import { isCovered } from "./cover.js";

/** How long the island stays open by itself after an alert. */
const ALERT_MILLISECONDS = 6000;
const MOST_VALUES = 4;
/** How many characters the smallest form of the island has room for. */
const MOST_CHARACTERS = 4;
/** How many one app may have at once; those that have ended do not count. */
const MOST_ACTIVITIES = 5;
const PHASES = { stale: "Out of date", ended: "Ended" };
const UPDATES = { token: "updated by its token", channel: "updated over a channel", none: "no token yet" };

const isOwn = (name) => !name.startsWith("clarion");
const text = (value) => (value !== null && typeof value === "object" ? JSON.stringify(value) : String(value));

/** `DeliveryAttributes` as `Delivery`. */
const title = (activity) => activity.type.replace(/Attributes$/, "") || activity.type;

/** Words before numbers, each by name. */
function values(object) {
  const rank = (value) => Number(typeof value !== "string");
  return Object.entries(object || {}).filter(([name]) => isOwn(name))
    .sort(([one, a], [other, b]) => rank(a) - rank(b) || one.localeCompare(other)).slice(0, MOST_VALUES);
}

function pairs(entries) {
  return h("span", { class: "activity-values" }, entries.map(([name, value]) => h("span", { class: "activity-value", key: name },
    h("span", { class: "activity-name" }, name), h("b", null, text(value)))));
}

/** The cards of the lock screen and of the notification centre, above the notifications. */
export function activityCards(phone) {
  return (phone.snapshot.activities || []).map((activity) => h("article", {
    class: "notice activity", key: `activity ${activity.id}`, "data-phase": activity.phase, "data-testid": "activity",
    "aria-label": `Live Activity ${title(activity)}`, "data-alerting": String(phone.view.islandAlerting === activity.id),
  },
  h("div", { class: "activity-head" },
    h("img", { class: "activity-icon", src: "/phone/assets/clarion.svg", alt: "", draggable: "false" }),
    h("span", { class: "activity-title" }, title(activity)),
    values(activity.attributes).slice(0, 1).map(([name, value]) => h("span", { class: "activity-subtitle", key: name }, text(value))),
    PHASES[activity.phase] && h("span", { class: "activity-phase", "data-testid": "activity-phase", key: "phase" }, PHASES[activity.phase]),
    phone.view.islandAlerting === activity.id && h("span", { class: "activity-phase", "data-testid": "activity-alert", key: "alert" }, "Alert"),
    h("button", {
      class: "activity-remove", type: "button", "aria-label": `Remove ${title(activity)}`, "data-testid": "activity-dismiss",
      onclick: () => phone.act("dismissActivity", { id: activity.id }),
    }, "×")),
  h("div", { class: "activity-body" },
    pairs(values(activity.state)),
    activity.picture && h("img", {
      class: "activity-picture", src: phone.mediaURL(activity.picture, activity), alt: "Picture of the Live Activity", draggable: "false",
      "data-testid": "activity-picture", key: `picture ${activity.picture}`,
    })),
  activity.asks && h("div", { class: "activity-question", key: "question" },
    h("span", null, "Allow Live Activities from Clarion?"),
    h("button", {
      type: "button", "data-testid": "activity-allow", onclick: () => phone.act("allowActivity", { id: activity.id, always: false }),
    }, "Allow"),
    h("button", {
      type: "button", "data-testid": "activity-always", onclick: () => phone.act("allowActivity", { id: activity.id, always: true }),
    }, "Always Allow"))));
}

/** Whether the island shows no activity: on the lock screen, and over the app itself. */
const isIslandBare = (phone) => isCovered(phone) || isAppOpen(phone.snapshot);

/** Whether the user holds the island open; one that an alert has opened is not in the way of what the user does. */
export const isIslandHeld = (phone) => Boolean(phone.view.islandOpen) && !phone.view.islandAlerting && !isIslandBare(phone);

/** The Dynamic Island: empty, compact for one activity, minimal for the first two of several, or open for one that is held or alerts. */
export function island(phone) {
  const { snapshot, view } = phone;
  const going = (snapshot.activities || []).filter(({ phase }) => phase !== "ended");
  if (isIslandBare(phone) || !going.some(({ id }) => id === view.islandOpen)) view.islandOpen = null;
  if (going.length === 0 || isIslandBare(phone)) {
    return h("div", { class: "island", "aria-hidden": "true", key: "island" }, h("span", { class: "lens" }));
  }
  const opened = going.find(({ id }) => id === view.islandOpen);
  if (opened) return form(phone, opened, "open", expanded(opened));
  const [first, second] = going;
  return second
    ? [form(phone, first, "attached", minimal(first)), form(phone, second, "detached", minimal(second))]
    : form(phone, first, "compact", compact(first));
}

// A press opens the app. A long press opens the island, and so does the button below it.
function form(phone, activity, name, content) {
  const { id } = activity;
  const isOpen = name === "open";
  return h("div", { class: `island ${name}`, key: `island ${id}`, "data-phase": activity.phase },
    h("button", {
      class: "island-face", type: "button", key: "face", "data-testid": "island", "data-form": name, "aria-label": spoken(activity),
      title: "Press to open Clarion, hold for more", onclick: () => phone.act("openApp"),
      created: (node) => {
        longPress(node, () => openIsland(phone, id));
        swipe(node, -1, () => closeIsland(phone));
      },
    }, content),
    h("button", {
      class: "island-hold", type: "button", key: "hold", "data-testid": "island-hold", "data-form": name, "aria-expanded": String(isOpen),
      "aria-label": `More of ${title(activity)}`, onclick: () => (isOpen ? closeIsland(phone) : openIsland(phone, id)),
    }, icon("down")));
}

function spoken(activity) {
  const words = values(activity.state).map(([name, value]) => `${name} ${text(value)}`);
  return `${title(activity)}: ${[...words, ...(activity.phase === "stale" ? ["out of date"] : [])].join(", ")}`;
}

function compact({ state }) {
  const [leading, trailing] = values(state);
  return [
    h("span", { class: "island-leading", key: "leading" }, leading ? text(leading[1]) : ""),
    h("span", { class: "lens", key: "lens" }),
    h("span", { class: "island-trailing", key: "trailing" }, trailing ? text(trailing[1]) : ""),
  ];
}

// The first value that is short enough, else an initial.
function minimal(activity) {
  const short = values(activity.state).map(([, value]) => text(value).replace(/\s/g, ""));
  return h("span", { class: "island-minimal", key: "minimal" },
    short.find(({ length }) => length > 0 && length <= MOST_CHARACTERS) ?? title(activity).slice(0, 1));
}

function expanded(activity) {
  return [
    h("span", { class: "island-title", key: "title" }, title(activity),
      PHASES[activity.phase] && h("span", { key: "phase" }, ` ${PHASES[activity.phase]}`)),
    pairs(values(activity.state)),
  ];
}

function openIsland({ view }, id) {
  clearTimeout(view.islandTimer);
  Object.assign(view, { islandOpen: id, islandAlerting: null });
  changed();
}

export function closeIsland({ view }) {
  clearTimeout(view.islandTimer);
  Object.assign(view, { islandOpen: null, islandAlerting: null });
  changed();
}

/** A new alert opens the island, or marks the card on the lock screen, for a moment; an island never closes from under pointer or focus. */
export function noticeActivityAlert(phone) {
  const { snapshot, view } = phone;
  const newest = (snapshot.activities || []).filter(({ alertedAt }) => alertedAt).sort((a, b) => b.alertedAt - a.alertedAt)[0];
  const at = newest?.alertedAt ?? 0;
  const isNew = view.alertedAt !== undefined && at > view.alertedAt;
  view.alertedAt = Math.max(at, view.alertedAt ?? 0);
  if (!isNew) return;
  Object.assign(view, { islandOpen: newest.id, islandAlerting: newest.id });
  clearTimeout(view.islandTimer);
  const held = `[data-phone="${CSS.escape(phone.id)}"] .island.open:is(:hover, :focus-within)`;
  const end = () => {
    if (document.querySelector(held)) view.islandTimer = setTimeout(end, 1000);
    else closeIsland(phone);
  };
  view.islandTimer = setTimeout(end, ALERT_MILLISECONDS);
}

/** For the one who tries it: what the phone knows of its activities beside what it shows, in its order. */
export function activityList({ snapshot }) {
  const activities = snapshot.activities || [];
  if (activities.length === 0) return null;
  const live = activities.filter(({ phase }) => phase !== "ended").length;
  return h("details", { class: "more-switches", "data-testid": "activity-list", key: "activities" },
    h("summary", null, "Live Activities ", h("span", { class: "activity-count" }, `${live} of ${MOST_ACTIVITIES}`)),
    h("ol", { class: "activity-facts" }, activities.map((activity) => h("li", { key: activity.id, "data-testid": "activity-facts" },
      h("b", null, [title(activity), ...values(activity.attributes).slice(0, 1).map(([, value]) => text(value))].join(", ")),
      h("span", null, `: ${facts(activity).join("; ")}`)))));
}

function facts({ phase, relevance, staleAt, changesAt, updates, delayed, alert }) {
  const isLive = phase !== "ended";
  return [
    `relevance ${relevance}`,
    `${isLive ? "the system ends it at" : "ended, the card goes at"} ${exactTime(changesAt)}`,
    isLive && staleAt && `out of date ${phase === "stale" ? "since" : "from"} ${exactTime(staleAt)}`,
    isLive && UPDATES[updates],
    delayed && "an update waits for the end of low power",
    alert && `a watch shows the alert “${alert.title}: ${alert.body}”`,
  ].filter(Boolean);
}
