// The bar at the foot of a small screen: which part of the page it shows.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { state, view, changed } from "./state.js";
import { tabs, showTab } from "./panel.js";

export function footBar() {
  const parts = [["phone", "phone", "Phone"], ["controls", "sliders", "Controls"], ...tabs().map(({ id, drawing, title }) => [id, drawing, title])];
  if (!state.selected) return null;
  return h("ul", { class: "foot-parts" }, parts.map(([id, drawing, title]) => h("li", { key: id },
    h("button", {
      type: "button", class: "foot-part", "aria-current": view.pane === id ? "true" : undefined, "data-testid": `pane-${id}`,
      onclick: () => show(id),
    }, icon(drawing), h("span", null, title)))));
}

function show(id) {
  if (id === "phone" || id === "controls") {
    view.pane = id;
    changed();
  } else {
    showTab(id);
  }
  window.scrollTo(0, 0);
}
