// One push to one phone as a row of moments: when it reached which station of its way, and how it ended.
import { state } from "./state.js";
import { groupsOf, messageOf } from "./pushes.js";

/** The stations, in the order of the way. */
export const STATIONS = [
  { id: "accepted", title: "Hub", words: "accepted by the hub", actor: "backend" },
  { id: "apns", title: "Service", words: "handed to APNs or FCM", actor: "apns" },
  { id: "delivered", title: "Phone", words: "delivered to the phone", actor: "phone" },
  { id: "started", title: "Start", words: "extension or app started", actor: "phone" },
  { id: "fetched", title: "Fetch", words: "content fetched", actor: "phone" },
  { id: "shown", title: "Shown", words: "shown", actor: "phone" },
  { id: "opened", title: "Open", words: "opened", actor: "user" },
];

const STATION_OF = {
  accepted: "accepted", "apns-request": "apns", delivered: "delivered", woken: "started", fetched: "fetched", shown: "shown",
  opened: "opened",
};

/** Every push to every phone that the page knows of, newest first. */
export function journeys() {
  const rows = state.phones.flatMap((phone) => groupsOf(phone).filter(({ id }) => id).map(journeyOf));
  return rows.sort((a, b) => b.begin - a.begin || a.phone.id.localeCompare(b.phone.id));
}

function journeyOf(group) {
  const at = {};
  for (const { step, at: moment, detail } of group.steps) {
    const station = STATION_OF[step];
    // The step that the app is done with the push is "woken" too, with its answer.
    if (station && !(step === "woken" && detail?.answer)) at[station] = Math.min(at[station] ?? Infinity, moment);
  }
  const moments = Object.values(at);
  return {
    key: group.key, id: group.id, richID: group.richID, push: group.push, phone: group.phone, steps: group.steps, at,
    message: messageOf(group), begin: Math.min(...moments, group.steps[0].at), ...ending(group.phone.service, group.steps, at),
  };
}

// Its state, as a keyword for the filter and as a sentence to display.
function ending(service, steps, at) {
  const answers = steps.filter(({ step }) => step === "apns-answer");
  const refused = answers.length > 0 && answers.every(({ detail }) => detail?.status !== "200");
  const trouble = steps.findLast(({ step }) => step === "failed" || step === "held");
  if (at.opened !== undefined) return { state: "opened", words: "opened" };
  if (at.shown !== undefined) return { state: "shown", words: trouble?.step === "failed" ? trouble.title : "shown" };
  if (refused) {
    const { status, reason } = answers[answers.length - 1].detail || {};
    return { state: "failed", words: status && status !== "none" ? `${service} refused it: ${status} ${reason || ""}`.trim() : `${service} did not answer` };
  }
  if (trouble) return { state: trouble.step === "held" ? "held" : "failed", words: trouble.title };
  if (at.delivered !== undefined) return { state: "delivered", words: "reached the phone" };
  return { state: "waiting", words: at.apns === undefined ? "on its way" : `${service} keeps it` };
}

/** The rows as they are exported: times in milliseconds since 1970, nothing that the page does not show. */
export function exported(rows) {
  return rows.map((row) => ({
    richId: row.richID, apnsId: row.push, phone: { id: row.phone.id, name: row.phone.name, user: row.phone.snapshot?.user ?? null },
    message: row.message, state: row.state, words: row.words,
    at: Object.fromEntries(STATIONS.map(({ id }) => [id, row.at[id] ?? null])),
    steps: row.steps.map(({ step, at, title, detail }) => ({ step, at, title, detail })),
  }));
}
