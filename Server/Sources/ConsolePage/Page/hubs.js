// Notification hubs: their keys, and whether they can send to Apple.
import { h } from "./dom.js";
import { call, may } from "./api.js";
import { ask, showSecret } from "./dialog.js";
import { badge, button, card, empty, facts, field, heading, input, problem, resource, time } from "./parts.js";
import { plural } from "./format.js";
import { toast } from "./toast.js";

/** What is shown of a hub's own credential. */
function credentialName({ kind, keyId, teamId, topic, environment }) {
  const name = kind === "key" ? `key ${keyId} of team ${teamId}` : "certificate";
  return `${name}${topic ? ` for ${topic}` : ""}, ${environment}`;
}

/** Does something with credentials. Their part of the page is loaded at the first need: few people ever change one. */
async function withCredentials(act) {
  try {
    await act(await import("./credential.js"));
  } catch (error) {
    toast(error.message);
  }
}

export function hubs(route, redraw) {
  const found = resource(async () => {
    const { hubs: all, next } = await call("GET", "/hubs");
    const whole = await Promise.all(all.map((hub) => call("GET", `/hubs/${encodeURIComponent(hub.name)}`)));
    return { all: whole, isMore: next !== undefined };
  }, redraw);
  found.reload();
  return {
    title: "Hubs",
    view: () => [
      heading("Hubs", may("change-hubs") && button("Add a hub", { kind: "primary", onclick: () => add(found), "data-testid": "add-hub" })),
      h("p", { class: "lead" }, "A hub speaks the protocol of Azure Notification Hubs. The app backend sends through one of them."),
      found.view(({ all, isMore }) => [
        all.map((hub) => one(hub, found)), !all.length && empty("There are no hubs."),
        isMore && problem({ message: `Only the first ${plural(all.length, "hub")} are shown; clarion hub list has all.` }),
      ]),
    ],
  };
}

function one(hub, found) {
  const path = `/hubs/${encodeURIComponent(hub.name)}`;
  const roll = (rule, key) => async () => {
    const result = await ask({
      title: `Make a new ${key} key of ${rule.name}?`, action: "Make a new key", kind: "danger",
      body: () => h("p", null, "Clients that use the old key are refused at once. Switch them to the other key first."),
      act: () => call("POST", `${path}/rules/${encodeURIComponent(rule.name)}/roll`, { body: { key } }),
    });
    if (result) await showSecret(`The ${key} key of ${rule.name}`, "It is shown only once.", result.value[`${key}Key`]);
    await found.reload();
  };
  const remove = () => ask({
    title: `Remove the hub ${hub.name}?`, action: "Remove", kind: "danger", typed: hub.name,
    body: () => h("p", null, "This deletes its devices, sends and keys. It cannot be undone."),
    act: async () => {
      await call("DELETE", path, { query: { confirm: hub.name } });
      await found.reload();
    },
  });
  return card(null, { key: hub.name },
    h("div", { class: "device-head" }, h("h2", null, hub.name),
      badge(hub.hasOwnAPNsCredential ? "own APNs credential" : "APNs credential of the node", hub.hasOwnAPNsCredential ? "good" : "plain")),
    facts([
      ["Note", hub.metadata], ["APNs", hub.apns && credentialName(hub.apns)], ["Since", time(hub.createdAt)], ["Changed", time(hub.updatedAt)],
      ["Protected tags", hub.allowsProtectedTags ? "apps may set them" : "only backends may set them"],
      ["Registrations live", hub.registrationSeconds && plural(Math.round(hub.registrationSeconds / 86_400), "day")],
    ]),
    h("table", { class: "numbers", "aria-label": `Rules of ${hub.name}` },
      h("thead", null, h("tr", null, h("th", { scope: "col" }, "Rule"), h("th", { scope: "col" }, "Rights"), h("th", { scope: "col", class: "end" }, "Keys"))),
      h("tbody", null, (hub.rules || []).map((rule) => h("tr", { key: rule.name },
        h("th", { scope: "row" }, rule.name), h("td", null, rule.rights.join(" ")),
        h("td", { class: "end" }, may("change-hubs") && ["primary", "secondary"].map((key) => button(`New ${key}`, {
          onclick: roll(rule, key), key, "data-testid": `roll-${hub.name}-${rule.name}-${key}`,
        }))))))),
    may("change-hubs") && h("div", { class: "actions" },
      button("Try APNs", { onclick: () => withCredentials(({ tryCredential }) => tryCredential(hub, path)), "data-testid": `try-${hub.name}` }),
      button(hub.hasOwnAPNsCredential ? "Replace the APNs credential" : "Set an APNs credential", {
        onclick: () => withCredentials(async ({ setCredential }) => { await setCredential(hub, path) && await found.reload(); }), "data-testid": `set-apns-${hub.name}`,
      }),
      hub.hasOwnAPNsCredential && button("Use that of the node", {
        onclick: () => withCredentials(async ({ removeCredential }) => { await removeCredential(hub, path) && await found.reload(); }), "data-testid": `unset-apns-${hub.name}`,
      }),
      button("Remove", { kind: "danger", onclick: remove, "data-testid": `remove-${hub.name}` })));
}

async function add(found) {
  const form = { name: "", metadata: "" };
  const bind = (name) => ({ value: form[name], name, oninput: (event) => { form[name] = event.target.value; } });
  const result = await ask({
    title: "Add a hub", action: "Add",
    body: () => [field("Name", input(bind("name")), "Letters, digits and . _ -"), field("Note", input(bind("metadata")))],
    act: () => call("POST", "/hubs", { body: { name: form.name.trim(), ...(form.metadata.trim() ? { metadata: form.metadata } : {}) } }),
  });
  if (result) {
    const keys = result.value.rules.map((rule) => `${rule.name}: ${rule.primaryKey}`).join("\n");
    await showSecret(`Keys of ${result.value.name}`, "The primary key of each rule. They are shown only once.", keys);
  }
  await found.reload();
}
