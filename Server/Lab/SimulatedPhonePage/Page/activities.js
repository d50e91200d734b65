// Live Activities as the system shows them: the card on the lock screen, and the Dynamic Island. The simulated phone has no app that draws
// them, so the values of the state stand there with their names.
import { h } from "./dom.js";
import { changed } from "./state.js";
import { isAppOpen } from "./app.js";
import { isCovered } from "./cover.js";

/** How long the island stays open by itself after an alert. */
const ALERT_MILLISECONDS = 6000;
const MOST_VALUES = 4;

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
  },
  h("div", { class: "activity-head" },
    h("img", { class: "activity-icon", src: "/phone/assets/clarion.svg", alt: "", draggable: "false" }),
    h("span", { class: "activity-title" }, title(activity)),
    values(activity.attributes).slice(0, 1).map(([name, value]) => h("span", { class: "activity-subtitle", key: name }, text(value))),
    activity.phase !== "active" && h("span", { class: "activity-phase", "data-testid": "activity-phase", key: "phase" },
      activity.phase === "stale" ? "Out of date" : "Ended"),
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

/** The Dynamic Island: empty, compact, or open when it is pressed or an alert comes. Not on the lock screen, nor over the app itself. */
export function island(phone) {
  const { snapshot, view } = phone;
  const going = (snapshot.activities || []).filter(({ phase }) => phase !== "ended");
  const hidden = isCovered(phone) || isAppOpen(snapshot);
  openForAlert(phone, going);
  if (going.length === 0 || hidden) {
    return h("div", { class: "island", "aria-hidden": "true", key: "island" }, h("span", { class: "lens" }));
  }
  const [first] = going;
  const shown = values(first.state);
  const isOpen = Boolean(view.islandOpen);
  return h("button", {
    class: isOpen ? "island open" : "island compact", type: "button", key: "activity-island", "data-testid": "island",
    "aria-expanded": String(isOpen), "aria-label": `${title(first)}: ${shown.map(([name, value]) => `${name} ${text(value)}`).join(", ")}`,
    onclick: () => {
      Object.assign(view, { islandOpen: !isOpen, islandAlerting: false });
      changed();
    },
  }, isOpen ? expanded(first, shown, going.length, view.islandAlerting) : compact(shown, going.length));
}

function compact(shown, count) {
  return [
    h("span", { class: "island-leading", key: "leading" }, shown[0] ? text(shown[0][1]) : ""),
    h("span", { class: "lens", key: "lens" }),
    h("span", { class: "island-trailing", key: "trailing" }, count > 1 ? `+${count - 1}` : shown[1] ? text(shown[1][1]) : ""),
  ];
}

function expanded(activity, shown, count, isAlerting) {
  return [
    h("span", { class: "island-title", key: "title" }, title(activity), count > 1 && h("span", null, ` and ${count - 1} more`)),
    isAlerting && activity.alert && h("span", { class: "island-alert", key: "alert" }, activity.alert.body),
    pairs(shown),
  ];
}

/** An alert opens the island for a moment. */
function openForAlert({ view }, going) {
  const alerts = going.filter(({ alert }) => alert).map(({ id, alert }) => `${id} ${alert.title} ${alert.body}`).join("\n");
  if (alerts === view.islandAlerts) return;
  const isNew = alerts !== "" && view.islandAlerts !== undefined;
  view.islandAlerts = alerts;
  if (!isNew) return;
  Object.assign(view, { islandOpen: true, islandAlerting: true });
  clearTimeout(view.islandTimer);
  view.islandTimer = setTimeout(() => {
    Object.assign(view, { islandOpen: false, islandAlerting: false });
    changed();
  }, ALERT_MILLISECONDS);
}
