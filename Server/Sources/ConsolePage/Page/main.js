// Which screen is shown, and to whom.
import { render } from "./dom.js";
import { call, callConsole, session, whenSessionEnds } from "./api.js";
import { current } from "./route.js";
import { applyTheme, shell } from "./shell.js";
import { signIn, wantedScreen } from "./signin.js";
import { audit } from "./audit.js";
import { health } from "./health.js";
import { home } from "./home.js";
import { hubs } from "./hubs.js";
import { keys } from "./keys.js";
import { people } from "./people.js";
import { person } from "./person.js";
import { schedules } from "./schedules.js";
import { send } from "./send.js";
import { sends } from "./sends.js";
import { settings } from "./settings.js";
import { webhooks } from "./webhooks.js";
import { h } from "./dom.js";
import { heading, problem } from "./parts.js";

/** A screen whose part of the page is loaded when it is opened first, so that the first screen of all is there sooner. */
function later(title, load) {
  return (route, redraw) => {
    const place = { screen: null, error: null, isClosed: false };
    load().then((screen) => {
      if (place.isClosed) return;
      place.screen = screen(route, redraw);
      document.title = `${place.screen.title} · Clarion`;
    }).catch((error) => {
      place.error = error;
    }).finally(redraw);
    return {
      title,
      view: () => (place.screen ? place.screen.view() : [heading(title), place.error ? problem(place.error, () => location.reload()) : h("p", { class: "note" }, "Loading…")]),
      close: () => {
        place.isClosed = true;
        place.screen?.close?.();
      },
    };
  };
}

const compose = later("Compose", () => import("./compose.js").then((module) => module.compose));
const activities = later("Live Activities", () => import("./activities.js").then((module) => module.activities));
const activity = later("Live Activity", () => import("./activities.js").then((module) => module.activity));
const templates = later("Templates", () => import("./templates.js").then((module) => module.templates));
const template = later("Template", () => import("./templates.js").then((module) => module.template));

/** A screen is called with the address and what draws it again; it returns its title, its view and what ends it. */
const SCREENS = { home, sends, compose, schedules, activities, templates, people, webhooks, keys, hubs, audit, settings, health };
/** Those that show one thing, when the address has its id. */
const DETAILS = { sends: send, people: person, templates: template, activities: activity };

let shown = null;
let frame = 0;

function redraw() {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(draw);
}

function draw() {
  render(document.getElementById("bar"), session.user ? shell(current(), redraw, leave) : null);
  if (shown) render(document.getElementById("main"), shown.view());
}

function open() {
  shown?.close?.();
  const route = current();
  const screen = (route.id && DETAILS[route.name]) || SCREENS[route.name] || home;
  shown = session.user ? screen(route, redraw) : signIn(enter, redraw, route.name === "refused" ? route.id : undefined);
  document.title = `${shown.title} · Clarion`;
  document.documentElement.dataset.signedIn = String(session.user !== null);
  // Another screen: nothing of the one before stays.
  render(document.getElementById("main"));
  draw();
  scrollTo(0, 0);
}

function openAndFocus() {
  open();
  document.querySelector("#main h1")?.focus({ preventScroll: true });
}

function enter(user) {
  session.user = user;
  open();
}

async function leave() {
  try {
    await callConsole("DELETE", "/session");
  } finally {
    session.user = null;
    open();
  }
}

/** The secret of a link that signs in, taken out of the address before anything else can see it. */
function takeLink() {
  const secret = /^#(cll_[0-9A-Za-z]+)$/.exec(location.hash)?.[1];
  if (secret) history.replaceState(null, "", location.pathname);
  return secret;
}

async function start() {
  applyTheme();
  const link = takeLink();
  let problem = null;
  try {
    session.user = link ? await callConsole("POST", "/session", { link }) : await call("GET", "/me");
  } catch (error) {
    if (link || error.status !== 401) problem = error;
  }
  const wanted = session.user && wantedScreen();
  if (wanted && !location.hash) history.replaceState(null, "", wanted);
  addEventListener("hashchange", () => (/^#cll_/.test(location.hash) ? start() : openAndFocus()));
  whenSessionEnds(() => {
    session.user = null;
    open();
  });
  open();
  if (problem && !session.user) shown.fail(problem);
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("main").focus();
});
start();
