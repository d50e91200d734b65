// Choices of which one is taken. To the keyboard they are one place: Tab comes to the one that is taken, the arrows take another
// (WAI-ARIA Authoring Practices, radio group).
import { h } from "./dom.js";

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Describes them. `options` are `{ key, isTaken, take, properties, content }`. */
export function choices(label, properties, options) {
  const entry = Math.max(0, options.findIndex(({ isTaken }) => isTaken));
  return h("div", { ...properties, role: "radiogroup", "aria-label": label, onkeydown: move }, options.map((option, index) => h("button", {
    ...option.properties, type: "button", role: "radio", "aria-checked": String(option.isTaken), tabindex: index === entry ? "0" : "-1",
    key: option.key, onclick: option.take,
  }, option.content)));
}

function move(event) {
  const step = STEPS[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
  const radios = [...event.currentTarget.querySelectorAll('[role="radio"]')];
  const place = radios.indexOf(document.activeElement);
  if (place < 0) return;
  event.preventDefault();
  const next = radios[(place + step + radios.length) % radios.length];
  next.click();
  next.focus();
  // The page is drawn again a moment later, and Tab may come before.
  for (const radio of radios) radio.tabIndex = radio === next ? 0 : -1;
}
