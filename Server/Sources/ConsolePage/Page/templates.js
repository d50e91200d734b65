// Message templates: a list, and one template with what a send of it looks like.
import { h } from "./dom.js";
import { call, may } from "./api.js";
import { write } from "./compose.js";
import { ask } from "./dialog.js";
import { fromNotification } from "./draft.js";
import { list } from "./list.js";
import { ago, button, card, facts, field, heading, input, linkButton, loading, problem, select } from "./parts.js";
import { preview } from "./preview.js";
import { address, go } from "./route.js";

export function templates(route, redraw) {
  const rows = list({
    label: "Templates", redraw, none: "No templates yet. Compose a send and save it as a template.", key: (template) => template.name,
    href: (template) => address("templates", template.name),
    load: async (after) => {
      const page = await call("GET", "/message-templates", { query: { after, limit: 50 } });
      return { items: page.templates, next: page.next };
    },
    columns: [
      { name: "Name", cell: (template) => template.name },
      { name: "Text", cell: ({ notification }) => h("span", { class: "cut" }, [notification.title, notification.message].filter(Boolean).join(": ")) },
      { name: "Values", cell: (template) => h("span", { class: "cut" }, template.placeholders.join(" ")), wide: true },
      { name: "Version", size: "small", cell: (template) => String(template.version), wide: true },
      { name: "Changed", size: "medium", cell: (template) => ago(template.changedAt) },
    ],
  });
  return {
    title: "Templates", close: rows.close,
    view: () => [heading("Templates", may("send", "own") && linkButton("Compose", address("compose"), { kind: "primary", symbol: "compose" })), rows.view()],
  };
}

const samples = (template) => Object.fromEntries(template.placeholders.map((name) => [name, template.defaults[name] ?? ""]));

export function template(route, redraw) {
  const state = { template: null, values: {}, shown: null, error: null, fault: null, view: "lock", turn: 0 };
  const load = async (version) => {
    try {
      state.template = await call("GET", `/message-templates/${route.id}`, { query: { version } });
      state.values = samples(state.template);
      state.error = null;
      fill();
    } catch (error) {
      state.error = error;
    }
    redraw();
  };
  /** What the server makes of the values. The answer to an earlier question is of no use any more. */
  const fill = async () => {
    const turn = state.turn += 1;
    const values = Object.fromEntries(Object.entries(state.values).filter(([, value]) => value));
    try {
      const shown = await call("POST", `/message-templates/${route.id}/preview`, { body: { version: state.template.version, values } });
      if (turn === state.turn) [state.shown, state.fault] = [shown, null];
    } catch (error) {
      if (turn === state.turn) [state.shown, state.fault] = [null, error];
    }
    redraw();
  };
  const compose = (notification, from) => {
    write(fromNotification(notification), from);
    go("compose");
  };
  const remove = () => ask({
    title: `Remove ${route.id}?`, action: "Remove", kind: "danger", typed: route.id,
    body: () => h("p", null, "All versions are removed. Sends and schedules that were made from it stay."),
    act: async () => {
      await call("DELETE", `/message-templates/${route.id}`);
      go("templates");
    },
  });
  load();
  return {
    title: route.id,
    view: () => [
      heading(route.id, may("change-message-templates") && state.template && [
        button("Edit", { onclick: () => compose(state.template.notification, state.template), "data-testid": "edit-template" }),
        button("Remove", { kind: "danger", onclick: remove, "data-testid": "remove-template" })]),
      state.error && problem(state.error, () => load()),
      !state.template && !state.error && loading(),
      state.template && body(state, { load, fill, compose, redraw }),
    ],
  };
}

function body(state, { load, fill, compose, redraw }) {
  const { template: { placeholders, defaults, version, versions, author, changedAt }, values, fault } = state;
  const draft = fromNotification(state.shown || state.template.notification);
  return h("div", { class: "compose", key: "template" },
    h("div", { class: "compose-form" },
      card("Values", { key: "values" },
        placeholders.length === 0 && h("p", { class: "note" }, "This template has no places for values."),
        placeholders.map((name) => field(name, input({
          name, value: values[name], maxlength: "500", placeholder: defaults[name] ? `default: ${defaults[name]}` : "", oninput: (event) => {
            values[name] = event.target.value;
            fill();
          },
        }))),
        fault && h("p", { class: "note", role: "status" }, fault.message),
        may("send", "own") && button("Compose with these values", {
          kind: "primary", symbol: "compose", disabled: state.shown ? undefined : true, onclick: () => compose(state.shown), "data-testid": "use-template",
        })),
      card("Version", { key: "version" },
        field("Shown", select({ name: "version", value: String(version), onchange: (event) => load(event.target.value) }, (versions || [version]).map((number) => [String(number), `Version ${number}`]))),
        facts([["Changed", ago(changedAt)], ["By", author]]))),
    h("div", { class: "compose-side" }, preview(draft, state.view, (view) => {
      state.view = view;
      redraw();
    })));
}
