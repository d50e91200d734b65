// Users: search by name, create.
import { h } from "./dom.js";
import { call, may } from "./api.js";
import { ask } from "./dialog.js";
import { list } from "./list.js";
import { badge, button, field, heading, input, select, time } from "./parts.js";
import { address, go } from "./route.js";

const PAGE = 100;
export const ROLES = [["user", "user: sends to themself"], ["sender", "sender: sends to any audience"], ["admin", "admin: everything"], ["auditor", "auditor: reads everything"]];

export function people(route, redraw) {
  const prefix = route.query.name;
  const load = async (after) => {
    const page = await call("GET", "/users", { query: { after, prefix, limit: PAGE } });
    return { items: page.users, next: page.next };
  };
  const rows = list({
    label: "People", load, key: (user) => user.name, href: (user) => address("people", user.name), redraw,
    none: prefix ? "No user name begins with this." : "There are no users yet.",
    columns: [
      { name: "Name", cell: (user) => user.name },
      { name: "Role", size: "short", cell: (user) => badge(user.role, user.role === "admin" ? "warn" : "plain") },
      { name: "Tags", cell: (user) => h("span", { class: "cut" }, user.tags.join(" ") || "–"), wide: true },
      { name: "Since", size: "medium", cell: (user) => time(user.createdAt), wide: true },
      { name: "State", size: "short", cell: (user) => (user.disabledAt ? badge("disabled", "bad") : badge("active", "good")), end: true },
    ],
  });
  let text = route.query.name || "";
  return {
    title: "People",
    close: rows.close,
    view: () => [
      heading("People", may("change-users") && button("Add a person", { kind: "primary", onclick: () => add(), "data-testid": "add-person" })),
      h("form", {
        class: "filters", key: "filters", role: "search", onsubmit: (event) => {
          event.preventDefault();
          go("people", undefined, { name: text.trim() });
        },
      }, field("Name starts with", input({ type: "search", value: text, name: "name", oninput: (event) => { text = event.target.value; } })),
      button("Search", { type: "submit" })),
      rows.view(),
    ],
  };
}

async function add() {
  const form = { name: "", role: "user", tags: "" };
  const bind = (name) => ({ value: form[name], name, oninput: (event) => { form[name] = event.target.value; } });
  const done = await ask({
    title: "Add a person", action: "Add",
    body: () => [
      field("Name", input({ ...bind("name"), required: true }), "1 to 64 letters, digits and _ @ . -"),
      field("Role", select({ value: form.role, name: "role", onchange: (event) => { form.role = event.target.value; } }, ROLES)),
      field("Tags", input(bind("tags")), "Separate tags with spaces. Every device of the person gets them."),
      h("p", { class: "hint" }, "The person has no password. They sign in with a token of your identity provider, a one-time token, or a console link."),
    ],
    act: () => call("POST", "/users", { body: { name: form.name.trim(), role: form.role, tags: form.tags.split(/\s+/).filter(Boolean) } }),
  });
  if (done) go("people", done.value.name);
}
