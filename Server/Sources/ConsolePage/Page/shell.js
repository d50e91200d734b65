// The bar beside every screen: where one can go, who is signed in, the appearance.
import { h } from "./dom.js";
import { may, session } from "./api.js";
import { icon } from "./icons.js";
import { address } from "./route.js";
import { toast } from "./toast.js";

const PLACES = [
  { name: "home", title: "Home", symbol: "home", isFor: () => may("read-the-status-of-a-send", "own") },
  { name: "compose", title: "Compose", symbol: "compose", isFor: () => may("send", "own") },
  { name: "sends", title: "Sends", symbol: "send", isFor: () => may("read-the-status-of-a-send", "own") },
  { name: "schedules", title: "Schedules", symbol: "calendar", isFor: () => may("read-the-status-of-a-send", "own") },
  { name: "activities", title: "Live Activities", symbol: "pulse", isFor: () => may("read-the-status-of-a-send", "own") },
  { name: "templates", title: "Templates", symbol: "text", isFor: () => may("read-message-templates") },
  { name: "people", title: "People", symbol: "person", isFor: () => may("read-users") },
  { name: "hubs", title: "Hubs", symbol: "tower", isFor: () => may("read-hubs") },
  { name: "keys", title: "Keys", symbol: "key", isFor: () => may("manage-service-keys") },
  { name: "webhooks", title: "Webhooks", symbol: "hook", isFor: () => may("manage-webhooks") },
  { name: "audit", title: "Audit", symbol: "story", isFor: () => may("read-the-audit") },
  { name: "settings", title: "Settings", symbol: "sliders", isFor: () => may("read-the-settings") },
  { name: "health", title: "Health", symbol: "check", isFor: () => true },
];

const THEMES = { auto: "auto", light: "sun", dark: "moon" };
const isOpen = { menu: false };

function theme() {
  const wanted = localStorage.getItem("clarion-theme");
  return wanted in THEMES ? wanted : "auto";
}

export function applyTheme() {
  document.documentElement.dataset.theme = theme();
}

export function shell(route, redraw, leave) {
  const names = Object.keys(THEMES);
  const nextTheme = () => {
    localStorage.setItem("clarion-theme", names[(names.indexOf(theme()) + 1) % names.length]);
    applyTheme();
    redraw();
  };
  const factor = async () => {
    try {
      await (await import("./factor.js")).secondFactor();
    } catch (error) {
      toast(error.message);
    }
  };
  const toggle = () => {
    isOpen.menu = !isOpen.menu;
    redraw();
  };
  return [
    h("div", { class: "bar-top" },
      h("a", { class: "brand", href: address("home") },
        h("img", { src: new URL("clarion.svg", import.meta.url).href, alt: "", width: "28", height: "28" }), "Clarion"),
      h("button", { class: "menu-button", type: "button", "aria-expanded": String(isOpen.menu), "aria-controls": "places", onclick: toggle }, icon("menu"), "Menu")),
    h("nav", { class: "places", id: "places", "aria-label": "Console", "data-open": String(isOpen.menu) },
      h("ul", null, PLACES.filter((place) => place.isFor()).map((place) => h("li", { key: place.name },
        h("a", {
          href: address(place.name), "aria-current": place.name === route.name ? "page" : undefined, "data-testid": `to-${place.name}`,
          onclick: () => { isOpen.menu = false; },
        }, icon(place.symbol), place.title)))),
      h("div", { class: "who" },
        h("p", null, h("strong", null, session.user.user), h("span", { class: "role" }, session.user.role)),
        h("button", { class: "quiet", type: "button", onclick: nextTheme, "data-testid": "theme" }, icon(THEMES[theme()]), `Appearance: ${theme()}`),
        h("button", { class: "quiet", type: "button", onclick: factor, "data-testid": "second-factor" }, icon("key"), "Second factor"),
        h("button", { class: "quiet", type: "button", onclick: leave, "data-testid": "sign-out" }, icon("signout"), "Sign out"))),
  ];
}
