// What can be sent from beside the phones: a rich notification as any program sends it, and a push by hand.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { view, changed } from "./state.js";
import { richForm } from "./rich.js";
import { pushForm } from "./handpush.js";
import { lastAnswer, sentList } from "./sent.js";
import { choices } from "./choices.js";

const WAYS = [["rich", "Rich notification"], ["push", "APNs push"]];

export function compose() {
  const way = view.way || "rich";
  return [
    h("header", { class: "story-head", key: "head" },
      h("div", null, h("h2", null, "Compose"),
        h("p", null, way === "rich" ? "Through the app backend, as any program sends it." : "Past the backend, straight to the local APNs."))),
    choices("What to compose", { class: "segments tool-segments", key: "ways" }, WAYS.map(([id, title]) => ({
      key: id, isTaken: id === way, take: () => show(id), properties: { "data-testid": `way-${id}` }, content: title,
    }))),
    way === "rich" ? richForm() : pushForm(),
    sentList(),
  ];
}

function show(way) {
  view.way = way;
  changed();
}

/** Chips to begin from. */
export function templates(list, use, testID) {
  return h("div", { class: "templates", role: "group", "aria-label": "Begin from", key: "templates" }, list.map((template) => h("button", {
    type: "button", class: "chip", key: template.name, onclick: () => use(template), "data-testid": `${testID}-${template.name.toLowerCase().replaceAll(" ", "-")}`,
  }, template.name)));
}

/** A labelled field; `control` describes the element that takes the input. */
export function labelled(title, control, { hint, wide } = {}) {
  return h("label", { class: wide ? "tool-field wide" : "tool-field", key: title },
    h("span", null, title, hint && [" ", h("small", null, hint)]), control);
}

/** The row of a form's buttons with the answer to what was sent last. It stays in sight however long the form is. */
export function actions(...buttons) {
  return h("div", { class: "tool-actions", key: "actions", "data-testid": "tool-actions" }, buttons, lastAnswer());
}

export function smallButton(title, drawing, run, testID, disabled = false) {
  return h("button", { type: "button", class: "small-button", onclick: run, key: testID, "data-testid": testID, disabled }, icon(drawing), title);
}
