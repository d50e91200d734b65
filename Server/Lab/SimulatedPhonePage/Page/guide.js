// The first-visit hint: three steps, each ticked off by what really happened on the phone.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { state, view, changed, keep, kept } from "./state.js";
import { askBackend, sendFromElsewhere, setSideBySide } from "./connection.js";
import { toast } from "./toast.js";

/** Long enough to see the phone change before the push arrives. */
const SEEN_MILLISECONDS = 1200;
const progress = { signedIn: false, sent: false, opened: false };

function isFinished() {
  return view.guideDone ?? kept("guide") === "done";
}

function remember(done) {
  view.guideDone = done;
  keep("guide", done ? "done" : null);
  changed();
}

function observe(snapshot) {
  if (snapshot.user) progress.signedIn = true;
  if (snapshot.sending.busy || snapshot.alert || snapshot.inbox.length > 0 || snapshot.notifications.length > 0) progress.sent = true;
  if (snapshot.screen === "content") progress.opened = true;
}

/** Which step comes next: 0 sign in, 1 send, 2 More, 3 done. */
export function guideStep() {
  if (!progress.signedIn) return 0;
  if (!progress.sent) return 1;
  return progress.opened ? 3 : 2;
}

export function guide() {
  if (state.alone) return null;
  const snapshot = state.selected?.snapshot;
  if (snapshot) observe(snapshot);
  const step = guideStep();
  document.documentElement.dataset.guide = isFinished() ? "off" : String(step);
  if (isFinished()) return nextThings();
  return h("div", { class: "guide-card", "data-testid": "guide", "data-step": String(step) },
    h("h2", null, "See a push carry a picture"),
    h("ol", null,
      stepLine(0, step, "Open Clarion and sign in", ["Press its icon on the phone. Any name will do; the password is the same name."]),
      stepLine(1, step, "Press Send push", ["It goes to your own phone, through everything."]),
      stepLine(2, step, "Press More", ["The picture opens. It never went through the push."])),
    step === 3
      ? h("button", { class: "guide-done", type: "button", onclick: () => remember(true), "data-testid": "guide-done" }, icon("check"), "Done. What else?")
      : h("button", { class: "guide-skip", type: "button", onclick: () => remember(true) }, "Skip"));
}

function stepLine(index, step, title, text) {
  const status = index < step ? "done" : index === step ? "now" : "later";
  return h("li", { class: `guide-step ${status}`, "aria-current": status === "now" ? "step" : undefined },
    h("span", { class: "guide-number", "aria-hidden": "true" }, status === "done" ? icon("check") : String(index + 1)),
    h("div", null, h("h3", null, title), h("p", null, text)));
}

function nextThings() {
  const ready = Boolean(state.selected?.snapshot?.user);
  return h("div", { class: "guide-card next", "data-testid": "guide-next" },
    h("h2", null, "Try next"),
    h("div", { class: "tries" },
      tryButton("home", "Home, then a push", "A banner slides down", ready, () => pushAfter("home")),
      tryButton("lock", "Lock, then a push", "It waits on the lock screen", ready, () => pushAfter("lock")),
      state.selected?.snapshot?.liveActivities !== undefined && !state.selected.isAndroid
        && tryButton("pulse", "A delivery comes closer", "Press Allow on the lock screen", ready, followDelivery),
      state.selected?.snapshot?.liveActivities !== undefined && !state.selected.isAndroid
        && tryButton("pulse", "Two deliveries at once", "They share the Dynamic Island", ready, followTwo),
      state.selected?.snapshot?.liveActivities !== undefined
        && tryButton("columns", "A match on every phone", "One push reaches all, over a channel", ready, followMatch),
      state.selected?.isAndroid
        ? tryButton("quit", "Force stop, then a push", "FCM keeps it until the app is opened", ready, () => pushAfter("terminate"))
        : tryButton("quit", "Force quit, then a push", "Silent: iOS wakes no such app", ready, () => pushAfter("terminate")),
      state.phones.length > 1 && tryButton("columns", "All phones side by side", "iPhones and an Android phone", true, () => showAll())),
    h("button", { class: "guide-skip", type: "button", onclick: () => remember(false) }, "Show the first steps"));
}

// Signs in each phone's owner on phones where no user is signed in yet.
async function showAll(phones = state.phones) {
  setSideBySide(true);
  await Promise.all(phones.map(async (phone) => {
    if (phone.snapshot?.user || !phone.owner) return;
    if (phone.snapshot?.locked && (await phone.act("unlock"))) await phone.until(({ locked }) => !locked);
    if ((await phone.act("openApp")) && !phone.snapshot?.user) await phone.act("signIn", { user: phone.owner, password: phone.owner });
  }));
}

function tryButton(drawing, title, text, ready, run) {
  return h("button", { class: "try", type: "button", disabled: !ready, onclick: run, key: title },
    icon(drawing), h("span", null, h("b", null, title), " ", h("small", null, text)));
}

/** Which state each of the tries needs before its push is sent. */
const REACHED = {
  home: ({ locked, screen }) => !locked && screen === "home",
  lock: ({ locked }) => locked,
  terminate: ({ locked, process }) => !locked && process === "forceQuit",
};

// The push comes from another program a moment later, so that the phone is found in the state that was asked for. The answer to an
// action says that it was taken; the state itself comes by another connection and may come later.
async function pushAfter(name) {
  const phone = state.selected;
  if (view.trying || !phone) return;
  view.trying = true;
  try {
    if (await bring(phone, name)) {
      await new Promise((resolve) => setTimeout(resolve, SEEN_MILLISECONDS));
      await sendFromElsewhere(phone);
    }
  } finally {
    view.trying = false;
  }
}

/** What the delivery says, from the start to the end. */
const DELIVERY = [
  { stage: "Packed", minutes: 40 }, { stage: "On the way", minutes: 25 }, { stage: "Round the corner", minutes: 4 },
  { stage: "Delivered", minutes: 0 },
];
const STAGE_MILLISECONDS = 4000;

/** A shop's server starts a Live Activity, changes it and ends it. */
async function followDelivery() {
  const phone = state.selected;
  if (view.trying || !phone) return;
  view.trying = true;
  try {
    if (!(await bring(phone, "lock"))) return;
    const started = await askBackend(phone, "POST", "/api/v1/activities", {
      attributesType: "DeliveryAttributes", attributes: { order: "Order 4711" }, state: DELIVERY[0],
      alert: { title: "Your order", body: "It is packed." }, audience: `username:${phone.snapshot.user}`,
    });
    if (!started) return;
    for (const stage of DELIVERY.slice(1)) {
      await new Promise((resolve) => setTimeout(resolve, STAGE_MILLISECONDS));
      const isLast = stage === DELIVERY.at(-1);
      const alert = isLast ? undefined : { title: "Your order", body: `${stage.stage}: ${stage.minutes} minutes` };
      if (!(await askBackend(phone, "PATCH", `/api/v1/activities/${started.id}`, { state: stage, end: isLast, alert }))) return;
    }
  } finally {
    view.trying = false;
  }
}

/** Two deliveries. Of two that are as relevant the one that started first comes first. */
const TWO = [
  { order: "Order 4711", state: { stage: "Round the corner", minutes: 4 } }, { order: "Order 4712", state: { stage: "Packed", minutes: 40 } },
];

/** The app starts two Live Activities. Then the second becomes the more relevant one, and both end. */
async function followTwo() {
  const phone = state.selected;
  if (view.trying || !phone) return;
  view.trying = true;
  try {
    if (!(await bring(phone, "home"))) return;
    const numbers = [];
    for (const { order, state: now } of TWO) {
      const started = await askBackend(phone, "POST", "/api/v1/activities", {
        attributesType: "DeliveryAttributes", attributes: { order }, state: now, start: "app", audience: `username:${phone.snapshot.user}`,
      });
      if (!started || !(await phone.act("startActivity", { activity: started }))) return;
      numbers.push(started.id);
    }
    await new Promise((resolve) => setTimeout(resolve, STAGE_MILLISECONDS));
    const arrived = { state: { stage: "At the door", minutes: 0 }, relevance: 30, alert: { title: "Your order", body: "It is at the door." } };
    if (!(await askBackend(phone, "PATCH", `/api/v1/activities/${numbers[1]}`, arrived))) return;
    await new Promise((resolve) => setTimeout(resolve, STAGE_MILLISECONDS * 3));
    for (const number of numbers) await askBackend(phone, "PATCH", `/api/v1/activities/${number}`, { end: true, dismissAt: 0 });
  } finally {
    view.trying = false;
  }
}

/** What the match says. */
const MATCH = [
  { score: "0 : 0", minute: 1 }, { score: "1 : 0", minute: 23 }, { score: "1 : 1", minute: 71 }, { score: "2 : 1", minute: 90 },
];

/** A sports desk's server opens a channel. The app on each phone follows it, and one push reaches them all. */
async function followMatch() {
  const phone = state.selected;
  if (view.trying || !phone) return;
  view.trying = true;
  try {
    await showAll(state.phones.filter(({ isAndroid }) => !isAndroid));
    scrollTo({ top: 0 });
    const followers = state.phones.filter(({ snapshot }) => snapshot?.user && snapshot.liveActivities);
    const users = [...new Set(followers.map(({ snapshot }) => `username:${snapshot.user}`))];
    const match = await askBackend(phone, "POST", "/api/v1/activities", {
      attributesType: "MatchAttributes", attributes: { game: "Harbour FC : Lighthouse" }, state: MATCH[0], delivery: "channel",
      start: "app", audience: users.join(" || "),
    });
    if (!match) return;
    for (const follower of followers) {
      if ((await follower.act("startActivity", { activity: match })) && !follower.snapshot.locked) await follower.act("lock");
    }
    for (const now of MATCH.slice(1)) {
      await new Promise((resolve) => setTimeout(resolve, STAGE_MILLISECONDS));
      if (!(await askBackend(phone, "PATCH", `/api/v1/activities/${match.id}`, { state: now, end: now === MATCH.at(-1) }))) return;
    }
  } finally {
    view.trying = false;
  }
}

async function bring(phone, name) {
  phone.view.centreOpen = false;
  if (phone.snapshot.locked && name !== "lock") {
    if (!(await phone.act("unlock")) || !(await phone.until(({ locked }) => !locked))) return unreached();
  }
  if (REACHED[name](phone.snapshot)) return true;
  return (await phone.act(name)) && ((await phone.until(REACHED[name])) || unreached());
}

function unreached() {
  toast("The phone did not reach that state, so no push was sent.");
  return false;
}
