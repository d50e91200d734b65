// The switches around the phone: what happens to a phone in a pocket, by hand.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { state, view, changed } from "./state.js";
import { act } from "./connection.js";

const PROCESS_WORDS = {
  active: "on the display", inactive: "on the display, covered", background: "running in the background",
  suspended: "suspended", notRunning: "not running", forceQuit: "force quit",
};

export function controls() {
  const { snapshot } = state;
  if (!snapshot) return h("div", { class: "controls-card waiting" });
  return h("div", { class: "controls-card" },
    h("h2", null, snapshot.phone?.name || "The phone"),
    h("p", { class: "controls-state", "data-testid": "phone-state" },
      h("span", null, `App ${PROCESS_WORDS[snapshot.process] || snapshot.process}`)),
    h("div", { class: "button-grid" },
      button("home", "Home", () => act("home"), "control-home", snapshot.locked),
      snapshot.locked
        ? button("unlock", "Unlock", () => act("unlock"), "control-lock")
        : button("lock", "Lock", () => act("lock"), "control-lock"),
      button("open", "Open app", () => act("openApp"), "control-open", snapshot.locked),
      button("quit", "Force quit", () => act("terminate"), "control-quit"),
      button("bell", "Notification centre", toggleCentre, "control-centre", snapshot.locked)),
    h("div", { class: "switches" },
      toggle("Offline", snapshot.network === "offline", (on) => act("setNetwork", { offline: on }), "switch-offline"),
      toggle("Background refresh", snapshot.backgroundRefresh, (on) => act("setBackgroundRefresh", { on }), "switch-refresh"),
      toggle("Notifications allowed", snapshot.permission !== "denied",
        (on) => act("setPermission", { permission: on ? "granted" : "denied" }), "switch-permission")));
}

function toggleCentre() {
  view.centreOpen = !view.centreOpen;
  changed();
}

function button(drawing, title, run, testID, disabled = false) {
  return h("button", { type: "button", class: "control", onclick: run, disabled, "data-testid": testID, key: testID },
    icon(drawing), h("span", null, title));
}

function toggle(title, on, change, testID) {
  return h("button", {
    type: "button", class: "toggle", role: "switch", "aria-checked": String(on), onclick: () => change(!on), "data-testid": testID, key: testID,
  }, h("span", null, title), h("span", { class: "toggle-track", "aria-hidden": "true" }, h("span", { class: "toggle-thumb" })));
}
