// One send: how far it is, what became of its devices, and why one got nothing.
import { h } from "./dom.js";
import { call, may } from "./api.js";
import { ask } from "./dialog.js";
import { list } from "./list.js";
import { badge, button, card, facts, field, heading, input, repeatedly, resource, select, time } from "./parts.js";
import { address, go } from "./route.js";
import { count, plural, share } from "./format.js";
import { failedOf, stateBadge } from "./sends.js";
import { explainer } from "./person.js";

const FAILURES = ["gone", "bad-token", "rejected", "too-large", "invalid-format", "unknown", "expired", "no-transport", "removed"];
const OPEN_STATES = new Set(["scheduled", "accepted", "dispatching"]);

export function send(route, redraw) {
  const { id, query } = route;
  const isForAll = may("read-the-status-of-a-send");
  const found = resource(() => call("GET", `/sends/${id}`, { query: { limit: 1 } }), redraw);
  const failures = isForAll ? failureList(id, query.outcome, redraw) : null;
  const explain = may("explain-what-a-user-got") ? explainer({ send: id }, redraw) : null;
  let rate = null;
  let before = null;
  const stop = repeatedly(async () => {
    if (found.value && !OPEN_STATES.has(found.value.status.state) && Date.now() - found.value.dueAt > 600_000) return;
    await found.reload();
    const now = { at: Date.now(), done: doneOf(found.value?.status) };
    if (before && now.done > before.done) rate = (1000 * (now.done - before.done)) / (now.at - before.at);
    before = now;
  }, 2000);
  const recall = () => ask({
    title: "Recall this send?", action: "Recall", kind: "danger",
    body: () => [h("p", null, "No further device gets it. Devices that have it remove it, and the server no longer serves its content.")],
    act: async () => {
      await call("DELETE", `/notifications/${id}`);
      await found.reload();
    },
  });
  return {
    title: `Send ${id}`,
    close() {
      stop();
      failures?.close();
    },
    view: () => [
      heading(`Send #${id}`,
        found.value && found.value.status.state !== "cancelled" && may("recall-a-send", "own")
          && button("Recall", { kind: "danger", onclick: recall, "data-testid": "recall" })),
      found.view((value) => [about(value), outcomes(value.status, rate), localTimes(value.status), warnings(value.status)]),
      explain && card("Why did a person get it, or not?", { key: "explain" }, explain.view()),
      failures && card("Failed devices", { key: "failures" },
        field("Outcome", select({
          value: query.outcome || "", onchange: (event) => go("sends", id, { outcome: event.target.value }),
        }, [["", "All"], ...FAILURES.map((name) => [name, name])])),
        failures.view()),
    ],
  };
}

const doneOf = (status) => (status ? Object.values(status.outcomes).reduce((sum, value) => sum + value, 0) : 0);

function about(value) {
  return card(null, { key: "about" }, facts([
    ["State", stateBadge(value.status)], [value.status.localTimes ? "Accepted" : "Due", time(value.dueAt)], ["Sender", value.sender],
    ["Audience", h("code", null, value.audience)], ["Devices", value.status.targets === undefined ? undefined : count(value.status.targets)],
  ]));
}

/** What became of the groups of an A/B test. */
const groups = (all) => h("table", { class: "numbers", "aria-label": "Groups of the A/B test" },
  h("thead", null, h("tr", null, ["Group", "Percent", "Devices", "Delivered to APNs", "Opened", "Share that opened"].map((name, index) => h("th", { key: name, scope: "col", class: index ? "end" : "" }, name)))),
  h("tbody", null, all.map(({ name, percent, outcomes: counts, receipts }) => h("tr", { key: name || "" },
    h("th", { scope: "row" }, name || "the rest"), h("td", { class: "end" }, count(percent)), h("td", { class: "end" }, count(doneOf({ outcomes: counts }))),
    h("td", { class: "end" }, count(counts.accepted || 0)), h("td", { class: "end" }, count(receipts.opened || 0)), h("td", { class: "end" }, share(receipts.opened || 0, counts.accepted || 0))))));

function outcomes(status, rate) {
  const { targets, outcomes: counts, reasons = {}, receipts = {} } = status;
  const done = doneOf(status);
  const left = targets === undefined ? null : targets - done;
  const isOpen = OPEN_STATES.has(status.state);
  return card("Outcome", { key: "outcomes" },
    isOpen && targets > 0 && h("div", { class: "live" },
      h("progress", { max: targets, value: done, "aria-label": "Progress" }),
      h("p", null, `${count(done)} of ${count(targets)}`, rate && left > 0 && ` · ${count(Math.round(rate))} a second · ${plural(Math.ceil(left / rate), "second")} left`)),
    status.waiting && h("p", { class: "note" }, `Waits for ${status.waiting.for === "operator" ? "an operator" : "the push service"}: ${status.waiting.words ?? status.waiting.reason}`),
    h("table", { class: "numbers", "aria-label": "Outcomes" },
      h("thead", null, h("tr", null, h("th", { scope: "col" }, "Outcome"), h("th", { scope: "col", class: "end" }, "Devices"), h("th", { scope: "col", class: "end" }, "Share"), h("th", { scope: "col" }, "Reasons"))),
      h("tbody", null, Object.entries(counts).map(([name, value]) => h("tr", { key: name },
        h("th", { scope: "row" }, badge(name, name === "accepted" ? "good" : ["skipped", "capped"].includes(name) ? "plain" : "bad")),
        h("td", { class: "end" }, count(value)), h("td", { class: "end" }, share(value, targets)),
        h("td", null, Object.entries(reasons[name] || {}).map(([reason, times]) => `${reason} (${count(times)})`).join(", ") || "–"))))),
    !Object.keys(counts).length && h("p", { class: "empty" }, isOpen ? "No results yet." : "No device matched the audience."),
    Object.keys(receipts).length > 0 && h("div", { class: "funnel" }, h("h3", null, "What devices reported"),
      ["delivered", "fetched", "opened", "action", "dismissed", "failed"].filter((kind) => receipts[kind]).map((kind) => h("p", { key: kind, class: "funnel-row" },
        h("span", { class: "funnel-name" }, kind),
        h("span", { class: "funnel-bar", "aria-hidden": "true", variables: { "--part": `${Math.min(100, (100 * receipts[kind]) / (counts.accepted || 1))}%` } }),
        h("span", { class: "funnel-count" }, receipts[kind] >= 10_000 ? `${count(receipts[kind])} or more` : count(receipts[kind]))))),
    status.groups && groups(status.groups),
    failedOf(counts) > 0 && h("p", { class: "hint" }, h("a", { href: "/docs/outcomes" }, "What each outcome means")));
}

/** Of a send by the clocks of the devices: when it is due where, and what is done. */
function localTimes({ localTimes: moments }) {
  if (!moments) return null;
  return card("Local times", { key: "local-times" },
    h("table", { class: "numbers", "aria-label": "Local times" },
      h("thead", null, h("tr", null, h("th", { scope: "col" }, "Due"), h("th", { scope: "col" }, "Time zones"), h("th", { scope: "col" }, "State"))),
      h("tbody", null, moments.map(({ dueAt, timeZones, includesOtherZones, isOver }) => h("tr", { key: dueAt },
        h("th", { scope: "row" }, time(dueAt)),
        h("td", null, [...timeZones.map((zone) => zone.replaceAll("_", " ")), ...(includesOtherZones ? ["all others"] : [])].join(", ")),
        h("td", null, badge(isOver ? "done" : dueAt > Date.now() ? "waits" : "under way", isOver ? "good" : "plain")))))));
}

const warnings = (status) => status.warnings?.length > 0
  && card("Warnings", { key: "warnings", class: "warn" }, h("ul", { class: "bullets" }, status.warnings.map((text) => h("li", { key: text }, text))));

function failureList(id, outcome, redraw) {
  return list({
    label: "Devices without their push", redraw, none: "No failed devices.",
    load: async (after) => {
      const page = await call("GET", `/sends/${id}`, { query: { after, outcome, limit: 100 } });
      return { items: (page.failures || []).map((failure, index) => ({ ...failure, place: `${after || ""}/${index}` })), next: page.next };
    },
    key: (failure) => failure.place,
    columns: [
      { name: "Device", cell: (failure) => failure.device || "removed" },
      { name: "Outcome", cell: (failure) => badge(failure.outcome, "bad") },
      { name: "Reason", cell: (failure) => failure.reason || "–", end: true },
    ],
  });
}
