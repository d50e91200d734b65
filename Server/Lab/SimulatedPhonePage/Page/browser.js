// This browser as one more device of the demo: it subscribes at its own push service, and lists what came.
import { h } from "./dom.js";
import { icon, kindName } from "./icons.js";
import { state, view, changed } from "./state.js";

const WORKER = "/phone-worker.js";
const PATIENCE_MILLISECONDS = 10_000;
/** How many of the newest are listed. */
const LISTED = 5;
const TROUBLES = {
  unsupported: "This browser has no Web Push, or not in this window: private windows often have none.",
  "home-screen": "An iPhone gives Web Push to the Home Screen alone. Add this page to it, and open it from there.",
  denied: "Notifications of this page are not allowed. Allow them in the browser’s settings, then try again.",
  AbortError: "The push service of this browser cannot be reached, or it has none. It needs the Internet.",
  network: "The demo, or the push service of this browser, does not answer. Try again.",
  "not-found": "It is no longer there.",
};
TROUBLES.NotAllowedError = TROUBLES.denied;

const own = { phase: "off", user: null, trouble: "", isSlow: false, received: [] };
let library = null;

function set(change) {
  Object.assign(own, change);
  changed();
}

function wordsOf({ code, name, message }) {
  return TROUBLES[code] || TROUBLES[name] || `That did not work: ${message}`;
}

const refusal = (code) => Object.assign(new Error(code), { code });

/** Loads the web library and registers the service worker, once. */
function begin() {
  library ||= load().catch((error) => {
    library = null;
    throw error;
  });
  return library;
}

async function load() {
  const { Clarion } = await import("/web/v1/clarion.js");
  return Clarion.start({
    server: location.origin, worker: WORKER, page: `${location.origin}/phone`,
    onReceive: (id) => attempt(() => receive(id)), onOpen: (id) => attempt(() => openTapped(id)),
    onSignedOut: () => forget("The demo no longer knows this browser. Its state was removed, or the browser was signed out there."),
  });
}

async function attempt(work) {
  try {
    await work();
  } catch (error) {
    set({ trouble: wordsOf(error) });
  }
}

/** Goes on where an earlier visit of this browser ended. Without one nothing is loaded or registered. */
export async function resumeBrowser() {
  if (state.alone || !("serviceWorker" in navigator)) return;
  try {
    const registration = await navigator.serviceWorker.getRegistration();
    if (!registration?.active?.scriptURL.endsWith(WORKER)) return;
    const { user, isSubscribed } = await (await begin()).state();
    if (user && isSubscribed) set({ phase: "on", user });
  } catch {
    // The offer stands, and says what is wrong when it is taken.
  }
}

/** Whose notifications it gets: those of the selected phone. */
function wanted() {
  const phone = state.selected;
  return phone?.snapshot?.user || phone?.owner || "alice";
}

async function join() {
  if (own.phase === "asking") return;
  const user = wanted();
  set({ phase: "asking", trouble: "", isSlow: false });
  const timer = setTimeout(() => set({ isSlow: true }), PATIENCE_MILLISECONDS);
  try {
    // Browsers ask the user only right after a click.
    if (globalThis.Notification?.permission === "default") await Notification.requestPermission();
    set({ user: await subscribe(await begin(), user), phase: "on" });
  } catch (error) {
    set({ phase: "off", trouble: wordsOf(error) });
  }
  clearTimeout(timer);
}

async function subscribe(clarion, name) {
  const { isSupported, needsHomeScreen, permission } = await clarion.state();
  if (!isSupported) throw refusal(needsHomeScreen ? "home-screen" : "unsupported");
  if (permission !== "granted") throw refusal("denied");
  const user = await clarion.signIn({ name, password: name });
  try {
    await clarion.subscribe();
  } catch (error) {
    await clarion.signOut().catch(() => {});
    throw error;
  }
  return user;
}

async function leave() {
  await (await begin()).signOut();
  forget("");
}

function forget(trouble) {
  own.received.forEach(release);
  set({ phase: "off", user: null, received: [], trouble });
}

function release({ picture }) {
  if (picture) URL.revokeObjectURL(picture);
}

/** Puts a notification at the head of the list. */
async function receive(id) {
  const details = await (await begin()).details(id);
  const known = own.received.find((each) => each.id === id);
  const list = [known || { id, isOpen: false, picture: null }, ...own.received.filter((each) => each !== known)];
  list[0].details = details;
  list.slice(LISTED).forEach(release);
  set({ received: list.slice(0, LISTED), trouble: "" });
  return list[0];
}

/** Shows one with its picture: the bytes come from the demo's server and not through the push service. */
async function open(id) {
  const entry = own.received.find((each) => each.id === id) || await receive(id);
  entry.isOpen = true;
  changed();
  const clarion = await begin();
  if (!entry.picture && entry.details.content?.mediaType.startsWith("image/")) {
    entry.picture = URL.createObjectURL(await clarion.content(id));
    changed();
  }
  await clarion.markRead(id);
}

/** A notification of the browser was tapped: its card comes into sight, on a small screen too. */
async function openTapped(id) {
  await open(id);
  view.pane = "controls";
  changed();
  requestAnimationFrame(() => document.getElementById("browser").scrollIntoView({ block: "nearest" }));
}

function turn(entry) {
  if (!entry.isOpen) return attempt(() => open(entry.id));
  entry.isOpen = false;
  changed();
}

export function browserCard() {
  if (state.alone) return null;
  return h("div", { class: "browser-card", "data-testid": "browser" },
    h("h2", null, "This browser"),
    own.phase === "on"
      ? h("p", { key: "words" }, "Subscribed as ", h("b", { "data-testid": "browser-user" }, own.user), ". What is sent to this user comes here too.")
      : h("p", { key: "words" }, "Your browser’s push service (Mozilla’s, Google’s or Apple’s) then carries an encrypted message for this demo. "
        + `It needs the Internet. The browser signs in as ${wanted()}.`),
    action(),
    h("p", { class: "browser-state", role: "status", key: "state" }, stateWords()),
    h("p", { class: "browser-trouble", role: "alert", "data-testid": "browser-trouble", key: "trouble" }, own.trouble),
    own.received.length > 0 && h("ul", { class: "browser-list", "aria-label": "What came to this browser", key: "list" }, own.received.map(row)));
}

// One takes the place of the other when it is pressed, so the keyboard stays on it.
function action() {
  const isOn = own.phase === "on";
  return h("button", {
    type: "button", class: "small-button", key: "action", onclick: isOn ? () => attempt(leave) : join, "data-testid": isOn ? "browser-leave" : "browser-notify",
    "aria-busy": own.phase === "asking" ? "true" : undefined,
  }, icon(isOn ? "signout" : "bell"), isOn ? "Sign out" : "Notify this browser");
}

function stateWords() {
  if (own.phase === "asking") return own.isSlow ? "The push service has not answered yet. It needs the Internet. Reload the page to stop." : "Asking the browser…";
  return own.phase === "on" && own.received.length === 0 ? "Nothing came yet. Press Send push on a phone." : "";
}

function row(entry) {
  const { id, details, isOpen, picture } = entry;
  const title = details.title || details.message || "New notification";
  return h("li", { key: id },
    h("button", {
      type: "button", class: "browser-row", "aria-expanded": String(isOpen), onclick: () => turn(entry), "data-testid": "browser-row", "data-rich-id": id,
    }, h("b", null, title), h("span", null, kindName(details.kind))),
    isOpen && h("div", { class: "browser-open", key: "open" },
      details.title && h("p", { key: "message" }, details.message),
      picture && h("img", { src: picture, alt: details.altText || "", key: "picture", "data-testid": "browser-picture" })));
}
