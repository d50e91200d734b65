// The panel at the side: the story of the selected phone, the timeline of all, and what can be sent.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { state, view, changed } from "./state.js";
import { story } from "./story.js";
import { timeline } from "./timeline.js";
import { compose } from "./compose.js";

const ALL = [
  { id: "story", drawing: "story", title: "Story", draw: story },
  { id: "timeline", drawing: "timeline", title: "Timeline", draw: timeline },
  { id: "compose", drawing: "compose", title: "Compose", draw: compose },
];

/** What the panel can show. */
export function tabs() {
  return state.tools === false ? ALL.filter(({ id }) => id !== "compose") : ALL;
}

/** Shows one of them, on a small screen in place of the phone. */
export function showTab(id) {
  Object.assign(view, { tab: id, pane: id });
  changed();
}

export function panel() {
  const shown = tabs().find(({ id }) => id === view.tab) || ALL[0];
  return [
    h("div", { class: "tabs", role: "tablist", "aria-label": "Beside the phone", key: "tabs", onkeydown: move },
      tabs().map(({ id, drawing, title }) => h("button", {
        type: "button", role: "tab", id: `tab-${id}`, key: id, class: "tab", "aria-selected": String(id === shown.id),
        "aria-controls": "tab-panel", tabindex: id === shown.id ? "0" : "-1", onclick: () => showTab(id), "data-testid": `tab-${id}`,
      }, icon(drawing), title))),
    h("div", {
      class: "tab-panel", role: "tabpanel", id: "tab-panel", "aria-labelledby": `tab-${shown.id}`, key: shown.id, "data-testid": `panel-${shown.id}`,
    }, shown.draw()),
  ];
}

// The arrow keys move between tabs, as they do in any list of tabs.
function move(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const names = tabs().map(({ id }) => id);
  const target = event.key === "Home" ? names[0] : event.key === "End" ? names[names.length - 1]
    : step && names[(names.indexOf(view.tab) + step + names.length) % names.length];
  if (!target) return;
  event.preventDefault();
  showTab(target);
  document.getElementById(`tab-${target}`)?.focus();
}
