// The focus follows what a phone shows: into what opens on it, and back when that closes. When the focused element disappears
// (an icon behind its opened app, a removed button), the focus would otherwise fall back to the whole page.
// Nothing here takes it from a user who works elsewhere on the page.
import { state, changed } from "./state.js";
import { isAppOpen } from "./app.js";
import { closeIsland, isIslandHeld } from "./activities.js";
import { closeNotice } from "./notices.js";
import { closeOptions } from "./options.js";

/** The owner of the keyboard focus: the id of a phone, `ELSEWHERE`, or none yet. */
let owner = null;
const ELSEWHERE = Symbol("elsewhere");
/** Of each phone: where it stood at the last look, and what had the focus in each place. */
const memories = new Map();

const test = (id) => `[data-testid="${id}"]`;
// What comes to the front on a phone, from back to front, with what gets the focus there: the first that can take it.
const PLACES = [
  { name: "home", isOpen: () => true, first: [test("app-icon")] },
  { name: "island", isOpen: isIslandHeld, first: [`.island.open ${test("island-hold")}`], close: closeIsland },
  { name: "sign-in", isOpen: ({ snapshot }) => snapshot.screen === "signIn", first: [test("sign-in-button"), test("sign-in-user")] },
  { name: "main", isOpen: ({ snapshot }) => isAppOpen(snapshot) && snapshot.screen !== "signIn", first: [test("send-push"), test("options-open")] },
  {
    name: "options", isOpen: ({ snapshot, view }) => snapshot.screen === "main" && view.optionsOpen, first: ['.kind[aria-checked="true"]'],
    close: closeOptions,
  },
  { name: "content", isOpen: ({ snapshot }) => snapshot.screen === "content" && Boolean(snapshot.content), first: [test("content-back")] },
  { name: "zoom", isOpen: ({ snapshot, view }) => snapshot.screen === "content" && view.zoomed, first: [test("zoom-close")], close: put("zoomed") },
  {
    name: "link", isOpen: ({ snapshot, view }) => snapshot.screen === "content" && view.linkConfirm, first: [test("link-cancel")],
    close: put("linkConfirm"),
  },
  { name: "alert", isOpen: ({ snapshot }) => isAppOpen(snapshot) && Boolean(snapshot.alert), first: [test("alert-more")], close: (phone) => phone.act("alertOK"), asks: true },
  { name: "centre", isOpen: ({ view }) => view.centreOpen, first: [test("notice-open"), test("cover-leave")], close: put("centreOpen") },
  { name: "lock", isOpen: ({ snapshot }) => snapshot.locked, first: [test("notice-open"), test("cover-leave")] },
  { name: "notice", isOpen: ({ view }) => Boolean(view.expandedNotice), first: [".expanded-actions button"], close: closeNotice, asks: true },
  { name: "reply", isOpen: ({ view }) => Boolean(view.expandedNotice && view.replyTo), first: [test("reply-text")], close: closeNotice },
];

function put(field) {
  return ({ view }) => {
    view[field] = false;
    changed();
  };
}

const placeOf = (phone) => (phone.snapshot ? PLACES.findLastIndex(({ isOpen }) => isOpen(phone)) : -1);
const deviceOf = (phone) => document.querySelector(`[data-phone="${CSS.escape(phone.id)}"] .device`);
const phoneAround = (node) => node?.closest?.(".device")?.closest("[data-phone]")?.dataset.phone;
const isNowhere = (node) => !node || node === document.body;
const isThere = (node) => Boolean(node?.isConnected) && !node.closest("[inert]") && node.checkVisibility({ visibilityProperty: true });
const canTake = (node) => isThere(node) && !node.disabled;

function memoryOf(phone) {
  if (!memories.has(phone.id)) memories.set(phone.id, { place: -1, question: null, last: new Map() });
  return memories.get(phone.id);
}

/** Tracks the owner of the keyboard focus from now on, and lets Escape close what is open on a phone. */
export function watchFocus() {
  document.addEventListener("focusin", ({ target }) => {
    const id = phoneAround(target);
    owner = id ?? ELSEWHERE;
    if (id) memories.get(id)?.last.set(memories.get(id).place, target);
  });
  // A press outside of all controls releases the focus; it is not restored.
  document.addEventListener("pointerdown", ({ target }) => {
    if (!target.closest("button, a, input, select, textarea, summary, video, [tabindex]")) owner = null;
  }, { capture: true });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing || event.defaultPrevented) return;
    const phone = phoneOfKeys();
    const close = phone && PLACES[placeOf(phone)]?.close;
    if (!close) return;
    event.preventDefault();
    close(phone);
  });
}

// The phone whose dialog Escape closes: the one with the focus; else, when the focus is among the switches, the selected one.
function phoneOfKeys() {
  const active = document.activeElement;
  const id = phoneAround(active);
  if (id) return state.phones.find((phone) => phone.id === id);
  return isNowhere(active) || active.closest("#controls") ? state.selected : null;
}

/** After every change of the page: the focus goes where the phone went. */
export function followFocus() {
  for (const phone of state.phones) {
    const device = deviceOf(phone);
    if (device) follow(phone, device);
  }
}

function follow(phone, device) {
  const memory = memoryOf(phone);
  const before = memory.place;
  const place = placeOf(phone);
  const question = questionOf(phone);
  const isNews = place !== before || question !== memory.question;
  Object.assign(memory, { place, question });
  if (place < 0) return;
  const active = document.activeElement;
  if (owner === phone.id) {
    if (!isNowhere(active) && !device.contains(active)) return;
    const last = memory.last.get(place);
    if (isNews) focus(device, place, place < before ? last : null);
    else if (!canTake(active)) {
      // A button that is busy has the focus again when it is done.
      if (!last || !isThere(last)) focus(device, place, null);
      else if (canTake(last)) last.focus({ preventScroll: true });
    }
  } else if (owner === null && isNews && PLACES[place].asks && isNowhere(active)) {
    focus(device, place, null);
  }
}

// Another question, notification or content in the same place is another thing.
function questionOf({ snapshot, view }) {
  return [snapshot?.alert?.richId, view.expandedNotice, snapshot?.content?.richId].join(" ");
}

function focus(device, place, last) {
  const found = PLACES[place].first.flatMap((selector) => [...device.querySelectorAll(selector)]);
  const target = [last, ...found, device.querySelector(test("home-indicator"))].find(canTake);
  target?.focus({ preventScroll: true });
}
