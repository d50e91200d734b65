// One person: what may they do, on which devices they are, and why a send did not reach them.
import { h } from "./dom.js";
import { call, may, session } from "./api.js";
import { ask } from "./dialog.js";
import { badge, button, card, facts, field, heading, input, linkButton, problem, resource, select, time } from "./parts.js";
import { address, go } from "./route.js";
import { toast } from "./toast.js";
import { ROLES } from "./people.js";

export function person(route, redraw) {
  const name = route.id;
  const path = `/users/${encodeURIComponent(name)}`;
  const user = resource(() => call("GET", path), redraw);
  const devices = may("list-devices") ? resource(() => call("GET", "/installations", { query: { user: name } }), redraw) : null;
  const explain = may("explain-what-a-user-got") ? explainer({ user: name }, redraw) : null;
  user.reload();
  devices?.reload();
  const reload = () => Promise.all([user.reload(), devices?.reload()]);
  return {
    title: name,
    view: () => [
      heading(name, may("send") && linkButton("Compose a send", address("compose", undefined, { audience: `username:${name}` }), { symbol: "compose" })),
      user.view((value) => account(value, path, reload, redraw)),
      explain && card("Why did this person get a send, or not?", { key: "explain" }, explain.view()),
      devices && devices.view((value) => deviceCards(value, reload)),
      user.value && may("change-users") && danger(user.value, path, reload),
    ],
  };
}

function account(user, path, reload) {
  const isService = user.role === "service";
  return card("Account", { key: "account" },
    facts([
      ["Role", badge(user.role)], ["Tags", user.tags.join(" ") || "none"], ["Since", time(user.createdAt)],
      ["Disabled", user.disabledAt && time(user.disabledAt)], ["Second factor", user.secondFactorAt && ["since ", time(user.secondFactorAt)]], ["Quiet hours", user.quietHours],
    ]),
    may("change-users") && !isService && h("div", { class: "actions" }, button("Change", { onclick: () => change(user, path, reload), "data-testid": "change-person" })));
}

async function change(user, path, reload) {
  const form = { role: user.role, tags: user.tags.join(" "), hours: user.quietHours ?? "" };
  await ask({
    title: `Change ${user.name}`, action: "Save",
    body: () => [
      field("Role", select({ value: form.role, name: "role", onchange: (event) => { form.role = event.target.value; } }, ROLES)),
      field("Tags", input({ value: form.tags, name: "tags", oninput: (event) => { form.tags = event.target.value; } }), "Separate tags with spaces."),
      field("Quiet hours", input({ value: form.hours, name: "quietHours", placeholder: "22:00-07:00", oninput: (event) => { form.hours = event.target.value.trim(); } }),
        "When this person gets no new notification, by the clock of each device. Empty for none."),
    ],
    act: async () => {
      const body = { role: form.role, tags: form.tags.split(/\s+/).filter(Boolean) };
      if (form.hours !== (user.quietHours ?? "")) body.quietHours = form.hours || "none";
      await call("PATCH", path, { body });
      await reload();
    },
  });
}

const PERMISSION_TONES = { granted: "good", provisional: "warn", denied: "bad" };

function deviceCards({ devices, takenOver = [] }, reload) {
  return card(`Devices (${devices.length})`, { key: "devices" },
    !devices.length && h("p", { class: "empty" }, "Not signed in on any device."),
    h("ul", { class: "devices" }, devices.map((device) => h("li", { key: device.id, class: "device", "data-testid": "device" },
      h("div", { class: "device-head" }, h("h3", null, device.id),
        device.permission && badge(`notifications: ${device.permission}`, PERMISSION_TONES[device.permission]),
        may("remove-an-installation", "own") && device.kind === "installation" && device.user === session.user.user
          && button("Sign out", { onclick: () => signOut(device, reload) }),
        may("send") && device.kind === "installation"
          && linkButton("Write to this device", address("compose", undefined, { audience: `$InstallationId:{${device.id}}` }), { "data-testid": "write-to-device" })),
      facts([
        ["Platform", [device.platform, device.environment].filter(Boolean).join(", ")],
        ["Device token", device.handle ? `${device.handle}…` : "none"], ["App", device.topic],
        ["App version", device.appVersion], ["System", device.systemVersion], ["Languages", device.languages?.join(", ") ?? device.locale], ["Time zone", device.timeZone],
        ["Signed in", time(device.since)], ["Tags", device.tags.join(" ")],
      ])))),
    takenOver.length > 0 && h("div", null, h("h3", null, "Taken over by others"),
      h("ul", { class: "bullets" }, takenOver.map((device) => h("li", { key: device.id }, device.id, " · ", time(device.takenAt))))));
}

const signOut = (device, reload) => ask({
  title: `Sign out ${device.id}?`, action: "Sign out", kind: "danger",
  body: () => h("p", null, "The device gets no pushes until a user signs in on it again."),
  act: async () => {
    await call("DELETE", `/installations/${encodeURIComponent(device.id)}`);
    await reload();
  },
});

function danger(user, path, reload) {
  if (user.role === "service") return null;
  const isSelf = user.name === session.user.user;
  const end = () => ask({
    title: `Sign ${user.name} out everywhere?`, action: "Sign out everywhere", kind: "danger",
    body: () => h("p", null, "Every device and every session of the console has to sign in again."),
    act: async () => {
      await call("DELETE", `${path}/sessions`);
      await reload();
      toast(`${user.name} is signed out everywhere.`);
    },
  });
  const disable = () => ask({
    title: user.disabledAt ? `Enable ${user.name}?` : `Disable ${user.name}?`, action: user.disabledAt ? "Enable" : "Disable",
    kind: user.disabledAt ? "primary" : "danger",
    body: () => h("p", null, user.disabledAt ? "They can sign in again." : "They are signed out and cannot sign in until they are enabled."),
    act: async () => {
      await call("PATCH", path, { body: { disabled: !user.disabledAt } });
      await reload();
    },
  });
  const removeFactor = () => ask({
    title: `Remove the second factor of ${user.name}?`, action: "Remove", kind: "danger",
    body: () => h("p", null, "For a person who has lost the phone and the recovery codes. Their password alone signs API requests again; in the console they sign in with a link."),
    act: async () => {
      await call("PATCH", path, { body: { secondFactor: false } });
      await reload();
    },
  });
  const erase = async () => {
    const done = await ask({
      title: `Erase ${user.name}?`, action: "Erase", kind: "danger", typed: user.name,
      body: () => h("p", null, "This deletes their devices, what they sent, what was sent to them alone, and their name in the audit. It cannot be undone."),
      act: () => call("DELETE", path, { query: { erase: "true" } }).then(() => true),
    });
    if (done) go("people");
  };
  return card("Account actions", { key: "danger" },
    isSelf ? h("p", { class: "empty" }, "This is you. Another administrator can disable or erase you.") : h("div", { class: "actions" },
      button("Sign out everywhere", { onclick: end, "data-testid": "end-sessions" }),
      button(user.disabledAt ? "Enable" : "Disable", { onclick: disable, kind: user.disabledAt ? "plain" : "danger", "data-testid": "disable" }),
      user.secondFactorAt && button("Remove the second factor", { onclick: removeFactor, kind: "danger", "data-testid": "remove-factor" }),
      button("Erase", { onclick: erase, kind: "danger", "data-testid": "erase" })));
}

const GOOD_CAUSES = new Set([
  "acted", "opened", "read-in-the-inbox", "fetched", "delivered", "accepted", "accepted-silently", "delivered-quietly", "dismissed", "scheduled",
  "activity-shown", "activity-over",
]);

/** Asks why a user got a send or did not, where one of the two is given; or why a user sees a given Live Activity or not. */
export function explainer(given, redraw) {
  const state = { user: given.user || "", send: given.send || "", answer: null, error: null };
  const submit = async (event) => {
    event.preventDefault();
    try {
      const send = given.activity ? undefined : state.send.trim().replace(/^#/, "");
      state.answer = await call("GET", "/explain", { query: { user: state.user.trim(), send, activity: given.activity } });
      state.error = null;
    } catch (error) {
      [state.answer, state.error] = [null, error];
    }
    redraw();
  };
  const open = given.user ? "send" : "user";
  return {
    view: () => [
      h("form", { class: "filters", onsubmit: submit },
        field(open === "send" ? "Number of the send" : "Name of the person", input({
          value: state[open], name: open, required: true, oninput: (event) => { state[open] = event.target.value; },
        })),
        button("Explain", { type: "submit", "data-testid": "explain" })),
      state.error && problem(state.error),
      state.answer && h("div", { class: "explanation", role: "status", "data-testid": "explanation" },
        finding(state.answer.finding),
        state.answer.group && h("p", { class: "note" }, `The user is in group ${state.answer.group} of the A/B test.`),
        state.answer.devices.length > 1 && h("ul", { class: "bullets" }, state.answer.devices.map((device) => h("li", { key: device.device },
          h("strong", null, device.device, device.language && `, in ${device.language}`), finding(device.finding))))),
    ],
  };
}

const finding = ({ cause, sentence, at, nextStep }) => h("div", { class: "finding" },
  h("p", null, badge(cause, GOOD_CAUSES.has(cause) ? "good" : "bad"), " ", sentence), at && h("p", { class: "hint" }, time(at)),
  nextStep && h("p", null, h("strong", null, "Next: "), nextStep));
