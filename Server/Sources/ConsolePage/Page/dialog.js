// Questions before an act, and secrets that are shown once.
import { h, render } from "./dom.js";
import { button, field, input, problem } from "./parts.js";

/** Opens a dialog and returns a promise of how it ended. `body(redraw)` describes what is in it; `act` runs when it is confirmed, and an
 * error of it is shown there. With `typed` the person has to type that text first. */
export function ask({ title, body, action, kind = "primary", typed, act }) {
  const node = document.createElement("dialog");
  node.className = "dialog";
  node.setAttribute("aria-labelledby", "dialog-title");
  document.body.append(node);
  const opener = document.activeElement;
  const state = { text: "", error: null, isBusy: false, result: null };
  const redraw = () => render(node, view());
  const confirm = async (event) => {
    event.preventDefault();
    if (state.isBusy || (typed && state.text !== typed)) return;
    state.isBusy = true;
    redraw();
    try {
      state.result = { value: act ? await act() : true };
      node.close();
    } catch (error) {
      [state.error, state.isBusy] = [error, false];
      redraw();
    }
  };
  const view = () => h("form", { onsubmit: confirm, novalidate: true },
    h("h2", { id: "dialog-title" }, title), h("div", { class: "dialog-body" }, body(redraw)),
    typed && field(`Type ${typed} to confirm`, input({
      value: state.text, "data-testid": "typed", oninput: (event) => {
        state.text = event.target.value;
        redraw();
      },
    })),
    state.error && problem(state.error),
    h("div", { class: "dialog-actions" },
      button(action ? "Cancel" : "Close", { onclick: () => node.close(), "data-testid": "cancel" }),
      action && button(action, {
        type: "submit", kind, disabled: state.isBusy || (typed && state.text !== typed) || undefined, "data-testid": "confirm",
      })));
  redraw();
  node.showModal();
  return new Promise((resolve) => {
    node.addEventListener("close", () => {
      node.remove();
      opener?.focus?.();
      resolve(state.result);
    });
  });
}

/** Shows a secret, once. */
export function showSecret(title, text, secret) {
  const copy = async (event) => {
    await navigator.clipboard.writeText(secret);
    event.target.textContent = "Copied";
  };
  return ask({
    title,
    body: () => [h("p", null, text), h("p", { class: "secret", "data-testid": "secret" }, secret), button("Copy", { onclick: copy, symbol: "copy" })],
  });
}
