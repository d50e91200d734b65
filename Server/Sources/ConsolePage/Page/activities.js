// Live Activities: a list, and one activity with its state, its followers and its pushes.
import { h } from "./dom.js";
import { call, may, session } from "./api.js";
import { ask } from "./dialog.js";
import { count } from "./format.js";
import { list } from "./list.js";
import { explainer } from "./person.js";
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
  const channels = resource(() => call("GET", "/channels", { query: { limit: 100 } }), redraw);
  const stop = repeatedly(() => Promise.all([rows.refresh(), channels.reload()]), 5000);
  return {
    title: "Live Activities",
    close: () => {
      stop();
      rows.close();
    },
    view: () => [
      heading("Live Activities", may("send", "own") && button("Start one", { kind: "primary", onclick: start, "data-testid": "start-activity" })),
      rows.view(),
      channels.view((page) => channelCard(page, channels)),
    ],
  };
}

/** The channels on which one push reaches all followers. */
function channelCard({ channels, next }, found) {
  const lines = channels.map((channel) => h("li", { key: channel.id, class: "actions", "data-testid": "channel" },
    h("b", null, channel.name || `Channel ${channel.id}`), " ", h("code", { class: "cut" }, channel.apnsChannel), " ",
    channel.activity ? h("a", { href: address("activities", channel.activity) }, `activity ${channel.activity}`) : badge("free", "plain"),
    channel.removeAt && h("small", null, " goes by itself"),
    !channel.activity && !channel.removeAt && button("Remove", { onclick: () => removeChannel(channel, found), "data-testid": "remove-channel" })));
  return card("Channels", { key: "channels" },
    h("p", null, "One push reaches every phone that follows a channel, from iOS 18 on. An app that follows a team or a line by itself needs a channel that stays."),
    lines.length > 0 && h("ul", { class: "plain", "aria-label": "Channels" }, lines),
    next && h("p", null, "The newest 100 are shown."),
    may("send", "own") && h("div", { class: "actions" },
      button("Create a channel", { onclick: () => createChannel(found), "data-testid": "create-channel" })));
}

async function createChannel(found) {
  const form = { name: "" };
  const result = await ask({
    title: "Create a channel", action: "Create",
    body: () => field("Name", line(form, "name"), "What you call it. APNs gives it an id, with which the app follows it."),
    act: () => call("POST", "/channels", { body: { name: form.name.trim() || undefined } }),
  });
  if (!result) return;
  toast("Created.");
  await found.reload();
}

async function removeChannel(channel, found) {
  const result = await ask({
    title: "Remove the channel?", action: "Remove", kind: "danger",
    body: () => h("p", null, "Apps that follow it get nothing more, and its id never comes back."),
    act: () => call("DELETE", `/channels/${channel.id}`),
  });
  if (!result) return;
  toast("It is removed.");
  await found.reload();
}

const area = (form, name, rows = 4) => h("textarea", {
  class: "input", rows: String(rows), name, value: form[name], spellcheck: "false", oninput: (event) => { set(form, name, event.target.value); },
});
const line = (form, name, properties = {}) => input({ ...properties, name, value: form[name], oninput: (event) => { set(form, name, event.target.value); } });

function set(form, name, value) {
  form[name] = value;
  form.redraw?.();
}

const MOST_BYTES = 4096;
const isOwn = ([name]) => !name.startsWith("clarion");
const text = (value) => (value !== null && typeof value === "object" ? JSON.stringify(value) : String(value));

/** The values of a card, and how much of a push they take. The app draws its card itself. */
function sketch(form) {
  let attributes;
  let state;
  try {
    [attributes, state] = [object(form.attributes, "Attributes"), object(form.state, "State")];
  } catch (error) {
    return h("p", { class: "hint", key: "sketch", "data-testid": "activity-sketch" }, error.message);
  }
  const size = new TextEncoder().encode(JSON.stringify([attributes, state, form.title, form.body])).length;
  return h("section", { class: "activity-sketch", key: "sketch", "aria-label": "Preview", "data-testid": "activity-sketch" },
    h("b", null, form.type.trim().replace(/Attributes$/, "") || "Live Activity"), " ",
    Object.entries(attributes).filter(isOwn).map(([, value]) => text(value)).join(", "),
    h("dl", { class: "facts" }, Object.entries(state).filter(isOwn).map(([name, value]) => h("div", { key: name },
      h("dt", null, name), h("dd", null, text(value))))),
    form.title && h("p", null, h("b", null, form.title), " ", form.body),
    h("p", { class: "hint" }, `About ${count(size)} of ${count(MOST_BYTES)} bytes. Your app draws the card itself.`));
}

async function start() {
  const form = { type: "", attributes: "{}", state: "{}", audience: "", title: "", body: "", isOnChannel: false };
  const result = await ask({
    title: "Start a Live Activity", action: "Start",
    body: (redraw) => Object.assign(form, { redraw }) && [
      field("Type of attributes", line(form, "type", { placeholder: "DeliveryAttributes" }), "Exactly as it is called in the app."),
      field("Attributes", area(form, "attributes", 3), "What stays the same. Apple can read it, and so can everyone who sees the lock screen."),
      field("State", area(form, "state"), "What changes."),
      sketch(form),
      field("Audience", line(form, "audience", { placeholder: "username:alice" }), "A tag expression. Empty means your own devices."),
      field("Title of the alert", line(form, "title")),
      field("Words of the alert", line(form, "body"), "iOS drops a start without an alert."),
      h("label", { class: "check", key: "channel" },
        h("input", {
          type: "checkbox", name: "isOnChannel", checked: form.isOnChannel || undefined,
          onchange: (event) => { form.isOnChannel = event.target.checked; },
        }),
        "One push for all followers, over a channel (iOS 18 and later)"),
    ],
    act: () => call("POST", "/activities", {
      body: {
        attributesType: form.type.trim(), attributes: object(form.attributes, "Attributes"), state: object(form.state, "State"),
        audience: form.audience.trim() || undefined, alert: { title: form.title, body: form.body },
        delivery: form.isOnChannel ? "channel" : undefined,
      },
    }),
  });
  if (result) go("activities", result.value.id);
}

export function activity(route, redraw) {
  const found = resource(() => call("GET", `/activities/${route.id}`), redraw);
  const stop = repeatedly(found.reload, 2000);
  const explain = may("explain-what-a-user-got") ? explainer({ activity: route.id }, redraw) : null;
  return { title: `Activity ${route.id}`, close: stop, view: () => found.view((shown) => body(shown, found, explain)) };
}

function body(shown, found, explain) {
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
      ["Revision", String(shown.revision)], ["Sent revision", String(shown.sentRevision)], ["Channel", shown.channel && `${shown.channel}, at APNs ${shown.apnsChannel || "removed"}`], ["Latest failure", shown.fault],
    ])),
    card("State", { key: "state" }, h("pre", { class: "secret", "data-testid": "activity-state" }, json(shown.state))),
    shown.attributes && card("Attributes", { key: "attributes" }, h("pre", { class: "secret" }, json(shown.attributes))),
    card("Devices", { key: "devices" }, facts([
      ["Followers", words(shown.followers) || "none yet"], ["Pushes that started it", words(shown.started)],
      ["Pushes of the latest change", words(shown.updated)],
      ["Updates lowered to priority 5", shown.demoted ? count(shown.demoted) : undefined],
    ])),
    explain && card("Why does a person see it, or not?", { key: "explain" }, explain.view()),
  ];
}

async function change(shown, found) {
  const form = { type: shown.attributesType, attributes: json(shown.attributes || {}), state: json(shown.state), title: "", body: "" };
  const result = await ask({
    title: "Change the state", action: "Change",
    body: (redraw) => Object.assign(form, { redraw }) && [
      field("State", area(form, "state", 6)),
      sketch(form),
      field("Title of the alert", line(form, "title"), "Lights the screen. Empty means without an alert."),
      field("Words of the alert", line(form, "body")),
    ],
    act: () => call("PATCH", `/activities/${shown.id}`, {
      body: {
        state: object(form.state, "State"), alert: form.title || form.body ? { title: form.title, body: form.body } : undefined,
      },
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
