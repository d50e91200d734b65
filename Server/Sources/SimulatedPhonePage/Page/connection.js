// The two ways between this page and its server: events from it, actions to it.
import { state, view, changed } from "./state.js";
import { toast } from "./toast.js";

const STEPS_KEPT = 2000;
let source = null;

/** Asks which phones there are and listens to the one in the address, else to the first. */
export async function start() {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const answer = await fetch("/phone/phones", { headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      state.phones = await answer.json();
      break;
    } catch {
      state.connection = "lost";
      changed();
      await new Promise((resolve) => setTimeout(resolve, Math.min(500 * 2 ** attempt, 5000)));
    }
  }
  const wanted = decodeURIComponent(location.hash.slice(1));
  const phone = state.phones.find((each) => each.id === wanted) || state.phones[0];
  if (phone) listen(phone.id);
}

/** Listens to another phone. */
export function listen(phoneID) {
  if (source) source.close();
  const several = state.phones.length > 1;
  if (several) history.replaceState(null, "", `#${encodeURIComponent(phoneID)}`);
  Object.assign(state, { phoneID, snapshot: null, connection: "connecting", epoch: null });
  state.steps.clear();
  Object.assign(view, {
    centreOpen: false, expandedNotice: null, lastBanner: null, lastAlert: null, lastContent: null, zoomed: false,
    linkConfirm: false, clearedBefore: 0, openSteps: new Set(), toggledGroups: new Map(), messages: new Map(),
    pictureless: new Set(),
  });
  source = new EventSource(`/phone/${encodeURIComponent(phoneID)}/events`);
  source.addEventListener("open", () => setConnection("open"));
  source.addEventListener("error", () => setConnection("lost"));
  source.addEventListener("snapshot", (event) => receiveSnapshot(JSON.parse(event.data)));
  source.addEventListener("story", (event) => receiveStep(JSON.parse(event.data), event.lastEventId));
  changed();
}

function setConnection(connection) {
  state.connection = connection;
  changed();
}

function receiveSnapshot(snapshot) {
  state.snapshot = snapshot;
  state.connection = "open";
  if (typeof snapshot.time === "number") state.clockOffset = snapshot.time - Date.now();
  changed();
}

function receiveStep(step, eventID) {
  const epoch = eventID.split("-")[0];
  if (state.epoch !== null && state.epoch !== epoch) state.steps.clear();
  state.epoch = epoch;
  state.steps.set(step.seq, step);
  if (state.steps.size > STEPS_KEPT) state.steps.delete(state.steps.keys().next().value);
  changed();
}

/** Does something to the phone. Resolves to whether the server took it; a refusal is shown. */
export async function act(name, parameters = {}) {
  view.pending.add(name);
  changed();
  try {
    const answer = await fetch(`/phone/${encodeURIComponent(state.phoneID)}/actions`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ name, ...parameters }),
    });
    if (answer.ok) return true;
    toast((await problemOf(answer)) || `The phone did not do that (${answer.status}).`);
  } catch {
    toast("The server does not answer. The page tries again by itself.");
  } finally {
    view.pending.delete(name);
    changed();
  }
  return false;
}

async function problemOf(answer) {
  try {
    const body = await answer.json();
    return body.detail || body.title || body.error?.message || null;
  } catch {
    return null;
  }
}

/** Where the bytes are that the phone fetched: for what is open, or as the attachment of a notification. */
export function mediaURL(richID, notice = null) {
  const attachment = notice ? `?notification=${encodeURIComponent(notice.id)}` : "";
  return `/phone/${encodeURIComponent(state.phoneID)}/media/${encodeURIComponent(richID)}${attachment}`;
}

/**
 * Sends a push to the signed-in user as any other program does: the tutorial's call, past the phone. The demo's rule (the
 * password is the name) makes that possible here.
 */
export async function sendFromElsewhere() {
  const { user } = state.snapshot;
  try {
    const answer = await fetch("/api/notifications", {
      method: "POST", credentials: "omit", headers: { Authorization: `Basic ${btoa(`${user}:${user}`)}` },
    });
    if (!answer.ok) toast((await problemOf(answer)) || `The backend did not take the push (${answer.status}).`);
    return answer.ok;
  } catch {
    toast("The backend does not answer.");
    return false;
  }
}
