// The keys of services.
import { h } from "./dom.js";
import { call } from "./api.js";
import { ask, showSecret } from "./dialog.js";
import { list } from "./list.js";
import { ago, badge, button, field, heading, input, time } from "./parts.js";
import { plural } from "./format.js";

const DAY_MILLISECONDS = 86_400_000;
const SCOPES = [["send", "send to any audience"], ["status", "read all sends"], ["users", "users"], ["sign-in", "sign-in tokens"], ["devices", "devices"], ["hubs", "hubs"], ["audit", "read the audit"], ["admin", "everything"]];

/** How a key stands: ended, or about to. */
export function keyState(key, now = Date.now()) {
  if (key.revokedAt) return badge("revoked");
  if (key.expiresAt <= now) return badge("expired");
  const days = Math.ceil((key.expiresAt - now) / DAY_MILLISECONDS);
  return days <= 30 ? badge(`${plural(days, "day")} left`, days <= 7 ? "bad" : "warn") : badge("active", "good");
}

export function keys(route, redraw) {
  const rows = list({
    label: "Keys", redraw, none: "There are no keys yet.", key: (key) => key.id,
    load: async (after) => {
      const page = await call("GET", "/keys", { query: { after, limit: 200 } });
      return { items: page.keys, next: page.next };
    },
    columns: [
      { name: "Name", cell: (key) => key.name }, { name: "Key", cell: (key) => h("code", null, key.hint), wide: true },
      { name: "Scopes", cell: (key) => h("span", { class: "cut" }, key.scopes.join(" ")) },
      { name: "Last used", size: "short", cell: (key) => (key.lastUsedAt ? ago(key.lastUsedAt) : "never"), wide: true },
      { name: "Expires", size: "medium", cell: (key) => time(key.expiresAt), wide: true }, { name: "State", size: "short", cell: (key) => keyState(key) },
      { name: "Actions", size: "medium", end: true, cell: (key) => !key.revokedAt && key.expiresAt > Date.now() && [
        button("Roll", { onclick: () => roll(key), "data-testid": "roll-key" }),
        button("Revoke", { kind: "danger", onclick: () => revoke(key), "data-testid": "revoke-key" })] },
    ],
  });
  const shown = async (result) => {
    if (!result) return;
    await showSecret(`Key ${result.value.name}`, "It is shown only once. Store it where your service can read it.", result.value.key);
    await rows.refresh();
  };
  const create = async () => {
    const form = { name: "", scopes: new Set(["send"]), prefix: "", days: "365", networks: "" };
    const bind = (name) => ({ value: form[name], name, oninput: (event) => { form[name] = event.target.value; } });
    await shown(await ask({
      title: "Create a key", action: "Create",
      body: (again) => [
        field("Name", input(bind("name")), "1 to 40 letters, digits and _ . -"),
        h("fieldset", { class: "checks" }, h("legend", null, "Scopes"), SCOPES.map(([scope, label]) => h("label", { key: scope, class: "check" },
          h("input", {
            type: "checkbox", name: scope, checked: form.scopes.has(scope), onchange: (event) => {
              if (event.target.checked) form.scopes.add(scope);
              else form.scopes.delete(scope);
              again();
            },
          }), h("span", null, h("code", null, scope), ` ${label}`)))),
        form.scopes.has("send") && field("Only tags that start with", input(bind("prefix")), "Leave empty to allow any audience."),
        field("Valid for (days)", input({ ...bind("days"), type: "number", min: "1", max: "1826" })),
        field("Allowed networks", input(bind("networks")), "Separate with spaces. Leave empty to allow all."),
      ],
      act: () => call("POST", "/keys", {
        body: {
          name: form.name.trim(), scopes: [...form.scopes].map((scope) => (scope === "send" && form.prefix.trim() ? `send:${form.prefix.trim()}` : scope)),
          expiresAt: Date.now() + Number(form.days) * DAY_MILLISECONDS, networks: form.networks.split(/[\s,]+/).filter(Boolean),
        },
      }),
    }));
  };
  const roll = async (key) => shown(await ask({
    title: `Roll ${key.name}?`, action: "Make a new secret",
    body: () => h("p", null, "The key gets a new secret. The old one stays valid for 24 hours, so that the service can switch."),
    act: () => call("POST", `/keys/${key.id}/roll`, { body: {} }),
  }));
  const revoke = (key) => ask({
    title: `Revoke ${key.name}?`, action: "Revoke", kind: "danger", typed: key.name,
    body: () => h("p", null, "Every node refuses it within five seconds."),
    act: async () => {
      await call("DELETE", `/keys/${key.id}`);
      await rows.refresh();
    },
  });
  return {
    title: "Keys", close: rows.close,
    view: () => [heading("Keys", button("Create a key", { kind: "primary", onclick: create, "data-testid": "create-key" })), rows.view()],
  };
}
