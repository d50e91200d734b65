// Where other servers hear what happens, and what was delivered to them.
import { h } from "./dom.js";
import { call } from "./api.js";
import { ask, showSecret } from "./dialog.js";
import { list } from "./list.js";
import { ago, badge, button, card, empty, facts, field, heading, input, resource, time } from "./parts.js";
import { go } from "./route.js";
import { toast } from "./toast.js";
import { count, plural } from "./format.js";

const DAY_MILLISECONDS = 86_400_000;
const TONES = { waiting: "busy", delivered: "good", failed: "bad" };

export function webhooks(route, redraw) {
  const found = resource(() => call("GET", "/webhooks"), redraw);
  found.reload();
  const deliveries = route.id ? deliveryList(route.id, redraw) : null;
  return {
    title: "Webhooks",
    close: () => deliveries?.close(),
    view: () => [
      heading("Webhooks", button("Add a webhook", { kind: "primary", onclick: () => add(found), "data-testid": "add-webhook" })),
      found.view(({ webhooks: all }) => (all.length ? all.map((webhook) => one(webhook, found, deliveries, route.id)) : empty("No webhooks yet. Documentation/Webhooks.md shows how to receive events."))),
      deliveries && card("Deliveries", { key: "deliveries" }, deliveries.view()),
    ],
  };
}

function one(webhook, found, deliveries, openID) {
  const path = `/webhooks/${webhook.id}`;
  const act = (work, text) => async () => {
    try {
      await work();
      toast(text);
      await Promise.all([found.reload(), deliveries?.refresh()]);
    } catch (error) {
      toast(error.message);
    }
  };
  const isOpen = String(webhook.id) === openID;
  return card(null, { key: `webhook-${webhook.id}`, "data-testid": "webhook" },
    h("div", { class: "device-head" }, h("h2", { class: "cut" }, webhook.url), webhook.enabled ? badge("enabled", "good") : badge("disabled", "bad")),
    webhook.fault && h("p", { class: "note" }, webhook.fault),
    facts([
      ["Description", webhook.description], ["Events", webhook.events.join(" ")], ["Waiting", webhook.waiting >= 10_000 ? "10,000 or more" : count(webhook.waiting)],
      ["Since", time(webhook.createdAt)], ["Old secret until", webhook.formerSecretUntil && time(webhook.formerSecretUntil)],
    ]),
    h("div", { class: "actions" },
      button(isOpen ? "Hide deliveries" : "Deliveries", { onclick: () => go("webhooks", isOpen ? undefined : webhook.id), "data-testid": "deliveries" }),
      button("Ping", { onclick: act(() => call("POST", `${path}/ping`), "The ping is queued."), "data-testid": "ping" }),
      button("Replay failures of 24 hours", {
        onclick: act(async () => {
          const answer = await call("POST", `${path}/replay`, { body: { since: Date.now() - DAY_MILLISECONDS, failedOnly: true } });
          if (!answer.queued) throw new Error("No delivery failed in the last 24 hours.");
        }, "The failed events are queued again."),
      }),
      button(webhook.enabled ? "Disable" : "Enable", {
        "data-testid": "toggle-webhook",
        onclick: act(() => call("PUT", path, {
          body: { url: webhook.url, events: webhook.events, description: webhook.description, enabled: !webhook.enabled },
        }), webhook.enabled ? "Disabled. Events wait until it is enabled." : "Enabled. Waiting events are delivered now."),
      }),
      button("New secret", { onclick: () => roll(webhook, found), "data-testid": "roll-webhook" }),
      button("Remove", { kind: "danger", onclick: () => remove(webhook, found), "data-testid": "remove-webhook" })));
}

const EXPLAINED = "Your receiver verifies each request with it. It is shown only once.";

async function add(found) {
  const form = { url: "", description: "", events: "*" };
  const bind = (name) => ({ value: form[name], name, oninput: (event) => { form[name] = event.target.value; } });
  const result = await ask({
    title: "Add a webhook", action: "Add",
    body: () => [
      field("Address", input({ ...bind("url"), type: "url", placeholder: "https://" }), "A private address needs the setting webhook-networks."),
      field("Events", input(bind("events")), "* for all but send.outcomes, or names separated by spaces, such as send.ended receipts.recorded."),
      field("Description", input(bind("description"))),
    ],
    act: () => call("POST", "/webhooks", { body: { url: form.url.trim(), events: form.events.split(/[\s,]+/).filter(Boolean), description: form.description } }),
  });
  if (result) await showSecret("The secret of the webhook", EXPLAINED, result.value.secret);
  await found.reload();
}

async function roll(webhook, found) {
  const result = await ask({
    title: "Make a new secret?", action: "Make a new secret",
    body: () => h("p", null, "For 24 hours requests are also signed with the old secret."),
    act: () => call("POST", `/webhooks/${webhook.id}/roll`, { body: {} }),
  });
  if (result) await showSecret("The secret of the webhook", EXPLAINED, result.value.secret);
  await found.reload();
}

async function remove(webhook, found) {
  await ask({
    title: "Remove this webhook?", action: "Remove", kind: "danger", typed: new URL(webhook.url).host,
    body: () => h("p", null, `${plural(webhook.waiting, "event")} that ${webhook.waiting === 1 ? "waits is" : "wait are"} not delivered any more.`),
    act: () => call("DELETE", `/webhooks/${webhook.id}`).then(() => true),
  });
  await found.reload();
}

function deliveryList(id, redraw) {
  return list({
    label: "Deliveries", redraw, none: "No deliveries yet.", key: (delivery) => delivery.id,
    load: async (before) => {
      const page = await call("GET", `/webhooks/${id}/deliveries`, { query: { before, limit: 100 } });
      return { items: page.deliveries, next: page.next };
    },
    columns: [
      { name: "Event", cell: (delivery) => delivery.type }, { name: "Happened", cell: (delivery) => ago(delivery.happenedAt) },
      { name: "Attempts", size: "small", cell: (delivery) => count(delivery.attempts), wide: true },
      { name: "Answer", wide: true, cell: (delivery) => h("span", { class: "cut" }, [delivery.lastStatus, delivery.lastAnswer].filter(Boolean).join(" ") || "–") },
      { name: "State", size: "short", end: true, cell: (delivery) => badge(delivery.state, TONES[delivery.state]) },
    ],
  });
}
