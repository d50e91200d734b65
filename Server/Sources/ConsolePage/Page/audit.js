// Who did what.
import { h } from "./dom.js";
import { call } from "./api.js";
import { list } from "./list.js";
import { button, field, heading, input, linkButton, time } from "./parts.js";
import { address, go } from "./route.js";

const FILTERS = [["action", "Action"], ["actor", "Actor"], ["subject", "Subject"]];

/** A link to the object of an entry, where a screen shows it. */
function objectOf({ action, object }) {
  if (!object) return null;
  return action.startsWith("send.") ? h("a", { href: address("sends", object) }, `#${object}`) : object;
}

export function audit(route, redraw) {
  const filter = { ...route.query };
  const rows = list({
    label: "Audit", redraw, none: "No matching entries.", key: (entry) => entry.number,
    load: async (before) => {
      const page = await call("GET", "/audit", { query: { ...route.query, before, limit: 200 } });
      return { items: page.entries, next: page.next };
    },
    columns: [
      { name: "Number", size: "small", cell: (entry) => `${entry.number}` }, { name: "When", size: "medium", cell: (entry) => time(entry.at) },
      { name: "Action", size: "medium", cell: (entry) => h("code", null, entry.action) },
      { name: "Actor", cell: (entry) => h("span", { class: "cut" }, [entry.actorKind, entry.actor].filter(Boolean).join(" ")) },
      { name: "Subject", cell: (entry) => entry.subject || objectOf(entry) || "–", wide: true },
      { name: "Details", cell: (entry) => h("span", { class: "cut" }, entry.details || "–"), wide: true },
    ],
  });
  return {
    title: "Audit", close: rows.close,
    view: () => [
      heading("Audit"),
      h("p", { class: "lead" }, "Each entry is part of a hash chain. The command ", h("code", null, "clarion audit verify"), " checks it on the server."),
      h("form", {
        class: "filters", key: "filters", onsubmit: (event) => {
          event.preventDefault();
          go("audit", undefined, filter);
        },
      }, FILTERS.map(([name, label]) => field(label, input({
        value: filter[name] || "", name, placeholder: name === "action" ? "send.accepted" : undefined,
        oninput: (event) => { filter[name] = event.target.value.trim(); },
      }))),
      button("Show", { type: "submit" }), FILTERS.some(([name]) => route.query[name]) && linkButton("Clear", address("audit"))),
      rows.view(),
    ],
  };
}
