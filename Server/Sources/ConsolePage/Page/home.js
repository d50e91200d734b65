// Whether all is well, at a glance.
import { h } from "./dom.js";
import { call, may, pages, session, text } from "./api.js";
import { ago, badge, card, empty, heading, linkButton, repeatedly, resource, time } from "./parts.js";
import { bars } from "./plot.js";
import { address } from "./route.js";
import { count, duration, share } from "./format.js";
import { readiness, workload } from "./health.js";
import { calendar, waitingSchedules } from "./schedules.js";
import { failedOf, progress, stateBadge } from "./sends.js";

const HOUR_MILLISECONDS = 3_600_000;
const DAY_HOURS = 24;
const hourOf = (milliseconds) => Math.floor(milliseconds / HOUR_MILLISECONDS);

export function home(route, redraw) {
  const day = resource(async () => {
    const since = (hourOf(Date.now()) - DAY_HOURS + 1) * HOUR_MILLISECONDS;
    const { items: sends, isCut } = await pages("/sends", "sends", { query: { since, limit: 50 } });
    return { since, sends, isCut };
  }, redraw);
  const schedules = resource(waitingSchedules, redraw);
  const load = may("read-the-settings") ? resource(workload, redraw) : null;
  const attention = resource(concerns, redraw);
  const stops = [repeatedly(day.reload, 5000), repeatedly(schedules.reload, 15_000), repeatedly(attention.reload, 15_000), load && repeatedly(load.reload, 5000)].filter(Boolean);
  return {
    title: "Home",
    close: () => stops.forEach((stop) => stop()),
    view: () => [
      heading("Home", may("send", "own") && linkButton("Compose", address("compose"), { kind: "primary", symbol: "compose" })),
      attention.view(concernCard),
      day.view((found) => dayCards(found, load?.value)),
      h("div", { class: "columns", key: "columns" },
        card("Latest sends", null, day.view(({ sends }) => latest(sends.slice(0, 8)))),
        card("Up next", null, schedules.view(calendar))),
    ],
  };
}

function dayCards({ sends, since, isCut }, load) {
  const known = sends.filter(({ status }) => status);
  const accepted = known.reduce((sum, { status }) => sum + (status.outcomes.accepted || 0), 0);
  const failed = known.reduce((sum, { status }) => sum + failedOf(status.outcomes), 0);
  const running = known.filter(({ status }) => ["accepted", "dispatching"].includes(status.state)).length;
  // From the moment a send was due until its first push. What waited for a time of its own says nothing of the server.
  const delays = known.filter(({ status }) => status.startedAt).map(({ dueAt, status }) => Math.max(0, status.startedAt - dueAt)).sort((a, b) => a - b);
  const hours = Array.from({ length: DAY_HOURS }, (_, index) => {
    const start = since + index * HOUR_MILLISECONDS;
    const ofHour = known.filter(({ dueAt }) => hourOf(dueAt) === hourOf(start));
    const label = new Date(start).getHours();
    return {
      title: `${String(label).padStart(2, "0")}:00`, label: label % 3 === 0 ? `${String(label).padStart(2, "0")}` : "",
      parts: [ofHour.reduce((sum, { status }) => sum + (status.outcomes.accepted || 0), 0), ofHour.reduce((sum, { status }) => sum + failedOf(status.outcomes), 0)],
    };
  });
  return [
    h("div", { class: "tiles", key: "tiles" },
      tile("Sends in 24 hours", `${count(sends.length)}${isCut ? " or more" : ""}`), tile("Pushes accepted", count(accepted)),
      tile("Failed", count(failed), share(failed, accepted + failed)), tile("In progress", count(running)),
      delays.length > 0 && tile("Median start delay", duration(delays[Math.floor(delays.length / 2)]), `95%: ${duration(delays[Math.floor(delays.length * 0.95)])}`),
      load && tile("Parts in the queue", count(load.due + load.underWay), load.oldestDueAt && load.due > 0 && `oldest: ${duration(Math.max(0, Date.now() - load.oldestDueAt))}`)),
    card(null, { key: "plot" }, bars("Pushes by the hour", [{ name: "accepted", tone: "good" }, { name: "failed", tone: "bad" }], hours),
      isCut && h("p", { class: "hint" }, `Only the newest ${count(sends.length)} sends are counted.`)),
  ];
}

const tile = (name, value, beside) => h("div", { class: "tile", key: name }, h("p", { class: "tile-name" }, name), h("p", { class: "tile-value" }, value, beside && h("span", null, beside)));

function latest(sends) {
  if (!sends.length) return empty("No sends in the last 24 hours.");
  return h("ul", { class: "latest" }, sends.map((send) => h("li", { key: send.id },
    h("a", { href: address("sends", send.id) }, `#${send.id}`), h("code", { class: "cut" }, send.audience), progress(send.status), stateBadge(send.status), ago(send.dueAt))));
}

/** What an operator should look at. */
async function concerns() {
  const [ready, keys, webhooks] = await Promise.all([
    text("/readyz").then(readiness), may("manage-service-keys") ? pages("/keys", "keys", { after: "after" }) : { items: [] },
    may("manage-webhooks") ? call("GET", "/webhooks") : { webhooks: [] },
  ]);
  const soon = Date.now() + 30 * DAY_HOURS * HOUR_MILLISECONDS;
  return [
    ...ready.checks.filter(({ word }) => word === "failed").map(({ name, reason }) => ({ text: `${name} is failing${reason ? `: ${reason}` : ""}`, to: "health" })),
    ...ready.notes.map((note) => ({ text: note.text, to: "health" })),
    ...keys.items.filter((key) => !key.revokedAt && key.expiresAt > Date.now() && key.expiresAt < soon).map((key) => ({ text: `The key ${key.name} expires soon`, at: key.expiresAt, to: "keys" })),
    ...webhooks.webhooks.filter((webhook) => webhook.fault).map((webhook) => ({ text: `The webhook to ${new URL(webhook.url).host} was disabled`, to: "webhooks" })),
  ];
}

function concernCard(found) {
  if (!found.length) return h("p", { class: "all-well", key: "well", role: "status" }, badge("all healthy", "good"), ` Signed in as ${session.user.user}.`);
  return card("Needs attention", { key: "concerns", class: "warn" }, h("ul", { class: "bullets" }, found.map(({ text: words, at, to }) => h("li", { key: words },
    h("a", { href: address(to) }, words), at && [" · ", time(at)]))));
}
