// What is shown to who is not signed in.
import { h } from "./dom.js";
import { callConsole } from "./api.js";
import { button, field, input, problem } from "./parts.js";

export function signIn(enter, redraw) {
  const state = { link: "", error: null };
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
  return {
    title: "Sign in",
    fail(error) {
      state.error = error;
      redraw();
    },
    view: () => h("div", { class: "sign-in" },
      h("img", { src: new URL("clarion.svg", import.meta.url).href, alt: "", width: "56", height: "56" }),
      h("h1", { tabindex: "-1" }, "Clarion console"),
      h("p", null, "Ask an operator for a link. It signs you in once and expires after two minutes:"),
      h("pre", { class: "command" }, h("code", null, "clarion console link YOUR-NAME")),
      h("form", { onsubmit: open }, field("Link", input({
        value: state.link, type: "password", required: true, oninput: (event) => { state.link = event.target.value; },
      }), "The whole address, or the part that starts with cll_."), button("Sign in", { type: "submit", kind: "primary" })),
      state.error && problem(state.error)),
  };
}
