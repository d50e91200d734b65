// The phones: what each is, shows and waits for, and what can happen to it.
import { h } from "./dom.js";
import { change, field, look, problemAt, service } from "./service.js";
import { copied } from "./senders.js";

const OBSTACLES = {
  notInstalled: "the app is not installed", offline: "the phone is offline",
  forceStopped: "the app was force-stopped, and gets nothing until it is opened",
  locked: "the phone was restarted and is locked, and the message is not for direct boot", doze: "Doze holds normal priority back",
};
const EVENTS = { message: "The app got", shown: "The system showed", opened: "Tapped:", newToken: "The app got a new registration token", deletedMessages: "The app hears that messages were dropped (onDeletedMessages)" };

/** What the phone is now. */
const badges = ({ token, isOnline, isDozing, isForceStopped, isForeground, isUnlocked }) => [
  isOnline ? ["good", "online"] : ["bad", "offline"], !token && ["bad", "app not installed"], isDozing && ["warn", "Doze"],
  isForceStopped && ["bad", "force-stopped"], !isUnlocked && ["warn", "locked"], isForeground && ["busy", "app in the foreground"],
].filter(Boolean);

/** What may happen next: place, action, title. One that takes the place of another keeps the focus. */
const actions = ({ token, isOnline, isDozing, isForeground, isUnlocked }) => [
  isOnline ? ["line", "goOffline", "Go offline"] : ["line", "goOnline", "Go online"],
  isDozing ? ["doze", "leaveDoze", "Leave Doze"] : ["doze", "enterDoze", "Enter Doze"],
  isDozing && ["window", "openMaintenanceWindow", "Maintenance window"],
  token && (isForeground ? ["app", "leaveApp", "Leave app"] : ["app", "openApp", "Open app"]),
  token && ["stop", "forceStop", "Force stop"],
  isUnlocked ? ["lock", "restart", "Restart"] : ["lock", "unlock", "Unlock"],
  token && ["token", "renewToken", "New token"],
  token ? ["install", "uninstall", "Uninstall"] : ["install", "install", "Install"],
];
const rare = [["shown", "showNotification", "The app has shown a notification"], ["away", "neglect", "Was away for 270 days"]];

const time = (moment) => new Date(moment).toLocaleTimeString();

/** What a message says, in one line. */
export function words({ notification, data }) {
  const shown = [notification?.title, notification?.body].filter(Boolean).join(": ");
  return shown || (data && Object.keys(data).length > 0 ? JSON.stringify(data) : "an empty message");
}

function remaining(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  if (seconds > 172_800) return `${Math.floor(seconds / 86_400)} days`;
  if (seconds > 7_200) return `${Math.floor(seconds / 3600)} hours`;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

export function phones() {
  const { devices, deviceCount, projects } = service.state;
  const find = (event) => { service.filter = event.target.value.trim(); look(); };
  return [
    h("div", { class: "phones-head", key: "head" },
      h("h2", null, "Phones"),
      (deviceCount > 8 || service.filter) && h("input", { class: "input find", type: "search", placeholder: "Find by name", "aria-label": "Find phones by name", oninput: find, key: "find" })),
    deviceCount > devices.length && h("p", { class: "hint", key: "more" }, `The first ${devices.length} of ${deviceCount} phones.`),
    devices.length === 0 && h("p", { class: "card empty", key: "none", "data-testid": "no-phones" }, service.filter ? "No phone has this name." : "There is no phone. Add one below: it gets a registration token, to which your backend sends."),
    h("div", { class: "phone-list", key: "list" }, devices.map(phone)),
    addForm(projects),
  ];
}

function phone(device) {
  const { name, topics, shown, waiting, events } = device;
  const place = `phone ${name}`;
  const act = async (event, action, messageId) => {
    const article = event.currentTarget.closest("article");
    await change(place, "POST", `devices/${encodeURIComponent(name)}/actions`, { action, messageId });
    // What was pressed may be gone.
    if (document.activeElement === document.body) article.focus();
  };
  const button = ([key, action, title]) => h("button", {
    type: "button", class: action === "uninstall" ? "button danger" : "button", key, onclick: (event) => act(event, action), "data-testid": action,
  }, title);
  return h("article", { class: "card phone", key: name, tabindex: "-1", "aria-label": `Phone ${name}`, "data-testid": "phone", "data-name": name },
    h("div", { class: "phone-head" }, h("h3", null, name), badges(device).map(([kind, text]) => h("span", { class: `badge ${kind}`, key: text }, text))),
    h("p", { class: "hint" }, [device.package, device.project, device.platform !== "android" && device.platform, topics.length > 0 && `topics: ${topics.join(", ")}`].filter(Boolean).join(" · ")),
    h("dl", { class: "names" }, device.token && copied("Token", device.token, `The token of ${name}`), copied("FID", device.fid, `The installation id of ${name}`)),
    h("div", { class: "actions" }, actions(device).filter(Boolean).map(button)),
    problemAt(place),
    list("Shown", shown, "shown", (message) => h("button", {
      type: "button", class: "button", onclick: (event) => act(event, "tap", message.id), "aria-label": `Tap: ${words(message)}`, "data-testid": "tap",
    }, "Tap")) || h("p", { class: "hint", key: "nothing" }, "The system shows nothing."),
    list("Waiting", waiting.map(({ message, obstacle }) => ({ ...message, obstacle })), "waiting", reason),
    h("details", { class: "fold", "data-testid": "more" }, h("summary", null, "History and more"),
      h("div", { class: "actions" }, rare.map(button)),
      events.length > 0 && h("ol", { class: "events" }, events.toReversed().map(({ kind, at, message }, index) => h("li", { key: `${at} ${kind} ${index}` }, h("time", null, time(at)), ` ${EVENTS[kind]} `, message && h("b", null, words(message)))))));
}

function list(title, messages, testID, more) {
  return messages.length > 0 && h("div", { class: "messages", key: testID }, h("h4", null, title),
    h("ul", null, messages.map((message) => h("li", { key: message.id, "data-testid": testID }, h("span", { class: "words" }, words(message)), more(message)))));
}

function reason({ obstacle, hasHighOriginalPriority, hasHighPriority, sentAt, timeToLive }) {
  const demotion = hasHighOriginalPriority && !hasHighPriority ? " (it was demoted from high)" : "";
  return h("span", { class: "hint" }, `Waits: ${OBSTACLES[obstacle]}${demotion}. Expires in `, h("time", { class: "countdown" }, remaining(sentAt + timeToLive - service.now())), ".");
}

function addForm(projects) {
  const add = async (event) => {
    event.preventDefault();
    const form = event.target;
    const { name, ...app } = Object.fromEntries(new FormData(form));
    if (await change("add", "PUT", `devices/${encodeURIComponent(name)}`, app)) form.elements.name.value = "";
  };
  return h("form", { class: "card add", key: "add", onsubmit: add, "aria-label": "Add a phone" },
    h("h3", null, "Add a phone"),
    h("div", { class: "row" },
      field("Name", h("input", { class: "input", name: "name", required: true, maxlength: "100", pattern: "[^\\/]+", title: "A name without slashes", autocomplete: "off", placeholder: "pixel", "data-testid": "add-name" })),
      field("Package of the app", h("input", { class: "input", name: "package", required: true, maxlength: "200", autocomplete: "off", placeholder: "com.example.shop", "data-testid": "add-package" })),
      field("Project", h("select", { class: "input", name: "project" }, projects.map(({ id }) => h("option", { value: id, key: id }, id)))),
      h("button", { class: "button primary", "data-testid": "add" }, "Add")),
    problemAt("add"));
}
