// What to send: nothing chosen is the rich push tutorial's own call, a POST without a body.
import { h } from "./dom.js";
import { icon, kindIcon, kindName } from "./icons.js";
import { UNTOUCHED } from "./handset.js";
import { changed } from "./state.js";
import { choices } from "./choices.js";

const KINDS = ["img", "sound", "video", "file", "url", "coupon", "text"];
const STYLES = [["", "Default"], ["silent", "Silent"], ["alert", "Alert"], ["both", "Both"]];
const STYLE_NOTES = {
  silent: "A background push. The app wakes, fetches, and shows a local notification.",
  alert: "A visible push. The service extension fetches the content before it is shown.",
  both: "A visible push that wakes the app as well.",
};
const TUTORIAL_NOTE = "The rich push tutorial’s own call, without a body: a silent push that wakes the app.";
const DEFAULT_NOTE = "The server’s default: a visible push that the service extension enriches.";

function isUntouched({ view }) {
  return Object.entries(UNTOUCHED).every(([field, value]) => view.draft[field].trim() === value);
}

/** The parameters of `sendPush`: none at all when nothing was chosen. */
export function sendParameters(phone) {
  const { view } = phone;
  if (isUntouched(phone)) return {};
  const parameters = { kind: view.draft.kind };
  for (const field of ["style", "message", "title", "audience"]) {
    const value = view.draft[field].trim();
    if (value) parameters[field] = value;
  }
  return parameters;
}

export function optionsSummary(phone) {
  if (isUntouched(phone)) return "A picture, to yourself, as in the rich push tutorial";
  const { kind, style, audience } = phone.view.draft;
  return [kindName(kind), style && `${style} push`, audience.trim() ? `to ${audience.trim()}` : "to yourself"].filter(Boolean).join(" · ");
}

function set({ view }, field, value) {
  view.draft[field] = value;
  changed();
}

/** Puts the sheet away. */
export function closeOptions({ view }) {
  view.optionsOpen = false;
  changed();
}

export function optionsSheet(phone) {
  const { snapshot, view } = phone;
  const open = view.optionsOpen && snapshot.screen === "main";
  return h("div", { class: "sheet-layer", key: "options", "data-shown": String(open), inert: !open },
    h("button", { class: "sheet-back", type: "button", tabindex: "-1", "aria-label": "Close the options", onclick: () => closeOptions(phone) }),
    h("form", { class: "sheet", role: "dialog", "aria-label": "What to send", onsubmit: (event) => submit(phone, event) },
      h("header", { class: "sheet-head" },
        h("button", { class: "link-button", type: "button", onclick: () => { view.draft = { ...UNTOUCHED }; changed(); } }, "Reset"),
        h("h2", null, "What to send"),
        h("button", { class: "link-button strong", type: "button", onclick: () => closeOptions(phone), "data-testid": "options-done" }, "Done")),
      choices("Kind", { class: "kinds" }, KINDS.map((kind) => ({
        key: kind, isTaken: view.draft.kind === kind, take: () => set(phone, "kind", kind),
        properties: { class: "kind", "data-testid": `kind-${kind}` },
        content: [h("span", { class: `kind-tile kind-${kind}` }, icon(kindIcon(kind))), kindName(kind)],
      }))),
      choices("Delivery style", { class: "segments" }, STYLES.map(([style, name]) => ({
        key: style || "default", isTaken: view.draft.style === style, take: () => set(phone, "style", style),
        properties: { "data-testid": `style-${style || "default"}` }, content: name,
      }))),
      h("p", { class: "sheet-note" }, STYLE_NOTES[view.draft.style] || (isUntouched(phone) ? TUTORIAL_NOTE : DEFAULT_NOTE)),
      h("div", { class: "field-group" },
        field(phone, "title", "Title", "none", 100), field(phone, "message", "Message", "Check this image out!", 500),
        field(phone, "audience", "To", "yourself, or username:bob", 400)),
      h("button", { class: "primary", type: "submit", "data-testid": "options-send", disabled: snapshot.sending.busy }, icon("send"), "Send push")));
}

function submit(phone, event) {
  event.preventDefault();
  closeOptions(phone);
  phone.act("sendPush", sendParameters(phone));
}

function field(phone, name, label, placeholder, maxlength) {
  return h("label", null, h("span", null, label), h("input", {
    name, type: "text", value: phone.view.draft[name], placeholder, maxlength: String(maxlength), oninput: (event) => set(phone, name, event.target.value),
    autocomplete: "off", autocapitalize: "off", "data-testid": `option-${name}`,
  }));
}
