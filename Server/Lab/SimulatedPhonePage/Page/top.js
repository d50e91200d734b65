// The bar at the top: name, which phone, connection, theme.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { toast } from "./toast.js";
import { state, changed, isSideBySide, keep, kept } from "./state.js";
import { select, setSideBySide } from "./connection.js";

const THEMES = ["auto", "light", "dark"];
const THEME_ICONS = { auto: "auto", light: "sun", dark: "moon" };

export function applyTheme() {
  document.documentElement.dataset.theme = theme();
}

function theme() {
  const wanted = kept("theme");
  return THEMES.includes(wanted) ? wanted : "auto";
}

function nextTheme() {
  keep("theme", THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length]);
  applyTheme();
  changed();
}

/** The demonstration lets everyone in who sees the phones. */
async function openConsole() {
  const response = await fetch("/phone/console", { method: "POST", signal: AbortSignal.timeout(10_000) }).catch(() => null);
  if (response?.ok) location.assign((await response.json()).address);
  else toast("The console cannot be opened now.");
}

export function topBar() {
  return [
    h("div", { class: "brand" },
      h("img", { class: "brand-mark", src: "/phone/assets/clarion.svg", alt: "", width: "30", height: "30" }),
      h("h1", null, "Clarion"),
      h("p", { class: "tagline" }, "rich push, end to end")),
    state.alone ? h("a", { class: "back-to-all", href: "/phone", key: "back" }, icon("back"), "All phones") : phoneSwitcher(),
    h("div", { class: "top-side" },
      h("p", { class: `connection ${state.connection}`, "data-testid": "connection", role: "status" },
        h("span", { class: "dot", "aria-hidden": "true" }),
        { open: "Live", connecting: "Connecting", lost: "Reconnecting" }[state.connection]),
      h("button", { class: "to-console", type: "button", "aria-label": "Console", title: "Console", onclick: openConsole, "data-testid": "console" }, icon("chart"), h("span", null, "Console")),
      h("button", {
        class: "quiet-button", type: "button", "aria-label": `Appearance: ${theme()}. Change`, title: `Appearance: ${theme()}`,
        onclick: nextTheme, "data-testid": "theme",
      }, icon(THEME_ICONS[theme()]))),
  ];
}

function phoneSwitcher() {
  if (state.phones.length < 2) return null;
  const all = isSideBySide();
  const one = (phone) => !all && phone === state.selected;
  return h("div", { class: "switcher", role: "group", "aria-label": "Which phone", key: "switcher" },
    state.phones.map((phone) => h("button", {
      type: "button", key: phone.id, class: "switch-phone", "aria-pressed": String(one(phone)), "data-testid": `phone-${phone.id}`,
      onclick: () => {
        select(phone);
        setSideBySide(false);
      },
    }, icon("phone"), h("span", { class: "switch-name" }, phone.name), unread(phone))),
    h("button", {
      type: "button", key: "all", class: "switch-phone switch-all", "aria-pressed": String(all), "data-testid": "phones-all",
      onclick: () => setSideBySide(!all),
    }, icon("columns"), "All"));
}

function unread({ unread: count }) {
  return count > 0 && h("span", { class: "switch-count", "aria-label": `${count} unread`, key: "count" }, count > 99 ? "99+" : String(count));
}
