// The live region for screen readers: each new notification and each alert of a Live Activity, with its phone.
import { h } from "./dom.js";
import { state } from "./state.js";

const announced = new Map();
let message = "";

export function announce() {
  for (const phone of state.phones) {
    if (!phone.snapshot) continue;
    const newest = newestOf(phone.snapshot);
    const before = announced.get(phone.id);
    announced.set(phone.id, Math.max(newest.at, before ?? 0));
    if (before !== undefined && newest.at > before) message = `${phone.name}: ${newest.title}. ${newest.body}`;
  }
  return h("p", null, message);
}

function newestOf(snapshot) {
  const alerts = (snapshot.activities || []).filter(({ alertedAt }) => alertedAt).map(({ alert, alertedAt }) => ({ ...alert, at: alertedAt }));
  return [...snapshot.notifications.slice(0, 1), ...alerts].reduce((one, other) => (other.at > one.at ? other : one), { at: 0 });
}
