// A short sentence at the foot of the page that goes away by itself.
import { h, render } from "./dom.js";

const SHOWN_MILLISECONDS = 5000;
let toasts = [];

export function toast(text) {
  if (toasts.some((each) => each.text === text)) return;
  const item = { text };
  toasts = [...toasts.slice(-2), item];
  show();
  setTimeout(() => {
    toasts = toasts.filter((each) => each !== item);
    show();
  }, SHOWN_MILLISECONDS);
}

function show() {
  render(document.getElementById("toasts"), toasts.map(({ text }) => h("p", { class: "toast", key: text }, text)));
}
