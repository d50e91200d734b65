// The switches around the selected phone: what happens to a phone in a pocket, and what goes wrong on the way to it.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { state, changed } from "./state.js";
import { call, setFaults } from "./connection.js";
import { toast } from "./toast.js";
import { activityList } from "./activities.js";

const PROCESS_WORDS = {
  active: "on the display", inactive: "on the display, covered", background: "running in the background",
  suspended: "suspended", notRunning: "not running", forceQuit: "force quit",
};
const APNS_FAULTS = [
  ["none", "as it should"], ["delay", "after 3 seconds"], ["tooManyRequests", "429, too many requests"],
  ["unavailable", "503, unavailable"], ["drop", "drops the connection"],
];
const BACKEND_FAULTS = [
  ["none", "as it should"], ["slow", "after 4 seconds"], ["unauthorized", "401, not signed in"], ["gone", "404, not found"], ["failing", "503, not ready"],
  ["damaged", "a wrong byte"], ["oversized", "too many bytes"], ["disguised", "markup instead"],
];

export function controls() {
  const phone = state.selected;
  if (!phone?.snapshot) return h("div", { class: "controls-card waiting" });
  const { snapshot } = phone;
  return h("div", { class: "controls-card" },
    h("h2", null, phone.name),
    h("p", { class: "controls-state", "data-testid": "phone-state" }, h("span", null, stateWords(snapshot)), restartNote(phone)),
    h("div", { class: "button-grid" },
      button("home", "Home", () => leave(phone, "home"), "control-home", snapshot.locked),
      snapshot.locked
        ? button("unlock", "Unlock", () => phone.act("unlock"), "control-lock")
        : button("lock", "Lock", () => leave(phone, "lock"), "control-lock"),
      button("open", "Open app", () => leave(phone, "openApp"), "control-open", snapshot.locked || snapshot.installed === false),
      button("quit", phone.isAndroid ? "Force stop" : "Force quit", () => phone.act("terminate"), "control-quit"),
      button("bell", "Notices", () => toggleCentre(phone), "control-centre", snapshot.locked),
      snapshot.beforeFirstUnlock !== undefined && button("refresh", "Restart", () => leave(phone, "restart"), "control-restart")),
    h("div", { class: "switches" }, switches(phone)),
    h("details", { class: "more-switches", "data-testid": "more-states" },
      h("summary", null, "More states"),
      h("div", { class: "switches" }, moreSwitches(phone))),
    activityList(phone),
    phone.faults && faults(phone));
}

function stateWords(snapshot) {
  if (snapshot.installed === false) return "App removed";
  if (snapshot.dozing) return "The phone lies in Doze";
  const words = `App ${PROCESS_WORDS[snapshot.process] || snapshot.process}`;
  return snapshot.beforeFirstUnlock ? `${words}, phone not unlocked since its start` : words;
}

// What a restart leaves, and what has to wait for the first unlock.
function restartNote({ isAndroid, snapshot }) {
  if (isAndroid || !snapshot.beforeFirstUnlock) return null;
  const kept = ["settings", "notifications", "tokens", ...(snapshot.activitiesSurviveRestart ? ["Live Activities"] : [])];
  return h("span", { class: "state-note", "data-testid": "restart-note", key: "restart" },
    ` Still there: ${kept.join(", ")}. Until the unlock the app can read neither its user nor its content. It deletes nothing, and its reports wait.`);
}

function toggleCentre({ view }) {
  view.centreOpen = !view.centreOpen;
  changed();
}

// What shows another screen puts away the notification centre and a notification that is held open.
function leave(phone, name) {
  Object.assign(phone.view, { centreOpen: false, expandedNotice: null, replyTo: null, reply: "" });
  phone.act(name);
}

function switches(phone) {
  const { snapshot } = phone;
  const isOffline = snapshot.network === "offline";
  return [
    toggle("Offline", isOffline, (on) => phone.act("setNetwork", { offline: on }), "switch-offline"),
    phone.isAndroid
      ? toggle("Doze", snapshot.dozing, (on) => phone.act("setDoze", { on }), "switch-doze")
      : toggle("Background refresh", snapshot.backgroundRefresh, (on) => phone.act("setBackgroundRefresh", { on }), "switch-refresh"),
    toggle("Notifications allowed", snapshot.permission !== "denied",
      (on) => phone.act("setPermission", { permission: on ? "granted" : "denied" }), "switch-permission"),
  ];
}

// A switch is there when the phone knows the state: an older server's phones know fewer.
function moreSwitches(phone) {
  const { snapshot } = phone;
  if (phone.isAndroid) return [slowSwitch(phone), life(phone)];
  return [
    toggle("Hide previews when locked", snapshot.hidesPreviews, (on) => phone.act("setPreviews", { whenUnlocked: on }), "switch-previews"),
    snapshot.focus !== undefined && [
      slowSwitch(phone),
      toggle("Focus", snapshot.focus, (on) => phone.act("setFocus", { on }), "switch-focus"),
      toggle("Low power", snapshot.lowPower, (on) => phone.act("setLowPower", { on }), "switch-low-power"),
    snapshot.wakeBudget !== undefined &&
      toggle("Three wakes an hour", snapshot.wakeBudget, (on) => phone.act("setWakeBudget", { on }), "switch-wake-budget"),
      toggle("Alerts of the app", snapshot.alerts, (on) => phone.act("setAlerts", { on }), "switch-alerts"),
    ],
    snapshot.liveActivities !== undefined &&
      toggle("Live Activities", snapshot.liveActivities, (on) => phone.act("setLiveActivities", { on }), "switch-activities"),
    snapshot.frequentActivityUpdates !== undefined &&
      toggle("Frequent updates of these", snapshot.frequentActivityUpdates,
        (on) => phone.act("setFrequentActivityUpdates", { on }), "switch-frequent-updates"),
    snapshot.activitiesSurviveRestart !== undefined &&
      toggle("These survive a restart", snapshot.activitiesSurviveRestart,
        (on) => phone.act("setActivitiesSurviveRestart", { on }), "switch-activities-restart"),
    snapshot.installed !== undefined && life(phone),
  ];
}

function slowSwitch(phone) {
  return toggle("Slow network", phone.snapshot.network === "slow",
    (on) => phone.act("setConnection", { connection: on ? "slow" : "online" }), "switch-slow");
}

function life(phone) {
  const { snapshot } = phone;
  return h("div", { class: "quiet-row", key: "life" },
    quiet("System ends app", () => phone.act("endApp"), "control-end", snapshot.installed === false),
    snapshot.installed
      ? quiet("Remove app", () => phone.act("removeApp"), "control-remove", false, "control-life")
      : quiet("Install app", () => phone.act("installApp"), "control-install", false, "control-life"),
    !phone.isAndroid && quiet("Restore backup", () => phone.act("restoreBackup"), "control-restore"),
    !phone.isAndroid && snapshot.liveActivities !== undefined &&
      quiet("New activity tokens", () => phone.act("rotateActivityTokens"), "control-rotate"));
}

function faults(phone) {
  const count = Number(phone.faults.apns !== "none") + Number(phone.faults.backend !== "none");
  return h("details", { class: "more-switches faults", "data-testid": "faults", key: "faults" },
    h("summary", null, "Faults", count > 0 && h("span", { class: "fault-count", key: "count" }, `${count} on`)),
    !phone.isAndroid && choice("APNs answers", APNS_FAULTS, phone.faults.apns, (apns) => setFaults(phone, { apns }), "fault-apns"),
    choice("Content comes", BACKEND_FAULTS, phone.faults.backend, (backend) => setFaults(phone, { backend }), "fault-backend"),
    h("div", { class: "quiet-row" }, quiet(phone.isAndroid ? "New token" : "Token is dead (410)", () => retire(phone), "fault-token")));
}

async function retire(phone) {
  if (await call(`${phone.address}/token`, undefined, "DELETE")) {
    toast(phone.isAndroid ? "Pushes to its old token are answered 404. The app registers the new one."
      : "Pushes to its old token are answered 410. The app gets a new one at its next start.");
  }
}

function button(drawing, title, run, testID, disabled = false) {
  return h("button", { type: "button", class: "control", onclick: run, disabled, "data-testid": testID, key: testID },
    icon(drawing), h("span", null, title));
}

// What takes the place of another when it is pressed has its key, so that the keyboard stays on it.
function quiet(title, run, testID, disabled = false, key = testID) {
  return h("button", { type: "button", class: "small-button", onclick: run, disabled, "data-testid": testID, key }, title);
}

function toggle(title, on, change, testID) {
  return h("button", {
    type: "button", class: "toggle", role: "switch", "aria-checked": String(Boolean(on)), onclick: () => change(!on), "data-testid": testID, key: testID,
  }, h("span", null, title), h("span", { class: "toggle-track", "aria-hidden": "true" }, h("span", { class: "toggle-thumb" })));
}

function choice(title, options, value, change, testID) {
  return h("label", { class: "choice", key: testID }, h("span", null, title),
    h("select", { value, onchange: (event) => change(event.target.value), "data-testid": testID, "data-on": String(value !== "none") },
      options.map(([name, words]) => h("option", { value: name, key: name }, words))));
}
