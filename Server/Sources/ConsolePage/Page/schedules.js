// Scheduled sends, as a calendar of what is due next and as a list.
import { h } from "./dom.js";
import { call, may, pages, session } from "./api.js";
import { ask } from "./dialog.js";
import { list } from "./list.js";
import { badge, button, card, empty, facts, heading, linkButton, repeatedly, resource, time } from "./parts.js";
import { address } from "./route.js";
import { dayOf, moment, minuteOf } from "./format.js";

const TONES = { proposed: "warn", waiting: "busy", ended: "good", cancelled: "plain", failed: "bad" };

/** Those that are waiting, of which the newest 1,000 are looked at. The API lists them by age, not by when they are due. */
export async function waitingSchedules() {
  return (await pages("/schedules", "schedules", { query: { state: "waiting", limit: 100 }, most: 10 })).items;
}

/** Sends that wait for the approval of another person. */
const proposals = async () => (await call("GET", "/schedules", { query: { state: "proposed", limit: 100 } })).schedules;

export function schedules(route, redraw) {
  const waiting = resource(waitingSchedules, redraw);
  const proposed = resource(proposals, redraw);
  const reload = () => Promise.all([waiting.reload(), proposed.reload(), rows.refresh()]);
  const rows = list({
    label: "Schedules", redraw, none: "No schedules yet.",
    load: async (before) => {
      const page = await call("GET", "/schedules", { query: { before, limit: 50 } });
      return { items: page.schedules, next: page.next };
    },
    key: (schedule) => schedule.id,
    columns: [
      { name: "Schedule", cell: (schedule) => [`#${schedule.id} `, h("span", { class: "cut" }, schedule.request.notification.title || schedule.request.notification.message)] },
      { name: "When", cell: (schedule) => h("span", { class: "cut", title: timingText(schedule.request) }, timingText(schedule.request)), wide: true },
      { name: "Next", size: "medium", cell: next },
      { name: "Sent", size: "small", cell: (schedule) => (schedule.lastSend ? h("a", { href: address("sends", schedule.lastSend) }, String(schedule.sent)) : String(schedule.sent)), wide: true },
      { name: "State", cell: (schedule) => [badge(schedule.state, TONES[schedule.state]), schedule.fault && h("span", { class: "hint" }, schedule.fault)] },
      { name: "Actions", size: "short", end: true, cell: (schedule) => mayCancel(schedule) && button("Cancel", { onclick: () => cancel(schedule), "data-testid": "cancel-schedule" }) },
    ],
  });
  const stop = repeatedly(reload, 5000);
  const approve = (schedule) => ask({
    title: `Approve the send of ${schedule.sender}?`, action: "Approve",
    body: () => facts([
      ["Audience", h("code", null, schedule.request.notification.audience)], ["When", timingText(schedule.request)],
      ["Title", schedule.request.notification.title], ["Message", schedule.request.notification.message],
      ["Link", schedule.request.notification.link], ["Kind", schedule.request.notification.kind],
      ["Translations", (schedule.request.notification.translations || []).map(({ language, group, message }) => `${[language, group].filter(Boolean).join(", ")}: ${message ?? "the same"}`).join(" · ")],
    ]),
    act: async () => {
      await call("POST", `/schedules/${schedule.id}/approval`, { body: { revision: schedule.revision } });
      await reload();
    },
  });
  const cancel = (schedule) => ask({
    title: `Cancel schedule #${schedule.id}?`, action: "Cancel the schedule", kind: "danger",
    body: () => h("p", null, "It sends nothing more. Sends that it has made are not recalled."),
    act: async () => {
      await call("DELETE", `/schedules/${schedule.id}`);
      await reload();
    },
  });
  return {
    title: "Schedules",
    close() {
      stop();
      rows.close();
    },
    view: () => [
      heading("Schedules", may("send", "own") && linkButton("Schedule a send", address("compose"), { kind: "primary", symbol: "compose" })),
      proposed.view((found) => found.length > 0 && card("Waiting for approval", { key: "proposals" }, h("ul", { class: "plain" }, found.map((schedule) => h("li", { key: schedule.id, class: "due" },
        h("span", { class: "cut" }, schedule.request.notification.title || schedule.request.notification.message),
        h("span", { class: "hint" }, `by ${schedule.sender}, ${timingText(schedule.request)}`), h("code", { class: "cut wide" }, schedule.request.notification.audience),
        may("approve-a-send") && schedule.sender !== session.user.user && button("Approve", { kind: "primary", onclick: () => approve(schedule), "data-testid": "approve" }),
        button(schedule.sender === session.user.user ? "Withdraw" : "Decline", { onclick: () => cancel(schedule), "data-testid": "decline" })))))),
      card("Up next", { key: "calendar" }, waiting.view(calendar)),
      rows.view(),
    ],
  };
}

const mayCancel = (schedule) => ["waiting", "proposed"].includes(schedule.state) && (may("recall-a-send") || schedule.sender === session.user.user);

function timingText({ sendAt, localTime, timeZone, repeat }) {
  if (sendAt) return moment(sendAt);
  if (!localTime) return "when it is approved";
  return `${moment(new Date(localTime))} ${timeZone === "device" ? "on each device" : timeZone}${repeat ? `, ${repeat}` : ""}`;
}

/** When it is due next. By the clocks of the devices that is a time of day, and the moment of the first zone is of no use. */
const next = (schedule) => (schedule.nextLocal?.length ? `${moment(new Date(schedule.nextLocal[0]))} on each device` : time(schedule.next[0]));

/** The times at which a schedule is due, as moments and with the clock that they are of. */
const dues = (schedule) => (schedule.nextLocal
  ? schedule.nextLocal.map((text) => ({ at: new Date(text).getTime(), schedule, clock: "on each device" }))
  : schedule.next.map((at) => ({ at, schedule })));

/** The days on which something is due, with what is. */
export function calendar(found) {
  const due = found.flatMap(dues).sort((left, right) => left.at - right.at).slice(0, 30);
  if (!due.length) return empty("No sends are scheduled.");
  const days = new Map();
  for (const entry of due) days.set(dayOf(entry.at), [...(days.get(dayOf(entry.at)) || []), entry]);
  return h("ol", { class: "calendar" }, [...days].map(([day, entries]) => h("li", { key: day },
    h("h3", null, day),
    h("ul", null, entries.map(({ at, schedule, clock }) => h("li", { key: `${schedule.id} ${at}`, class: "due" },
      time(at, minuteOf), clock && h("span", { class: "hint" }, clock), h("span", { class: "cut" }, schedule.request.notification.title || schedule.request.notification.message),
      h("code", { class: "cut wide" }, schedule.request.notification.audience || "own devices")))))));
}
