// The phones on the page: the selected one, or all side by side, each with its name, its user and a way to open it alone.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { isSideBySide, state } from "./state.js";
import { select } from "./connection.js";
import { device } from "./phone.js";

export function stage() {
  const shown = isSideBySide() ? state.phones : [state.selected].filter(Boolean);
  return shown.map((phone) => h("div", {
    class: "stand", key: phone.id, "data-phone": phone.id, "data-testid": `stand-${phone.id}`,
    "data-selected": String(phone === state.selected), onpointerdown: () => pick(phone), onfocusin: () => pick(phone),
  },
  isSideBySide() && caption(phone),
  h("div", { class: "handset", key: "handset" }, device(phone))));
}

function pick(phone) {
  if (phone !== state.selected) select(phone);
}

function caption(phone) {
  const user = phone.snapshot?.user;
  return h("header", { class: "stand-head", key: "head" },
    h("button", {
      class: "stand-name", type: "button", "aria-pressed": String(phone === state.selected), onclick: () => pick(phone),
      "aria-label": `${phone.name}, ${user ? `signed in as ${user}` : "not signed in"}`,
    }, h("b", null, phone.name), h("span", null, user || "not signed in")),
    h("a", {
      class: "stand-open", href: phone.address, target: "_blank", rel: "noopener", title: "Open alone, in a tab of its own",
      "aria-label": `Open ${phone.name} alone, in a new tab`,
    }, icon("alone")));
}
