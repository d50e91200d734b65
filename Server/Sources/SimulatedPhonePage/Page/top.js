// The bar at the top: name, connection, which phone, which theme.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { state, changed } from "./state.js";
import { listen } from "./connection.js";

const THEMES = ["auto", "light", "dark"];
const THEME_ICONS = { auto: "auto", light: "sun", dark: "moon" };

export function applyTheme() {
  document.documentElement.dataset.theme = theme();
}

function theme() {
  try {
    const kept = localStorage.getItem("clarion.theme");
    return THEMES.includes(kept) ? kept : "auto";
  } catch {
    return "auto";
  }
}

function nextTheme() {
  const next = THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length];
  try {
    localStorage.setItem("clarion.theme", next);
  } catch {
    // A browser that keeps nothing shows what its system prefers.
  }
  applyTheme();
  changed();
}

export function topBar() {
  return [
    h("div", { class: "brand" },
      h("img", { class: "brand-mark", src: "/phone/assets/clarion.svg", alt: "", width: "30", height: "30" }),
      h("h1", null, "Clarion"),
      h("p", { class: "tagline" }, "rich push, end to end")),
    phoneSwitcher(),
    h("div", { class: "top-side" },
      h("p", { class: `connection ${state.connection}`, "data-testid": "connection", role: "status" },
        h("span", { class: "dot", "aria-hidden": "true" }),
        { open: "Live", connecting: "Connecting", lost: "Reconnecting" }[state.connection]),
      h("button", {
        class: "quiet-button", type: "button", "aria-label": `Appearance: ${theme()}. Change`, title: `Appearance: ${theme()}`,
        onclick: nextTheme, "data-testid": "theme",
      }, icon(THEME_ICONS[theme()]))),
  ];
}

function phoneSwitcher() {
  if (state.phones.length < 2) return null;
  return h("div", { class: "switcher", role: "group", "aria-label": "Which phone" },
    state.phones.map((phone) => h("button", {
      type: "button", key: phone.id, class: "switch-phone", "aria-pressed": String(phone.id === state.phoneID),
      onclick: () => phone.id !== state.phoneID && listen(phone.id), "data-testid": `phone-${phone.id}`,
    }, icon("phone"), phone.name)));
}
