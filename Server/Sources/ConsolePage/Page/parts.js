// The parts that the screens are made of.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { distance, moment, utc } from "./format.js";

/** The heading of a screen, with what can be done there. */
export function heading(title, ...actions) {
  return h("div", { class: "heading", key: "heading" },
    h("h1", { tabindex: "-1" }, title), h("div", { class: "actions" }, actions));
}

export function card(title, properties, ...children) {
  return h("section", { ...properties, class: `card ${properties?.class || ""}` }, title && h("h2", null, title), children);
}

/** `kind` is `primary`, `danger` or absent. */
export function button(label, { kind = "plain", symbol, ...properties } = {}) {
  return h("button", { type: "button", ...properties, class: `button ${kind}` }, symbol && icon(symbol), label);
}

export function linkButton(label, href, { kind = "plain", symbol, ...properties } = {}) {
  return h("a", { ...properties, href, class: `button ${kind}` }, symbol && icon(symbol), label);
}

/** `tone` is `good`, `bad`, `warn`, `busy` or absent. */
export function badge(label, tone = "plain") {
  return h("span", { class: `badge ${tone}` }, label);
}

/** A moment in the reader's zone, with UTC beside it on demand. */
export function time(milliseconds, text = moment) {
  if (milliseconds === undefined || milliseconds === null) return "–";
  return h("time", { datetime: new Date(milliseconds).toISOString(), title: utc(milliseconds) }, text(milliseconds));
}

export const ago = (milliseconds) => time(milliseconds, distance);

/** Names with their values; those without a value are left out. */
export function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.filter(([, value]) => ![undefined, null, false, ""].includes(value))
    .map(([name, value]) => h("div", { key: name }, h("dt", null, name), h("dd", null, value))));
}

export function field(label, control, hint) {
  return h("label", { class: "field" }, h("span", { class: "field-name" }, label), control,
    hint && h("span", { class: "hint" }, hint));
}

export function input(properties) {
  return h("input", { autocomplete: "off", spellcheck: "false", ...properties, class: "input" });
}

export function select(properties, options) {
  return h("select", { ...properties, class: "input" }, options.map(([value, label]) => h("option", { value, key: value }, label)));
}

export function problem(error, retry) {
  return h("div", { class: "problem", role: "alert", key: "problem" }, h("p", null, error.message),
    retry && button("Try again", { onclick: retry, symbol: "refresh" }));
}

export const empty = (text) => h("p", { class: "empty", key: "empty" }, text);
export const loading = () => h("p", { class: "empty", key: "loading", role: "status" }, "Loading …");

/** After so long without a key or a pointer nothing is fetched, so that an open page that is left alone does not keep its session. */
const AWAY_MILLISECONDS = 600_000;
let lastSeen = Date.now();
for (const kind of ["pointermove", "pointerdown", "keydown", "wheel"]) addEventListener(kind, () => { lastSeen = Date.now(); }, { passive: true });

/** Runs `work` now and then again and again while a person sees the page, each time after it has ended. Returns what stops it. */
export function repeatedly(work, milliseconds) {
  let [isOver, timer] = [false, null];
  const run = async () => {
    clearTimeout(timer);
    if (!document.hidden && Date.now() - lastSeen < AWAY_MILLISECONDS) await work();
    if (!isOver) timer = setTimeout(run, milliseconds);
  };
  const onVisible = () => !document.hidden && !isOver && run();
  document.addEventListener("visibilitychange", onVisible);
  run();
  return () => {
    isOver = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", onVisible);
  };
}

/** Something that is fetched for a screen: `value`, or `error`. */
export function resource(load, redraw) {
  const state = { value: undefined, error: null };
  state.reload = async () => {
    try {
      state.value = await load();
      state.error = null;
    } catch (error) {
      state.error = error;
    }
    redraw();
  };
  /** What is seen: the value by `view`, also while a later attempt fails. */
  state.view = (view) => [
    state.error && problem(state.error, state.reload),
    state.value !== undefined ? view(state.value) : !state.error && loading(),
  ];
  return state;
}
