// What is shown to who is not signed in.
import { h } from "./dom.js";
import { callConsole, consoleAddress } from "./api.js";
import { button, field, input, linkButton, problem } from "./parts.js";

/** Why the server led back from the provider without a session. */
const REFUSALS = {
  unavailable: "The sign-in provider cannot be reached. Try again in a minute.",
  "begin-again": "This sign-in took more than ten minutes, or was started in another window. Start again.",
  cancelled: "The sign-in was cancelled at the provider.",
  refused: "The provider refused the sign-in. An operator finds the reason in the log of the server.",
  "not-verified": "The provider's answer could not be verified. An operator finds the reason in the log of the server.",
  "no-user": "You have no user here yet. Ask an administrator to add you.",
  "name-taken": "Another user here has your name. Ask an administrator.",
  "no-role": "Your account at the provider gives you no role here. Ask an administrator.",
  disabled: "Your user is disabled. Ask an administrator.",
  "signed-out": "You were signed out everywhere. Start again.",
  "too-many": "Too many people are signing in from your network. Try again in a minute.",
};

const WANTED = "clarion-wanted-screen";

/** The screen that was asked for before the way to the provider; it is returned once. */
export function wantedScreen() {
  const wanted = sessionStorage.getItem(WANTED);
  sessionStorage.removeItem(WANTED);
  return wanted;
}

export function signIn(enter, redraw, refusal) {
  const state = { user: "", password: "", code: "", link: "", isKnown: false, provider: undefined, error: REFUSALS[refusal] ? { message: REFUSALS[refusal] } : null };
  callConsole("GET", "/session").then((ways) => {
    state.provider = ways.provider;
  }, (error) => {
    state.error ??= error;
  }).finally(() => {
    state.isKnown = true;
    redraw();
  });
  const open = async (event) => {
    event.preventDefault();
    try {
      const secret = /cll_[0-9A-Za-z]+/.exec(state.link)?.[0] || state.link.trim();
      enter(await callConsole("POST", "/session", { link: secret }));
    } catch (error) {
      state.error = error;
      redraw();
    }
  };
  const withPassword = async (event) => {
    event.preventDefault();
    try {
      enter(await callConsole("POST", "/session", { user: state.user.trim(), password: state.password, code: state.code.trim() }));
    } catch (error) {
      state.error = error;
      redraw();
    }
  };
  const text = (name, properties) => input({ name, required: true, value: state[name], oninput: (event) => { state[name] = event.target.value; }, ...properties });
  const byPassword = () => h("details", { key: "password" }, h("summary", null, "Sign in with a password"), h("form", { class: "by-link", onsubmit: withPassword },
    field("User", text("user", { autocomplete: "username", maxlength: "64" })),
    field("Password", text("password", { type: "password", autocomplete: "current-password" })),
    field("Code", text("code", { autocomplete: "one-time-code", maxlength: "24" }), "Of your authenticator app, or a recovery code. Without a second factor, sign in with a link and set one up."),
    button("Sign in", { type: "submit", "data-testid": "sign-in-password" })));
  const leave = () => {
    if (!refusal && location.hash) sessionStorage.setItem(WANTED, location.hash);
  };
  const byLink = () => [
    h("p", null, "Ask an operator for a link. It signs you in once and expires after two minutes:"),
    h("pre", { class: "command" }, h("code", null, "clarion console link YOUR-NAME")),
    h("form", { onsubmit: open }, field("Link", input({
      value: state.link, type: "password", required: true, oninput: (event) => { state.link = event.target.value; },
    }), "The whole address, or the part that starts with cll_."), button("Sign in", { type: "submit", kind: state.provider ? "plain" : "primary" })),
  ];
  return {
    title: "Sign in",
    fail(error) {
      state.error = error;
      redraw();
    },
    view: () => h("div", { class: "sign-in" },
      h("img", { src: new URL("clarion.svg", import.meta.url).href, alt: "", width: "56", height: "56" }),
      h("h1", { tabindex: "-1" }, "Clarion console"),
      state.error && problem(state.error),
      // Only then is it known what to show.
      state.isKnown && (state.provider
        ? [
          linkButton(`Sign in with ${state.provider}`, consoleAddress("/sign-in"), { kind: "primary", onclick: leave, "data-testid": "provider", key: "provider" }),
          h("details", { key: "link" }, h("summary", null, "Sign in with a link"), h("div", { class: "by-link" }, byLink())), byPassword(),
        ]
        : [byLink(), byPassword()])),
  };
}
