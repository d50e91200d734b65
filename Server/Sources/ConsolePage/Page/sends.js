// The list of sends.
import { h } from "./dom.js";
import { call, may } from "./api.js";
import { list } from "./list.js";
import { badge, button, field, heading, input, linkButton, repeatedly, time } from "./parts.js";
import { address, go } from "./route.js";
import { count, share } from "./format.js";

const PAGE = 50;
const TONES = { completed: "good", dispatching: "busy", accepted: "busy", scheduled: "plain", cancelled: "plain", expired: "warn", failed: "bad" };

export const stateBadge = (status) => (status ? badge(status.state, TONES[status.state]) : badge("elsewhere"));

/** How many devices ended without their push. */
export const failedOf = (outcomes) => Object.entries(outcomes)
  .filter(([name]) => !["accepted", "skipped", "capped"].includes(name)).reduce((sum, [, value]) => sum + value, 0);

/** The bar of a send: how many of its devices have got the push, have failed, and are to come. */
export function progress(status) {
  if (!status?.targets) return "–";
  const [good, bad] = [status.outcomes.accepted || 0, failedOf(status.outcomes)];
  return h("span", { class: "progress" },
    h("span", { class: "progress-bar", "aria-hidden": "true" },
      h("span", { class: "progress-good", variables: { "--part": `${(100 * good) / status.targets}%` } }),
      h("span", { class: "progress-bad", variables: { "--part": `${(100 * bad) / status.targets}%` } })),
    h("span", { class: "progress-text" }, `${share(good, status.targets)} of ${count(status.targets)}`));
}

export const sendColumns = [
  { name: "Send", size: "small", cell: (send) => `#${send.id}` },
  { name: "When", size: "medium", cell: (send) => time(send.dueAt) },
  { name: "Audience", cell: (send) => h("code", { class: "cut" }, send.audience), wide: true },
  { name: "Sender", size: "medium", cell: (send) => send.sender, wide: true },
  { name: "Reached", cell: (send) => progress(send.status), wide: true },
  { name: "State", size: "short", cell: (send) => stateBadge(send.status), end: true },
];

/** When the day of an input of type date begins, or a later day. A day may have 23 or 25 hours. */
function dayStart(text, days = 0) {
  if (!text) return undefined;
  const date = new Date(`${text}T00:00`);
  date.setDate(date.getDate() + days);
  return date.getTime();
}

export function sends(route, redraw) {
  const { sender, from, until } = route.query;
  const load = async (before) => {
    const query = { before, limit: PAGE, sender, since: dayStart(from), until: dayStart(until, 1) };
    const page = await call("GET", "/sends", { query });
    return { items: page.sends, next: page.next };
  };
  const rows = list({
    label: "Sends", load, columns: sendColumns, key: (send) => send.id, href: (send) => address("sends", send.id),
    none: "No sends yet.", redraw,
  });
  const filter = { ...route.query };
  const apply = (event) => {
    event.preventDefault();
    go("sends", undefined, filter);
  };
  const control = (name, type) => input({
    type, value: filter[name] || "", name, oninput: (event) => { filter[name] = event.target.value; },
  });
  const stop = repeatedly(rows.refresh, 3000);
  return {
    title: "Sends",
    close() {
      stop();
      rows.close();
    },
    view: () => [
      heading("Sends", may("send", "own") && linkButton("Compose", address("compose"), { kind: "primary", symbol: "compose" })),
      h("form", { class: "filters", key: "filters", onsubmit: apply },
        may("read-the-status-of-a-send") && field("Sender", control("sender", "text")),
        field("From", control("from", "date")), field("Until", control("until", "date")),
        button("Show", { type: "submit" }),
        (sender || from || until) && linkButton("Clear", address("sends"))),
      rows.view(),
    ],
  };
}
