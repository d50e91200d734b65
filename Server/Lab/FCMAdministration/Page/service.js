// What the local FCM knows, asked for again and again, and calls of its administration.
import { h } from "./dom.js";

const PERIOD_MILLISECONDS = 1_000;
const HIDDEN_PERIOD_MILLISECONDS = 5_000;
const DEADLINE_MILLISECONDS = 10_000;
/** So many requests are shown, the newest first. */
export const KEPT = 200;

/** `now` is the service's clock; `filter` is what the name of a phone has to contain. */
export const service = { state: null, requests: [], rules: new Map(), isLost: false, filter: "", now: () => Date.now() };

const problems = new Map();
let changed = () => {};
let next = 0;
let turn = Promise.resolve();

/** Asks for what is new until the page is closed, and calls `draw` after each answer. */
export async function follow(draw) {
  changed = draw;
  for (;;) {
    await look();
    await new Promise((resolve) => setTimeout(resolve, document.hidden ? HIDDEN_PERIOD_MILLISECONDS : PERIOD_MILLISECONDS));
  }
}

/** Asks once, after the question before was answered: two at a time would bring the same requests twice. */
export function look() {
  turn = turn.then(ask).then(() => { service.isLost = false; }, () => { service.isLost = true; }).then(changed);
  return turn;
}

export const redraw = () => changed();

async function ask() {
  if (service.rules.size === 0) service.rules = new Map((await call("GET", "rules")).map((rule) => [rule.rule, rule]));
  const state = await call("GET", `state?after=${next}&name=${encodeURIComponent(service.filter)}`);
  if (service.state && service.state.run !== state.run) {
    // Another process, whose requests count from 0.
    [next, service.state, service.requests] = [0, null, []];
    return ask();
  }
  const offset = state.now - Date.now();
  service.now = () => Date.now() + offset;
  service.requests = [...state.requests.reverse(), ...service.requests].filter(({ number }) => number >= state.oldest).slice(0, KEPT);
  [next, service.state] = [state.next, state];
  return null;
}

async function call(method, path, body) {
  const headers = body ? { "Content-Type": "application/json" } : {};
  const answer = await fetch(`/fcm/${path}`, {
    method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(DEADLINE_MILLISECONDS),
  });
  const document = answer.status === 204 ? null : await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(document?.detail || document?.title || `The service answered ${answer.status}.`);
  return document;
}

/** Changes something. What goes wrong is shown at `place`. Resolves to whether it was done. */
export async function change(place, method, path, body) {
  problems.delete(place);
  try {
    await call(method, path, body);
  } catch (error) {
    problems.set(place, error instanceof TypeError || error.name === "TimeoutError" ? "The service does not answer." : error.message);
  }
  await look();
  return !problems.has(place);
}

/** What went wrong at a place, for the eye and for screen readers. */
export const problemAt = (place) => problems.has(place) && h("p", { class: "problem", role: "alert", key: "problem", "data-testid": "problem" }, problems.get(place));

export const field = (name, control, hint) => h("label", { class: "field", key: name }, h("span", { class: "field-name" }, name), control, hint && h("span", { class: "hint" }, hint));
