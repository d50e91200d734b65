// What a screen reader says of phones by itself: a notification that came, in words and with its phone.
import { h } from "./dom.js";
import { state } from "./state.js";

const told = new Map();
let words = "";

export function announce() {
  for (const phone of state.phones) {
    const newest = phone.snapshot?.notifications[0];
    const key = newest ? `${newest.id} ${newest.at}` : "";
    if (told.get(phone.id) === key) continue;
    const isFirstLook = !told.has(phone.id);
    told.set(phone.id, key);
    if (newest && !isFirstLook) words = `${phone.name}: ${newest.title}. ${newest.body}`;
  }
  return h("p", null, words);
}
