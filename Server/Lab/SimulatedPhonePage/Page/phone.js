// The phone as a thing: frame, buttons, status bar, and the layers of its screen from back to front.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { state, changed, phoneNow } from "./state.js";
import { clockTime } from "./format.js";
import { swipe } from "./gestures.js";
import { springboard } from "./springboard.js";
import { appLayer, isAppOpen } from "./app.js";
import { cover, isCovered } from "./cover.js";
import { banner, expandedNotice } from "./notices.js";
import { island, noticeActivityAlert } from "./activities.js";

export function device(phone) {
  const { snapshot } = phone;
  return h("div", { class: "device", "data-system": phone.isAndroid ? "android" : "ios", role: "group", "aria-label": `${phone.name}, simulated` },
    h("span", { class: "key key-action", "aria-hidden": "true" }),
    h("span", { class: "key key-up", "aria-hidden": "true" }),
    h("span", { class: "key key-down", "aria-hidden": "true" }),
    h("button", {
      class: "key key-side", type: "button", disabled: !snapshot, title: "Side button",
      "aria-label": snapshot?.locked ? "Side button: wake and unlock" : "Side button: lock",
      onclick: () => phone.act(snapshot.locked ? "unlock" : "lock"),
    }),
    h("div", { class: "bezel" },
      h("div", {
        class: "screen", "data-testid": "phone-screen", "data-screen": snapshot ? snapshot.screen : "starting",
        "data-tone": tone(phone),
      }, snapshot ? layers(phone) : starting())));
}

function starting() {
  return h("div", { class: "starting", key: "starting" },
    h("img", { src: "/phone/assets/clarion.svg", alt: "", class: "starting-mark" }),
    h("p", null, state.connection === "lost" ? "Waiting for the server…" : "Starting the phone…"));
}

function layers(phone) {
  noticeActivityAlert(phone);
  return [
    springboard(phone),
    appLayer(phone),
    cover(phone),
    banner(phone),
    expandedNotice(phone),
    statusBar(phone),
    phone.isAndroid ? h("span", { class: "punch", key: "punch", "aria-hidden": "true" }) : island(phone),
    homeIndicator(phone),
  ];
}

/** Whether what lies under the status bar is light (`ink`), or a wallpaper or dark (`paper`). */
function tone(phone) {
  if (!phone.snapshot || isCovered(phone) || !isAppOpen(phone.snapshot)) return "paper";
  return phone.view.zoomed ? "paper" : "ink";
}

function statusBar(phone) {
  const { snapshot, view } = phone;
  const offline = snapshot.network === "offline";
  const toggle = () => {
    if (phone.snapshot.locked) return;
    view.centreOpen = !view.centreOpen;
    changed();
  };
  return h("div", { class: "status-bar", key: "status" },
    h("button", {
      class: "status-time", type: "button", onclick: toggle, "aria-label": "Notification centre",
      "aria-expanded": String(isCovered(phone)), "data-testid": "status-time", disabled: snapshot.locked,
      created: (node) => swipe(node, 1, () => {
        view.centreOpen = true;
        changed();
      }),
    }, snapshot.locked ? icon("lock", "status-lock") : clockTime(phoneNow())),
    h("div", { class: "status-icons", role: "img", "aria-label": `${offline ? "No network" : "Online"}, ${snapshot.lowPower ? "saving power" : "battery full"}` },
      !offline && signal(), wifi(offline), battery(snapshot.lowPower)));
}

function signal() {
  return h("svg", { viewBox: "0 0 18 12", class: "signal", "aria-hidden": "true" },
    [0, 1, 2, 3].map((bar) => h("rect", {
      x: bar * 4.8, y: 8.2 - bar * 2.7, width: 3.2, height: 3.8 + bar * 2.7, rx: 1, fill: "currentColor",
    })));
}

function wifi(offline) {
  if (offline) return h("span", { class: "no-network" }, "Offline");
  return h("svg", { viewBox: "0 0 17 12", class: "wifi", "aria-hidden": "true", fill: "none", stroke: "currentColor" },
    h("path", { d: "M1.4 4.3a10.2 10.2 0 0 1 14.2 0", "stroke-width": "2", "stroke-linecap": "round" }),
    h("path", { d: "M4.2 7.2a6.2 6.2 0 0 1 8.6 0", "stroke-width": "2", "stroke-linecap": "round" }),
    h("circle", { cx: "8.5", cy: "10.2", r: "1.5", fill: "currentColor", stroke: "none" }));
}

function battery(saves) {
  return h("svg", { viewBox: "0 0 27 13", class: "battery", "aria-hidden": "true" },
    h("rect", { x: ".5", y: ".5", width: "23", height: "12", rx: "3.8", fill: "none", stroke: "currentColor", opacity: ".4" }),
    h("rect", { x: "2", y: "2", width: "20", height: "9", rx: "2.5", fill: saves ? "#f0c02e" : "currentColor" }),
    h("path", { d: "M25 4.5v4c.8-.3 1.4-1.1 1.4-2s-.6-1.7-1.4-2z", fill: "currentColor", opacity: ".45" }));
}

function homeIndicator(phone) {
  const { snapshot, view } = phone;
  const leave = () => {
    if (view.expandedNotice) view.expandedNotice = null;
    else if (phone.snapshot.locked) phone.act("unlock");
    else if (view.centreOpen) view.centreOpen = false;
    else phone.act("home");
    changed();
  };
  return h("button", {
    class: "home-indicator", key: "home-indicator", type: "button", onclick: leave, "data-testid": "home-indicator",
    "aria-label": snapshot.locked ? "Swipe up to unlock" : "Swipe up to go Home",
    created: (node) => swipe(node, -1, () => node.click()),
  }, h("span", { "aria-hidden": "true" }));
}
