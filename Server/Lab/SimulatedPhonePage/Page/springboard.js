// The home screen. Clarion is the one real app on it; the others are decoration and say so when pressed.
import { h } from "./dom.js";
import { phoneNow } from "./state.js";
import { toast } from "./toast.js";
import { shortWeekday, dayLine } from "./format.js";
import { isAppOpen } from "./app.js";
import { isCovered } from "./cover.js";

export function springboard(phone) {
  const behind = isAppOpen(phone.snapshot) || isCovered(phone) || Boolean(phone.view.expandedNotice);
  return h("div", { class: "layer springboard", key: "springboard", inert: behind, "data-behind": String(behind) },
    h("div", { class: "wallpaper", "aria-hidden": "true" }),
    h("div", { class: "widget", "aria-hidden": "true" }, dayWidget(phone)),
    h("div", { class: "icons" },
      clarionIcon(phone),
      decoration("Calendar", "calendar", calendarFace()),
      decoration("Clock", "clock", clockFace()),
      decoration("Photos", "photos", photosFace()),
      decoration("Notes", "notes", [h("span", { class: "fold" }), h("span", { class: "lines" })])),
    h("div", { class: "pager", "aria-hidden": "true" }, h("span"), h("span")),
    h("div", { class: "dock" },
      decoration("Phone", "dial", glyph("M7.2 4.500c.5-.5 1.3-.4 1.7.2l1.5 2.300c.3.5.3 1.1-.1 1.600l-1 1.300c1 2 2.8 3.8 4.8 4.8"
        + "l1.3-1c.5-.4 1.1-.4 1.6-.1l2.3 1.500c.6.4.7 1.2.2 1.700l-1.2 1.300c-.6.7-1.6.9-2.5.7C10.9 17.5 6.5 13.1 5.2 8.2"
        + "c-.2-.9 0-1.9.7-2.500z")),
      decoration("Mail", "mail", glyph("M4 7.500A1.5 1.5 0 0 1 5.5 6h13A1.5 1.5 0 0 1 20 7.500l-8 5.500zM4 9.300l8 5.4 8-5.400v7.2"
        + "a1.5 1.5 0 0 1-1.5 1.500h-13A1.5 1.5 0 0 1 4 16.500z")),
      decoration("Web", "web", webFace()),
      decoration("Music", "music", glyph("M9.5 17.500V7l9-2v10.500a2.3 2.3 0 1 1-1.6-2.200V8.700l-5.8 1.300v8"
        + "a2.3 2.3 0 1 1-1.6-2.200z"))));
}

function clarionIcon(phone) {
  const { snapshot } = phone;
  const badge = snapshot.badge > 0 ? (snapshot.badge > 99 ? "99+" : String(snapshot.badge)) : null;
  return h("button", {
    class: "app-icon real", type: "button", onclick: () => phone.act("openApp"), "data-testid": "app-icon",
    "aria-label": badge ? `Clarion, ${badge} unread` : "Clarion", key: "clarion",
  },
  h("span", { class: "tile" }, h("img", { src: "/phone/assets/clarion.svg", alt: "" })),
  badge && h("span", { class: "badge", "data-testid": "badge", key: badge }, badge),
  h("span", { class: "app-name" }, "Clarion"));
}

function decoration(name, className, face) {
  return h("button", {
    class: "app-icon", type: "button", tabindex: "-1", "aria-hidden": "true", key: name,
    onclick: () => toast(`${name} is only painted on. Clarion is the app that is really installed.`),
  },
  h("span", { class: `tile ${className}` }, face),
  h("span", { class: "app-name" }, name));
}

function glyph(path) {
  return h("svg", { viewBox: "0 0 24 24", class: "glyph" }, h("path", { d: path, fill: "currentColor" }));
}

function dayWidget(phone) {
  const now = new Date(phoneNow());
  return [
    h("p", { class: "widget-day" }, dayLine(now).split(",")[0].split(" ")[0]),
    h("p", { class: "widget-number" }, String(now.getDate())),
    h("p", { class: "widget-line" }, unreadLine(phone)),
  ];
}

function unreadLine({ snapshot, unread: count }) {
  if (!snapshot.user) return "No user is signed in to Clarion";
  return count === 0 ? "Nothing unread" : `${count} unread in Clarion`;
}

function calendarFace() {
  const now = new Date(phoneNow());
  return [h("span", { class: "cal-day" }, shortWeekday(now)), h("span", { class: "cal-number" }, String(now.getDate()))];
}

function clockFace() {
  const now = new Date(phoneNow());
  const hand = (turns, length, width) => {
    const angle = turns * 2 * Math.PI;
    return h("line", {
      x1: "30", y1: "30", x2: (30 + Math.sin(angle) * length).toFixed(2), y2: (30 - Math.cos(angle) * length).toFixed(2),
      "stroke-width": width, "stroke-linecap": "round", stroke: "#16181d",
    });
  };
  const marks = Array.from({ length: 12 }, (_, index) => {
    const angle = index * Math.PI / 6;
    const [x, y] = [Math.sin(angle), -Math.cos(angle)];
    return h("line", {
      x1: (30 + x * 20).toFixed(2), y1: (30 + y * 20).toFixed(2), x2: (30 + x * 22.5).toFixed(2), y2: (30 + y * 22.5).toFixed(2),
      stroke: "#9aa0aa", "stroke-width": index % 3 ? "1" : "2", "stroke-linecap": "round",
    });
  });
  return h("svg", { viewBox: "0 0 60 60" },
    h("circle", { cx: "30", cy: "30", r: "26", fill: "#fdfdfc" }), marks,
    hand((now.getHours() % 12 + now.getMinutes() / 60) / 12, 12.5, "3"), hand(now.getMinutes() / 60, 18, "2.2"),
    h("circle", { cx: "30", cy: "30", r: "2", fill: "#e8662d" }));
}

function photosFace() {
  const colours = ["#f6b73c", "#ef7f3a", "#de5463", "#a65bb0", "#5b74c9", "#3fa4c4", "#4db88a", "#a9c74b"];
  return h("svg", { viewBox: "0 0 60 60" }, colours.map((fill, index) => h("ellipse", {
    cx: "30", cy: "18.5", rx: "6.6", ry: "10.5", fill, opacity: ".82", transform: `rotate(${index * 45} 30 30)`,
  })));
}

function webFace() {
  return h("svg", { viewBox: "0 0 60 60" },
    h("circle", { cx: "30", cy: "30", r: "21", fill: "none", stroke: "#fff", "stroke-width": "2.6", opacity: ".9" }),
    h("path", { d: "M42.5 17.5 33.5 33.5 26.5 26.500z", fill: "#ffe0bf" }),
    h("path", { d: "M17.5 42.5 26.5 26.5 33.5 33.500z", fill: "#fff", opacity: ".85" }));
}
