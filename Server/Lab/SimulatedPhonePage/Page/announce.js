// The live region for screen readers: each new notification, with its phone.
import { h } from "./dom.js";
import { state } from "./state.js";

const announced = new Map();
let message = "";

export function announce() {
  for (const phone of state.phones) {
    const newest = phone.snapshot?.notifications[0];
    const key = newest ? `${newest.id} ${newest.at}` : "";
    if (announced.get(phone.id) === key) continue;
    const isFirstLook = !announced.has(phone.id);
    announced.set(phone.id, key);
    if (newest && !isFirstLook) message = `${phone.name}: ${newest.title}. ${newest.body}`;
  }
  return h("p", null, message);
}
