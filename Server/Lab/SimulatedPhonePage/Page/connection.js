// The two ways between this page and its server: events from it, calls to it.
import { state, view, changed, keep, kept } from "./state.js";
import { Handset } from "./handset.js";
import { toast } from "./toast.js";

let source = null;

/** Asks which phones there are, listens to them, and selects the one in the address, else the first. */
export async function start() {
  const alone = location.pathname.split("/")[2];
  for (let attempt = 0; ; attempt += 1) {
    try {
      const answer = await fetch("/phone/phones", { headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      const phones = (await answer.json()).map((identity) => new Handset(identity));
      state.alone = Boolean(alone);
      state.phones = alone ? phones.filter(({ id }) => id === decodeURIComponent(alone)) : phones;
      break;
    } catch {
      state.connection = "lost";
      changed();
      await new Promise((resolve) => setTimeout(resolve, Math.min(500 * 2 ** attempt, 5000)));
    }
  }
  const wanted = decodeURIComponent(location.hash.slice(1));
  state.selected = state.phones.find(({ id }) => id === wanted) || state.phones[0] || null;
  view.sideBySide = !alone && state.phones.length > 1 && kept("layout") === "all";
  // An address that was changed by hand, or by going back.
  window.addEventListener("hashchange", () => {
    const named = state.phones.find(({ id }) => id === decodeURIComponent(location.hash.slice(1)));
    if (named && named !== state.selected) select(named);
  });
  if (state.phones.length > 0) listen();
}

function listen() {
  source = new EventSource(state.alone ? `${state.phones[0].address}/events` : "/phone/events");
  source.addEventListener("open", () => setConnection("open"));
  source.addEventListener("error", () => setConnection("lost"));
  source.addEventListener("snapshot", (event) => receiveSnapshot(JSON.parse(event.data)));
  source.addEventListener("story", (event) => receiveStep(JSON.parse(event.data), event.lastEventId));
  for (const phone of state.phones) askFaults(phone);
  changed();
}

/** Makes another phone the one that the controls are about. */
export function select(phone) {
  state.selected = phone;
  if (state.phones.length > 1) history.replaceState(null, "", `#${encodeURIComponent(phone.id)}`);
  changed();
}

/** Puts all phones side by side, or shows one. */
export function setSideBySide(on) {
  view.sideBySide = on;
  keep("layout", on ? "all" : null);
  changed();
}

function setConnection(connection) {
  state.connection = connection;
  changed();
}

const phoneOf = (id) => state.phones.find((phone) => phone.id === id);

function receiveSnapshot(snapshot) {
  const phone = phoneOf(snapshot.phone.id);
  if (!phone) return;
  phone.takeSnapshot(snapshot);
  state.connection = "open";
  if (typeof snapshot.time === "number") state.clockOffset = snapshot.time - Date.now();
  changed();
}

function receiveStep(step, eventID) {
  const epoch = eventID.split("-")[0];
  if (state.epoch !== null && state.epoch !== epoch) for (const phone of state.phones) phone.forgetSteps();
  state.epoch = epoch;
  phoneOf(step.phone)?.keepStep(step);
  changed();
}

/**
 * Calls the server. Resolves to its answer (`true` for an empty one), or to `null` when it refused or did not answer, which is shown.
 * With a body it is a POST of JSON unless another method is named.
 */
export async function call(address, body, method = body === undefined ? "GET" : "POST") {
  try {
    const answer = await fetch(address, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (answer.ok) return answer.status === 204 ? true : await answer.json();
    toast((await problemOf(answer)) || `The server did not do that (${answer.status}).`);
  } catch {
    toast("The server does not answer. The page tries again by itself.");
  }
  return null;
}

/** The server's message about a refused request; `null` when it has none. */
export async function problemOf(answer) {
  try {
    const body = await answer.json();
    return body.detail || body.title || body.error?.message || null;
  } catch {
    return null;
  }
}

async function askFaults(phone) {
  try {
    const answer = await fetch(`${phone.address}/faults`);
    state.tools = answer.ok;
    if (answer.ok) phone.faults = await answer.json();
  } catch {
    // Asked again with the next visit; the switches are not shown meanwhile.
  }
  changed();
}

/** Lets something go wrong for a phone, or ends it. */
export async function setFaults(phone, change) {
  const before = phone.faults;
  phone.faults = { ...before, ...change };
  changed();
  if ((await call(`${phone.address}/faults`, phone.faults, "PUT")) === null) phone.faults = before;
  changed();
}

/** How a user of the demo is authorised: the password is the name. */
export const basic = (user) => `Basic ${btoa(`${user}:${user}`)}`;

/** Asks the app backend as a phone's user, as any other program does. Resolves to the answer, or to `null` after showing why there is none. */
export async function askBackend(phone, method, path, body) {
  try {
    const answer = await fetch(path, {
      method, credentials: "omit", headers: { Authorization: basic(phone.snapshot.user), "Content-Type": "application/json" },
      body: body && JSON.stringify(body),
    });
    if (answer.ok) return answer.status === 204 ? {} : await answer.json();
    toast((await problemOf(answer)) || `The backend refused it (${answer.status}).`);
  } catch {
    toast("The backend does not answer.");
  }
  return null;
}

/** Sends a push to a phone's user as any other program does: the rich push tutorial's call, past the phone. */
export async function sendFromElsewhere(phone) {
  try {
    const answer = await fetch("/api/notifications", {
      method: "POST", credentials: "omit", headers: { Authorization: basic(phone.snapshot.user) },
    });
    if (!answer.ok) toast((await problemOf(answer)) || `The backend did not take the push (${answer.status}).`);
    return answer.ok;
  } catch {
    toast("The backend does not answer.");
    return false;
  }
}
