// The settings with which the node runs, and where each comes from.
import { h } from "./dom.js";
import { call } from "./api.js";
import { badge, card, empty, field, heading, input, resource } from "./parts.js";
import { plural } from "./format.js";

export function settings(route, redraw) {
  const state = { text: "", isChangedOnly: false };
  const found = resource(() => call("GET", "/settings"), redraw);
  found.reload();
  const isWanted = (setting) => (!state.isChangedOnly || !setting.isDefault)
    && [setting.name, setting.meaning, ...(setting.value || [])].some((text) => text.toLowerCase().includes(state.text.trim().toLowerCase()));
  return {
    title: "Settings",
    view: () => [
      heading("Settings"),
      h("p", { class: "lead" }, "The settings of the node that answered. They are read when it starts; secrets are not shown."),
      h("div", { class: "filters" },
        field("Search", input({ value: state.text, name: "search", type: "search", oninput: (event) => { state.text = event.target.value; redraw(); } })),
        h("label", { class: "check" }, h("input", {
          type: "checkbox", checked: state.isChangedOnly || undefined, "data-testid": "changed-only", onchange: (event) => { state.isChangedOnly = event.target.checked; redraw(); },
        }), "Only what differs from the default")),
      found.view(({ file, settings: all }) => {
        const wanted = all.filter(isWanted);
        const sections = [...new Set(wanted.map((setting) => setting.section))];
        return [
          h("p", { class: "hint settings-count", role: "status" }, `${plural(wanted.length, "setting")} of ${all.length}. ${file ? `File: ${file}` : "No file of settings was read."}`),
          sections.map((title) => section(title, wanted.filter((setting) => setting.section === title))),
          !wanted.length && empty("No setting fits."),
        ];
      }),
    ],
  };
}

function section(title, all) {
  return card(title, { key: title }, h("dl", { class: "settings" }, all.map((setting) => h("div", { key: setting.name, "data-testid": `setting-${setting.name}` },
    h("dt", null, h("code", null, setting.name), !setting.isDefault && badge("set", "good")),
    h("dd", null,
      h("p", { class: "setting-value" }, setting.value === undefined ? "no value" : setting.value.join(", ") || "empty"),
      h("p", { class: "hint" }, setting.meaning),
      !setting.isDefault && h("p", { class: "hint" }, `From ${setting.origin}${setting.overrides.length ? `, over ${setting.overrides.join(" and ")}` : ""}.`))))));
}
