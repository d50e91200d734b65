// Live Activities: a list, and one activity with its state, its followers and its pushes.
import { h } from "./dom.js";
import { call, may, session } from "./api.js";
import { ask } from "./dialog.js";
import { count } from "./format.js";
import { list } from "./list.js";
import { ago, badge, button, card, facts, field, heading, input, repeatedly, resource, time } from "./parts.js";
import { address, go } from "./route.js";
import { toast } from "./toast.js";

const phase = (activity) => badge(activity.phase, activity.phase === "active" ? "good" : "plain");
const followers = (activity) => Object.values(activity.followers).reduce((sum, value) => sum + value, 0);
const json = (value) => JSON.stringify(value, null, 2);
const words = (counts) => counts && Object.entries(counts).map(([name, value]) => `${name} ${count(value)}`).join(", ");

/** An object that a person typed. Throws with the field's name. */
function object(text, name) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`${name} is not valid JSON.`);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error(`${name} is not a JSON object.`);
  return value;
}

export function activities(route, redraw) {
  const rows = list({
    label: "Live Activities", redraw, none: "No Live Activities yet.", key: (activity) => activity.id,
    href: (activity) => address("activities", activity.id),
    load: async (before) => {
      const page = await call("GET", "/activities", { query: { before, limit: 50 } });
      return { items: page.activities, next: page.next };
    },
    columns: [
      { name: "Type", cell: (activity) => activity.attributesType },
      { name: "State", cell: ({ state }) => h("span", { class: "cut" }, JSON.stringify(state)) },
      { name: "Followers", size: "small", cell: (activity) => count(followers(activity)) },
      { name: "Audience", cell: ({ audience }) => h("span", { class: "cut" }, audience), wide: true },
      { name: "Phase", size: "small", cell: phase },
      { name: "Started", size: "medium", cell: (activity) => ago(activity.createdAt), wide: true },
    ],
  });
  const stop = repeatedly(() => rows.refresh(), 5000);
  return {
    title: "Live Activities",
    close: () => {
      stop();
      rows.close();
    },
    view: () => [
      heading("Live Activities", may("send", "own") && button("Start one", { kind: "primary", onclick: start, "data-testid": "start-activity" })),
      rows.view(),
    ],
  };
}

const area = (form, name, rows = 4) => h("textarea", {
  class: "input", rows: String(rows), name, value: form[name], spellcheck: "false", oninput: (event) => { form[name] = event.target.value; },
});
const line = (form, name, properties = {}) => input({ ...properties, name, value: form[name], oninput: (event) => { form[name] = event.target.value; } });

async function start() {
  const form = { type: "", attributes: "{}", state: "{}", audience: "", title: "", body: "" };
  const result = await ask({
    title: "Start a Live Activity", action: "Start",
    body: () => [
      field("Type of attributes", line(form, "type", { placeholder: "DeliveryAttributes" }), "Exactly as it is called in the app."),
      field("Attributes", area(form, "attributes", 3), "What stays the same. Apple can read it, and so can everyone who sees the lock screen."),
      field("State", area(form, "state"), "What changes."),
      field("Audience", line(form, "audience", { placeholder: "username:alice" }), "A tag expression. Empty means your own devices."),
      field("Title of the alert", line(form, "title")),
      field("Words of the alert", line(form, "body"), "iOS drops a start without an alert."),
    ],
    act: () => call("POST", "/activities", {
      body: {
        attributesType: form.type.trim(), attributes: object(form.attributes, "Attributes"), state: object(form.state, "State"),
        audience: form.audience.trim() || undefined, alert: { title: form.title, body: form.body },
      },
    }),
  });
  if (result) go("activities", result.value.id);
}

export function activity(route, redraw) {
  const found = resource(() => call("GET", `/activities/${route.id}`), redraw);
  const stop = repeatedly(found.reload, 2000);
  return { title: `Activity ${route.id}`, close: stop, view: () => found.view((shown) => body(shown, found)) };
}

function body(shown, found) {
  const isOwn = shown.sender.toLowerCase() === session.user?.user.toLowerCase();
  const isActive = shown.phase === "active";
  return [
    heading(`${shown.attributesType} ${shown.id}`, isActive && [
      isOwn && button("Change the state", { onclick: () => change(shown, found), "data-testid": "change-activity" }),
      (isOwn || may("recall-a-send")) && button("End it", { kind: "danger", onclick: () => end(shown, found), "data-testid": "end-activity" }),
    ]),
    card(null, { key: "facts" }, facts([
      ["Phase", phase(shown)], ["Sender", shown.sender], ["Audience", shown.audience], ["Started", time(shown.createdAt)],
      ["Ends by itself", isActive && time(shown.endsAt)], ["Ended", shown.endedAt && time(shown.endedAt)],
      ["Out of date from", shown.staleAt && time(shown.staleAt)],
      ["Revision", String(shown.revision)], ["Sent revision", String(shown.sentRevision)], ["Latest failure", shown.fault],
    ])),
    card("State", { key: "state" }, h("pre", { class: "secret", "data-testid": "activity-state" }, json(shown.state))),
    shown.attributes && card("Attributes", { key: "attributes" }, h("pre", { class: "secret" }, json(shown.attributes))),
    card("Devices", { key: "devices" }, facts([
      ["Followers", words(shown.followers) || "none yet"], ["Pushes that started it", words(shown.started)],
      ["Pushes of the latest change", words(shown.updated)],
    ])),
  ];
}

async function change(shown, found) {
  const form = { state: json(shown.state), title: "", body: "" };
  const result = await ask({
    title: "Change the state", action: "Change",
    body: () => [
      field("State", area(form, "state", 6)),
      field("Title of the alert", line(form, "title"), "Lights the screen. Empty means without an alert."),
      field("Words of the alert", line(form, "body")),
    ],
    act: () => call("PATCH", `/activities/${shown.id}`, {
      body: { state: object(form.state, "State"), alert: form.title || form.body ? { title: form.title, body: form.body } : undefined },
    }),
  });
  if (!result) return;
  toast("Changed.");
  await found.reload();
}

async function end(shown, found) {
  const result = await ask({
    title: "End the Live Activity?", action: "End it", kind: "danger",
    body: () => h("p", null, "Devices show that it has ended, with the state that it has now, and remove it within four hours."),
    act: () => call("DELETE", `/activities/${shown.id}`),
  });
  if (!result) return;
  toast("It ends.");
  await found.reload();
}
